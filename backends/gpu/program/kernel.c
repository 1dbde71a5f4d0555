/* SPDX-License-Identifier: Apache-2.0
 *
 * The modules and kernels that a device has compiled so far, each from the disk where a process before left it there.
 */
#include "program/kernel.h"

#include "program/patience.h"
#include "program/store.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A compiled module or kernel. */
typedef struct built {
  const void *what; /* kw_gpu_module or kw_gpu_kernel */
  unsigned variant;
  int32_t opcode; /* of a program for one op; negative: for all */
  void *handle;
} built;

typedef struct built_list {
  built *items;
  size_t count, capacity;
} built_list;

/* A kernel whose text was made while the device was open. */
typedef struct made {
  struct made *next;
  kw_gpu_module module; /* the last of its sources is `text` */
  kw_gpu_kernel kernel;
  char text[];
} made;

struct kw_gpu_programs {
  pthread_mutex_t building; /* held by the thread that builds: compilers do no better side by side */
  pthread_mutex_t lock;     /* guards the lists, to which only that thread adds modules and kernels */
  built_list modules;
  built_list kernels;
  made *made;
  char *identity;
};

kw_status kw_gpu_device_start(kw_gpu_device *device, const kw_gpu_driver *driver, const kw_host_api *host, bool has_f64,
                              const char *identity) {
  struct kw_gpu_programs *programs = calloc(1, sizeof *programs);
  if (programs && identity) programs->identity = strdup(identity);
  if (!programs || (identity && !programs->identity)) {
    free(programs);
    return host->set_error(host->ctx, KW_ERR_OUT_OF_MEMORY, "no host memory for a device's programs");
  }
  pthread_mutex_init(&programs->building, NULL);
  pthread_mutex_init(&programs->lock, NULL);
  device->driver = driver;
  device->host = host;
  device->has_f64 = has_f64;
  device->vector_bytes = 0;
  device->programs = programs;
  return KW_OK;
}

void kw_gpu_device_finish(kw_gpu_device *device) {
  struct kw_gpu_programs *programs = device->programs;
  for (size_t i = 0; i < programs->kernels.count; ++i)
    device->driver->kernel_destroy(device, programs->kernels.items[i].handle);
  for (size_t i = 0; i < programs->modules.count; ++i)
    device->driver->module_destroy(device, programs->modules.items[i].handle);
  for (made *item = programs->made, *next; item; item = next) {
    next = item->next;
    free(item);
  }
  free(programs->kernels.items);
  free(programs->modules.items);
  pthread_mutex_destroy(&programs->building);
  pthread_mutex_destroy(&programs->lock);
  free(programs->identity);
  free(programs);
}

/* ---- The lists --------------------------------------------------------------------------------------------------- */

static void *find_built(struct kw_gpu_programs *programs, const built_list *list, const void *what, unsigned variant,
                        int32_t opcode) {
  void *handle = NULL;
  pthread_mutex_lock(&programs->lock);
  for (size_t i = 0; i < list->count && !handle; ++i) {
    const built *item = &list->items[i];
    if (item->what == what && item->variant == variant && item->opcode == opcode) handle = item->handle;
  }
  pthread_mutex_unlock(&programs->lock);
  return handle;
}

/* Room for one more; false when the host is out of memory. */
static bool reserve(struct kw_gpu_programs *programs, built_list *list) {
  if (list->count < list->capacity) return true;
  const size_t capacity = list->capacity ? 2 * list->capacity : 32;
  pthread_mutex_lock(&programs->lock);
  built *items = realloc(list->items, capacity * sizeof *items);
  if (items) {
    list->items = items;
    list->capacity = capacity;
  }
  pthread_mutex_unlock(&programs->lock);
  return items != NULL;
}

static void add_built(struct kw_gpu_programs *programs, built_list *list, const void *what, unsigned variant,
                      int32_t opcode, void *handle) {
  pthread_mutex_lock(&programs->lock);
  list->items[list->count++] = (built){what, variant, opcode, handle};
  pthread_mutex_unlock(&programs->lock);
}

/* ---- Building ---------------------------------------------------------------------------------------------------- */

static void tell_host(kw_gpu_device *device, const char *name, uint64_t begin, bool cached) {
  const kw_host_api *host = device->host;
  host->report_build(host->ctx, device, name, kw_gpu_now_ns() - begin, cached);
}

/* A defect of the pack: kw_gpu_programs_visit leaves the program out, so that it was not compiled ahead. */
static kw_status not_listed(const kw_gpu_device *device, const char *name) {
  char text[192];
  snprintf(
      text, sizeof text,
      "kw_gpu_kernel_find: kernel: program %s is not among its module's variants; add it to kw_gpu_module.variants",
      name);
  return device->host->set_error(device->host->ctx, KW_ERR_INTERNAL, text);
}

/* From the disk when it is there, otherwise from source, and then it is kept. */
static kw_status build_module(kw_gpu_device *device, const kw_gpu_module *module, unsigned variant, int32_t opcode,
                              void **out_module) {
  const kw_gpu_driver *driver = device->driver;
  kw_gpu_program program;
  kw_gpu_store_key key;
  kw_gpu_program_make(&program, module, variant, opcode, device->has_f64, device->vector_bytes, driver->prelude);
  if (!kw_gpu_module_has(module, variant)) return not_listed(device, program.name);
  const uint64_t begin = kw_gpu_now_ns();
  bool kept = device->programs->identity && driver->module_save && driver->module_load;
  void *bytes = NULL;
  size_t size;
  if (kept) {
    kw_gpu_store_key_make(&key, device->programs->identity, program.sources, program.source_count);
    bool loaded = kw_gpu_store_read(&key, &bytes, &size) &&
                  driver->module_load(device, program.name, bytes, size, out_module) == KW_OK;
    free(bytes);
    if (loaded) {
      tell_host(device, program.name, begin, true);
      return KW_OK;
    }
  }
  kw_gpu_patience patience;
  kw_gpu_patience_begin(&patience, device->host, program.name, KW_GPU_PATIENCE_S);
  kw_status status = driver->module_build(device, program.name, program.sources, program.source_count, out_module);
  kw_gpu_patience_end(&patience);
  if (status == KW_OK) tell_host(device, program.name, begin, false);
  if (status != KW_OK || !kept) return status;
  bytes = NULL;
  if (driver->module_save(device, *out_module, &bytes, &size) == KW_OK) kw_gpu_store_write(&key, bytes, size);
  free(bytes);
  return KW_OK;
}

/* By the thread that builds. */
static kw_status build_kernel(kw_gpu_device *device, const kw_gpu_kernel *kernel, unsigned variant, int32_t opcode,
                              void **out_kernel) {
  struct kw_gpu_programs *programs = device->programs;
  if (!reserve(programs, &programs->modules) || !reserve(programs, &programs->kernels))
    return device->host->set_error(device->host->ctx, KW_ERR_OUT_OF_MEMORY, "no host memory for a kernel");
  void *module = find_built(programs, &programs->modules, kernel->module, variant, opcode);
  if (!module) {
    kw_status status = build_module(device, kernel->module, variant, opcode, &module);
    if (status != KW_OK) return status;
    add_built(programs, &programs->modules, kernel->module, variant, opcode, module);
  }
  kw_status status = device->driver->kernel_create(device, module, kernel->function, out_kernel);
  if (status == KW_OK) add_built(programs, &programs->kernels, kernel, variant, opcode, *out_kernel);
  return status;
}

kw_status kw_gpu_kernel_find(kw_gpu_device *device, const kw_gpu_kernel *kernel, kw_dtype dtype, int32_t opcode,
                             void **out_kernel) {
  const unsigned variant = kw_gpu_module_variant(kernel->module, dtype);
  /* On CPUs, where a function of vectors is compiled anew wherever it is called; integers have none. */
  if (device->vector_bytes == 0 || !(KW_DTYPES_FLOAT & KW_DTYPE_BIT(dtype))) opcode = -1;
  struct kw_gpu_programs *programs = device->programs;
  *out_kernel = find_built(programs, &programs->kernels, kernel, variant, opcode);
  if (*out_kernel) return KW_OK;
  kw_status status = KW_OK;
  pthread_mutex_lock(&programs->building);
  *out_kernel = find_built(programs, &programs->kernels, kernel, variant, opcode); /* another thread may have */
  if (!*out_kernel) status = build_kernel(device, kernel, variant, opcode, out_kernel);
  pthread_mutex_unlock(&programs->building);
  return status;
}

/* ---- Made -------------------------------------------------------------------------------------------------------- */

static bool is_made_of(const made *item, const kw_gpu_module *module, const char *text) {
  uint32_t i = 0;
  for (; module->sources[i]; ++i)
    if (item->module.sources[i] != module->sources[i]) return false;
  return item->module.sources[i] == item->text && strcmp(item->text, text) == 0;
}

static made *make(const kw_gpu_module *module, const char *function, const char *text) {
  made *item = malloc(sizeof *item + strlen(text) + 1);
  uint32_t i = 0;
  if (!item) return NULL;
  strcpy(item->text, text);
  item->module = *module;
  while (item->module.sources[i]) ++i;
  item->module.sources[i] = item->text;
  item->kernel = (kw_gpu_kernel){.module = &item->module, .function = function};
  return item;
}

const kw_gpu_kernel *kw_gpu_kernel_make(kw_gpu_device *device, const kw_gpu_module *module, const char *function,
                                        const char *text) {
  struct kw_gpu_programs *programs = device->programs;
  pthread_mutex_lock(&programs->lock);
  made *item = programs->made;
  while (item && !is_made_of(item, module, text)) item = item->next;
  if (!item && (item = make(module, function, text))) {
    item->next = programs->made;
    programs->made = item;
  }
  pthread_mutex_unlock(&programs->lock);
  return item ? &item->kernel : NULL;
}
