/* SPDX-License-Identifier: Apache-2.0
 *
 * Constant tensors, for applications.
 */
#include "device/constant.h"

#include "base/error.h"
#include "base/fork.h"
#include "tensor/tensor.h"

KW_API kw_status kw_tensor_set_constant(kw_tensor *tensor, bool constant) {
  kw_status status = kw_tensor_check("kw_tensor_set_constant", "tensor", tensor);
  if (status == KW_OK) status = kw_fork_check();
  if (status == KW_OK) status = kw_device_check(tensor->device);
  if (status != KW_OK) return status;
  if (constant) return kw_buffer_set_constant(tensor->buffer);
  kw_buffer_end_constant(tensor->buffer);
  return KW_OK;
}

KW_API bool kw_tensor_is_constant(const kw_tensor *tensor) {
  return tensor != NULL && kw_tensor_lives(tensor) && kw_buffer_constant_spell(tensor->buffer) != 0;
}
