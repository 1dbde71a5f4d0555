/* SPDX-License-Identifier: Apache-2.0
 *
 * The kernels that a plugin registers during its init.
 */
#ifndef KEYWAY_CORE_KERNEL_H
#define KEYWAY_CORE_KERNEL_H

#include "plugin/plugin.h"

/* host->register_kernel, documented there. Loading thread only. */
kw_status kw_kernel_register(kw_plugin *plugin, const kw_kernel_desc *desc);

/* Puts plugin->kernels in the order that kw_plugin_kernels relies on, after init. */
void kw_kernels_sort(kw_plugin *plugin);

/* Forgets all, after a failed init. */
void kw_kernels_clear(kw_plugin *plugin);

#endif /* KEYWAY_CORE_KERNEL_H */
