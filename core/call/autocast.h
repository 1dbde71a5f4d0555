/* SPDX-License-Identifier: Apache-2.0
 *
 * Autocast: see keyway.h.
 */
#ifndef KEYWAY_CORE_AUTOCAST_H
#define KEYWAY_CORE_AUTOCAST_H

#include "op/op.h"

extern __thread kw_dtype kw_autocast_lower __attribute__((tls_model("initial-exec"))); /* KW_DTYPE_NONE: off */

/* Whether autocast of this thread has something to do with a call: it is on, the op has a policy, and all results are
 * new. */
bool kw_autocast_applies(const kw_op *op, kw_tensor *const *outs, uint32_t out_count);

/* Turns autocast off in this thread and returns what it was: the calls that a call leads to have their dtypes already.
 */
static inline kw_dtype kw_autocast_suspend(void) {
  const kw_dtype before = kw_autocast_lower;
  kw_autocast_lower = KW_DTYPE_NONE;
  return before;
}

/* kw_op_call with the arguments cast as the op's policy says. */
kw_status kw_autocast_call(const kw_op *op, kw_stream *stream, const kw_value *args, uint32_t arg_count,
                           kw_tensor **outs, uint32_t out_count);

#endif /* KEYWAY_CORE_AUTOCAST_H */
