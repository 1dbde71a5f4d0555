/* SPDX-License-Identifier: Apache-2.0
 *
 * What the library puts in front of a plugin's bytes for other processes, and wants to see again before the plugin is
 * shown any: they come from elsewhere and may hold anything.
 */
#ifndef KEYWAY_CORE_IPC_H
#define KEYWAY_CORE_IPC_H

#include "device/device.h"

/* Moves the plugin's KW_IPC_SIZE bytes behind the library's. KW_ERR_INTERNAL when the plugin has written more. */
kw_status kw_ipc_seal(const kw_device *device, uint8_t bytes[128]);
/* The plugin's bytes alone, zeros behind them. KW_ERR_INVALID_ARGUMENT when these are no such bytes,
 * KW_ERR_UNSUPPORTED when they are another version's, plugin's, device's or driver's. */
kw_status kw_ipc_open(const kw_device *device, uint8_t bytes[128]);

#endif /* KEYWAY_CORE_IPC_H */
