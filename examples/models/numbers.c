/* SPDX-License-Identifier: Apache-2.0
 *
 * Elements that follow from a name and a number, and the conversion of dtypes.
 */
#include "numbers.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- Draws ------------------------------------------------------------------------------------------------------- */

/* SplitMix64's output function. */
static uint64_t mix(uint64_t x) {
  x ^= x >> 30;
  x *= UINT64_C(0xbf58476d1ce4e5b9);
  x ^= x >> 27;
  x *= UINT64_C(0x94d049bb133111eb);
  return x ^ x >> 31;
}

static uint64_t number(uint64_t seed, size_t index) {
  return mix(seed + (index + 1) * UINT64_C(0x9e3779b97f4a7c15));
}

/* FNV-1a of "MODEL/TENSOR". */
uint64_t number_seed(const struct model *model, const struct model_tensor *tensor) {
  char text[2 * MODEL_NAME];
  snprintf(text, sizeof text, "%s/%s", model->name, tensor->name);
  uint64_t hash = UINT64_C(0xcbf29ce484222325);
  for (const char *c = text; *c != '\0'; ++c) {
    hash = (hash ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
  }
  return hash;
}

double number_draw(uint64_t seed, const struct model_tensor *tensor, size_t index) {
  const uint64_t count = 2 * (uint64_t)tensor->most + 1;
  const int drawn = (int)(number(seed, index) % count) - tensor->most;
  return tensor->mean + ldexp(drawn, tensor->exponent);
}

size_t number_sample(size_t i, size_t count, size_t numel) {
  const size_t part = numel / count;
  return i * part + number(0, i) % part;
}

/* ---- Dtypes ------------------------------------------------------------------------------------------------------ */

static uint16_t to_f16(double value) {
  int exponent;
  const double fraction = frexp(fabs(value), &exponent); /* [0.5, 1) */
  const uint16_t sign = signbit(value) ? 0x8000 : 0;
  if (value == 0) {
    return sign;
  }
  if (exponent < -13) { /* subnormal: units of 2^-24 */
    return (uint16_t)(sign | (uint16_t)ldexp(fraction, exponent + 24));
  }
  return (uint16_t)(sign | (uint16_t)((exponent + 14) << 10) | (uint16_t)ldexp(fraction * 2 - 1, 10));
}

static double from_f16(uint16_t bits) {
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  const double magnitude = exponent == 31  ? (fraction ? (double)NAN : (double)INFINITY)
                           : exponent == 0 ? ldexp(fraction, -24)
                                           : ldexp(1024 + fraction, exponent - 25);
  return bits & 0x8000 ? -magnitude : magnitude;
}

void number_put(kw_dtype dtype, void *elements, size_t index, double value) {
  const float as_f32 = (float)value;
  uint32_t bits;
  memcpy(&bits, &as_f32, sizeof bits);
  if (dtype == KW_F32) {
    ((float *)elements)[index] = as_f32;
  } else {
    ((uint16_t *)elements)[index] = dtype == KW_F16 ? to_f16(value) : (uint16_t)(bits >> 16);
  }
}

double number_take(kw_dtype dtype, const void *elements, size_t index) {
  if (dtype == KW_F32) {
    return (double)((const float *)elements)[index];
  }
  const uint16_t half = ((const uint16_t *)elements)[index];
  if (dtype == KW_F16) {
    return from_f16(half);
  }
  const uint32_t bits = (uint32_t)half << 16;
  float value;
  memcpy(&value, &bits, sizeof value);
  return (double)value;
}
