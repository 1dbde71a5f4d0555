/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory without which nothing goes on.
 */
#ifndef KEYWAY_CONFORMANCE_NEED_H
#define KEYWAY_CONFORMANCE_NEED_H

#include <stdlib.h>

/* Zeroed, a byte at least; the process ends where there is none. */
static inline void *kw_need(size_t size) {
  void *memory = calloc(1, size ? size : 1);
  if (!memory) abort();
  return memory;
}

#endif /* KEYWAY_CONFORMANCE_NEED_H */
