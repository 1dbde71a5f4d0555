/* SPDX-License-Identifier: Apache-2.0
 *
 * What is said on stderr while a run goes on: on a terminal how far it is, elsewhere a line for each contract suite and
 * each family of ops as it is done.
 */
#ifndef KEYWAY_CONFORMANCE_PROGRESS_H
#define KEYWAY_CONFORMANCE_PROGRESS_H

#include "run/run.h"

typedef struct kw_progress kw_progress;

/* Cases that have a result already are done. */
kw_progress *kw_progress_make(const kw_run *run);
/* So many cases, from `first` on, are done. From any thread, one at a time. */
void kw_progress_add(kw_progress *progress, uint32_t first, uint32_t count);
/* NULL is fine. */
void kw_progress_free(kw_progress *progress);

#endif /* KEYWAY_CONFORMANCE_PROGRESS_H */
