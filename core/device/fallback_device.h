/* SPDX-License-Identifier: Apache-2.0
 *
 * The device that computes what another one cannot.
 */
#ifndef KEYWAY_CORE_FALLBACK_DEVICE_H
#define KEYWAY_CORE_FALLBACK_DEVICE_H

#include "device/device.h"

/* cpu:0 for fallback, opened once and kept open until exit; NULL with an error when there is none. */
kw_device *kw_device_fallback(void);

#endif /* KEYWAY_CORE_FALLBACK_DEVICE_H */
