/* SPDX-License-Identifier: Apache-2.0
 *
 * Elements moved as they are, by their size: along rows, and with rows turned into columns.
 */
#include "level.h"

#include <string.h>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

/* ---- Dense rows -------------------------------------------------------------------------------------------------- */

#if defined(__AVX512F__)
#define WIDE 64 /* bytes at a time */
#elif defined(__AVX2__)
#define WIDE 32
#else
#define WIDE 16
#endif

/* What is left is copied by two pieces that overlap. */
#define ENDS(size)                             \
  if (bytes >= (size)) {                       \
    char first[size], last[size];              \
    memcpy(first, from, size);                 \
    memcpy(last, from + bytes - (size), size); \
    memcpy(to, first, size);                   \
    memcpy(to + bytes - (size), last, size);   \
    return;                                    \
  }

static inline void copy_end(char *to, const char *from, int64_t bytes) {
  ENDS(32)
  ENDS(16)
  ENDS(8)
  ENDS(4)
  for (int64_t i = 0; i < bytes; i++) to[i] = from[i];
}

typedef uint8_t wide __attribute__((vector_size(WIDE)));
enum { GROUP = 4 }; /* vectors, which are written where memory is aligned to one */

/* Not by memcpy: where `to` lies less than 64 bytes behind `from`, but for whole pages, AMD's Zen 3 and 4 need tens of
 * times as long for the string instruction that the C library takes for some kilobytes (glibc's bug 30994). */
static inline void copy_row(char *to, const char *from, int64_t bytes) {
  int64_t i = 0;
  wide x[GROUP];
  if (bytes >= 2 * GROUP * WIDE) {
    memcpy(x, from, WIDE);
    memcpy(to, x, WIDE);
    i = WIDE - (int64_t)((uintptr_t)to % WIDE);
    for (; i + GROUP * WIDE <= bytes; i += GROUP * WIDE) {
      KW_UNROLL
      for (int k = 0; k < GROUP; k++) memcpy(&x[k], from + i + k * WIDE, WIDE);
      KW_UNROLL
      for (int k = 0; k < GROUP; k++) memcpy(to + i + k * WIDE, &x[k], WIDE);
    }
  }
  for (; i + WIDE <= bytes; i += WIDE) {
    memcpy(x, from + i, WIDE);
    memcpy(to + i, x, WIDE);
  }
  if (i < bytes) copy_end(to + i, from + i, bytes - i);
}

static void copy_rows(char *to, int64_t to_pitch, const char *from, int64_t from_pitch, int64_t bytes, int64_t n) {
  for (int64_t i = 0; i < n; i++, to += to_pitch, from += from_pitch) copy_row(to, from, bytes);
}

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

#define MOVE(size, type)                                                                               \
  static void move_##size(char *to, int64_t to_step, const char *from, int64_t from_step, int64_t n) { \
    type *dense = (type *)(void *)to;                                                                  \
    const type *first = (const type *)(const void *)from;                                              \
    if (to_step != size) {                                                                             \
      for (int64_t i = 0; i < n; i++) {                                                                \
        *(type *)(void *)(to + i * to_step) = *(const type *)(const void *)(from + i * from_step);     \
      }                                                                                                \
    } else if (from_step == size) {                                                                    \
      copy_row(to, from, n *size);                                                                     \
    } else if (from_step == 0 && n > 0) {                                                              \
      const type value = *first;                                                                       \
      for (int64_t i = 0; i < n; i++) dense[i] = value;                                                \
    } else if (from_step == -size) {                                                                   \
      for (int64_t i = 0; i < n; i++) dense[i] = first[-i];                                            \
    } else {                                                                                           \
      for (int64_t i = 0; i < n; i++) dense[i] = *(const type *)(const void *)(from + i * from_step);  \
    }                                                                                                  \
  }
MOVE(1, uint8_t)
MOVE(2, uint16_t)
MOVE(4, uint32_t)
MOVE(8, uint64_t)
MOVE(16, kw_pair)

/* ---- Rows into columns ------------------------------------------------------------------------------------------- */

#define VECTOR 16 /* bytes */

typedef uint8_t vector_1 __attribute__((vector_size(VECTOR)));
typedef uint16_t vector_2 __attribute__((vector_size(VECTOR)));
typedef uint32_t vector_4 __attribute__((vector_size(VECTOR)));
typedef uint64_t vector_8 __attribute__((vector_size(VECTOR)));

/* Elements of two vectors in turn, of their first halves and of their second ones. */
#define LOW_1(a, b) __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23)
#define HIGH_1(a, b) __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31)
#define LOW_2(a, b) __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11)
#define HIGH_2(a, b) __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15)
#define LOW_4(a, b) __builtin_shufflevector(a, b, 0, 4, 1, 5)
#define HIGH_4(a, b) __builtin_shufflevector(a, b, 2, 6, 3, 7)
#define LOW_8(a, b) __builtin_shufflevector(a, b, 0, 2)
#define HIGH_8(a, b) __builtin_shufflevector(a, b, 1, 3)

/* One element after the other: what is left at the edges. */
#define EDGE(size, type)                                                                                       \
  static inline void edge_##size(char *to, int64_t to_step, const char *from, int64_t from_step, int64_t rows, \
                                 int64_t columns) {                                                            \
    for (int64_t r = 0; r < rows; r++) {                                                                       \
      for (int64_t c = 0; c < columns; c++) {                                                                  \
        *(type *)(void *)(to + c * to_step + r * size) =                                                       \
            *(const type *)(const void *)(from + r * from_step + c * size);                                    \
      }                                                                                                        \
    }                                                                                                          \
  }
EDGE(1, uint8_t)
EDGE(2, uint16_t)
EDGE(4, uint32_t)
EDGE(8, uint64_t)
EDGE(16, kw_pair)

/* Several vectors side by side, of rows that are `side` apart, and the same done in each of them. */
#if defined(__AVX512F__)
#define PARTS 4
typedef __m512i parts;

static inline __m128i part_at(const char *from) {
  return _mm_loadu_si128((const __m128i *)(const void *)from);
}

static inline parts load_parts(const char *from, int64_t side) {
  parts x = _mm512_castsi128_si512(part_at(from));
  x = _mm512_inserti32x4(x, part_at(from + side), 1);
  x = _mm512_inserti32x4(x, part_at(from + 2 * side), 2);
  return _mm512_inserti32x4(x, part_at(from + 3 * side), 3);
}

#define LOW_PARTS_1(a, b) _mm512_unpacklo_epi8(a, b)
#define HIGH_PARTS_1(a, b) _mm512_unpackhi_epi8(a, b)
#define LOW_PARTS_2(a, b) _mm512_unpacklo_epi16(a, b)
#define HIGH_PARTS_2(a, b) _mm512_unpackhi_epi16(a, b)
#define LOW_PARTS_4(a, b) _mm512_unpacklo_epi32(a, b)
#define HIGH_PARTS_4(a, b) _mm512_unpackhi_epi32(a, b)
#define LOW_PARTS_8(a, b) _mm512_unpacklo_epi64(a, b)
#define HIGH_PARTS_8(a, b) _mm512_unpackhi_epi64(a, b)
#elif defined(__AVX2__)
#define PARTS 2
typedef __m256i parts;

static inline parts load_parts(const char *from, int64_t side) {
  return _mm256_loadu2_m128i((const __m128i *)(const void *)(from + side), (const __m128i *)(const void *)from);
}

#define LOW_PARTS_1(a, b) _mm256_unpacklo_epi8(a, b)
#define HIGH_PARTS_1(a, b) _mm256_unpackhi_epi8(a, b)
#define LOW_PARTS_2(a, b) _mm256_unpacklo_epi16(a, b)
#define HIGH_PARTS_2(a, b) _mm256_unpackhi_epi16(a, b)
#define LOW_PARTS_4(a, b) _mm256_unpacklo_epi32(a, b)
#define HIGH_PARTS_4(a, b) _mm256_unpackhi_epi32(a, b)
#define LOW_PARTS_8(a, b) _mm256_unpacklo_epi64(a, b)
#define HIGH_PARTS_8(a, b) _mm256_unpackhi_epi64(a, b)
#endif

/* Squares of as many rows as a vector has elements, one for each vector of `type`: each round interleaves the first
 * half of the rows with the second one, and after as many rounds as a row's number has bits columns are rows. */
#define SQUARES(name, size, type, load, low, high)                                          \
  static inline void name(char *to, int64_t to_step, const char *from, int64_t from_step) { \
    enum { SIDE = VECTOR / size };                                                          \
    type x[SIDE], y[SIDE];                                                                  \
    KW_UNROLL                                                                               \
    for (int k = 0; k < SIDE; k++) x[k] = load(from + k * from_step, SIDE * from_step);     \
    KW_UNROLL                                                                               \
    for (int done = 1; done < SIDE; done *= 2) {                                            \
      KW_UNROLL                                                                             \
      for (int k = 0; k < SIDE / 2; k++) {                                                  \
        y[2 * k] = low(x[k], x[k + SIDE / 2]);                                              \
        y[2 * k + 1] = high(x[k], x[k + SIDE / 2]);                                         \
      }                                                                                     \
      KW_UNROLL                                                                             \
      for (int k = 0; k < SIDE; k++) x[k] = y[k];                                           \
    }                                                                                       \
    KW_UNROLL                                                                               \
    for (int k = 0; k < SIDE; k++) memcpy(to + k * to_step, &x[k], sizeof x[k]);            \
  }

#define SQUARE(size)                                                        \
  static inline vector_##size load_##size(const char *from, int64_t side) { \
    vector_##size x;                                                        \
    (void)side;                                                             \
    memcpy(&x, from, sizeof x);                                             \
    return x;                                                               \
  }                                                                         \
  SQUARES(square_##size, size, vector_##size, load_##size, LOW_##size, HIGH_##size)
SQUARE(1)
SQUARE(2)
SQUARE(4)
SQUARE(8)

#if defined(PARTS)
SQUARES(squares_1, 1, parts, load_parts, LOW_PARTS_1, HIGH_PARTS_1)
SQUARES(squares_2, 2, parts, load_parts, LOW_PARTS_2, HIGH_PARTS_2)
SQUARES(squares_4, 4, parts, load_parts, LOW_PARTS_4, HIGH_PARTS_4)
SQUARES(squares_8, 8, parts, load_parts, LOW_PARTS_8, HIGH_PARTS_8)
#else
#define PARTS 1
#define squares_1 square_1
#define squares_2 square_2
#define squares_4 square_4
#define squares_8 square_8
#endif

#define TRANSPOSE(size)                                                                                       \
  static void transpose_##size(char *to, int64_t to_step, const char *from, int64_t from_step, int64_t rows,  \
                               int64_t columns) {                                                             \
    enum { SIDE = VECTOR / size };                                                                            \
    const int64_t inner_rows = rows - rows % SIDE, inner_columns = columns - columns % SIDE;                  \
    int64_t r = 0;                                                                                            \
    for (; r + PARTS * SIDE <= inner_rows; r += PARTS * SIDE) {                                               \
      for (int64_t c = 0; c < inner_columns; c += SIDE) {                                                     \
        squares_##size(to + c * to_step + r * size, to_step, from + r * from_step + c * size, from_step);     \
      }                                                                                                       \
    }                                                                                                         \
    for (; r < inner_rows; r += SIDE) {                                                                       \
      for (int64_t c = 0; c < inner_columns; c += SIDE) {                                                     \
        square_##size(to + c * to_step + r * size, to_step, from + r * from_step + c * size, from_step);      \
      }                                                                                                       \
    }                                                                                                         \
    edge_##size(to + inner_columns * to_step, to_step, from + inner_columns * size, from_step, inner_rows,    \
                columns - inner_columns);                                                                     \
    edge_##size(to + inner_rows * size, to_step, from + inner_rows * from_step, from_step, rows - inner_rows, \
                columns);                                                                                     \
  }
TRANSPOSE(1)
TRANSPOSE(2)
TRANSPOSE(4)
TRANSPOSE(8)

static void transpose_16(char *to, int64_t to_step, const char *from, int64_t from_step, int64_t rows,
                         int64_t columns) {
  edge_16(to, to_step, from, from_step, rows, columns);
}

/* ---- Past the caches --------------------------------------------------------------------------------------------- */

#if defined(__SSE2__)
#define LINE 64 /* bytes: what is written to memory at once */

static void stream(char *to, const char *from, int64_t bytes) {
  int64_t i = (int64_t)(-(uintptr_t)to % LINE);
  if (i > bytes) i = bytes;
  memcpy(to, from, (size_t)i);
  for (; i + LINE <= bytes; i += LINE) {
#ifdef __AVX512F__
    _mm512_stream_si512((void *)(to + i), _mm512_loadu_si512(from + i));
#else
    __m128i x[LINE / VECTOR];
    memcpy(x, from + i, LINE);
    for (int k = 0; k < LINE / VECTOR; k++) _mm_stream_si128((__m128i *)(void *)(to + i) + k, x[k]);
#endif
  }
  memcpy(to + i, from + i, (size_t)(bytes - i));
}

static void stream_end(void) {
  _mm_sfence();
}
#else
static void stream(char *to, const char *from, int64_t bytes) {
  memcpy(to, from, (size_t)bytes);
}

static void stream_end(void) {}
#endif

/* ---- The table --------------------------------------------------------------------------------------------------- */

void KW_ISA_NAME(kw_add_moves)(kw_isa *isa) {
  static const kw_move_fn moves[KW_MOVE_SIZES] = {move_1, move_2, move_4, move_8, move_16};
  static const kw_transpose_fn transposes[KW_MOVE_SIZES] = {transpose_1, transpose_2, transpose_4, transpose_8,
                                                            transpose_16};
  memcpy(isa->move, moves, sizeof moves);
  memcpy(isa->transpose, transposes, sizeof transposes);
  isa->copy_rows = copy_rows;
  isa->stream = stream;
  isa->stream_end = stream_end;
}
