/* SPDX-License-Identifier: Apache-2.0
 *
 * Fills of memory with a pattern.
 */
#ifndef KEYWAY_CPU_FILL_H
#define KEYWAY_CPU_FILL_H

#include <stdint.h>
#include <string.h>

/* `size` bytes from `to` on with a pattern again and again, of 1 to 16 bytes, which divides it. */
typedef struct kw_cpu_fill {
  char *to;
  uint64_t size;
  char pattern[16];
  uint32_t pattern_size;
} kw_cpu_fill;

static inline void kw_cpu_fill_run(const kw_cpu_fill *fill) {
  for (uint64_t at = 0; at < fill->size; at += fill->pattern_size) {
    memcpy(fill->to + at, fill->pattern, fill->pattern_size);
  }
}

#endif /* KEYWAY_CPU_FILL_H */
