/* SPDX-License-Identifier: Apache-2.0
 *
 * Fills, copies, conversions and narrow formats on OpenCL. What a value rounds to is looked up among all values of the
 * format, which shares nothing with the kernels' bit arithmetic.
 */
#include "test_host.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SHAPE(...) ((const int64_t[]){__VA_ARGS__})
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const kw_value none = {.tag = KW_TAG_NONE};

/* ---- Narrow formats ---------------------------------------------------------------------------------------------- */

typedef struct format {
  kw_dtype dtype;
  int exponent_bits, mantissa_bits;
  uint32_t largest;  /* the pattern of the largest finite value */
  uint32_t overflow; /* the pattern beyond it */
} format;

static const format formats[] = {
    {KW_F16, 5, 10, 0x7bff, 0x7c00},
    {KW_BF16, 8, 7, 0x7f7f, 0x7f80},
    {KW_F8E4M3FN, 4, 3, 0x7e, 0x7f},
    {KW_F8E5M2, 5, 2, 0x7b, 0x7c},
};

/* The value of a finite, non-negative pattern. */
static double decode(const format *f, uint32_t bits) {
  int exponent = (int)(bits >> f->mantissa_bits), bias = (1 << (f->exponent_bits - 1)) - 1;
  double mantissa = (double)(bits & ((1u << f->mantissa_bits) - 1));
  if (exponent == 0) return ldexp(mantissa, 1 - bias - f->mantissa_bits);
  return ldexp(mantissa + (1 << f->mantissa_bits), exponent - bias - f->mantissa_bits);
}

/* The pattern nearest to x, ties to even. What would come next above the largest finite value bounds overflow. */
static uint32_t nearest(const format *f, double x) {
  uint32_t sign = signbit(x) ? 1u << (f->exponent_bits + f->mantissa_bits) : 0;
  uint32_t low = 0, high = f->largest + 1;
  x = fabs(x);
  while (high - low > 1) {
    uint32_t middle = (low + high) / 2;
    if (decode(f, middle) <= x) {
      low = middle;
    } else {
      high = middle;
    }
  }
  double below = x - decode(f, low), above = decode(f, low + 1) - x;
  uint32_t bits = below > above || (below == above && (low & 1)) ? low + 1 : low;
  return sign | (bits > f->largest ? f->overflow : bits);
}

static bool is_nan_pattern(const format *f, uint32_t bits) {
  uint32_t magnitude = bits & ((1u << (f->exponent_bits + f->mantissa_bits)) - 1);
  return f->dtype == KW_F8E4M3FN ? magnitude == 0x7f : magnitude > f->overflow;
}

/* Converts `n` elements with copy_. */
static void convert(test_host *host, kw_dtype from, kw_dtype to, int64_t n, const void *in, void *out) {
  kw_tensor_ref a = test_tensor(host, from, 1, &n, in), b = test_tensor(host, to, 1, &n, NULL);
  kw_value args[] = {test_tensor_arg(&b), test_tensor_arg(&a), {.tag = KW_TAG_BOOL}};
  test_call(host, "copy_", from, args, 3, &b);
  test_read(host, &b, out, (uint64_t)n * test_dtype_size(to));
  test_tensor_free(host, &a);
  test_tensor_free(host, &b);
}

static uint32_t pattern_at(const format *f, const void *data, size_t i) {
  return test_dtype_size(f->dtype) == 1 ? ((const uint8_t *)data)[i] : ((const uint16_t *)data)[i];
}

/* Every pattern to f32 and back; and the middles between neighbours, exactly and a hair to either side, from f64. */
static void test_narrow_conversions(void **state) {
  test_host *host = *state;
  for (size_t k = 0; k < COUNT(formats); ++k) {
    const format *f = &formats[k];
    int64_t n = 1 << (f->exponent_bits + f->mantissa_bits + 1), middles = 3 * (int64_t)(f->largest + 1);
    uint16_t *patterns = calloc((size_t)n, 2), *back = calloc((size_t)middles + (size_t)n, 2);
    float *values = calloc((size_t)n, sizeof *values);
    double *wide = calloc((size_t)middles, sizeof *wide);
    for (int64_t i = 0; i < n; ++i) {
      if (test_dtype_size(f->dtype) == 1) {
        ((uint8_t *)patterns)[i] = (uint8_t)i;
      } else {
        patterns[i] = (uint16_t)i;
      }
    }
    convert(host, f->dtype, KW_F32, n, patterns, values);
    convert(host, KW_F32, f->dtype, n, values, back);
    for (int64_t i = 0; i < n; ++i) {
      uint32_t magnitude = (uint32_t)i & (uint32_t)(n / 2 - 1), bits = pattern_at(f, back, (size_t)i);
      if (is_nan_pattern(f, (uint32_t)i)) {
        assert_true(isnan(values[i]) && is_nan_pattern(f, bits));
      } else {
        double want = magnitude > f->largest ? INFINITY : decode(f, magnitude);
        assert_true((double)values[i] == (i >= n / 2 ? -want : want));
        assert_int_equal(bits, i);
      }
    }
    for (int64_t i = 0; i <= f->largest; ++i) {
      double middle = (decode(f, (uint32_t)i) + decode(f, (uint32_t)i + 1)) / 2;
      wide[3 * i] = middle;
      wide[3 * i + 1] = nextafter(middle, INFINITY);
      wide[3 * i + 2] = -nextafter(middle, 0);
    }
    convert(host, KW_F64, f->dtype, middles, wide, back);
    for (int64_t i = 0; i < middles; ++i) assert_int_equal(pattern_at(f, back, (size_t)i), nearest(f, wide[i]));
    free(patterns);
    free(back);
    free(values);
    free(wide);
  }
}

/* Sums of f16 and bf16 are computed in f32 and rounded once. */
static void test_narrow_arithmetic(void **state) {
  test_host *host = *state;
  for (size_t k = 0; k < 2; ++k) {
    const format *f = &formats[k];
    int64_t n = (int64_t)f->largest + 1;
    uint16_t *a = calloc((size_t)n, 2), *b = calloc((size_t)n, 2), *got = calloc((size_t)n, 2);
    for (int64_t i = 0; i < n; ++i) {
      a[i] = (uint16_t)i;
      b[i] = (uint16_t)((i * 7919) % n);
    }
    kw_tensor_ref ta = test_tensor(host, f->dtype, 1, &n, a), tb = test_tensor(host, f->dtype, 1, &n, b);
    kw_tensor_ref to = test_tensor(host, f->dtype, 1, &n, NULL);
    kw_value args[] = {test_tensor_arg(&ta), test_tensor_arg(&tb), test_int_scalar(1)};
    test_call(host, "add.Tensor", f->dtype, args, 3, &to);
    test_read(host, &to, got, (uint64_t)n * 2);
    for (int64_t i = 0; i < n; ++i) {
      volatile float sum = (float)decode(f, a[i]) + (float)decode(f, b[i]);
      assert_int_equal(got[i], isinf(sum) ? f->overflow : nearest(f, sum));
    }
    test_tensor_free(host, &ta);
    test_tensor_free(host, &tb);
    test_tensor_free(host, &to);
    free(a);
    free(b);
    free(got);
  }
}

/* ---- Conversions ------------------------------------------------------------------------------------------------- */

static void test_conversions(void **state) {
  test_host *host = *state;
  const double reals[] = {1.9, -1.9, 300.0, -300.0, NAN, INFINITY, -INFINITY, 1e19, -1e19, 0.0, 0.25, 2147483647.5};
  const uint8_t to_u8[] = {1, 0, 255, 0, 0, 255, 0, 255, 0, 0, 0, 255};
  const int8_t to_i8[] = {1, -1, 127, -128, 0, 127, -128, 127, -128, 0, 0, 127};
  const int32_t to_i32[] = {1, -1, 300, -300, 0, INT32_MAX, INT32_MIN, INT32_MAX, INT32_MIN, 0, 0, INT32_MAX};
  const int64_t to_i64[] = {1, -1, 300, -300, 0, INT64_MAX, INT64_MIN, INT64_MAX, INT64_MIN, 0, 0, 2147483647};
  const uint8_t to_bool[] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 1, 1};
  const struct {
    kw_dtype dtype;
    const void *want;
  } cases[] = {{KW_U8, to_u8}, {KW_I8, to_i8}, {KW_I32, to_i32}, {KW_I64, to_i64}, {KW_BOOL, to_bool}};
  uint64_t got[COUNT(reals)];
  for (size_t c = 0; c < COUNT(cases); ++c) {
    convert(host, KW_F64, cases[c].dtype, COUNT(reals), reals, got);
    assert_memory_equal(got, cases[c].want, COUNT(reals) * test_dtype_size(cases[c].dtype));
  }
  const int64_t integers[] = {
      0, -1, 257, INT64_C(0x4040000000000001), INT64_MIN, (INT64_C(1) << 24) + 1, (INT64_C(1) << 53) + 1, 65520};
  const int8_t wrapped[] = {0, -1, 1, 1, 0, 1, 1, -16};
  float singles[8];
  double doubles[8];
  uint16_t halves[8];
  convert(host, KW_I64, KW_I8, 8, integers, got);
  assert_memory_equal(got, wrapped, 8);
  convert(host, KW_I64, KW_F32, 8, integers, singles);
  convert(host, KW_I64, KW_F64, 8, integers, doubles);
  for (int i = 0; i < 8; ++i) {
    assert_true(singles[i] == (float)integers[i]);
    assert_true(doubles[i] == (double)integers[i]);
  }
  convert(host, KW_I64, KW_F16, 8, integers, halves);
  assert_true(halves[1] == 0xbc00 && halves[2] == 0x5c04 && halves[4] == 0xfc00 && halves[7] == 0x7c00);
  convert(host, KW_I64, KW_BF16, 8, integers, halves);
  assert_int_equal(halves[3], 0x5e81); /* by way of f32 or f64 this would be 0x5e80 */
}

/* A number of any dtype, as it is. */
typedef struct number {
  bool is_real;
  int64_t integer;
  double real;
} number;

static double decode_any(const format *f, uint32_t bits) {
  const uint32_t sign = 1u << (f->exponent_bits + f->mantissa_bits), magnitude = bits & (sign - 1);
  const double value = is_nan_pattern(f, bits) ? (double)NAN : magnitude > f->largest ? INFINITY : decode(f, magnitude);
  return bits & sign ? -value : value;
}

static number read_number(kw_dtype dtype, const void *data, size_t i) {
  switch (dtype) {
    case KW_BOOL:
      return (number){.integer = ((const uint8_t *)data)[i] != 0};
    case KW_U8:
      return (number){.integer = ((const uint8_t *)data)[i]};
    case KW_I8:
      return (number){.integer = ((const int8_t *)data)[i]};
    case KW_I16:
      return (number){.integer = ((const int16_t *)data)[i]};
    case KW_I32:
      return (number){.integer = ((const int32_t *)data)[i]};
    case KW_I64:
      return (number){.integer = ((const int64_t *)data)[i]};
    case KW_F32:
      return (number){.is_real = true, .real = (double)((const float *)data)[i]};
    default:
      return (number){.is_real = true, .real = decode_any(&formats[dtype == KW_BF16], ((const uint16_t *)data)[i])};
  }
}

/* What `x` is as an integer of so many bits. */
static int64_t to_integer(number x, int bits, bool is_signed) {
  const double low = is_signed ? -ldexp(1, bits - 1) : 0, high = ldexp(1, bits - is_signed);
  if (!x.is_real && is_signed) return (int64_t)((uint64_t)x.integer << (64 - bits)) >> (64 - bits);
  if (!x.is_real) return x.integer & ((INT64_C(1) << bits) - 1);
  if (isnan(x.real)) return 0;
  if (x.real < low) return (int64_t)low;
  return x.real < high ? (int64_t)x.real : is_signed && bits == 64 ? INT64_MAX : (int64_t)high - 1;
}

static void assert_converted(number x, kw_dtype to, const void *got, size_t i) {
  static const struct {
    int bits;
    bool is_signed;
  } integers[] = {
      [KW_U8] = {8, false}, [KW_I8] = {8, true}, [KW_I16] = {16, true}, [KW_I32] = {32, true}, [KW_I64] = {64, true}};
  const number result = read_number(to, got, i);
  if (to == KW_BOOL) {
    assert_int_equal(((const uint8_t *)got)[i], x.is_real ? x.real != 0 : x.integer != 0);
  } else if (to <= KW_I64) {
    assert_int_equal(result.integer, to_integer(x, integers[to].bits, integers[to].is_signed));
  } else if (x.is_real && isnan(x.real)) {
    assert_true(isnan(result.real));
  } else if (to == KW_F32) {
    assert_true(((const float *)got)[i] == (x.is_real ? (float)x.real : (float)x.integer));
  } else {
    const format *f = &formats[to == KW_BF16];
    assert_int_equal(((const uint16_t *)got)[i], nearest(f, x.is_real ? x.real : (double)x.integer));
  }
}

/* From each dtype to each: all patterns of 16 bits, each also with others above it, and floats on both sides of where
 * integers end; as many as no vector divides. */
static void test_conversions_of_many(void **state) {
  static const kw_dtype dtypes[] = {KW_BOOL, KW_U8, KW_I8, KW_I16, KW_I32, KW_I64, KW_F16, KW_BF16, KW_F32};
  static const float ends[] = {127.5f,
                               128,
                               255.9f,
                               256,
                               -129,
                               32767.9f,
                               32768,
                               2147483520.0f,
                               2147483648.0f,
                               -2147483648.0f,
                               -2147483904.0f,
                               9223371487098961920.0f,
                               9223372036854775808.0f,
                               -9223372036854775808.0f,
                               65504,
                               65519,
                               65520,
                               (float)NAN,
                               (float)INFINITY};
  enum { MANY = 65536 + 3 };
  static uint64_t data[MANY], got[MANY];
  test_host *host = *state;
  for (size_t s = 0; s < COUNT(dtypes); ++s) {
    const uint32_t size = test_dtype_size(dtypes[s]);
    for (size_t i = 0; i < MANY; ++i) {
      uint64_t pattern = i % 65536 | (uint64_t)(i * 2654435761u) << 16 >> (i % 3 * 20) << 16;
      if (dtypes[s] == KW_F32 && i < COUNT(ends)) memcpy(&pattern, &ends[i], sizeof ends[i]);
      memcpy((char *)data + i * size, &pattern, size);
    }
    for (size_t t = 0; t < COUNT(dtypes); ++t) {
      if (dtypes[s] == dtypes[t] || (dtypes[s] == KW_I64 && dtypes[t] == KW_BF16)) continue; /* that a double rounds */
      convert(host, dtypes[s], dtypes[t], MANY, data, got);
      for (size_t i = 0; i < MANY; ++i) assert_converted(read_number(dtypes[s], data, i), dtypes[t], got, i);
    }
  }
}

/* ---- Moves ------------------------------------------------------------------------------------------------------- */

/* Every dtype moves bit by bit, NaN payloads included, straight and transposed. */
static void test_raw_copies(void **state) {
  test_host *host = *state;
  uint8_t data[12 * 16], got[12 * 16];
  for (size_t i = 0; i < sizeof data; ++i) data[i] = (uint8_t)(i * 73 + 255);
  for (kw_dtype dtype = 0; dtype <= KW_C128; ++dtype) {
    size_t size = test_dtype_size(dtype);
    kw_tensor_ref a = test_tensor(host, dtype, 2, SHAPE(3, 4), data);
    kw_tensor_ref b = test_tensor(host, dtype, 2, SHAPE(4, 3), NULL);
    kw_value args[] = {test_tensor_arg(&b), test_tensor_arg(&a), {.tag = KW_TAG_BOOL}};
    b.shape[0] = 3;
    b.shape[1] = 4;
    for (int transposed = 0; transposed < 2; ++transposed) {
      b.strides[0] = transposed ? 1 : 4;
      b.strides[1] = transposed ? 3 : 1;
      test_call(host, "copy_", dtype, args, 3, &b);
      test_read(host, &b, got, 12 * size);
      for (size_t i = 0; i < 3; ++i)
        for (size_t j = 0; j < 4; ++j)
          assert_memory_equal(got + size * (transposed ? j * 3 + i : i * 4 + j), data + size * (i * 4 + j), size);
    }
    test_tensor_free(host, &a);
    test_tensor_free(host, &b);
  }
}

static void test_fills(void **state) {
  test_host *host = *state;
  const struct {
    kw_dtype dtype;
    kw_value value;
    uint64_t bits[2];
  } cases[] = {
      {KW_BOOL, test_int_scalar(7), {1, 0}},
      {KW_I16, test_int_scalar(-2), {0xfffe, 0}},
      {KW_F16, test_float_scalar(-1.5), {0xbe00, 0}},
      {KW_BF16, test_float_scalar(1.0), {0x3f80, 0}},
      {KW_F8E5M2, test_float_scalar(1.0), {0x3c, 0}},
      {KW_F32, test_float_scalar(0.1), {0x3dcccccd, 0}},
      {KW_I64, test_int_scalar(INT64_MIN), {UINT64_C(1) << 63, 0}},
      {KW_C64, test_float_scalar(1.0), {0x3f800000, 0}},
      {KW_C128,
       {.tag = KW_TAG_SCALAR, .kind = KW_SCALAR_C128, .u.c = {1.0, -2.0}},
       {UINT64_C(0x3ff0000000000000), UINT64_C(0xc000000000000000)}},
  };
  for (size_t c = 0; c < COUNT(cases); ++c) {
    kw_dtype dtype = cases[c].dtype;
    size_t size = test_dtype_size(dtype);
    uint8_t got[10 * 16], poison[16];
    memset(poison, 0xa5, sizeof poison);
    for (int64_t stride = 1; stride <= 2; ++stride) {
      kw_tensor_ref a = test_tensor(host, dtype, 1, SHAPE(10), NULL);
      kw_value args[] = {test_tensor_arg(&a), cases[c].value};
      a.numel = a.shape[0] = 4;
      a.strides[0] = stride;
      a.offset = size;
      test_call(host, "fill_.Scalar", dtype, args, 2, &a);
      test_read(host, &a, got, 10 * size);
      for (size_t i = 0; i < 10; ++i) {
        bool filled = i >= 1 && (i - 1) % (size_t)stride == 0 && (i - 1) / (size_t)stride < 4;
        assert_memory_equal(got + i * size, filled ? (const void *)cases[c].bits : poison, size);
      }
      test_tensor_free(host, &a);
    }
  }
  const float value = 2.5f;
  float got[6];
  kw_tensor_ref a = test_tensor(host, KW_F32, 1, SHAPE(6), NULL), v = test_tensor(host, KW_F32, 0, NULL, &value);
  v.rank = 1;
  v.shape[0] = v.numel = 6; /* as the host expands it */
  v.strides[0] = 0;
  test_call(host, "fill_.Tensor", KW_F32, (kw_value[]){test_tensor_arg(&a), test_tensor_arg(&v)}, 2, &a);
  test_read(host, &a, got, sizeof got);
  for (int i = 0; i < 6; ++i) assert_true(got[i] == value);
  test_tensor_free(host, &a);
  test_tensor_free(host, &v);
}

static void test_where(void **state) {
  test_host *host = *state;
  const uint8_t condition[] = {1, 0, 0, 1, 255, 0};
  const int32_t a[] = {1, 2, 3, 4, 5, 6}, b = -9;
  int32_t got[6];
  kw_tensor_ref tc = test_tensor(host, KW_BOOL, 1, SHAPE(6), condition), ta = test_tensor(host, KW_I32, 1, SHAPE(6), a);
  kw_tensor_ref tb = test_tensor(host, KW_I32, 0, NULL, &b), to = test_tensor(host, KW_I32, 1, SHAPE(6), NULL);
  tb.rank = 1;
  tb.shape[0] = tb.numel = 6;
  tb.strides[0] = 0;
  kw_value args[] = {test_tensor_arg(&tc), test_tensor_arg(&ta), test_tensor_arg(&tb)};
  test_call(host, "where.self", KW_I32, args, 3, &to);
  test_read(host, &to, got, sizeof got);
  for (int i = 0; i < 6; ++i) assert_int_equal(got[i], condition[i] ? a[i] : b);
  test_tensor_free(host, &tc);
  test_tensor_free(host, &ta);
  test_tensor_free(host, &tb);
  test_tensor_free(host, &to);
}

/* amax of bool, sums of f16: what the compute types widen. */
static void test_narrow_reductions(void **state) {
  test_host *host = *state;
  enum { N = 9000 };
  static uint16_t ones[N];
  static uint8_t bits[N];
  uint16_t sum;
  uint8_t any;
  for (int i = 0; i < N; ++i) ones[i] = 0x3c00;
  bits[8999] = 1;
  kw_tensor_ref a = test_tensor(host, KW_F16, 1, SHAPE(N), ones), b = test_tensor(host, KW_BOOL, 1, SHAPE(N), bits);
  kw_tensor_ref s = test_tensor(host, KW_F16, 0, NULL, NULL), m = test_tensor(host, KW_BOOL, 0, NULL, NULL);
  test_call(host, "sum", KW_F16, (kw_value[]){test_tensor_arg(&a), none}, 2, &s);
  test_read(host, &s, &sum, sizeof sum);
  assert_int_equal(sum, 0x7065); /* 9000: in f16 alone it would stop at 2048 */
  test_call(host, "amax", KW_BOOL, (kw_value[]){test_tensor_arg(&b), none, {.tag = KW_TAG_BOOL}}, 3, &m);
  test_read(host, &m, &any, sizeof any);
  assert_int_equal(any, 1);
  test_tensor_free(host, &a);
  test_tensor_free(host, &b);
  test_tensor_free(host, &s);
  test_tensor_free(host, &m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_narrow_conversions),
      cmocka_unit_test(test_narrow_arithmetic),
      cmocka_unit_test(test_conversions),
      cmocka_unit_test(test_conversions_of_many),
      cmocka_unit_test(test_raw_copies),
      cmocka_unit_test(test_fills),
      cmocka_unit_test(test_where),
      cmocka_unit_test(test_narrow_reductions),
  };
  return cmocka_run_group_tests(tests, test_host_start, test_host_stop);
}
