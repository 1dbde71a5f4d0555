/* SPDX-License-Identifier: Apache-2.0
 *
 * Arrays that grow by one.
 */
#ifndef KEYWAY_CORE_ARRAY_H
#define KEYWAY_CORE_ARRAY_H

#include <stdint.h>
#include <stdlib.h>

/* Room for one more item in an array of `count`, whose memory doubles whenever count is a power of two: the array,
 * which may have moved, for free(). NULL without memory, and the array is as it was. */
static inline void *kw_array_grow(void *items, uint32_t count, size_t item_size) {
  if ((count & (count - 1)) != 0) return items;
  return realloc(items, (count > 0 ? 2 * (size_t)count : 1) * item_size);
}

#endif /* KEYWAY_CORE_ARRAY_H */
