/* SPDX-License-Identifier: Apache-2.0
 *
 * What the tests of errors in data share: calls with indices, one wrong index among them, what is told of it, and
 * results whose surroundings have to stay.
 */
#ifndef KEYWAY_CONTRACT_ERROR_BAD_H
#define KEYWAY_CONTRACT_ERROR_BAD_H

#include "call.h"

/* Whether -1 is the last place to the op; elsewhere it is out of range. */
bool kw_bad_counts_from_end(const char *op);

/* Indices like those of the call, but for one. */
kw_tensor *kw_bad_indices(const kw_tensor *like, kw_dtype dtype, int64_t place, int64_t bad);

/* Waits for the stream, and fails unless index `bad` in argument `index` is told, once, with the op and the argument.
 * `status` is what the call returned. */
void kw_bad_expect_told(const kw_test_call *call, uint32_t index, kw_stream *stream, kw_status status, int64_t bad);

/* The calls with indices that the device can run, of `numel` elements at most, one after the other: false at the end.
 */
bool kw_bad_next_call(uint32_t *at, int64_t numel, kw_test_call *out_call);

/* Results like those of a right call, each the middle third of a tensor of its own. */
typedef struct kw_guarded {
  kw_tensor *around[KW_MAX_RESULTS], *results[KW_MAX_RESULTS];
} kw_guarded;
void kw_guarded_make(const kw_test_call *call, kw_tensor *const *like, kw_guarded *out);
/* What lies around the results is what it was. Releases them. */
void kw_guarded_end(const kw_test_call *call, kw_guarded *g);

#endif /* KEYWAY_CONTRACT_ERROR_BAD_H */
