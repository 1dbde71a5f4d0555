/* SPDX-License-Identifier: Apache-2.0
 *
 * Products of matrices in vectors of this instruction set. The build allows this file to fuse products and sums.
 */
#include "level.h"

#include <string.h>

/* Bytes of a vector, and rows of a block: a block, a row of two vectors, and a factor fill the registers. */
#if defined(__AVX512F__)
enum { VECTOR = 64, ROWS = 12 };
#elif defined(__AVX2__)
enum { VECTOR = 32, ROWS = 6 };
#elif defined(__aarch64__)
enum { VECTOR = 16, ROWS = 8 };
#else
enum { VECTOR = 16, ROWS = 4 };
#endif

enum { RUN = 64 }; /* elements of a line that are read at a time where lines have to be turned */

#ifdef __clang__
#define SHUFFLE(mask, x, y, a, b, c, d) __builtin_shufflevector(x, y, a, b, c, d)
#else
#define SHUFFLE(mask, x, y, a, b, c, d) __builtin_shuffle(x, y, (mask){a, b, c, d})
#endif

#define T float
#define MASK int32_t
#define OF_T(name) name##_f32
#include "product.inc"
#undef T
#undef MASK
#undef OF_T

#define T double
#define MASK int64_t
#define OF_T(name) name##_f64
#include "product.inc"

static void dot_bytes(uint32_t *out, const int8_t *x, const int8_t *const *lines, int64_t n) {
  for (int line = 0; line < KW_PRODUCT_LINES; line++) {
    const int8_t *y = lines[line];
    uint32_t sum = 0;
    for (int64_t i = 0; i < n; i++) sum += (uint32_t)((int16_t)x[i] * (int16_t)y[i]);
    out[line] = sum;
  }
}

void KW_ISA_NAME(kw_add_products)(kw_isa *isa) {
  isa->dot_bytes = dot_bytes;
  isa->product[KW_LANE_F32] =
      (kw_product){ROWS, COLUMNS_f32, pack_f32, block_f32, distances_f32, add_lines_f32, dot_lines_f32};
  isa->product[KW_LANE_F64] =
      (kw_product){ROWS, COLUMNS_f64, pack_f64, block_f64, distances_f64, add_lines_f64, dot_lines_f64};
}
