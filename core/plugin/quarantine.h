/* SPDX-License-Identifier: Apache-2.0
 *
 * Plugins that took a process down while it opened them, although their helper had lived: a mark on disk stands for the
 * time of opening, and one whose process has ended without taking it away puts the plugin's file in quarantine. It is
 * not opened again until somebody lifts that (`keyway doctor --retry`) or the file is another one. Files that the
 * application itself names (kw_plugin_load) are neither marked nor in quarantine: it vouches for them, and suites end
 * their processes at any time.
 */
#ifndef KEYWAY_CORE_QUARANTINE_H
#define KEYWAY_CORE_QUARANTINE_H

#include "plugin/discover.h"

/* A mark of this process; NULL where none can be made: then nothing is marked. */
typedef struct kw_open_mark kw_open_mark;

/* This process is about to open the file, or (stage) has come so far with it. */
kw_open_mark *kw_quarantine_begin(const kw_candidate *candidate);
void kw_quarantine_advance(kw_open_mark *mark, kw_stage reached);
/* It has opened it, or has been told why not. */
void kw_quarantine_end(kw_open_mark *mark);

/* The process ends in another way than by a plugin that is being opened: its marks say nothing. At exit. */
void kw_quarantine_forgive(void);

/* Whether the candidate's file is in quarantine; `reason` says since when and why. */
bool kw_quarantine_find(const kw_candidate *candidate, char *reason, size_t size);

/* Lifts it from all files. */
void kw_quarantine_lift(void);

#endif /* KEYWAY_CORE_QUARANTINE_H */
