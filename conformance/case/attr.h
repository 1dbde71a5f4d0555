/* SPDX-License-Identifier: Apache-2.0
 *
 * What ops want of their inputs and attributes: domains and values, per op.
 */
#ifndef KEYWAY_CONFORMANCE_ATTR_H
#define KEYWAY_CONFORMANCE_ATTR_H

#include "case/case.h"

/* The domain of an argument's values in classes that are not about values. */
kw_domain kw_case_domain(const kw_case *c, uint32_t arg);

/* Makes what lies along dimension `dim` of a tensor that is dense the rows of KW_DOMAIN_ENDS. */
void kw_case_set_ends(kw_case_tensor *tensor, int64_t dim);

/* What is normalised with next to no eps, or none, in the class SPECIAL of norms: rows whose squares are as small as
 * they may be, and rows of zeros, whose variance no rounding changes. In such an order that batch norm, which takes
 * given statistics in every third case, has its own where eps is 0. */
typedef struct kw_case_small_row {
  kw_domain domain;
  uint32_t stride;
  double eps;
} kw_case_small_row;
enum { KW_CASE_SMALL_ROWS = 3 };
kw_case_small_row kw_case_small(uint32_t index);

/* Numbers of 64 bits of which 32 bits, or what a double holds, are another one; any index. */
int64_t kw_case_wide_scalar(uint32_t index);
#define KW_CASE_WIDE_SCALARS 6 /* before they repeat */

/* Numbers that have to be rounded once, straight to a float dtype narrower than f32; any index. */
bool kw_case_takes_tie_scalars(kw_dtype dtype);
double kw_case_tie_scalar(kw_dtype dtype, uint32_t index);
#define KW_CASE_TIE_SCALARS 4 /* before they repeat */

/* Fills the arguments that are no tensors. False when the case number asks for a combination that does not exist. */
bool kw_case_set_attrs(kw_case *c);

#endif /* KEYWAY_CONFORMANCE_ATTR_H */
