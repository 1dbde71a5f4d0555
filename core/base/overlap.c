/* SPDX-License-Identifier: Apache-2.0
 *
 * Overlap of descriptors, by strides and common divisors, without walking through elements.
 */
#include "base/overlap.h"

#include "base/ref.h"

#include <keyway/keyway.h>

#include <string.h>

bool kw_ref_overlaps_itself(const kw_tensor_ref *ref) {
  if (ref->numel == 0) return false;
  /* Sorted by stride, each dimension must step past everything the smaller ones reach. */
  uint32_t dims[KW_MAX_RANK], count = 0;
  for (uint32_t d = 0; d < ref->rank; ++d) {
    if (ref->shape[d] == 1) continue;
    uint32_t at = count++;
    for (; at > 0 && ref->strides[dims[at - 1]] > ref->strides[d]; --at) dims[at] = dims[at - 1];
    dims[at] = d;
  }
  int64_t reach = 0; /* largest element offset that the smaller dimensions reach */
  for (uint32_t i = 0; i < count; ++i) {
    if (ref->strides[dims[i]] <= reach) return true;
    reach += ref->strides[dims[i]] * (ref->shape[dims[i]] - 1);
  }
  return false;
}

static uint64_t greatest_common_divisor(uint64_t a, uint64_t b) {
  while (b != 0) {
    uint64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

static uint64_t stride_divisor(const kw_tensor_ref *ref, uint64_t divisor) {
  uint64_t item = kw_dtype_size(ref->dtype);
  for (uint32_t d = 0; d < ref->rank; ++d) {
    if (ref->shape[d] > 1) divisor = greatest_common_divisor(divisor, (uint64_t)ref->strides[d] * item);
  }
  return divisor;
}

bool kw_refs_overlap(const kw_tensor_ref *a, const kw_tensor_ref *b) {
  if (a->numel == 0 || b->numel == 0) return false;
  if (a->offset > b->offset) {
    const kw_tensor_ref *swap = a;
    a = b;
    b = swap;
  }
  if (a->offset + kw_ref_extent(a) <= b->offset) return false;
  /* All element addresses of a are a->offset plus multiples of `divisor`, likewise b's: they meet only if the distance
   * modulo the divisor brings two elements together. */
  uint64_t divisor = stride_divisor(b, stride_divisor(a, 0));
  if (divisor == 0) return true;
  uint64_t distance = (b->offset - a->offset) % divisor;
  return distance < kw_dtype_size(a->dtype) || distance + kw_dtype_size(b->dtype) > divisor;
}

bool kw_refs_identical(const kw_tensor_ref *a, const kw_tensor_ref *b) {
  return a->mem == b->mem && a->offset == b->offset && a->dtype == b->dtype && a->rank == b->rank &&
         memcmp(a->shape, b->shape, a->rank * sizeof a->shape[0]) == 0 &&
         memcmp(a->strides, b->strides, a->rank * sizeof a->strides[0]) == 0;
}
