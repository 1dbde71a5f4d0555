/* SPDX-License-Identifier: Apache-2.0
 *
 * The end of the process, seen from the devices.
 */
#ifndef KEYWAY_CORE_EXIT_H
#define KEYWAY_CORE_EXIT_H

#include "device/device.h"

/* Has the plugins shut down at exit before the exit handlers that drivers have registered by now. Called after each
 * load of a plugin and after each plugin's first open, where drivers register theirs. */
void kw_exit_register(void);

/* Calls `step` before the plugins are shut down: for a thread of the library's own that asks them. */
typedef void kw_exit_step(void);
void kw_exit_before(kw_exit_step *step);

/* KW_ERR_UNSUPPORTED once the process exits and the plugins are shut down. */
kw_status kw_exit_check(void);

/* The device that the library keeps open for itself and closes at exit; NULL before kw_exit_keep. */
kw_device *kw_exit_kept(void);
/* Keeps one open of `device`. Returns the device that is kept: where another thread was first, its device, and
 * `device` is closed. */
kw_device *kw_exit_keep(kw_device *device);

#endif /* KEYWAY_CORE_EXIT_H */
