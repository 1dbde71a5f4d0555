/* SPDX-License-Identifier: Apache-2.0
 *
 * 128 bits that stand for everything about a tensor that a plan depends on: device, dtype, shape, strides, layout,
 * alignment, whether it may be written to. A call is recognised by comparing them instead of all sizes.
 *
 * Multilinear hashing modulo 2^128 with random 128-bit keys, drawn once per process (L. Carter, M. Wegman, "Universal
 * classes of hash functions", 1979; D. Lemire, O. Kaser, "Strongly universal string hashing is fast", 2014): two
 * different descriptors whose words differ by d = 2^t * odd share a fingerprint with probability at most 2^(t-128),
 * that is at most 2^-65 for any pair and less than 2^-100 for sizes below 2^28. Without the keys such a pair
 * cannot be looked for.
 */
#ifndef KEYWAY_CORE_FINGERPRINT_H
#define KEYWAY_CORE_FINGERPRINT_H

#include <keyway/types.h>

typedef struct kw_fingerprint {
  uint64_t low, high;
} kw_fingerprint;

kw_fingerprint kw_fingerprint_of(uint64_t device_id, const kw_tensor_ref *ref, bool read_only);

static inline bool kw_fingerprint_equal(kw_fingerprint a, kw_fingerprint b) {
  return ((a.low ^ b.low) | (a.high ^ b.high)) == 0;
}

#endif /* KEYWAY_CORE_FINGERPRINT_H */
