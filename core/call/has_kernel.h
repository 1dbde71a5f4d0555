/* SPDX-License-Identifier: Apache-2.0
 *
 * Which kernels a device's plugin has registered.
 */
#ifndef KEYWAY_CORE_HAS_KERNEL_H
#define KEYWAY_CORE_HAS_KERNEL_H

#include "base/math_mode.h"
#include "device/device.h"

/* Whether there is one of the op that computes on `key`, and that `math` allows. */
bool kw_has_kernel(const kw_op *op, const kw_device *device, kw_dtype key, kw_math math);

/* The same of kernels for which arguments of other dtypes are cast: those that do not take mixed dtypes themselves. */
bool kw_has_kernel_after_casts(const kw_op *op, const kw_device *device, kw_dtype key, kw_math math);

/* Whether the device's plugin has a kernel that casts, and that `math` allows: a copy_ kernel for mixed dtypes whose
 * source is `from`. */
bool kw_can_cast_from(const kw_device *device, kw_dtype from, kw_math math);

#endif /* KEYWAY_CORE_HAS_KERNEL_H */
