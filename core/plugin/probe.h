/* SPDX-License-Identifier: Apache-2.0
 *
 * Opening plugins in helper processes first, side by side, so that a crash or a hang is the helper's.
 *
 * The helper, keyway-probe FILE, takes a plugin from its constructors to its shutdown. After each stage it writes a
 * line to KW_PROBE_FD, all that is known by then, so that this is known however it ends:
 *
 *     facts {...}    facts.h
 *     doing TEXT     what it does next, for whoever has to say where it ended: "in its init"
 *     end            nothing follows
 */
#ifndef KEYWAY_CORE_PROBE_H
#define KEYWAY_CORE_PROBE_H

#include "plugin/facts.h"

#define KW_PROBE_FD 3
#define KW_PROBE_PROGRAM "keyway-probe"
/* Set in the helper's environment, where a plugin's call of Keyway is refused: who asked for plugins would start
 * helpers that ask for plugins. */
#define KW_PROBE_VARIABLE "KEYWAY_IN_PROBE"
/* Options that kw_init was given, in the helper's environment, from number 0 on: KEY=VALUE each. */
#define KW_PROBE_OPTION_VARIABLE "KEYWAY_IN_PROBE_OPTION_"

typedef struct kw_probe {
  const char *path;
  kw_plugin_facts *facts; /* result, the caller's; NULL when memory was out, or starved */
  bool starved;           /* result: the helper did not start for want of memory, files or processes */
  char reason[256];       /* of starved */
} kw_probe;

/* Runs `helper` on each path and waits for them all, but not for longer than KEYWAY_PROBE_TIMEOUT_MS after the last
 * time that any of them came a step further. Never fails: what goes wrong is in the results. */
void kw_probe_run(const char *helper, kw_probe *probes, uint32_t count);

#endif /* KEYWAY_CORE_PROBE_H */
