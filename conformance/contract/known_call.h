/* SPDX-License-Identifier: Apache-2.0
 *
 * A call whose results are known: what every other run of it has to give, bit by bit.
 */
#ifndef KEYWAY_CONTRACT_KNOWN_CALL_H
#define KEYWAY_CONTRACT_KNOWN_CALL_H

#include "contract/call.h"

/* Holds pointers into itself. */
typedef struct kw_known_call {
  kw_test_call call;
  unsigned char *want; /* as kw_test_call_results gives it */
  size_t size;
  kw_tensor_ref form; /* of the first result, apart from memory */
} kw_known_call;

/* Makes a call (kw_test_call_make), runs it and keeps what comes. False where there is none, or where it cannot be made
 * again with the same tensors: it changes one of them, or draws random numbers. */
bool kw_known_call_make(const kw_op *op, kw_dtype dtype, int64_t numel, kw_known_call *out);
/* Runs it again, when its tensors hold other numbers, and keeps what comes then. */
void kw_known_call_learn(kw_known_call *known);
void kw_known_call_free(kw_known_call *known);

#endif /* KEYWAY_CONTRACT_KNOWN_CALL_H */
