/* SPDX-License-Identifier: Apache-2.0
 *
 * Initialisers in files of their own ("external data"). ONNX Runtime copies each one to the memory of its device; where
 * that is the host's, the address gets a read-only map of the file instead, which other processes and sessions share,
 * and nothing is copied. By then only the bytes tell which initialiser a copy is of, so they are compared with the
 * file's.
 */
#include "weights.h"

#include <keyway/interop.h>

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct weight {
  const provider *of;
  pthread_t thread; /* that begins the session, and copies for it */
  char *path;
  uint64_t offset;
  size_t size;
  struct weight *next;
} weight;

#define KW_ORT_LARGEST_ELEMENT 16u /* bytes: a complex128 */

/* Of all sessions that begin, those that were not mapped yet. */
static weight *all;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

typedef struct mapped {
  char *start;
  size_t size, before; /* bytes of the map, and from its start to the initialiser */
} mapped;

static bool maps(kw_device *device) {
  kw_attribute unified = {.struct_size = sizeof unified};
  return kw_device_native(device) & KW_NATIVE_INTEROP &&
         kw_device_attribute(device, "unified_memory", &unified) == KW_OK && unified.u.b;
}

/* Kernels were asked about memory where the device's tensors lie, and views begin at multiples of an element's size. */
static bool lies_well(kw_device *device, uint64_t offset) {
  kw_device_info info = {.struct_size = sizeof info};
  return kw_device_get_info(device, &info) == KW_OK && offset % info.offset_alignment == 0 &&
         offset % KW_ORT_LARGEST_ELEMENT == 0;
}

/* A file's path as the model has it is one from the model's folder. */
static char *path_of(const char *model, const char *file) {
  const char *slash = model && file[0] != '/' ? strrchr(model, '/') : NULL;
  char *path = NULL;
  if (slash ? asprintf(&path, "%.*s/%s", (int)(slash - model), model, file) < 0 : asprintf(&path, "%s", file) < 0)
    return NULL;
  return path;
}

/* Again, it does nothing: ONNX Runtime asks about a graph several times. */
static void add(weight *noted) {
  weight *known;
  pthread_mutex_lock(&mutex);
  known = all;
  while (known && !(known->of == noted->of && known->offset == noted->offset && strcmp(known->path, noted->path) == 0))
    known = known->next;
  if (!known) noted->next = all, all = noted;
  pthread_mutex_unlock(&mutex);
  if (!known) return;
  free(noted->path);
  free(noted);
}

static OrtStatus *note(const provider *provider, const char *model, const OrtValueInfo *initializer) {
  OrtExternalInitializerInfo *info = NULL;
  OrtStatus *status = kw_ort->ValueInfo_GetExternalInitializerInfo(initializer, &info);
  if (status || !info) return status; /* it lies in the model */
  const uint64_t offset = (uint64_t)kw_ort->ExternalInitializerInfo_GetFileOffset(info);
  weight *noted = lies_well(provider->device, offset) ? calloc(1, sizeof *noted) : NULL;
  if (noted) {
    *noted = (weight){.of = provider,
                      .thread = pthread_self(),
                      .path = path_of(model, kw_ort->ExternalInitializerInfo_GetFilePath(info)),
                      .offset = offset,
                      .size = kw_ort->ExternalInitializerInfo_GetByteSize(info)};
    if (noted->path)
      add(noted);
    else
      free(noted); /* it is copied */
  }
  kw_ort->ReleaseExternalInitializerInfo(info);
  return NULL;
}

OrtStatus *weights_note(const provider *provider, const OrtGraph *graph) {
  const OrtValueInfo **initializers;
  const char *model = NULL;
  size_t count = 0;
  OrtStatus *status;
  if (!maps(provider->device)) return NULL;
  status = kw_ort->Graph_GetModelPath(graph, &model);
  if (!status) status = kw_ort->Graph_GetNumInitializers(graph, &count);
  if (status || count == 0) return status;
  initializers = calloc(count, sizeof *initializers);
  if (!initializers) return kw_ort_refuse(ORT_FAIL, "no memory for a list of %zu initialisers", count);
  status = kw_ort->Graph_GetInitializers(graph, initializers, count);
  for (size_t i = 0; i < count && !status; ++i) status = note(provider, model, initializers[i]);
  free(initializers);
  return status;
}

static void drop(weight **link) {
  weight *gone = *link;
  *link = gone->next;
  free(gone->path);
  free(gone);
}

void weights_forget(const provider *provider) {
  pthread_mutex_lock(&mutex);
  for (weight **link = &all; *link;)
    if ((*link)->of == provider)
      drop(link);
    else
      link = &(*link)->next;
  pthread_mutex_unlock(&mutex);
}

static void KW_CALL unmap(void *user) {
  mapped *map = user;
  munmap(map->start, map->size);
  free(map);
}

static mapped *map_file(const weight *weight) {
  const uint64_t before = weight->offset % (uint64_t)sysconf(_SC_PAGESIZE);
  struct stat about;
  mapped *map = calloc(1, sizeof *map);
  const int file = open(weight->path, O_RDONLY | O_CLOEXEC);
  if (!map || file < 0 || fstat(file, &about) != 0 || weight->size > (uint64_t)about.st_size ||
      weight->offset > (uint64_t)about.st_size - weight->size) {
    if (file >= 0) close(file);
    free(map);
    return NULL;
  }
  map->before = (size_t)before;
  map->size = weight->size + map->before;
  map->start = mmap(NULL, map->size, PROT_READ, MAP_PRIVATE, file, (off_t)(weight->offset - before));
  close(file);
  if (map->start != MAP_FAILED) return map;
  free(map);
  return NULL;
}

/* The map belongs to the tensor, or is gone. */
static kw_status import(kw_device *device, mapped *map, size_t size, kw_tensor **out_tensor) {
  const kw_external_memory memory = {.struct_size = sizeof memory,
                                     .kind = KW_HANDLE_HOST,
                                     .flags = KW_EXTERNAL_READ_ONLY,
                                     .size = size,
                                     .host = map->start + map->before};
  kw_status status = kw_tensor_import(device, &memory, unmap, map, out_tensor);
  if (status != KW_OK) unmap(map);
  return status;
}

static bool try(const weight *weight, const void *from, void *to) {
  kw_tensor *tensor = NULL;
  mapped *map = map_file(weight);
  kw_status status;
  if (!map) return false;
  if (memcmp(from, map->start + map->before, weight->size) != 0) {
    unmap(map);
    return false;
  }
  status = import(weight->of->device, map, weight->size, &tensor);
  if (status == KW_OK) status = kw_address_assign(to, tensor);
  kw_tensor_release(tensor);
  return status == KW_OK;
}

bool weights_map(const void *from, void *to, size_t size) {
  const kw_device *device = kw_address_device(to);
  bool done = false;
  pthread_mutex_lock(&mutex);
  for (weight **link = &all; *link && !done;) {
    done = (*link)->size == size && (*link)->of->device == device && pthread_equal((*link)->thread, pthread_self()) &&
           try(*link, from, to);
    if (done)
      drop(link);
    else
      link = &(*link)->next;
  }
  pthread_mutex_unlock(&mutex);
  return done;
}
