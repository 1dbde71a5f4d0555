/* SPDX-License-Identifier: Apache-2.0
 *
 * Looking through the kernels that a device's plugin has registered.
 */
#include "call/has_kernel.h"

#include "op/op.h"
#include "plugin/kernel.h"

/* Whether there is one without any of the flags `without`. */
static bool has(const kw_op *op, const kw_device *device, kw_dtype key, kw_math math, uint64_t without) {
  uint32_t count;
  kw_kernel *const *kernels = kw_plugin_kernels(device->plugin, op, &count);
  for (uint32_t i = 0; i < count; ++i) {
    const kw_kernel_desc *desc = &kernels[i]->desc;
    if (kw_dtype_mask_has(desc->dtypes, key) && kw_math_allows(math, desc) && !(desc->flags & without)) return true;
  }
  return false;
}

bool kw_has_kernel(const kw_op *op, const kw_device *device, kw_dtype key, kw_math math) {
  return has(op, device, key, math, 0);
}

bool kw_has_kernel_after_casts(const kw_op *op, const kw_device *device, kw_dtype key, kw_math math) {
  return has(op, device, key, math, KW_KERNEL_MIXED_DTYPES);
}

bool kw_can_cast_from(const kw_device *device, kw_dtype from, kw_math math) {
  uint32_t count;
  kw_kernel *const *kernels = kw_plugin_kernels(device->plugin, kw_op_find("copy_"), &count);
  for (uint32_t i = 0; i < count; ++i) {
    const kw_kernel_desc *desc = &kernels[i]->desc;
    if (!(desc->flags & KW_KERNEL_MIXED_DTYPES) || !kw_math_allows(math, desc)) continue;
    if (kw_dtype_mask_has(desc->dtypes, from)) return true;
  }
  return false;
}
