/* SPDX-License-Identifier: Apache-2.0
 *
 * Programs and launches.
 */
#include "runtime.h"

#include <stdlib.h>
#include <string.h>

static const kw_rt_runtime *const runtime = &kw_rt_backend_runtime;

typedef struct kw_rt_module {
  void *handle;
  char *code; /* until it is kept on disk; NULL when it came from there */
  size_t code_size;
} kw_rt_module;

/* ---- Compiling --------------------------------------------------------------------------------------------------- */

uint32_t kw_rt_options(int device, char arch[KW_RT_ARCH_SIZE], const char *out[KW_RT_OPTION_LIMIT]) {
  uint32_t count = 0;
  if (runtime->arch_option(device, arch)) out[count++] = arch;
  for (const char *const *option = runtime->options; *option; ++option) out[count++] = *option;
  return count;
}

/* Tells what the compiler said. */
static kw_status compile_failure(const kw_host_api *host, void *program, const char *name) {
  size_t size = 0;
  kw_rt.program_log_size(program, &size);
  char *log = calloc(1, size + 1);
  if (log) kw_rt.program_log(program, log);
  kw_status status = kw_gpu_error(host, KW_ERR_INTERNAL, "%s of %s; the compiler says: %.2000s",
                                  runtime->call_names[KW_RT_program_compile], name, log ? log : "");
  free(log);
  return status;
}

/* The compiler has error numbers of its own; without a log they are all that is known. */
static kw_status compiler_error(const kw_host_api *host, int call, int error) {
  return kw_gpu_error(host, KW_ERR_INTERNAL, "%s: %s error %d", runtime->call_names[call], runtime->compiler_name,
                      error);
}

static kw_status take_code(const kw_host_api *host, void *program, kw_rt_module *module) {
  int error = kw_rt.program_code_size(program, &module->code_size);
  if (error) return compiler_error(host, KW_RT_program_code_size, error);
  module->code = malloc(module->code_size);
  if (!module->code) return kw_rt_no_memory(host, "a module");
  error = kw_rt.program_code(program, module->code);
  return error ? compiler_error(host, KW_RT_program_code, error) : KW_OK;
}

static kw_status compile(const kw_rt_device *device, const char *name, const char *source, kw_rt_module *module) {
  const kw_host_api *host = device->base.host;
  const char *options[KW_RT_OPTION_LIMIT];
  char arch[KW_RT_ARCH_SIZE];
  void *program = NULL;
  uint32_t count = kw_rt_options(device->id, arch, options);
  int error = kw_rt.program_create(&program, source, name, 0, NULL, NULL);
  if (error) return compiler_error(host, KW_RT_program_create, error);
  error = kw_rt.program_compile(program, (int)count, options);
  kw_status status = error ? compile_failure(host, program, name) : take_code(host, program, module);
  kw_rt.program_destroy(&program);
  return status;
}

/* ---- Modules ----------------------------------------------------------------------------------------------------- */

void kw_rt_module_destroy(kw_gpu_device *device, void *handle) {
  kw_rt_module *module = handle;
  void *before = runtime->enter((kw_rt_device *)device);
  if (module->handle) kw_rt.module_unload(module->handle);
  runtime->leave(before);
  free(module->code);
  free(module);
}

kw_status kw_rt_module_build(kw_gpu_device *base, const char *name, const char *const *sources, uint32_t source_count,
                             void **out_module) {
  kw_rt_device *device = (kw_rt_device *)base;
  kw_rt_module *module = calloc(1, sizeof *module);
  char *source = kw_rt_join(sources, source_count);
  kw_status status = module && source ? KW_OK : kw_rt_no_memory(base->host, "a program");
  void *before = runtime->enter(device);
  if (status == KW_OK) status = compile(device, name, source, module);
  if (status == KW_OK)
    status = kw_rt_check(device, KW_RT_module_load, kw_rt.module_load(&module->handle, module->code));
  runtime->leave(before);
  free(source);
  if (status == KW_OK) {
    *out_module = module;
  } else if (module) {
    kw_rt_module_destroy(base, module);
  }
  return status;
}

kw_status kw_rt_module_save(kw_gpu_device *device, void *handle, void **out_bytes, size_t *out_size) {
  kw_rt_module *module = handle;
  if (!module->code) return kw_gpu_error(device->host, KW_ERR_UNSUPPORTED, "the module was saved before");
  *out_bytes = module->code;
  *out_size = module->code_size;
  module->code = NULL;
  return KW_OK;
}

kw_status kw_rt_module_load(kw_gpu_device *base, const char *name, const void *bytes, size_t size, void **out_module) {
  kw_rt_device *device = (kw_rt_device *)base;
  kw_rt_module *module = calloc(1, sizeof *module);
  (void)name, (void)size;
  if (!module) return kw_rt_no_memory(base->host, "a module");
  void *before = runtime->enter(device);
  kw_status status = kw_rt_check(device, KW_RT_module_load, kw_rt.module_load(&module->handle, bytes));
  runtime->leave(before);
  if (status == KW_OK) {
    *out_module = module;
  } else {
    kw_rt_module_destroy(base, module);
  }
  return status;
}

/* ---- Kernels ----------------------------------------------------------------------------------------------------- */

kw_status kw_rt_kernel_create(kw_gpu_device *base, void *handle, const char *name, void **out_kernel) {
  kw_rt_device *device = (kw_rt_device *)base;
  void *before = runtime->enter(device);
  int error = kw_rt.module_function(out_kernel, ((kw_rt_module *)handle)->handle, name);
  runtime->leave(before);
  return kw_rt_check(device, KW_RT_module_function, error);
}

/* A kernel lives as long as its module. */
void kw_rt_kernel_destroy(kw_gpu_device *device, void *kernel) {
  (void)device, (void)kernel;
}

#define ARG_LIMIT 32
#define GRID_X 0x7fffffffu
#define GRID_Y 0xffffu

kw_status kw_rt_launch(kw_gpu_device *base, kw_gpu_stream *handle, const kw_gpu_launch *launch) {
  kw_rt_device *device = (kw_rt_device *)base;
  kw_rt_stream *stream = (kw_rt_stream *)handle;
  void *params[ARG_LIMIT];
  if (launch->arg_count > ARG_LIMIT || launch->groups[0] > GRID_X || launch->groups[1] > GRID_Y) {
    return kw_gpu_error(
        base->host, KW_ERR_UNSUPPORTED, "a launch of %llu x %llu groups with %u arguments is more than %s takes",
        (unsigned long long)launch->groups[0], (unsigned long long)launch->groups[1], launch->arg_count, runtime->name);
  }
  for (uint32_t i = 0; i < launch->arg_count; ++i) {
    const kw_gpu_arg *arg = &launch->args[i];
    params[i] = arg->data ? (void *)(uintptr_t)arg->data : (void *)(uintptr_t)&arg->mem; /* read only */
  }
  void *before = runtime->enter(device);
  const kw_rt_span span = kw_rt_span_begin(handle);
  int error = kw_rt.launch(launch->kernel, (unsigned)launch->groups[0], (unsigned)launch->groups[1], 1,
                           launch->local[0], launch->local[1], 1, 0, handle->handle, params, NULL);
  kw_rt_span_end(&span, KW_ACTIVITY_LAUNCH, launch->call_id, error);
  runtime->leave(before);
  if (error) return kw_rt_check(device, KW_RT_launch, error);
  atomic_store(&stream->last_call, launch->call_id);
  return KW_OK;
}
