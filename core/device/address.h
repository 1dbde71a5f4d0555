/* SPDX-License-Identifier: Apache-2.0
 *
 * Addresses that stand for device memory: one range a device, reserved when it is first asked for, that nobody can
 * access, and the stretches of it that are in use. What a stretch stands for is whoever's took it.
 */
#ifndef KEYWAY_CORE_ADDRESS_H
#define KEYWAY_CORE_ADDRESS_H

#include "device/device.h"

typedef struct kw_stretch {
  uintptr_t start;
  uint64_t size; /* bytes; may be 0 */
  void *owner;
  void *view; /* of what it stands for, the one asked for last, or NULL; the owner's as well */
} kw_stretch;

/* A stretch of `size` bytes for `owner`, with a byte behind it that belongs to none. */
kw_status kw_stretch_take(kw_device *device, uint64_t size, uint64_t alignment, void *owner, void **out_address);

/* These look at a stretch while no other thread can change it: between lock and unlock. */
void kw_stretch_lock(void);
void kw_stretch_unlock(void);
/* The stretch that holds the address, or ends right at it; NULL when there is none. */
kw_stretch *kw_stretch_find(const void *address);
/* Ends it; its addresses come back when all others have been given out. */
void kw_stretch_give(kw_stretch *stretch);

/* The device in whose range an address lies, or NULL. */
kw_device *kw_stretch_device(const void *address);

/* The device closes: no stretch is left. */
void kw_addresses_free(kw_device *device);

#endif /* KEYWAY_CORE_ADDRESS_H */
