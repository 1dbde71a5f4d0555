/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether tensors share memory, told from their descriptors.
 */
#ifndef KEYWAY_CORE_OVERLAP_H
#define KEYWAY_CORE_OVERLAP_H

#include <keyway/types.h>

/* Whether two elements of one tensor may share a byte. Exact for tensors whose dimensions nest (all views that core
 * makes from contiguous tensors except some of as_strided); otherwise says yes. */
bool kw_ref_overlaps_itself(const kw_tensor_ref *ref);

/* Whether an element of `a` may share a byte with an element of `b`, both in the same mem. False only when proven: byte
 * ranges apart, or interleaved so that the common divisor of all strides keeps them apart (x[::2] and x[1::2]). */
bool kw_refs_overlap(const kw_tensor_ref *a, const kw_tensor_ref *b);

/* Whether both name the same elements in the same order. */
bool kw_refs_identical(const kw_tensor_ref *a, const kw_tensor_ref *b);

#endif /* KEYWAY_CORE_OVERLAP_H */
