/* SPDX-License-Identifier: Apache-2.0
 *
 * Ops that tests need as a means and not for their own sake: whichever the device has will do.
 */
#ifndef KEYWAY_CONTRACT_TOOLS_H
#define KEYWAY_CONTRACT_TOOLS_H

#include "contract_helpers.h"

/* An op on one f32 tensor or two of one shape, exact on small whole numbers; a test without one that the device has is
 * skipped. */
typedef struct kw_pair {
  const char *op;
  uint32_t tensors; /* 1: the second is left out */
  float (*of)(float a, float b);
} kw_pair;
const kw_pair *kw_test_need_pair(void);
/* out = pair(a, b); for a thread's body too. */
kw_status kw_test_pair(const kw_pair *pair, kw_stream *stream, kw_tensor *a, kw_tensor *b, kw_tensor **out);

/* An op on f32 with a number among its arguments, exact on small whole numbers; a test without one that the device has
 * is skipped. */
typedef struct kw_scaled {
  const char *op;
  uint32_t tensors; /* ahead of the number: 1, or the same tensor twice */
  float (*of)(float value, float number);
} kw_scaled;
const kw_scaled *kw_test_need_scaled(void);
/* out = scaled(x, number); for a thread's body too. */
kw_status kw_test_scaled(const kw_scaled *scaled, kw_stream *stream, kw_tensor *x, int number, kw_tensor **out);

#endif /* KEYWAY_CONTRACT_TOOLS_H */
