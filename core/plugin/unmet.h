/* SPDX-License-Identifier: Apache-2.0
 *
 * Names of plugins in the environment that no plugin has.
 */
#ifndef KEYWAY_CORE_UNMET_H
#define KEYWAY_CORE_UNMET_H

/* Warns, once in the process, of each name in KEYWAY_ISOLATE and each key in KEYWAY_OPTIONS that is of no plugin in the
 * registry; not of KEYWAY_PLUGINS, which goes without what is not there. When devices are asked for: by then an
 * application has loaded the plugins whose files it names itself. Any thread. */
void kw_names_judge(void);

#endif /* KEYWAY_CORE_UNMET_H */
