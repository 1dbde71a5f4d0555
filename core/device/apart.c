/* SPDX-License-Identifier: Apache-2.0
 *
 * Buffers of memory that the plugin allocates for them alone, as options say.
 */
#include "device/allocator.h"

static kw_status try_once(kw_device *device, const kw_memory_options *options, uint64_t size, kw_import **out_memory) {
  kw_status status = kw_import_allocate(device, options, size == 0 ? 1 : size, out_memory);
  kw_memory_count(&device->memory.plugin_allocs);
  return status;
}

kw_status kw_buffer_create_apart(kw_device *device, const kw_memory_options *options, uint64_t size,
                                 kw_buffer **out_buffer) {
  kw_import *memory;
  kw_status status = try_once(device, options, size, &memory);
  if (status == KW_ERR_OUT_OF_MEMORY && !kw_stream_in_callback() && kw_memory_trim(device) == KW_OK) {
    kw_memory_count(&device->memory.oom_retries);
    status = try_once(device, options, size, &memory);
  }
  if (status == KW_ERR_OUT_OF_MEMORY) kw_memory_count(&device->memory.oom_failures);
  if (status != KW_OK) return status;
  status = kw_buffer_on_import(device, memory, out_buffer);
  if (status != KW_OK) kw_import_end(device, memory);
  return status;
}
