/* SPDX-License-Identifier: Apache-2.0
 *
 * Making cases: a case from op, dtype, class and number, from an id, or smaller than another one.
 */
#ifndef KEYWAY_CONFORMANCE_MAKE_H
#define KEYWAY_CONFORMANCE_MAKE_H

#include "case/case.h"

/* Makes one case. False when the class has no such number for this op and dtype: numbers count from 0 without gaps. */
bool kw_case_make(const kw_suite_op *op, kw_dtype key, kw_case_class class, uint32_t number, kw_case *out_case);

/* A smaller variant of a case: made from these sizes, each from 1 to the case's own; a size of 0 stays. Its id is the
 * case's with "@2x1" behind it. False when it has none. */
bool kw_case_shrink(const kw_case *c, const kw_shape *sizes, kw_case *out_case);

/* The same from an id, looked up among `ops`; a shrunken one too. */
bool kw_case_from_id(const char *id, const kw_suite_op *ops, uint32_t op_count, kw_case *out_case);

/* Why there is no case of a vendor's op, in words; the caller's to free. */
char *kw_case_vendor_gap(const kw_suite_op *op);

#endif /* KEYWAY_CONFORMANCE_MAKE_H */
