/* SPDX-License-Identifier: Apache-2.0 */
#include "module.h"

#include "scalar.h"

#include <stdio.h>
#include <string.h>

extern const char kw_gpu_source_args[], kw_gpu_source_opcodes[], kw_gpu_source_base[], kw_gpu_source_narrow[],
    kw_gpu_source_dtype[], kw_gpu_source_index[], kw_gpu_source_unary[], kw_gpu_source_binary[],
    kw_gpu_source_compare[], kw_gpu_source_clamp[], kw_gpu_source_reduce[], kw_gpu_source_argmax[], kw_gpu_source_mm[],
    kw_gpu_source_move[], kw_gpu_source_convert[];

/* A program: its sources after the common ones, and what it is specialised by. */
static const struct {
  const char *name;
  enum { SPECIALISE_DTYPE, SPECIALISE_SIZE, SPECIALISE_NOTHING } by;
  const char *sources[10];
} modules[] = {
    {"compute",
     SPECIALISE_DTYPE,
     {kw_gpu_source_dtype, kw_gpu_source_unary, kw_gpu_source_binary, kw_gpu_source_compare, kw_gpu_source_clamp,
      kw_gpu_source_reduce, kw_gpu_source_argmax, kw_gpu_source_mm}},
    {"move", SPECIALISE_SIZE, {kw_gpu_source_move}},
    {"convert", SPECIALISE_NOTHING, {kw_gpu_source_narrow, kw_gpu_source_convert}},
};
enum { COMPUTE, MOVE, CONVERT };

static const struct {
  const char *function;
  int module;
} kernels[KW_GPU_KERNEL_COUNT] = {
    [KW_GPU_UNARY] = {"kw_unary_kernel", COMPUTE},   [KW_GPU_BINARY] = {"kw_binary_kernel", COMPUTE},
    [KW_GPU_POW] = {"kw_pow_kernel", COMPUTE},       [KW_GPU_COMPARE] = {"kw_compare_kernel", COMPUTE},
    [KW_GPU_CLAMP] = {"kw_clamp_kernel", COMPUTE},   [KW_GPU_REDUCE] = {"kw_reduce_kernel", COMPUTE},
    [KW_GPU_ARGMAX] = {"kw_argmax_kernel", COMPUTE}, [KW_GPU_MM] = {"kw_mm_kernel", COMPUTE},
    [KW_GPU_COPY] = {"kw_copy_kernel", MOVE},        [KW_GPU_FILL] = {"kw_fill_kernel", MOVE},
    [KW_GPU_WHERE] = {"kw_where_kernel", MOVE},      [KW_GPU_CONVERT] = {"kw_convert_kernel", CONVERT},
};
_Static_assert(KW_GPU_KERNEL_COUNT <= KW_GPU_KERNEL_LIMIT, "the device's table has a row per kernel");
_Static_assert(sizeof modules / sizeof modules[0] <= KW_GPU_MODULE_LIMIT, "the device's table has a row per module");

void kw_gpu_device_start(kw_gpu_device *device, const kw_gpu_driver *driver, const kw_host_api *host, bool has_f64) {
  memset(device, 0, sizeof *device);
  device->driver = driver;
  device->host = host;
  device->has_f64 = has_f64;
  pthread_mutex_init(&device->lock, NULL);
}

void kw_gpu_device_finish(kw_gpu_device *device) {
  for (int id = 0; id < KW_GPU_KERNEL_COUNT; ++id)
    for (int d = 0; d < KW_DTYPE_COUNT; ++d)
      if (device->kernels[id][d]) device->driver->kernel_destroy(device, device->kernels[id][d]);
  for (int module = 0; module < KW_GPU_MODULE_LIMIT; ++module)
    for (int d = 0; d < KW_DTYPE_COUNT; ++d)
      if (device->modules[module][d]) device->driver->module_destroy(device, device->modules[module][d]);
  pthread_mutex_destroy(&device->lock);
}

static kw_status module_build(kw_gpu_device *device, int module, unsigned variant, void **out_module) {
  char name[64], defines[96];
  const char *sources[16];
  uint32_t count = 0;
  snprintf(name, sizeof name, "%s/%u", modules[module].name, variant);
  snprintf(defines, sizeof defines, "%s#define %s %u\n", device->has_f64 ? "#define KW_HAS_F64 1\n" : "",
           modules[module].by == SPECIALISE_SIZE ? "KW_SIZE" : "KW_DTYPE", variant);
  sources[count++] = defines;
  sources[count++] = device->driver->prelude;
  sources[count++] = kw_gpu_source_base;
  sources[count++] = kw_gpu_source_args;
  sources[count++] = kw_gpu_source_opcodes;
  sources[count++] = kw_gpu_source_index;
  for (const char *const *source = modules[module].sources; *source; ++source) sources[count++] = *source;
  return device->driver->module_build(device, name, sources, count, out_module);
}

kw_status kw_gpu_kernel_find(kw_gpu_device *device, kw_gpu_kernel_id id, kw_dtype dtype, void **out_kernel) {
  int module = kernels[id].module;
  unsigned variant = dtype, slot = dtype; /* what the program is built for, and its place in the tables */
  if (modules[module].by == SPECIALISE_SIZE) {
    variant = kw_gpu_dtype_size(dtype);
    slot = (unsigned)__builtin_ctz(variant);
  } else if (modules[module].by == SPECIALISE_NOTHING) {
    variant = slot = 0;
  }
  kw_status status = KW_OK;
  pthread_mutex_lock(&device->lock);
  if (!device->modules[module][slot]) status = module_build(device, module, variant, &device->modules[module][slot]);
  if (status == KW_OK && !device->kernels[id][slot])
    status = device->driver->kernel_create(device, device->modules[module][slot], kernels[id].function,
                                           &device->kernels[id][slot]);
  if (status == KW_OK) *out_kernel = device->kernels[id][slot];
  pthread_mutex_unlock(&device->lock);
  return status;
}
