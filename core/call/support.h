/* SPDX-License-Identifier: Apache-2.0
 *
 * What a device can do, by what its plugin has registered.
 */
#ifndef KEYWAY_CORE_SUPPORT_H
#define KEYWAY_CORE_SUPPORT_H

#include "base/math_mode.h"
#include "device/device.h"

/* Whether the device's plugin has a kernel that casts, and that `math` allows: a copy_ kernel for mixed dtypes whose
 * source is `from`. */
bool kw_can_cast_from(const kw_device *device, kw_dtype from, kw_math math);

#endif /* KEYWAY_CORE_SUPPORT_H */
