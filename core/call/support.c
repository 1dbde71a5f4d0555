/* SPDX-License-Identifier: Apache-2.0
 *
 * Looking through the kernels that a device's plugin has registered: kw_op_support, kw_op_get_kernel.
 */
#include "base/dtype.h"
#include "base/error.h"
#include "base/struct.h"
#include "call/decompose.h"
#include "call/has_kernel.h"
#include "op/op.h"
#include "plugin/kernel.h"

/* The dtype an op computes on when its tensor arguments have `dtype`. */
static kw_dtype key_of(const kw_op *op, kw_dtype dtype) {
  const bool integral = kw_dtype_is_integral(dtype);
  if (op->row.result == KW_RESULT_FLOAT && integral) return KW_F32;
  if (op->row.result == KW_RESULT_SUM && integral) return KW_I64;
  return dtype;
}

KW_API kw_support kw_op_support(const kw_op *op, kw_device *device, kw_dtype dtype) {
  if (!op || !device || !kw_dtype_is_among(dtype, op->row.dtypes)) return KW_SUPPORT_NONE;
  const kw_math math = kw_math_now();
  kw_dtype key = key_of(op, dtype);
  bool castable = key == dtype || kw_can_cast_from(device, dtype, math);
  uint32_t count;
  kw_kernel *const *kernels = kw_plugin_kernels(device->plugin, op, &count);
  for (uint32_t i = 0; i < count; ++i) {
    const kw_kernel_desc *desc = &kernels[i]->desc;
    bool takes = castable || (desc->flags & KW_KERNEL_MIXED_DTYPES);
    if (!takes || !kw_math_allows(math, desc)) continue;
    if (kw_dtype_mask_has(desc->dtypes, key)) return KW_SUPPORT_KERNEL;
  }
  return castable && kw_decompose_find(op, device, key, math) ? KW_SUPPORT_DECOMPOSED : KW_SUPPORT_NONE;
}

KW_API kw_status kw_op_get_kernel(const kw_op *op, kw_device *device, uint32_t index, kw_kernel_info *out_info) {
  kw_status status = kw_struct_check_given("kw_op_get_kernel", out_info);
  if (status != KW_OK) return status;
  if (!op || !device) return kw_fail(KW_ERR_INVALID_ARGUMENT, "kw_op_get_kernel: op and device must not be NULL");
  uint32_t count;
  kw_kernel *const *kernels = kw_plugin_kernels_by_name(device->plugin, op, &count);
  if (index >= count) {
    return kw_fail(KW_ERR_NOT_FOUND, "%s has %u kernels for %s; there is no number %u", device->name, count,
                   op->schema.name, index);
  }
  const kw_kernel_desc *desc = &kernels[index]->desc;
  const kw_kernel_info info = {.struct_size = sizeof info,
                               .math_mode = kw_math_needed(desc),
                               .flags = desc->flags,
                               .name = desc->name,
                               .dtypes = desc->dtypes,
                               .priority = desc->priority,
                               .packable = desc->packable};
  kw_struct_write(out_info, &info, sizeof info);
  return KW_OK;
}
