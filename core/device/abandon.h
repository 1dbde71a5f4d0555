/* SPDX-License-Identifier: Apache-2.0
 *
 * Devices that are given up while they hang: kw_device_abandon. No slot of theirs is called any more, and nothing that
 * a hung thread may still touch is freed.
 */
#ifndef KEYWAY_CORE_ABANDON_H
#define KEYWAY_CORE_ABANDON_H

#include "device/device.h"

/* Keeps what cannot be freed reachable until the process ends: it is given up, not lost. */
void kw_abandon_keep(void *pointer);

#endif /* KEYWAY_CORE_ABANDON_H */
