/* SPDX-License-Identifier: Apache-2.0
 *
 * A device on the execution engine: plugin "engine", for tests. A stream is a thread with a queue of tasks.
 */
#include "engine.h"

#include <fenv.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern const char kw_gpu_prelude_engine[];

typedef struct engine_device {
  kw_gpu_device base; /* first: the pack hands it back */
} engine_device;

static kw_status out_of_memory(const kw_host_api *host, const char *what) {
  return host->set_error(host->ctx, KW_ERR_OUT_OF_MEMORY, what);
}

/* ---- Streams ----------------------------------------------------------------------------------------------------- */

/* A launch, or a copy within the host's memory, which the device's is part of. */
typedef struct task {
  struct task *next;
  kw_engine_launch *launch; /* NULL: a copy */
  void *to;
  const void *from;
  size_t size;
} task;

typedef struct engine_stream {
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t changed;
  task *first, **end;
  bool busy, stop;
} engine_stream;

static void *stream_main(void *argument) {
  engine_stream *stream = argument;
  fesetenv(FE_DFL_ENV); /* not what the thread that asked for it has set */
  pthread_mutex_lock(&stream->lock);
  for (;;) {
    task *next = stream->first;
    stream->busy = next != NULL;
    if (!next) {
      pthread_cond_broadcast(&stream->changed);
      if (stream->stop) break;
      pthread_cond_wait(&stream->changed, &stream->lock);
      continue;
    }
    stream->first = next->next;
    if (!stream->first) stream->end = &stream->first;
    pthread_mutex_unlock(&stream->lock);
    if (next->launch) {
      kw_engine_launch_run(next->launch);
      kw_engine_launch_free(next->launch);
    } else {
      memmove(next->to, next->from, next->size);
    }
    free(next);
    pthread_mutex_lock(&stream->lock);
  }
  pthread_mutex_unlock(&stream->lock);
  return NULL;
}

static void stream_push(engine_stream *stream, task *added) {
  pthread_mutex_lock(&stream->lock);
  added->next = NULL;
  *stream->end = added;
  stream->end = &added->next;
  stream->busy = true;
  pthread_cond_broadcast(&stream->changed);
  pthread_mutex_unlock(&stream->lock);
}

static kw_status stream_create(void *state, const kw_stream_info *info, void **out_stream) {
  const engine_device *device = state;
  engine_stream *stream = calloc(1, sizeof *stream);
  (void)info;
  if (!stream) return out_of_memory(device->base.host, "no host memory for a stream");
  stream->end = &stream->first;
  pthread_mutex_init(&stream->lock, NULL);
  pthread_cond_init(&stream->changed, NULL);
  if (pthread_create(&stream->thread, NULL, stream_main, stream) != 0) {
    free(stream);
    return out_of_memory(device->base.host, "no thread for a stream");
  }
  *out_stream = stream;
  return KW_OK;
}

static kw_status stream_synchronize(void *state, void *handle) {
  engine_stream *stream = handle;
  (void)state;
  pthread_mutex_lock(&stream->lock);
  while (stream->busy) pthread_cond_wait(&stream->changed, &stream->lock);
  pthread_mutex_unlock(&stream->lock);
  return KW_OK;
}

static kw_status stream_destroy(void *state, void *handle) {
  engine_stream *stream = handle;
  (void)state;
  pthread_mutex_lock(&stream->lock);
  stream->stop = true;
  pthread_cond_broadcast(&stream->changed);
  pthread_mutex_unlock(&stream->lock);
  pthread_join(stream->thread, NULL);
  pthread_cond_destroy(&stream->changed);
  pthread_mutex_destroy(&stream->lock);
  free(stream);
  return KW_OK;
}

static const kw_stream_api stream_api = {.struct_size = sizeof stream_api,
                                         .create = stream_create,
                                         .destroy = stream_destroy,
                                         .synchronize = stream_synchronize};

/* ---- Memory and launches ----------------------------------------------------------------------------------------- */

static kw_status mem_alloc(void *state, const kw_alloc_info *info, kw_mem *out_mem) {
  const engine_device *device = state;
  *out_mem = info->size <= SIZE_MAX - 64 ? aligned_alloc(64, (info->size + 63) / 64 * 64) : NULL;
  return *out_mem ? KW_OK : out_of_memory(device->base.host, "no host memory for a buffer");
}

static kw_status mem_free(void *state, kw_mem mem) {
  (void)state;
  free(mem);
  return KW_OK;
}

static kw_status mem_copy(void *state, void *stream, const kw_copy_info *copy) {
  const engine_device *device = state;
  if (copy->kind > KW_COPY_DEVICE_TO_DEVICE)
    return device->base.host->set_error(device->base.host->ctx, KW_ERR_UNSUPPORTED, "there is one engine device");
  task *added = malloc(sizeof *added);
  if (!added) return out_of_memory(device->base.host, "no host memory for a copy");
  *added = (task){
      .to = copy->kind == KW_COPY_DEVICE_TO_HOST ? copy->dst_host : (char *)copy->dst_mem + copy->dst_offset,
      .from = copy->kind == KW_COPY_HOST_TO_DEVICE ? copy->src_host : (const char *)copy->src_mem + copy->src_offset,
      .size = copy->size};
  stream_push(stream, added);
  return KW_OK;
}

static const kw_memory_api memory_api = {
    .struct_size = sizeof memory_api, .alloc = mem_alloc, .free = mem_free, .copy = mem_copy};

static kw_status launch(kw_gpu_device *device, void *stream, const kw_gpu_launch *launch) {
  task *added = calloc(1, sizeof *added);
  if (added) added->launch = kw_engine_launch_copy(launch);
  if (!added || !added->launch) {
    free(added);
    return out_of_memory(device->host, "no host memory for a launch");
  }
  stream_push(stream, added);
  return KW_OK;
}

/* ---- The device and the plugin ----------------------------------------------------------------------------------- */

static const kw_gpu_driver driver = {
    .prelude = kw_gpu_prelude_engine,
    .module_build = kw_engine_module_build,
    .module_destroy = kw_engine_module_destroy,
    .kernel_create = kw_engine_kernel_create,
    .kernel_destroy = kw_engine_kernel_destroy,
    .launch = launch,
    .memory = &memory_api,
    .module_save = kw_engine_module_save,
    .module_load = kw_engine_module_load,
};

static kw_status device_count(void *plugin, uint32_t *out_count) {
  (void)plugin;
  *out_count = 1;
  return KW_OK;
}

static kw_status device_info(void *plugin, uint32_t index, kw_device_info *out_info) {
  (void)plugin, (void)index;
  out_info->type = KW_DEVICE_OTHER;
  out_info->flags = KW_DEVICE_EMULATED;
  out_info->compute_units = 1;
  strcpy(out_info->name, "execution engine");
  out_info->total_memory = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
  out_info->mem_alignment = 64;
  out_info->offset_alignment = 64;
  return KW_OK;
}

static kw_status device_open(void *plugin, uint32_t index, void **out_device) {
  const kw_host_api *host = *(const kw_host_api **)plugin;
  engine_device *device = calloc(1, sizeof *device);
  (void)index;
  if (!device) return out_of_memory(host, "no host memory for a device");
  kw_status status = kw_gpu_device_start(&device->base, &driver, host, true, kw_engine_identity());
  if (status == KW_OK) {
    *out_device = device;
  } else {
    free(device);
  }
  return status;
}

static kw_status device_close(void *device) {
  kw_gpu_device_finish(device);
  free(device);
  return KW_OK;
}

static const kw_device_api device_api = {.struct_size = sizeof device_api,
                                         .count = device_count,
                                         .info = device_info,
                                         .open = device_open,
                                         .close = device_close};

static kw_status probe(const char **out_reason) {
  (void)out_reason;
  return KW_OK;
}

static kw_status init(const kw_host_api *host, void **out_plugin) {
  const kw_host_api **plugin = malloc(sizeof *plugin);
  if (!plugin) return out_of_memory(host, "no host memory for the engine");
  *plugin = host;
  *out_plugin = plugin;
  return kw_gpu_register(host, true);
}

static kw_status shutdown(void *plugin) {
  free(plugin);
  return KW_OK;
}

static const kw_group groups[] = {
    {KW_GROUP_DEVICE, &device_api},
    {KW_GROUP_MEMORY, &memory_api},
    {KW_GROUP_STREAM, &stream_api},
};

static const kw_plugin_desc desc = {
    .struct_size = sizeof desc,
    .abi_version = KW_ABI_VERSION,
    .key = "engine",
    .vendor = "keyway",
    .version = "0",
    .description = "The portable kernels, compiled by the host's C++ compiler and run on the CPU; for tests",
    .build = __VERSION__,
    .sanitizer = "",
    .probe = probe,
    .init = init,
    .shutdown = shutdown,
    .groups = groups,
    .group_count = sizeof groups / sizeof groups[0],
};

kw_status keyway_plugin_query(const kw_query_info *host, const kw_plugin_desc **out_plugin, const char **out_reason) {
  if (KW_ABI_MAJOR(host->abi_max) != KW_ABI_MAJOR(KW_ABI_VERSION) || host->abi_min > KW_ABI_VERSION) {
    *out_reason = "the engine was built for another version of Keyway's ABI; rebuild it";
    return KW_ERR_ABI_MISMATCH;
  }
  *out_plugin = &desc;
  return KW_OK;
}
