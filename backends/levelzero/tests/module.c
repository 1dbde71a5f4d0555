/* SPDX-License-Identifier: Apache-2.0
 *
 * Modules, their build logs, kernels. A native binary is a hash and an engine's module. */
#include "emulated.h"

#include <stdlib.h>
#include <string.h>

struct _ze_module_build_log_handle_t {
  emu_kind kind;
  char *text;
};

/* ---- Build logs -------------------------------------------------------------------------------------------------- */

static ze_result_t log_destroy(ze_module_build_log_handle_t log) {
  EMU_CHECK(log, EMU_BUILD_LOG);
  free(log->text);
  emu_destroy(log, NULL);
  return ZE_RESULT_SUCCESS;
}

/* Gives bytes to a caller who asks twice: for their size, then for them. */
static ze_result_t give(const void *head, size_t head_size, const void *body, size_t body_size, size_t *size,
                        void *out) {
  EMU_CHECK_POINTER(size);
  if (out) {
    if (*size < head_size + body_size)
      return emu_fail(ZE_RESULT_ERROR_INVALID_SIZE, "%zu bytes for %zu", *size, head_size + body_size);
    memcpy(out, head, head_size);
    memcpy((char *)out + head_size, body, body_size);
  }
  *size = head_size + body_size;
  return ZE_RESULT_SUCCESS;
}

static ze_result_t log_get_string(ze_module_build_log_handle_t log, size_t *size, char *out) {
  EMU_CHECK(log, EMU_BUILD_LOG);
  const char *text = log->text ? log->text : "";
  return give("", 0, text, strlen(text) + 1, size, out);
}

/* ---- Modules ----------------------------------------------------------------------------------------------------- */

static uint64_t hash_of(const unsigned char *bytes, size_t size) {
  uint64_t hash = 14695981039346656037u; /* FNV-1a */
  for (size_t i = 0; i < size; ++i) hash = (hash ^ bytes[i]) * 1099511628211u;
  return hash;
}

static ze_result_t load_spirv(const ze_module_desc_t *desc, kw_engine_module **out_module, char **out_log) {
  void *bytes;
  size_t size;
  if (!emu_translate(desc->pInputModule, desc->inputSize, &bytes, &size, out_log))
    return emu_fail(ZE_RESULT_ERROR_MODULE_BUILD_FAILURE, "emulated: %s", *out_log ? *out_log : "out of memory");
  ze_result_t result = emu_answer(kw_engine_module_load(bytes, size, out_module));
  free(bytes);
  return result == ZE_RESULT_SUCCESS ? result : ZE_RESULT_ERROR_MODULE_BUILD_FAILURE;
}

static ze_result_t load_native(const ze_module_desc_t *desc, kw_engine_module **out_module) {
  uint64_t hash;
  const size_t size = desc->inputSize - sizeof hash;
  if (desc->inputSize > sizeof hash) memcpy(&hash, desc->pInputModule, sizeof hash);
  if (desc->inputSize <= sizeof hash || hash != hash_of(desc->pInputModule + sizeof hash, size))
    return emu_fail(ZE_RESULT_ERROR_INVALID_NATIVE_BINARY, "emulated: this is no native binary of the driver's");
  ze_result_t result = emu_answer(kw_engine_module_load(desc->pInputModule + sizeof hash, size, out_module));
  return result == ZE_RESULT_SUCCESS ? result : ZE_RESULT_ERROR_INVALID_NATIVE_BINARY;
}

static ze_result_t module_create(ze_context_handle_t context, ze_device_handle_t device, const ze_module_desc_t *desc,
                                 ze_module_handle_t *out, ze_module_build_log_handle_t *out_log) {
  char *log = NULL;
  kw_engine_module *engine = NULL;
  EMU_CHECK(context, EMU_CONTEXT);
  EMU_CHECK(device, EMU_DEVICE);
  EMU_CHECK_STRUCT(desc, ZE_STRUCTURE_TYPE_MODULE_DESC);
  EMU_CHECK_POINTER(desc->pInputModule);
  EMU_CHECK_POINTER(out);
  if (desc->inputSize == 0) return emu_fail(ZE_RESULT_ERROR_INVALID_SIZE, "a module of no bytes");
  if (desc->format > ZE_MODULE_FORMAT_NATIVE)
    return emu_fail(ZE_RESULT_ERROR_INVALID_ENUMERATION, "no such format of modules");
  if (desc->pConstants) return emu_fail(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, "no specialisation constants");
  EMU_TRY(emu_check_lost(context, device));
  ze_result_t result =
      desc->format == ZE_MODULE_FORMAT_NATIVE ? load_native(desc, &engine) : load_spirv(desc, &engine, &log);
  if (out_log) {
    *out_log = emu_create(EMU_BUILD_LOG, sizeof **out_log, NULL);
    if (*out_log) (*out_log)->text = log;
  } else {
    free(log);
  }
  if (result != ZE_RESULT_SUCCESS) return result;
  *out = emu_create(EMU_MODULE, sizeof **out, context);
  if (!*out) {
    kw_engine_module_unload(engine);
    return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
  }
  (*out)->context = context;
  (*out)->device = device;
  (*out)->engine = engine;
  return ZE_RESULT_SUCCESS;
}

static ze_result_t module_destroy(ze_module_handle_t module) {
  EMU_CHECK(module, EMU_MODULE);
  if (module->kernels > 0)
    return emu_fail(ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE, "emulated: %d kernels of the module are left",
                    module->kernels);
  kw_engine_module_unload(module->engine);
  emu_destroy(module, module->context);
  return ZE_RESULT_SUCCESS;
}

static ze_result_t module_get_native_binary(ze_module_handle_t module, size_t *size, uint8_t *out) {
  size_t body;
  EMU_CHECK(module, EMU_MODULE);
  const void *bytes = kw_engine_module_bytes(module->engine, &body);
  const uint64_t hash = hash_of(bytes, body);
  return give(&hash, sizeof hash, bytes, body, size, out);
}

/* ---- Kernels ----------------------------------------------------------------------------------------------------- */

static ze_result_t kernel_create(ze_module_handle_t module, const ze_kernel_desc_t *desc, ze_kernel_handle_t *out) {
  char info[sizeof((kw_engine_kernel *)0)->name + sizeof "_info"];
  EMU_CHECK(module, EMU_MODULE);
  EMU_CHECK_STRUCT(desc, ZE_STRUCTURE_TYPE_KERNEL_DESC);
  EMU_CHECK_POINTER(desc->pKernelName);
  EMU_CHECK_POINTER(out);
  EMU_TRY(emu_check_lost(module->context, module->device));
  ze_kernel_handle_t kernel = emu_create(EMU_KERNEL, sizeof *kernel, NULL);
  if (!kernel) return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
  if (kw_engine_kernel_find(module->engine, desc->pKernelName, &kernel->kernel) != KW_ENGINE_OK) {
    emu_destroy(kernel, NULL);
    return emu_fail(ZE_RESULT_ERROR_INVALID_KERNEL_NAME, "emulated: %s", kw_engine_message());
  }
  strcat(strcpy(info, kernel->kernel.name), "_info");
  kernel->info = kw_engine_module_symbol(module->engine, info);
  kernel->module = module;
  for (uint32_t i = 1; i < kernel->kernel.param_count; ++i)
    kernel->places[i] = kernel->places[i - 1] + kernel->kernel.param_sizes[i - 1];
  ++module->kernels;
  *out = kernel;
  return ZE_RESULT_SUCCESS;
}

static ze_result_t kernel_destroy(ze_kernel_handle_t kernel) {
  EMU_CHECK(kernel, EMU_KERNEL);
  --kernel->module->kernels;
  emu_destroy(kernel, NULL);
  return ZE_RESULT_SUCCESS;
}

static ze_result_t kernel_set_group_size(ze_kernel_handle_t kernel, uint32_t x, uint32_t y, uint32_t z) {
  EMU_CHECK(kernel, EMU_KERNEL);
  const uint32_t group[3] = {x, y, z};
  uint64_t items = 1;
  for (int d = 0; d < 3; ++d) {
    items *= group[d];
    if (items == 0 || items > KW_ENGINE_GROUP_ITEMS || (kernel->info[0] && (int32_t)group[d] != kernel->info[d]))
      return emu_fail(ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION, "%s does not take groups of %u x %u x %u",
                      kernel->kernel.name, x, y, z);
  }
  memcpy(kernel->group, group, sizeof group);
  return ZE_RESULT_SUCCESS;
}

static ze_result_t kernel_suggest_group_size(ze_kernel_handle_t kernel, uint32_t x, uint32_t y, uint32_t z,
                                             uint32_t *out_x, uint32_t *out_y, uint32_t *out_z) {
  EMU_CHECK(kernel, EMU_KERNEL);
  EMU_CHECK_POINTER(out_x);
  EMU_CHECK_POINTER(out_y);
  EMU_CHECK_POINTER(out_z);
  (void)x, (void)y, (void)z;
  const bool required = kernel->info[0] != 0;
  *out_x = required ? (uint32_t)kernel->info[0] : 1;
  *out_y = required ? (uint32_t)kernel->info[1] : 1;
  *out_z = required ? (uint32_t)kernel->info[2] : 1;
  return ZE_RESULT_SUCCESS;
}

/* A value of NULL is a NULL pointer. */
static ze_result_t kernel_set_argument_value(ze_kernel_handle_t kernel, uint32_t index, size_t size,
                                             const void *value) {
  static const void *const nothing = NULL;
  EMU_CHECK(kernel, EMU_KERNEL);
  if (index >= kernel->kernel.param_count)
    return emu_fail(ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX, "%s has %u arguments, none of index %u",
                    kernel->kernel.name, kernel->kernel.param_count, index);
  if (size != kernel->kernel.param_sizes[index] || (!value && !kernel->info[3 + index]))
    return emu_fail(ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE, "argument %u of %s has %u bytes, not %zu", index,
                    kernel->kernel.name, kernel->kernel.param_sizes[index], size);
  memcpy(kernel->bytes + kernel->places[index], value ? value : &nothing, size);
  kernel->set[index] = true;
  return ZE_RESULT_SUCCESS;
}

static ze_result_t kernel_set_indirect_access(ze_kernel_handle_t kernel, ze_kernel_indirect_access_flags_t flags) {
  EMU_CHECK(kernel, EMU_KERNEL);
  (void)flags;
  return ZE_RESULT_SUCCESS;
}

static ze_result_t kernel_get_properties(ze_kernel_handle_t kernel, ze_kernel_properties_t *out) {
  EMU_CHECK(kernel, EMU_KERNEL);
  EMU_CHECK_STRUCT(out, ZE_STRUCTURE_TYPE_KERNEL_PROPERTIES);
  *out = (ze_kernel_properties_t){
      .stype = out->stype,
      .pNext = out->pNext,
      .numKernelArgs = kernel->kernel.param_count,
      .requiredGroupSizeX = (uint32_t)kernel->info[0],
      .requiredGroupSizeY = (uint32_t)kernel->info[1],
      .requiredGroupSizeZ = (uint32_t)kernel->info[2],
      .maxSubgroupSize = 1,
      .maxNumSubgroups = KW_ENGINE_GROUP_ITEMS,
  };
  return ZE_RESULT_SUCCESS;
}

static ze_result_t kernel_get_name(ze_kernel_handle_t kernel, size_t *size, char *out) {
  EMU_CHECK(kernel, EMU_KERNEL);
  return give("", 0, kernel->kernel.name, strlen(kernel->kernel.name) + 1, size, out);
}

/* ---- Tables ------------------------------------------------------------------------------------------------------ */

void emu_fill_module(ze_module_dditable_t *table) {
  table->pfnCreate = module_create;
  table->pfnDestroy = module_destroy;
  table->pfnGetNativeBinary = module_get_native_binary;
}

void emu_fill_module_build_log(ze_module_build_log_dditable_t *table) {
  table->pfnDestroy = log_destroy;
  table->pfnGetString = log_get_string;
}

void emu_fill_kernel(ze_kernel_dditable_t *table) {
  table->pfnCreate = kernel_create;
  table->pfnDestroy = kernel_destroy;
  table->pfnSetGroupSize = kernel_set_group_size;
  table->pfnSuggestGroupSize = kernel_suggest_group_size;
  table->pfnSetArgumentValue = kernel_set_argument_value;
  table->pfnSetIndirectAccess = kernel_set_indirect_access;
  table->pfnGetProperties = kernel_get_properties;
  table->pfnGetName = kernel_get_name;
}
