/* SPDX-License-Identifier: Apache-2.0
 *
 * Values of calls: looking into one, and comparing two.
 */
#ifndef KEYWAY_CORE_VALUE_H
#define KEYWAY_CORE_VALUE_H

#include "tensor/tensor.h"

#include <string.h>

/* Tag, kind and count of a value as one word. */
static inline uint64_t kw_value_head(const kw_value *value) {
  uint64_t head;
  memcpy(&head, value, sizeof head);
  return head;
}

/* The first eight bytes of what it says: a number's bits, or an address. */
static inline uint64_t kw_value_payload(const kw_value *value) {
  uint64_t payload;
  memcpy(&payload, &value->u, sizeof payload);
  return payload;
}

static inline kw_tensor *kw_value_as_tensor(const kw_value *value) {
  return (kw_tensor *)(uintptr_t)(const void *)value->u.tensor;
}

/* Entry k of a tensor list; NULL where the list has none. */
static inline const kw_tensor *kw_value_entry(const kw_value *value, uint32_t k) {
  return (const kw_tensor *)(const void *)value->u.tensors[k];
}

/* Whether two values say the same, lists and strings by content. Never for tensors: they go by fingerprint. */
bool kw_values_equal(const kw_value *a, const kw_value *b);

#endif /* KEYWAY_CORE_VALUE_H */
