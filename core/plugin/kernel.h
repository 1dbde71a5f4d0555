/* SPDX-License-Identifier: Apache-2.0
 *
 * The kernels of a plugin: registered while its init runs, unchanged and in order from then on.
 */
#ifndef KEYWAY_CORE_KERNEL_H
#define KEYWAY_CORE_KERNEL_H

#include "plugin/plugin.h"

/* Warns of what KEYWAY_KERNELS says that can mean no kernel: no "op=name", or an op that there is not. While the
 * library starts, after its ops are there. */
void kw_kernels_start(void);

/* Registration is open from here, just before init, to kw_kernels_sort or kw_kernels_clear. KW_ERR_OUT_OF_MEMORY only.
 */
kw_status kw_kernels_open(kw_plugin *plugin);
/* Whether registration is open. Any thread. */
bool kw_kernels_are_open(const kw_plugin *plugin);
/* host->register_kernel, documented there. Any thread of the plugin, while registration is open. */
kw_status kw_kernel_register(kw_plugin *plugin, const kw_kernel_desc *desc);
/* Closes registration and puts the kernels in the order that kw_plugin_kernels relies on, after init. */
void kw_kernels_sort(kw_plugin *plugin);
/* Closes registration and forgets all kernels, after a failed init. */
void kw_kernels_clear(kw_plugin *plugin);

/* The kernels of one op in the order in which they are tried (priority, then registration; KEYWAY_KERNELS first).
 * *out_count may be 0. Immutable after load. */
kw_kernel *const *kw_plugin_kernels(const kw_plugin *plugin, const kw_op *op, uint32_t *out_count);
/* Those, and then the ones that are tried only by name. */
kw_kernel *const *kw_plugin_kernels_by_name(const kw_plugin *plugin, const kw_op *op, uint32_t *out_count);

#endif /* KEYWAY_CORE_KERNEL_H */
