/* SPDX-License-Identifier: Apache-2.0
 *
 * Plugins in processes of their own: whether one is wanted there, and opening it so. docs/isolation.md tells people
 * what that gives and what it costs.
 */
#ifndef KEYWAY_CORE_ISOLATE_H
#define KEYWAY_CORE_ISOLATE_H

#include "plugin/negotiate.h"

#define KW_ISOLATE_PROGRAM "keyway-plugin-host"

/* Whether the plugin in this file is to run in a process of its own: the option `isolate` says, or else KEYWAY_ISOLATE
 * names it, or its manifest wants it. Fails where a manifest that would have to say so cannot be read or makes no
 * sense. `desc` has the plugin's names and its options. */
kw_status kw_isolate_wanted(const char *path, const kw_plugin_desc *desc, bool *out_wanted);

/* What opening, querying and probing are in this process: done in a new one. *out_answer has slots that go there, and
 * lives as long as the library; *out_reached says how far it came. */
kw_status kw_isolate_open(const char *path, kw_plugin_answer *out_answer, kw_stage *out_reached);

#endif /* KEYWAY_CORE_ISOLATE_H */
