/* SPDX-License-Identifier: Apache-2.0
 *
 * Keyway for tests: faults that a plugin brings about on demand (group keyway.test/1), so that an application can try
 * what it does about them. Only in a process that called kw_init with KW_INIT_TEST.
 */
#ifndef KEYWAY_TEST_H
#define KEYWAY_TEST_H

#include <keyway/keyway.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Tells the device to let the n-th allocation, launch or piece of work from now on meet `fault`; see kw_fault. nth is
 * at least 1, and ignored for KW_FAULT_NONE. An allocation is one of the plugin's (kw_memory_stats.plugin_allocs): the
 * library tries again once after freeing its caches, so that a single failure shows as oom_retries. Any thread.
 * KW_ERR_UNSUPPORTED: the process was not started with KW_INIT_TEST, or the plugin has no keyway.test/1 or not this
 * fault. */
KW_API kw_status kw_device_order_fault(kw_device *device, kw_fault fault, uint64_t nth);

#ifdef __cplusplus
}
#endif

#endif /* KEYWAY_TEST_H */
