/* SPDX-License-Identifier: Apache-2.0
 *
 * Elements of every dtype read into lanes and written from them, each with one rounding.
 */
#include "halves.h"
#include "level.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

static inline float read_f8e4m3fn(uint8_t bits) {
  const uint32_t magnitude = bits & 0x7fu, sign = (uint32_t)(bits & 0x80u) << 24;
  return magnitude == 0x7fu ? float_of_bits(sign | 0x7fc00000u) : widen(magnitude, sign, 3, 7, false);
}

static inline uint8_t write_f8e4m3fn(float value) {
  return (uint8_t)(bits_of_float(value) >> 24 & 0x80u) | (uint8_t)narrow(value, 3, 7, 0x7f, 0x7f);
}

static inline float read_f8e5m2(uint8_t bits) {
  return widen(bits & 0x7fu, (uint32_t)(bits & 0x80u) << 24, 2, 15, true);
}

static inline uint8_t write_f8e5m2(float value) {
  return (uint8_t)(bits_of_float(value) >> 24 & 0x80u) | (uint8_t)narrow(value, 2, 15, 0x7c, 0x7e);
}

/* A double as a float of which another rounding makes what one alone would have: where bits are lost the last one that
 * stays is odd. */
static inline float to_odd(double value) {
  const float nearest = (float)value;
  const uint32_t bits = bits_of_float(nearest);
  const bool exact = (double)nearest == value || value != value;
  const uint32_t step = fabs((double)nearest) > fabs(value) ? UINT32_MAX : 1;
  return float_of_bits(choose(exact || (bits & 1), bits, bits + step));
}

/* ---- One element ---------------------------------------------------------------------------------------------------
 */

typedef uint8_t bool8;
typedef uint8_t f8e4m3fn, f8e5m2;

/* Of floating point the nearest integer towards zero that there is, NaN as 0. `high` is the last number below which no
 * other is too large; where it is not itself the largest integer, PAST gives that for what lies above. */
#define SATURATE(to, from, low, high)                  \
  static inline to to##_of_##from(from value) {        \
    const from above = value > (low) ? value : (low);  \
    const from kept = above < (high) ? above : (high); \
    return value != value ? 0 : (to)kept;              \
  }
#define SATURATE_PAST(to, from, low, high, most)                    \
  static inline to to##_of_##from(from value) {                     \
    const from above = value > (low) ? value : (low);               \
    const from kept = above < (high) ? above : (high);              \
    return value != value ? 0 : value > (high) ? (most) : (to)kept; \
  }
typedef float f32;
typedef double f64;
typedef int8_t i8;
typedef uint8_t u8;
typedef int16_t i16;
typedef int32_t i32;
typedef int64_t i64;
SATURATE(u8, f32, 0, UINT8_MAX)
SATURATE(i8, f32, INT8_MIN, INT8_MAX)
SATURATE(i16, f32, INT16_MIN, INT16_MAX)
SATURATE_PAST(i32, f32, -0x1p31f, 0x1.fffffep30f, INT32_MAX)
SATURATE_PAST(i64, f32, -0x1p63f, 0x1.fffffep62f, INT64_MAX)
SATURATE(u8, f64, 0, UINT8_MAX)
SATURATE(i8, f64, INT8_MIN, INT8_MAX)
SATURATE(i16, f64, INT16_MIN, INT16_MAX)
SATURATE(i32, f64, INT32_MIN, INT32_MAX)
SATURATE_PAST(i64, f64, -0x1p63, 0x1.fffffffffffffp62, INT64_MAX)

/* ---- Rows ----------------------------------------------------------------------------------------------------------
 */

/* Reads elements of type `stored`, each of which is `x`, as lanes of type `lane`. */
#define READ(dtype, stored, lane, value)                                                      \
  static void read_##dtype##_##lane(void *lanes, const char *from, int64_t step, int64_t n) { \
    lane *to = lanes;                                                                         \
    if (step == (int64_t)sizeof(stored)) {                                                    \
      KW_INDEPENDENT                                                                          \
      for (int64_t i = 0; i < n; i++) {                                                       \
        const stored x = ((const stored *)(const void *)from)[i];                             \
        to[i] = (lane)(value);                                                                \
      }                                                                                       \
      return;                                                                                 \
    }                                                                                         \
    for (int64_t i = 0; i < n; i++, from += step) {                                           \
      const stored x = *(const stored *)(const void *)from;                                   \
      to[i] = (lane)(value);                                                                  \
    }                                                                                         \
  }

/* Writes lanes x of type `lane`. */
#define WRITE(dtype, stored, lane, value)                                                    \
  static void write_##dtype##_##lane(char *to, int64_t step, const void *lanes, int64_t n) { \
    const lane *from = lanes;                                                                \
    if (step == (int64_t)sizeof(stored)) {                                                   \
      KW_INDEPENDENT                                                                         \
      for (int64_t i = 0; i < n; i++) {                                                      \
        const lane x = from[i];                                                              \
        ((stored *)(void *)to)[i] = (stored)(value);                                         \
      }                                                                                      \
      return;                                                                                \
    }                                                                                        \
    for (int64_t i = 0; i < n; i++, to += step) {                                            \
      const lane x = from[i];                                                                \
      *(stored *)(void *)to = (stored)(value);                                               \
    }                                                                                        \
  }

/* Between each dtype and floating point lanes. */
#define FLOATING(lane, of_double)                               \
  READ(bool8, uint8_t, lane, x != 0)                            \
  READ(u8, u8, lane, x)                                         \
  READ(i8, i8, lane, x)                                         \
  READ(i16, i16, lane, x)                                       \
  READ(i32, i32, lane, x)                                       \
  READ(i64, i64, lane, x)                                       \
  READ(f16, f16, lane, read_f16(x))                             \
  READ(bf16, bf16, lane, read_bf16(x))                          \
  READ(f32, f32, lane, x)                                       \
  READ(f64, f64, lane, x)                                       \
  READ(f8e4m3fn, f8e4m3fn, lane, read_f8e4m3fn(x))              \
  READ(f8e5m2, f8e5m2, lane, read_f8e5m2(x))                    \
  WRITE(bool8, uint8_t, lane, x != 0)                           \
  WRITE(u8, u8, lane, u8_of_##lane(x))                          \
  WRITE(i8, i8, lane, i8_of_##lane(x))                          \
  WRITE(i16, i16, lane, i16_of_##lane(x))                       \
  WRITE(i32, i32, lane, i32_of_##lane(x))                       \
  WRITE(i64, i64, lane, i64_of_##lane(x))                       \
  WRITE(f16, f16, lane, write_f16(of_double(x)))                \
  WRITE(bf16, bf16, lane, write_bf16(of_double(x)))             \
  WRITE(f32, f32, lane, x)                                      \
  WRITE(f64, f64, lane, x)                                      \
  WRITE(f8e4m3fn, f8e4m3fn, lane, write_f8e4m3fn(of_double(x))) \
  WRITE(f8e5m2, f8e5m2, lane, write_f8e5m2(of_double(x)))
FLOATING(f32, )
FLOATING(f64, to_odd)

/* Between integers. */
#define INTEGER(lane)                 \
  READ(bool8, uint8_t, lane, x != 0)  \
  READ(u8, u8, lane, x)               \
  READ(i8, i8, lane, x)               \
  READ(i16, i16, lane, x)             \
  READ(i32, i32, lane, x)             \
  WRITE(bool8, uint8_t, lane, x != 0) \
  WRITE(u8, u8, lane, x)              \
  WRITE(i8, i8, lane, x)              \
  WRITE(i16, i16, lane, x)            \
  WRITE(i32, i32, lane, x)
INTEGER(i32)
INTEGER(i64)
READ(i64, i64, i64, x)
WRITE(i64, i64, i64, x)
WRITE(f32, f32, i64, x)
WRITE(f64, f64, i64, x)

/* Elements of 16 bits as they are. */
READ(f16, f16, half, x)
READ(bf16, bf16, half, x)
WRITE(f16, f16, half, x)
WRITE(bf16, bf16, half, x)

/* Bytes. */
typedef uint8_t byte;
READ(bool8, uint8_t, byte, x != 0)
READ(u8, u8, byte, x)
READ(i8, i8, byte, x)
WRITE(bool8, uint8_t, byte, x != 0)
WRITE(u8, u8, byte, x)
WRITE(i8, i8, byte, x)

#ifndef __AVX512DQ__
/* Vectors have no conversion to 64 bits, but one to 32, in which most numbers have room: where all of some do. */
static void write_i64_by_words(char *to, int64_t step, const void *lanes, int64_t n) {
  enum { PIECE = 256 };
  const f32 *from = lanes;
  for (int64_t begin = 0; begin < n; begin += PIECE, to += PIECE * step, from += PIECE) {
    const int64_t count = n - begin < PIECE ? n - begin : PIECE;
    i64 *dense = (i64 *)(void *)to;
    int32_t are_larger = step != (int64_t)sizeof(i64);
    for (int64_t i = 0; i < count; i++) are_larger |= fabsf(from[i]) < 0x1p31f ? 0 : 1;
    if (are_larger) {
      write_i64_f32(to, step, from, count);
      continue;
    }
    KW_INDEPENDENT
    for (int64_t i = 0; i < count; i++) dense[i] = (i32)from[i];
  }
}
#endif

#ifdef F16_AT_ONCE
static void read_f16_by_instruction(void *lanes, const char *from, int64_t step, int64_t n) {
  int64_t i = 0;
  for (; step == (int64_t)sizeof(f16) && i + F16_AT_ONCE <= n; i += F16_AT_ONCE) {
    f16s x;
    memcpy(&x, from + i * step, sizeof x);
    widen_f16s((float *)lanes + i, x);
  }
  read_f16_f32((float *)lanes + i, from + i * step, step, n - i);
}

static void write_f16_by_instruction(char *to, int64_t step, const void *lanes, int64_t n) {
  int64_t i = 0;
  for (; step == (int64_t)sizeof(f16) && i + F16_AT_ONCE <= n; i += F16_AT_ONCE) {
    const f16s x = narrow_to_f16s((const float *)lanes + i);
    memcpy(to + i * step, &x, sizeof x);
  }
  write_f16_f32(to + i * step, step, (const float *)lanes + i, n - i);
}
#endif

#ifdef BF16_AT_ONCE
/* Lanes among which is a NaN go one by one. */
static void write_bf16_by_vectors(char *to, int64_t step, const void *lanes, int64_t n) {
  int64_t i = 0;
  for (; step == (int64_t)sizeof(bf16) && i + BF16_AT_ONCE <= n; i += BF16_AT_ONCE) {
    const float *from = (const float *)lanes + i;
    if (any_nan(from)) {
      write_bf16_f32(to + i * step, step, from, BF16_AT_ONCE);
    } else {
      store_bf16s(to + i * step, narrow_to_bf16s(from));
    }
  }
  write_bf16_f32(to + i * step, step, (const float *)lanes + i, n - i);
}
#endif

/* ---- Codes ---------------------------------------------------------------------------------------------------------
 */

static void to_codes(int32_t *codes, const float *x, const float *scale, const int32_t *zero, int32_t low, int32_t high,
                     int64_t n) {
  KW_INDEPENDENT
  for (int64_t i = 0; i < n; i++) {
    const float least = (float)(low - zero[i]), most = (float)(high - zero[i]);
    const float value = x[i] / scale[i], whole = rintf(value);
    const float within = whole < least ? least : whole > most ? most : whole;
    codes[i] = value != value ? 0 : (int32_t)within + zero[i];
  }
}

static void from_codes(float *lanes, const int32_t *codes, const int32_t *zero, const float *scale, int64_t n) {
  KW_INDEPENDENT
  for (int64_t i = 0; i < n; i++) lanes[i] = (float)(codes[i] - zero[i]) * scale[i];
}

/* ---- Nibbles ------------------------------------------------------------------------------------------------------
 */

static void nibbles(float *lanes, const uint8_t *bytes, float zero, float scale, int64_t n) {
  KW_INDEPENDENT
  for (int64_t i = 0; i < n; i++) {
    lanes[2 * i] = ((float)(bytes[i] & 15) - zero) * scale;
    lanes[2 * i + 1] = ((float)(bytes[i] >> 4) - zero) * scale;
  }
}

/* ---- The table ------------------------------------------------------------------------------------------------------
 */

#define BOTH(dtype, name, lane, LANE)                      \
  isa->read[dtype][KW_LANE_##LANE] = read_##name##_##lane; \
  isa->write[dtype][KW_LANE_##LANE] = write_##name##_##lane;
#define INTEGERS(lane, LANE)       \
  BOTH(KW_BOOL, bool8, lane, LANE) \
  BOTH(KW_U8, u8, lane, LANE)      \
  BOTH(KW_I8, i8, lane, LANE)      \
  BOTH(KW_I16, i16, lane, LANE)    \
  BOTH(KW_I32, i32, lane, LANE)
#define FLOATS(lane, LANE)                \
  INTEGERS(lane, LANE)                    \
  BOTH(KW_I64, i64, lane, LANE)           \
  BOTH(KW_F16, f16, lane, LANE)           \
  BOTH(KW_BF16, bf16, lane, LANE)         \
  BOTH(KW_F32, f32, lane, LANE)           \
  BOTH(KW_F64, f64, lane, LANE)           \
  BOTH(KW_F8E4M3FN, f8e4m3fn, lane, LANE) \
  BOTH(KW_F8E5M2, f8e5m2, lane, LANE)

void KW_ISA_NAME(kw_add_conversions)(kw_isa *isa) {
  isa->to_codes = to_codes;
  isa->from_codes = from_codes;
  isa->nibbles = nibbles;
  FLOATS(f32, F32)
  FLOATS(f64, F64)
  INTEGERS(i32, I32)
  INTEGERS(i64, I64)
  BOTH(KW_I64, i64, i64, I64)
  isa->read[KW_F16][KW_LANE_F16] = read_f16_half;
  isa->write[KW_F16][KW_LANE_F16] = write_f16_half;
  isa->read[KW_BF16][KW_LANE_BF16] = read_bf16_half;
  isa->write[KW_BF16][KW_LANE_BF16] = write_bf16_half;
  BOTH(KW_BOOL, bool8, byte, BYTE)
  BOTH(KW_U8, u8, byte, BYTE)
  BOTH(KW_I8, i8, byte, BYTE)
  isa->write[KW_F32][KW_LANE_I64] = write_f32_i64;
  isa->write[KW_F64][KW_LANE_I64] = write_f64_i64;
#ifndef __AVX512DQ__
  isa->write[KW_I64][KW_LANE_F32] = write_i64_by_words;
#endif
#ifdef F16_AT_ONCE
  isa->read[KW_F16][KW_LANE_F32] = read_f16_by_instruction;
  isa->write[KW_F16][KW_LANE_F32] = write_f16_by_instruction;
#endif
#ifdef BF16_AT_ONCE
  isa->write[KW_BF16][KW_LANE_F32] = write_bf16_by_vectors;
#endif
}
