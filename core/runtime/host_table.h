/* SPDX-License-Identifier: Apache-2.0
 *
 * The services that a plugin receives in init: documented in plugin.h.
 */
#ifndef KEYWAY_CORE_HOST_H
#define KEYWAY_CORE_HOST_H

#include "plugin/plugin.h"

/* Fills plugin->host. */
void kw_host_fill(kw_plugin *plugin, uint32_t abi_version);

#endif /* KEYWAY_CORE_HOST_H */
