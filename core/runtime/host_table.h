/* SPDX-License-Identifier: Apache-2.0
 *
 * The services that a plugin receives in init: documented in plugin.h.
 */
#ifndef KEYWAY_CORE_HOST_H
#define KEYWAY_CORE_HOST_H

#include "plugin/plugin.h"

/* The services for every plugin: each gets a copy with a ctx (its kw_plugin) and an abi_version of its own. */
extern const kw_host_api kw_host_services;

#endif /* KEYWAY_CORE_HOST_H */
