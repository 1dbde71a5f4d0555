/* SPDX-License-Identifier: Apache-2.0
 *
 * A capture of one call: the contents of its arguments, the call, and what it gave on the other device.
 */
#ifndef KEYWAY_CLI_REPLAY_CUT_H
#define KEYWAY_CLI_REPLAY_CUT_H

#include "replay_side.h"

/* A buffer's contents before the call. */
typedef struct kw_replay_kept {
  uint64_t number, size;
  void *data;
} kw_replay_kept;

typedef struct kw_replay_cut {
  kw_replay_kept *kept;
  size_t count;
} kw_replay_cut;

/* Before a call: keeps what its arguments hold. alone: its results are there, too. */
void kw_replay_cut_begin(kw_replay_cut *cut, kw_replay_side *side, const kw_capture_call *call, bool alone);
/* After it, with its results there. Returns how many bytes the file has; 0: it cannot be written, and is not there. */
uint64_t kw_replay_cut_write(const kw_replay_cut *cut, kw_replay_side *side, const kw_capture_entry *entry,
                             const char *path);
void kw_replay_cut_free(kw_replay_cut *cut);

#endif /* KEYWAY_CLI_REPLAY_CUT_H */
