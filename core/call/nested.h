/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls that a call leads to: casts, decompositions, the fallback, autocast, index masks.
 */
#ifndef KEYWAY_CORE_NESTED_H
#define KEYWAY_CORE_NESTED_H

#include <keyway/keyway.h>

typedef kw_status (*kw_call_fn)(const kw_op *op, kw_stream *stream, const kw_value *args, uint32_t arg_count,
                                kw_tensor **outs, uint32_t out_count);

/* kw_op_call, which leads to those who use this: a call takes the whole way from the top again. Set before the first
 * device opens, by kw_dispatch_start. */
extern kw_call_fn kw_call_nested;

#endif /* KEYWAY_CORE_NESTED_H */
