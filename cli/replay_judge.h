/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether two devices agree on a result, by what the conformance suite allows each of them.
 */
#ifndef KEYWAY_CLI_REPLAY_JUDGE_H
#define KEYWAY_CLI_REPLAY_JUDGE_H

#include "capture_reader.h"

/* How results of an op may differ. */
typedef struct kw_replay_bound {
  bool bits;             /* not at all */
  const char *magnitude; /* the op that gives magnitudes; NULL: none is needed */
  double ulp, absolute, growth;
  bool accumulates;
} kw_replay_bound;

typedef struct kw_replay_verdict {
  bool pass;
  int64_t count, wrong; /* elements, and how many of them differ by more */
  int64_t index;        /* the first of them, row-major */
  double error;         /* the largest, in bounds: up to 1 passes */
  char text[160];       /* "got 1 (0x3f800000), expected ..." of that */
} kw_replay_verdict;

kw_replay_bound kw_replay_bound_of(const char *op, uint32_t result);
/* Two results, densely packed. Both devices may be off by the op's bound, so twice that is allowed. terms: how many
 * numbers an element may add up. magnitudes: as many elements of the same dtype, or NULL for the largest of what is
 * expected. */
kw_replay_verdict kw_replay_judge(const char *op, const kw_replay_bound *bound, const kw_capture_place *place,
                                  uint64_t terms, const void *magnitudes, const void *expected, const void *got);

/* How many NaN are in a tensor's elements, densely packed; *out_first is the first of them. */
int64_t kw_replay_count_nan(const kw_capture_place *place, const void *elements, int64_t *out_first);

#endif /* KEYWAY_CLI_REPLAY_JUDGE_H */
