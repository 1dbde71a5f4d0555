/* SPDX-License-Identifier: Apache-2.0
 *
 * Opening and closing devices.
 */
#ifndef KEYWAY_CORE_OPEN_H
#define KEYWAY_CORE_OPEN_H

#include "device/device.h"
#include "plugin/option.h"

/* kw_device_open of the plugin's device `index`, which is to be called `name`, with these options for it alone; opens
 * the plugin first, if need be. *out_first: no device of the plugin was opened before, so that it or its driver may
 * have registered exit handlers (kw_exit_register), also when opening fails. */
kw_status kw_device_open_at(kw_plugin *plugin, uint32_t index, const char *name, const kw_options *options,
                            bool *out_first, kw_device **out_device);

/* A forked child has none of its parent's devices: marks them all lost. For the fork handler. */
void kw_device_forked(void);

/* Begins or ends tracing all devices that are open: kw_activity_record. One thread at a time. */
void kw_device_trace_all(bool trace);

/* From one open device to the next, in the order of their ids: retains the one after `previous` (NULL: the first one),
 * and releases `previous`, which may have been the last to keep it. NULL after the last one. */
kw_device *kw_device_next_open(kw_device *previous);

/* A plugin has built a module for the device that it knows by `handle`, or fetched it from a cache. */
kw_status kw_device_count_build(const kw_plugin *plugin, const void *handle, uint64_t ns, bool cached);

#endif /* KEYWAY_CORE_OPEN_H */
