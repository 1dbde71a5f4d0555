/* SPDX-License-Identifier: Apache-2.0
 *
 * The reference kernels: what every op of the op set means. Plain C, serial, pure, generic in the type they compute
 * floating point in: the cpu device runs them in float and double, the conformance oracle in double and in 113 bits.
 *
 * A call is as in plugin.h, with these liberties: every mem is a host pointer; device, stream, prepared and workspace
 * are not read, of user only whether it is kw_reference_first_wins; error_mem may be NULL; inputs may have any dtype,
 * and in ops that broadcast any shape that broadcasts to the output.
 *
 * Key dtype: the output's dtype where the op computes in it; argument 0's where the op works in place (its memory is
 * the output's, and not read where that is wide). Where the output does not tell (comparisons, or a wide output) it is
 * ATen's result_type of the arguments, to which a tensor counts as 0-d only when its rank is 0: pass tensors as they
 * were before broadcasting, or all in one dtype. Inputs are converted to the key dtype first.
 */
#ifndef KEYWAY_REFERENCE_H
#define KEYWAY_REFERENCE_H

#include <keyway/types.h>
#include <keyway/plugin.h>

/* An output dtype of the oracle's own: kw_wide, the value as hi + lo. lo is 0 where the compute type fits in a double
 * or the value is not finite. Finite values past the range of double have the largest double as hi and at least half
 * its spacing as lo, or as much as lo holds. */
#define KW_DTYPE_WIDE ((kw_dtype)0x7f01)
typedef struct kw_wide {
  double hi, lo;
} kw_wide;

/* The same for complex results: two kw_wide, the real part and the imaginary one. */
#define KW_DTYPE_WIDE_PAIR ((kw_dtype)0x7f02)

/* As kw_call.user: where an op writes several values to one place (scatter, index_put) the first of them stays.
 * Otherwise the last does. Both are right. */
extern const char kw_reference_first_wins[];

enum {
  KW_REFERENCE_KEY_BY_INPUTS = 1u << 0, /* the output's dtype does not tell the key dtype (and may differ from all of
                                           the inputs') */
  KW_REFERENCE_COMPOSITE = 1u << 1,     /* served by other ops on every device: no kernel of its own is registered */
  KW_REFERENCE_DATA_ERRORS = 1u << 2,   /* may store to kw_call_extra.error_mem, where that is there */
  KW_REFERENCE_OVERFLOWS = 1u << 3 /* what is computed on the way may leave the compute type's range where the result
                                      does not: infinity or NaN is as right there */
};

typedef struct kw_reference_kernel {
  const char *op;
  /* KW_ERR_INVALID_ARGUMENT for a dtype or an argument that the op does not have, KW_ERR_OUT_OF_MEMORY where an op
   * needs scratch memory; nothing is written then. */
  kw_status (*run)(const kw_call *call);
  uint64_t dtypes; /* dtypes that the op is defined for, KW_DTYPE_BIT, as in the op table */
  uint32_t flags;  /* KW_REFERENCE_* */
} kw_reference_kernel;

/* One entry per op, in the op table's order; behind them the magnitude ops of its bounds, "OP/magnitude", with OP's
 * arguments and results. The three tables hold the same entries in the same order. */
const kw_reference_kernel *kw_reference_f32(uint32_t *out_count);
const kw_reference_kernel *kw_reference_f64(uint32_t *out_count);
const kw_reference_kernel *kw_reference_f128(uint32_t *out_count); /* in keyway_reference_f128 */

#endif /* KEYWAY_REFERENCE_H */
