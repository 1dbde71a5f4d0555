/* SPDX-License-Identifier: Apache-2.0
 *
 * Products of matrices of int8. A word of 32 bits holds the next terms of a line: two, widened to 16 bits, or four as
 * they are, where the processor multiplies and adds four bytes at once. One of the two factors has no sign there: the
 * second matrix's are 128 larger, and sums begin with what that is too much.
 */
#include "level.h"

#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

enum { VECTOR = KW_VECTOR_BYTES, LANES = VECTOR / 4, COLUMNS = 2 * LANES, LINE = 16 /* words of a cache */ };

/* Rows of a block: a block, a row of two vectors, and a factor fill the registers. */
#if defined(__AVX512F__)
enum { ROWS = 12 };
#elif defined(__AVX2__)
enum { ROWS = 6 };
#elif defined(__aarch64__)
enum { ROWS = 8 };
#else
enum { ROWS = 4 };
#endif

typedef uint32_t words __attribute__((vector_size(VECTOR)));

static inline words load(const uint32_t *from) {
  words value;
  memcpy(&value, from, sizeof value);
  return value;
}

/* ---- Two terms --------------------------------------------------------------------------------------------------- */

/* Whole multiplications of both halves are what other processors have. */
#if defined(__AVX512F__)
#define ADD(sum, x, y) ((sum) + (words)_mm512_madd_epi16((__m512i)(x), (__m512i)(y)))
#elif defined(__AVX2__)
#define ADD(sum, x, y) ((sum) + (words)_mm256_madd_epi16((__m256i)(x), (__m256i)(y)))
#elif defined(__SSE2__)
#define ADD(sum, x, y) ((sum) + (words)_mm_madd_epi16((__m128i)(x), (__m128i)(y)))
#else
typedef int32_t numbers __attribute__((vector_size(VECTOR)));
#define LOW(x) ((words)((numbers)((x) << 16) >> 16))
#define HIGH(x) ((words)((numbers)(x) >> 16))
#define ADD(sum, x, y) ((sum) + LOW(x) * LOW(y) + HIGH(x) * HIGH(y))
#endif
#define NAME(name) name##_pairs
#define TARGET
#include "byte_block.inc"
#undef ADD
#undef NAME
#undef TARGET

static void weave_pairs(uint32_t *to, const int8_t *const *lines, int64_t n, uint32_t flip) {
  const int8_t *x = lines[0], *y = lines[1];
  (void)flip;
  KW_INDEPENDENT
  for (int64_t i = 0; i < n; i++) to[i] = (uint16_t)x[i] | (uint32_t)y[i] << 16;
}

static void gather_pairs(uint32_t *to, const int8_t *line, int64_t n, uint32_t flip) {
  int16_t *terms = (int16_t *)(void *)to;
  (void)flip;
  for (int64_t i = 0; i < n; i++) terms[i] = line[i];
  if (n % 2 != 0) terms[n] = 0;
}

static void start_pairs(uint32_t *starts, const uint32_t *panel, int64_t n) {
  (void)panel;
  (void)n;
  memset(starts, 0, ROWS * sizeof *starts);
}

static const kw_byte_product pairs = {ROWS, COLUMNS, 2, 0, weave_pairs, gather_pairs, start_pairs, block_pairs};

/* ---- Four terms -------------------------------------------------------------------------------------------------- */

#if defined(__AVX512F__)
#define NAME(name) name##_quads
#define TARGET __attribute__((target("avx512vnni")))
#define ADD(sum, x, y) ((words)_mm512_dpbusd_epi32((__m512i)(sum), (__m512i)(y), (__m512i)(x)))
#include "byte_block.inc"

static void weave_quads(uint32_t *to, const int8_t *const *lines, int64_t n, uint32_t flip) {
  const uint8_t *a = (const uint8_t *)lines[0], *b = (const uint8_t *)lines[1];
  const uint8_t *c = (const uint8_t *)lines[2], *d = (const uint8_t *)lines[3];
  KW_INDEPENDENT
  for (int64_t i = 0; i < n; i++) {
    to[i] = (a[i] | (uint32_t)b[i] << 8 | (uint32_t)c[i] << 16 | (uint32_t)d[i] << 24) ^ flip;
  }
}

static void gather_quads(uint32_t *to, const int8_t *line, int64_t n, uint32_t flip) {
  memcpy(to, line, (size_t)n);
  memset((char *)to + n, 0, (size_t)(-n & 3));
  for (int64_t i = 0; i < (n + 3) / 4; i++) to[i] ^= flip;
}

static void start_quads(uint32_t *starts, const uint32_t *panel, int64_t n) {
  int32_t sums[ROWS] = {0};
  for (int64_t p = 0; p < n; p++, panel += ROWS) {
    KW_UNROLL
    for (int i = 0; i < ROWS; i++) {
      const int32_t word = (int32_t)panel[i];
      sums[i] += (int8_t)word + (int8_t)(word >> 8) + (int8_t)(word >> 16) + (word >> 24);
    }
  }
  for (int i = 0; i < ROWS; i++) starts[i] = -128u * (uint32_t)sums[i];
}

static const kw_byte_product quads = {ROWS,        COLUMNS,      4,           0x80808080u,
                                      weave_quads, gather_quads, start_quads, block_quads};

static bool has_quads(void) {
  return __builtin_cpu_supports("avx512vnni");
}
#else
static const kw_byte_product quads;

static bool has_quads(void) {
  return false;
}
#endif

void KW_ISA_NAME(kw_add_byte_products)(kw_isa *isa) {
  isa->byte_product = has_quads() ? quads : pairs;
}
