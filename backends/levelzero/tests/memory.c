/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory of the three kinds. */
#include "emulated.h"

#define LARGEST_ALIGNMENT ((size_t)1 << 30)

static ze_result_t alloc(ze_context_handle_t context, ze_device_handle_t device, kw_engine_memory_kind kind,
                         size_t size, size_t alignment, void **out) {
  if (size == 0) return emu_fail(ZE_RESULT_ERROR_UNSUPPORTED_SIZE, "no memory of 0 bytes");
  if (size > KW_ENGINE_DEVICE_MEMORY)
    return emu_fail(ZE_RESULT_ERROR_UNSUPPORTED_SIZE, "%zu bytes are more than maxMemAllocSize", size);
  if ((alignment & (alignment - 1)) != 0 || alignment > LARGEST_ALIGNMENT)
    return emu_fail(ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT, "no alignment to %zu bytes", alignment);
  ze_result_t result = emu_answer(kw_engine_alloc(device ? device->engine : NULL, kind, size, alignment, out));
  if (result == ZE_RESULT_SUCCESS) ++context->objects;
  return kind == KW_ENGINE_MEMORY_HOST && result == ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY
             ? ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY
             : result;
}

static ze_result_t mem_alloc_device(ze_context_handle_t context, const ze_device_mem_alloc_desc_t *desc, size_t size,
                                    size_t alignment, ze_device_handle_t device, void **out) {
  EMU_CHECK(context, EMU_CONTEXT);
  EMU_CHECK(device, EMU_DEVICE);
  EMU_CHECK_STRUCT(desc, ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC);
  EMU_CHECK_POINTER(out);
  EMU_TRY(emu_check_lost(context, device));
  if (!desc->pNext) return alloc(context, device, KW_ENGINE_MEMORY_DEVICE, size, alignment, out);
  EMU_TRY(emu_share_alloc(desc->pNext, size, out));
  ++context->objects;
  return ZE_RESULT_SUCCESS;
}

static ze_result_t mem_alloc_host(ze_context_handle_t context, const ze_host_mem_alloc_desc_t *desc, size_t size,
                                  size_t alignment, void **out) {
  EMU_CHECK(context, EMU_CONTEXT);
  EMU_CHECK_STRUCT(desc, ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC);
  EMU_CHECK_POINTER(out);
  return alloc(context, NULL, KW_ENGINE_MEMORY_HOST, size, alignment, out);
}

/* A device may be NULL: any. */
static ze_result_t mem_alloc_shared(ze_context_handle_t context, const ze_device_mem_alloc_desc_t *device_desc,
                                    const ze_host_mem_alloc_desc_t *host_desc, size_t size, size_t alignment,
                                    ze_device_handle_t device, void **out) {
  EMU_CHECK(context, EMU_CONTEXT);
  EMU_CHECK_STRUCT(device_desc, ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC);
  EMU_CHECK_STRUCT(host_desc, ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC);
  EMU_CHECK_POINTER(out);
  if (device) {
    EMU_CHECK(device, EMU_DEVICE);
    EMU_TRY(emu_check_lost(context, device));
  }
  return alloc(context, device, KW_ENGINE_MEMORY_SHARED, size, alignment, out);
}

static ze_result_t mem_free(ze_context_handle_t context, void *base) {
  EMU_CHECK(context, EMU_CONTEXT);
  EMU_CHECK_POINTER(base);
  if (!emu_share_free(base)) EMU_TRY(emu_answer(kw_engine_free(base)));
  --context->objects;
  return ZE_RESULT_SUCCESS;
}

static ze_result_t mem_get_alloc_properties(ze_context_handle_t context, const void *pointer,
                                            ze_memory_allocation_properties_t *out, ze_device_handle_t *out_device) {
  static const ze_memory_type_t types[] = {[KW_ENGINE_MEMORY_DEVICE] = ZE_MEMORY_TYPE_DEVICE,
                                           [KW_ENGINE_MEMORY_HOST] = ZE_MEMORY_TYPE_HOST,
                                           [KW_ENGINE_MEMORY_SHARED] = ZE_MEMORY_TYPE_SHARED,
                                           [KW_ENGINE_MEMORY_FOREIGN] = ZE_MEMORY_TYPE_HOST};
  kw_engine_allocation found;
  EMU_CHECK(context, EMU_CONTEXT);
  EMU_CHECK_POINTER(pointer);
  EMU_CHECK_STRUCT(out, ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES);
  const bool known = kw_engine_find(pointer, &found);
  out->type = known ? types[found.kind] : ZE_MEMORY_TYPE_UNKNOWN;
  out->id = known ? (uint64_t)(uintptr_t)found.base : 0;
  out->pageSize = 4096;
  if (out_device) *out_device = known ? emu_device_of(found.device) : NULL;
  return out->pNext ? emu_share_export(pointer, out->pNext) : ZE_RESULT_SUCCESS;
}

static ze_result_t mem_get_address_range(ze_context_handle_t context, const void *pointer, void **out_base,
                                         size_t *out_size) {
  kw_engine_allocation found;
  EMU_CHECK(context, EMU_CONTEXT);
  EMU_CHECK_POINTER(pointer);
  if (!kw_engine_find(pointer, &found))
    return emu_fail(ZE_RESULT_ERROR_INVALID_ARGUMENT, "%p is in no allocation", pointer);
  if (out_base) *out_base = found.base;
  if (out_size) *out_size = found.size;
  return ZE_RESULT_SUCCESS;
}

void emu_fill_mem(ze_mem_dditable_t *table) {
  table->pfnAllocDevice = mem_alloc_device;
  table->pfnAllocHost = mem_alloc_host;
  table->pfnAllocShared = mem_alloc_shared;
  table->pfnFree = mem_free;
  table->pfnGetAllocProperties = mem_get_alloc_properties;
  table->pfnGetAddressRange = mem_get_address_range;
}
