/* SPDX-License-Identifier: Apache-2.0
 *
 * 128 bits that stand for everything about a tensor that a plan depends on: device, dtype, shape, strides, layout,
 * alignment, whether it may be written to. A call is recognised by comparing them instead of all sizes.
 *
 * Multilinear hashing modulo 2^128 with random 128-bit keys, drawn once per process (L. Carter, M. Wegman, "Universal
 * classes of hash functions", 1979; D. Lemire, O. Kaser, "Strongly universal string hashing is fast", 2014): two
 * different descriptors whose words differ by d = 2^t * odd share a fingerprint with probability at most 2^(t-128),
 * that is at most 2^-65 for any pair and less than 2^-97 for sizes and strides below 2^28. Without the keys such a pair
 * cannot be looked for.
 */
#ifndef KEYWAY_CORE_FINGERPRINT_H
#define KEYWAY_CORE_FINGERPRINT_H

#include <keyway/types.h>

typedef struct kw_fingerprint {
  uint64_t low, high;
} kw_fingerprint;

__extension__ typedef unsigned __int128 kw_wide;

extern kw_wide kw_fingerprint_keys[4 + 2 * KW_MAX_RANK]; /* drawn by the first seed */

/* What the fingerprints of all tensors on a device begin with. Any thread. */
kw_fingerprint kw_fingerprint_seed(uint64_t device_id);

/* A fingerprint is a sum: of its dimensions' sizes, of what their strides differ by from those of contiguous elements,
 * of a layout other than 0, and of the rest. Sizes and differences say what sizes and strides say. */
static inline kw_wide kw_fingerprint_sum(kw_fingerprint part) {
  return (kw_wide)part.high << 64 | part.low;
}
static inline kw_wide kw_fingerprint_of_size(uint32_t d, uint64_t size) {
  return kw_fingerprint_keys[4 + 2 * d] * size;
}
static inline kw_wide kw_fingerprint_of_rest(kw_fingerprint seed, const kw_tensor_ref *ref, bool read_only) {
  const uint64_t head =
      (uint64_t)ref->alignment << 32 | (uint64_t)read_only << 31 | (uint64_t)ref->rank << 16 | ref->dtype;
  return kw_fingerprint_sum(seed) + kw_fingerprint_keys[2] * head;
}
static inline kw_fingerprint kw_fingerprint_end(kw_wide sum) {
  return (kw_fingerprint){(uint64_t)sum, (uint64_t)(sum >> 64)};
}

kw_fingerprint kw_fingerprint_of(kw_fingerprint seed, const kw_tensor_ref *ref, bool read_only);

static inline bool kw_fingerprint_equal(kw_fingerprint a, kw_fingerprint b) {
  return ((a.low ^ b.low) | (a.high ^ b.high)) == 0;
}

#endif /* KEYWAY_CORE_FINGERPRINT_H */
