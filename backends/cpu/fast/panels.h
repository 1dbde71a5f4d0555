/* SPDX-License-Identifier: Apache-2.0
 *
 * Panels of products: lines of a matrix, packed as a block wants them.
 */
#ifndef KEYWAY_CPU_FAST_PANELS_H
#define KEYWAY_CPU_FAST_PANELS_H

#include "isa/isa.h"
#include "sizes.h"

/* Packs `count` lines of k numbers into panels of `width`, which follow each other; a lane has `lane` bytes. */
static inline void kw_panels_pack(const kw_product *product, char *to, int64_t width, kw_product_lines lines,
                                  int64_t count, int64_t k, int64_t lane) {
  for (int64_t i = 0; i < count; i += width) {
    product->pack(to + i * k * lane, width, &lines, kw_least(width, count - i), k);
    lines.at += width * lines.step;
  }
}

#endif /* KEYWAY_CPU_FAST_PANELS_H */
