/* SPDX-License-Identifier: Apache-2.0
 *
 * Host memory that a device copies from and to fastest, and a piece of it that each device keeps for copies through the
 * host.
 */
#ifndef KEYWAY_CORE_HOST_MEMORY_H
#define KEYWAY_CORE_HOST_MEMORY_H

#include "device/device.h"

#define KW_STAGING_SIZE (UINT64_C(16) << 20) /* bytes */

/* KW_STAGING_SIZE bytes, which only the caller uses until it gives them back; NULL when there is no memory. */
void *kw_staging_take(kw_device *device);
void kw_staging_give(kw_device *device, void *memory);

/* Frees what the device keeps, before it closes. */
void kw_staging_free(kw_device *device);

#endif /* KEYWAY_CORE_HOST_MEMORY_H */
