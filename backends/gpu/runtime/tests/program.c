/* SPDX-License-Identifier: Apache-2.0
 *
 * Modules and launches of the test driver.
 */
#include "driver.h"

#include "code.h"

#include <stdlib.h>
#include <string.h>

typedef struct function {
  uint32_t what;
  kw_engine_kernel kernel;
  struct function *next; /* of the module */
} function;

typedef struct module {
  uint32_t what;
  pthread_mutex_t lock;
  kw_engine_module *engine;
  function *functions;
} module;

API(cuModuleLoadData, hipModuleLoadData)(void **out, const void *image) {
  context *home;
  code_header header;
  int error = driver_enter(&home);
  if (error) return error;
  memcpy(&header, image, sizeof header);
  if (memcmp(header.magic, code_magic, sizeof header.magic) != 0) return INVALID_IMAGE;
  module *m = calloc(1, sizeof *m);
  if (!m) return OUT_OF_MEMORY;
  if (kw_engine_module_load((const char *)image + sizeof header, header.size, &m->engine) != KW_ENGINE_OK) {
    free(m);
    return INVALID_IMAGE;
  }
  m->what = MODULE;
  pthread_mutex_init(&m->lock, NULL);
  *out = m;
  return OK;
}

API(cuModuleUnload, hipModuleUnload)(void *handle) {
  module *m = handle;
  if (driver_check(handle, MODULE) != OK) return INVALID_HANDLE;
  for (function *next; m->functions; m->functions = next) {
    next = m->functions->next;
    free(m->functions);
  }
  kw_engine_module_unload(m->engine);
  pthread_mutex_destroy(&m->lock);
  m->what = 0;
  free(m);
  return OK;
}

API(cuModuleGetFunction, hipModuleGetFunction)(void **out, void *handle, const char *name) {
  module *m = handle;
  context *home;
  int error = driver_enter(&home);
  if (!error) error = driver_check(handle, MODULE);
  if (error) return error;
  function *f = calloc(1, sizeof *f);
  if (!f) return OUT_OF_MEMORY;
  if (kw_engine_kernel_find(m->engine, name, &f->kernel) != KW_ENGINE_OK) {
    free(f);
    return NOT_FOUND;
  }
  f->what = FUNCTION;
  pthread_mutex_lock(&m->lock);
  f->next = m->functions;
  m->functions = f;
  pthread_mutex_unlock(&m->lock);
  *out = f;
  return OK;
}

API(cuLaunchKernel, hipModuleLaunchKernel)
(void *handle, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y, unsigned block_z,
 unsigned shared_bytes, void *on, void **params, void **extra) {
  stream *s;
  const function *f = handle;
  int error = driver_check_stream(on, &s);
  if (!error) error = driver_check(handle, FUNCTION);
  if (error) return error;
  if (grid_x - 1 >= 0x7fffffffu || grid_y - 1 >= 0xffffu || grid_z - 1 >= 0xffffu || block_x - 1 >= 1024 ||
      block_y - 1 >= 1024 || block_z - 1 >= 64 || block_x * block_y * block_z > KW_ENGINE_GROUP_ITEMS ||
      shared_bytes != 0 || !params || extra)
    return INVALID_VALUE;
  kw_engine_task task = {.kind = KW_ENGINE_LAUNCH};
  task.u.launch.kernel = &f->kernel;
  memcpy(task.u.launch.local, (const uint32_t[]){block_x, block_y, block_z}, sizeof task.u.launch.local);
  memcpy(task.u.launch.groups, (const uint64_t[]){grid_x, grid_y, grid_z}, sizeof task.u.launch.groups);
  if (!kw_engine_launch_add_all(&task.u.launch, params)) return INVALID_VALUE;
  return driver_push(s, &task);
}
