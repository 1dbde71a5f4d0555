/* SPDX-License-Identifier: Apache-2.0
 *
 * Judging results. Definitions:
 *
 *   c        the compute type: f32 for floats of at most 32 bits, f64 for f64 (op_table.h)
 *   ULP_c(x) the distance between neighbouring values of c around x: for 2^k < |x| <= 2^(k+1) it is 2^(k-p+1), p being
 *            c's precision (24 or 53). A power of two belongs to the binade below it. Below the smallest normal number,
 *            and for 0, it is the smallest subnormal.
 *   eps_c    2^(1-p)
 *   half     for results narrower than c: half the spacing of the result's own format at `got`, on the side of `got`
 *            where the oracle is: what rounding to `got` may add, however much smaller the oracle is. 0 for other
 *            results.
 *   allowed  KW_CMP_ULP:        ulp * ULP_c(oracle) + abs * eps_c
 *            KW_CMP_ACCUMULATE: growth(n) * eps_c * magnitude + n * (half the smallest subnormal of c); n counts terms,
 *                               in a scan those up to the element. A magnitude past the largest finite value counts as
 *                               that, for no partial result on the way to a finite one is larger. On a device that
 *                               declares that it flushes c, 2 n times the smallest normal number of c more: it may take
 *                               a term for 0, and the sum that the term is added to
 *            The same of a kernel in a lower math mode (types.h), where the op adds up products of two f32 operands:
 *                               (2 d + d^2) * magnitude more, d being 2^-10 for tf32 and 2^-7 for fast. Each operand
 *                               keeps 10 or 7 bits of its mantissa, by rounding to either side, and so is off by less
 *                               than d of itself, and a product by less than (1 + d)^2 - 1 of itself: these errors of
 *                               the terms add up to that share of the sum of their absolute values at most, however
 *                               many there are. As for tensor cores: Blanchard, Higham, Lopez, Mary, Pranesh, "Mixed
 *                               precision block fused multiply-add", SIAM J. Sci. Comput. 42(3), 2020, section 3, whose
 *                               operands are rounded to nearest: d there is half of that here, and hardware truncates
 *
 * A finite result passes when |got - oracle| <= allowed + half. Infinity counts as 2^(emax+1), the first value that is
 * out of range, so that it and the largest finite value are interchangeable only where |oracle| + bound reaches
 * overflow. Rows with ulp = 0, and exact cases, want the oracle's value correctly rounded.
 *
 * KW_CMP_QUANTUM: an integer from the oracle's lowest to its highest (kw_oracle_result).
 *
 * KW_CMP_WRITTEN: the bits that the first or the last writer of the element gave it.
 *
 * Columns of the table: `either` and `unspecified` zeros may have any sign; `unspecified` NaN, infinity or subnormal
 * means that elements where the oracle has one are not compared. An `either` subnormal may be a zero of the same sign
 * on every device, an `exact` one only where the device declares that it flushes the dtype. A move is no arithmetic: it
 * keeps all bits, whatever the device declares.
 *
 * The error that reports show is (|got - oracle| - half) / allowed, times `ulp` for KW_CMP_ULP: at most the row's bound
 * where the case passes.
 */
#ifndef KEYWAY_CONFORMANCE_COMPARE_H
#define KEYWAY_CONFORMANCE_COMPARE_H

#include "judge/oracle.h"
#include "wire/case_run.h"

/* How elements of one result are judged. */
typedef struct kw_rule {
  kw_compare compare;
  double ulp;
  double abs;
  uint64_t terms;
  int64_t scan_step; /* kw_case.scan_step */
  bool exact;
  kw_special nan, inf, zero, subnormal;
  bool moved;        /* elements keep their dtype and all their bits */
  bool flush;        /* the device may replace subnormal results of this dtype by zero */
  double lost_below; /* what a flush of c may take from each term; 0 where the device does not flush c */
  bool free_payload; /* KW_CMP_BITS: any NaN will do where the oracle has one */
  kw_dtype compute;  /* c */
  double lost;       /* 2 d + d^2; 0 in the highest math mode */
  double growth;     /* of a vendor's op, in place of growth(terms); otherwise 0 */
  double more;       /* so many bounds more are allowed; 0 but where a program is judged */
} kw_rule;

/* The rule of one of a case's results on a device that flushes the dtypes in `flush`. */
kw_rule kw_rule_make(const kw_case *c, uint32_t result, uint64_t flush);

/* Widens a rule for a kernel that computes as `mode` says and no better. */
void kw_rule_allow(kw_rule *rule, const kw_case *c, kw_math_mode mode);

/* min(n, 4 + 2 sqrt(n)). */
double kw_growth(uint64_t n);

/* Judges one floating-point element. *out_error as above, in units of the row's bound; *out_bound is allowed + half. */
bool kw_compare_element(const kw_rule *rule, kw_dtype dtype, const void *got, kw_wide oracle, double magnitude,
                        double *out_error, double *out_bound);

/* Judges element `index` of a result, whose elements are of this dtype (of complex results against wide values: that of
 * their parts), against all that the oracle allows. */
bool kw_compare_at(const kw_case *c, kw_dtype dtype, const kw_rule *rule, const kw_oracle_result *expected,
                   int64_t index, const void *got, double *out_error, double *out_bound);

/* "got 1 (0x3f800000), expected ...": what differs in that element. */
void kw_compare_describe(char *text, size_t room, kw_dtype dtype, const kw_oracle_result *expected, int64_t index,
                         const void *got, double bound);

/* What a comparison found. */
typedef struct kw_comparison {
  bool pass;
  int64_t wrong;   /* elements that do not pass */
  int64_t index;   /* the first of them, row-major */
  double error;    /* the largest error of all elements, passing or not */
  int64_t worst;   /* the first element that has it, where it is not 0 */
  char text[704];  /* what differed, one line; "" when it passes */
  char defect[64]; /* a defect recognised by its looks: "tail not written", "poison visible"; or "" */
} kw_comparison;

/* "0.5 (0x3f000000)": an element with its bits. */
void kw_compare_print_element(char *text, size_t size, kw_dtype dtype, const void *element);

/* Judges a whole result, densely packed. `poison` is the byte that outputs were filled with before. */
void kw_compare_result(const kw_case *c, uint32_t result, const kw_rule *rule, const kw_oracle_result *expected,
                       const void *got, unsigned char poison, kw_comparison *out_found);

/* Judges a result of a vendor's op against its own reference: expected values, and magnitudes where it adds up, as f64
 * or in the result's dtype. */
void kw_compare_vendor(const kw_case *c, uint32_t result, const kw_case_run_output *out, unsigned char poison,
                       uint64_t flush, kw_comparison *out_found);

/* A bound in the unit of the errors that reports show: how many ULP; 1 growth; 0 where only one value is right. Of
 * KW_CMP_WRITTEN it is that of the sums, where the op adds up. */
double kw_rule_bound(const kw_op_bound *bound);
const char *kw_rule_unit(const kw_op_bound *bound);

/* The bound that a report measures all errors of an op against: that of its first result that has one. */
kw_op_bound kw_rule_shown(const kw_suite_op *op);

#endif /* KEYWAY_CONFORMANCE_COMPARE_H */
