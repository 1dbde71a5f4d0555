/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether a failure shows again when its case is run alone; if not, after which calls it does.
 */
#ifndef KEYWAY_CONFORMANCE_REPLAY_H
#define KEYWAY_CONFORMANCE_REPLAY_H

#include "run/run.h"

/* Runs a failed case again in a process of its own. If it passes there: again after `before`, which is all that its
 * process had done when it failed; and if it fails then, after fewer of these calls, as few as a bounded number of
 * tries finds. Sets failed->passes_alone and failed->after, and leaves everything else alone. Threads may do this for
 * different cases at the same time. */
void kw_replay_case(const kw_run *run, kw_run_case *failed, const kw_calls *before);

/* With options->after: runs the one case of the run behind these calls. */
void kw_replay_run(kw_run *run);

#endif /* KEYWAY_CONFORMANCE_REPLAY_H */
