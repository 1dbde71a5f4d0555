/* SPDX-License-Identifier: Apache-2.0
 *
 * Maps of tensors: what is refused before their memory is mapped.
 */
#include "device/map.h"
#include "tensor/transfer.h"

#include "base/error.h"
#include "base/fork.h"

#include <inttypes.h>

static kw_status check_flags(const char *function, uint64_t flags) {
  const uint64_t known = KW_MAP_READ | KW_MAP_WRITE;
  if ((flags & ~known) != 0) {
    return kw_fail(KW_ERR_UNSUPPORTED, "%s: flags 0x%" PRIx64 ": this library knows KW_MAP_READ and KW_MAP_WRITE.",
                   function, flags);
  }
  if (flags != 0) return KW_OK;
  return kw_fail(KW_ERR_INVALID_ARGUMENT, "%s: flags is 0; give KW_MAP_READ, KW_MAP_WRITE or both.", function);
}

static kw_status check_tensor(const char *function, const kw_tensor *tensor, uint64_t flags) {
  kw_status status = kw_device_check(tensor->device);
  if (status == KW_OK) status = kw_tensor_check_contents(function, tensor);
  if (status == KW_OK && (flags & KW_MAP_WRITE) != 0) status = kw_tensor_check_writable(function, tensor);
  if (status != KW_OK) return status;
  return kw_tensor_check_contiguous(function, tensor, "Map the tensor that it is a view of, or copy it.");
}

kw_status kw_tensor_map(kw_tensor *tensor, kw_stream *stream, uint64_t flags, void **out_pointer) {
  static const char function[] = "kw_tensor_map";
  kw_status status = kw_tensor_check(function, "tensor", tensor);
  if (status != KW_OK) return status;
  if (out_pointer == NULL) return kw_fail(KW_ERR_INVALID_ARGUMENT, "%s: argument out_pointer is NULL.", function);
  status = kw_stream_may_wait(function);
  if (status == KW_OK) status = check_flags(function, flags);
  if (status == KW_OK) status = check_tensor(function, tensor, flags);
  if (status == KW_OK) status = kw_stream_resolve(function, tensor->device, stream, &stream);
  if (status == KW_OK) status = kw_stream_may_not_record(function, stream);
  if (status != KW_OK) return status;
  const kw_map_range range = {.owner = tensor,
                              .buffer = tensor->buffer,
                              .offset = tensor->ref.offset,
                              .size = kw_ref_bytes(&tensor->ref),
                              .flags = flags};
  return kw_map_begin(function, &range, stream, out_pointer);
}

kw_status kw_tensor_unmap(kw_tensor *tensor, void *pointer) {
  static const char function[] = "kw_tensor_unmap";
  kw_status status = kw_tensor_check(function, "tensor", tensor);
  if (status == KW_OK) status = kw_stream_may_wait(function);
  return status == KW_OK ? kw_map_end(function, tensor, pointer) : status;
}
