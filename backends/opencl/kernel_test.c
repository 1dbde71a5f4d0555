/* SPDX-License-Identifier: Apache-2.0
 *
 * The portable kernels on OpenCL against plain expectations: each family, several dtypes, strided and repeated inputs.
 */
#include "test_host.h"

#include <keyway/keyway.h>
#include <math.h>
#include <op_table.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SHAPE(...) ((const int64_t[]){__VA_ARGS__})
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const kw_value none = {.tag = KW_TAG_NONE};

static kw_value text(const char *s) {
  return (kw_value){.tag = KW_TAG_STRING, .u.s = s};
}

static kw_value boolean(bool b) {
  return (kw_value){.tag = KW_TAG_BOOL, .u.b = b};
}

/* Runs an op of one or two tensors and extra arguments over contiguous data of `n` elements; results land in `out`. */
static void run(test_host *host, const char *op, kw_dtype key, kw_dtype result, int64_t n, const void *a, const void *b,
                const kw_value *extra, uint32_t extra_count, void *out) {
  kw_tensor_ref ta = test_tensor(host, key, 1, &n, a), tb = {0};
  kw_tensor_ref to = test_tensor(host, result, 1, &n, NULL);
  kw_value args[8] = {test_tensor_arg(&ta)};
  uint32_t count = 1;
  if (b) {
    tb = test_tensor(host, key, 1, &n, b);
    args[count++] = test_tensor_arg(&tb);
  }
  for (uint32_t i = 0; i < extra_count; ++i) args[count++] = extra[i];
  test_call(host, op, key, args, count, &to);
  test_read(host, &to, out, (uint64_t)n * test_dtype_size(result));
  test_tensor_free(host, &ta);
  if (b) test_tensor_free(host, &tb);
  test_tensor_free(host, &to);
}

static void assert_near(double got, double want, double relative) {
  if (isnan(want) ? !isnan(got) : got != want && !(fabs(got - want) <= relative * fabs(want)))
    fail_msg("got %.17g, want %.17g", got, want);
}

/* ---- The table --------------------------------------------------------------------------------------------------- */

/* The row with this name, or NULL. */
static const kw_op_row *find_row(const char *op) {
  for (uint32_t i = 0; i < kw_op_table_count; ++i) {
    size_t length = strcspn(kw_op_table[i].schema, "(");
    if (strlen(op) == length && memcmp(op, kw_op_table[i].schema, length) == 0) return &kw_op_table[i];
  }
  return NULL;
}

static void test_kernels_take_all_dtypes_of_their_op(void **state) {
  test_host *host = *state;
  for (uint32_t i = 0; i < host->kernel_count; ++i) {
    const kw_op_row *row = find_row(host->kernels[i].op);
    if (host->kernels[i].priority != 0) continue; /* not the pack's: a library's beside it */
    for (uint32_t k = 0; k < i; ++k) assert_string_not_equal(host->kernels[k].op, host->kernels[i].op);
    if (!row) fail_msg("no op %s", host->kernels[i].op);
    uint64_t want = row->dtypes;
    if (row->result == KW_RESULT_FLOAT) want &= KW_DTYPES_FLOAT;
    assert_int_equal(host->kernels[i].dtypes.bits[0], want);
  }
}

/* ---- Elements ---------------------------------------------------------------------------------------------------- */

static double reference_silu(double x) {
  return x / (1 + exp(-x));
}
static double reference_sigmoid(double x) {
  return 1 / (1 + exp(-x));
}
static double reference_rsqrt(double x) {
  return 1 / sqrt(x);
}
static double reference_relu(double x) {
  return x < 0 ? 0 : x;
}
static double reference_neg(double x) {
  return -x;
}

static void test_unary(void **state) {
  test_host *host = *state;
  static const struct {
    const char *op;
    double (*function)(double);
  } cases[] = {
      {"neg", reference_neg},
      {"abs", fabs},
      {"sqrt", sqrt},
      {"rsqrt", reference_rsqrt},
      {"exp", exp},
      {"log", log},
      {"sin", sin},
      {"cos", cos},
      {"tanh", tanh},
      {"erf", erf},
      {"relu", reference_relu},
      {"silu", reference_silu},
      {"sigmoid", reference_sigmoid},
  };
  double wide[] = {0.0, 1.0, -1.0, 0.5, 3.25, -7.5, 20.0, -20.0, 60.0, -60.0, 1e-3, NAN, INFINITY, 100.0, -85.0, 12.5};
  float narrow[COUNT(wide)], got_narrow[COUNT(wide)];
  double got_wide[COUNT(wide)];
  for (size_t i = 0; i < COUNT(wide); ++i) narrow[i] = (float)wide[i];
  for (size_t c = 0; c < COUNT(cases); ++c) {
    run(host, cases[c].op, KW_F32, KW_F32, COUNT(wide), narrow, NULL, NULL, 0, got_narrow);
    for (size_t i = 0; i < COUNT(wide); ++i) assert_near(got_narrow[i], (float)cases[c].function(narrow[i]), 2e-6);
    run(host, cases[c].op, KW_F64, KW_F64, COUNT(wide), wide, NULL, NULL, 0, got_wide);
    for (size_t i = 0; i < COUNT(wide); ++i) assert_near(got_wide[i], cases[c].function(wide[i]), 2e-15);
  }
}

static void test_gelu(void **state) {
  test_host *host = *state;
  const double x[] = {-6.0, -1.0, -0.1, 0.0, 0.1, 1.0, 6.0, 30.0};
  double got[COUNT(x)];
  kw_value mode = text("none");
  run(host, "gelu", KW_F64, KW_F64, COUNT(x), x, NULL, &mode, 1, got);
  for (size_t i = 0; i < COUNT(x); ++i) assert_near(got[i], 0.5 * x[i] * erfc(-x[i] * sqrt(0.5)), 1e-14);
  mode = text("tanh");
  run(host, "gelu", KW_F64, KW_F64, COUNT(x), x, NULL, &mode, 1, got);
  for (size_t i = 0; i < COUNT(x); ++i)
    assert_near(got[i] + 1,
                1 + 0.5 * x[i] * (1 + tanh(0.79788456080286535588 * (x[i] + 0.044715 * x[i] * x[i] * x[i]))), 1e-14);
}

static void test_binary_float(void **state) {
  test_host *host = *state;
  const float a[] = {1.5f, -7.0f, 7.0f, NAN, 2.0f, 1e30f, -1.0f, 0.0f};
  const float b[] = {2.0f, 2.0f, -2.0f, 1.0f, NAN, 1e30f, 0.0f, 3.0f};
  float got[8];
  kw_value alpha = test_float_scalar(0.5), mode = text("floor");
  run(host, "add.Tensor", KW_F32, KW_F32, 8, a, b, &alpha, 1, got);
  for (int i = 0; i < 8; ++i) assert_near(got[i], a[i] + 0.5f * b[i], 0);
  run(host, "sub.Tensor", KW_F32, KW_F32, 8, a, b, &alpha, 1, got);
  for (int i = 0; i < 8; ++i) assert_near(got[i], a[i] - 0.5f * b[i], 0);
  run(host, "mul.Tensor", KW_F32, KW_F32, 8, a, b, NULL, 0, got);
  for (int i = 0; i < 8; ++i) assert_near(got[i], a[i] * b[i], 0);
  run(host, "div.Tensor", KW_F32, KW_F32, 8, a, b, NULL, 0, got);
  for (int i = 0; i < 8; ++i) assert_near(got[i], a[i] / b[i], 2e-7);
  run(host, "div.Tensor_mode", KW_F32, KW_F32, 8, a, b, &mode, 1, got);
  for (int i = 0; i < 8; ++i) assert_near(got[i], floorf(a[i] / b[i]), 0);
  mode = text("trunc");
  run(host, "div.Tensor_mode", KW_F32, KW_F32, 8, a, b, &mode, 1, got);
  for (int i = 0; i < 8; ++i) assert_near(got[i], truncf(a[i] / b[i]), 0);
  run(host, "div.Tensor_mode", KW_F32, KW_F32, 8, a, b, &none, 1, got);
  for (int i = 0; i < 8; ++i) assert_near(got[i], a[i] / b[i], 2e-7);
  run(host, "maximum", KW_F32, KW_F32, 8, a, b, NULL, 0, got);
  for (int i = 0; i < 8; ++i) assert_near(got[i], isnan(a[i]) || isnan(b[i]) ? NAN : a[i] > b[i] ? a[i] : b[i], 0);
  run(host, "minimum", KW_F32, KW_F32, 8, a, b, NULL, 0, got);
  for (int i = 0; i < 8; ++i) assert_near(got[i], isnan(a[i]) || isnan(b[i]) ? NAN : a[i] < b[i] ? a[i] : b[i], 0);
  run(host, "pow.Tensor_Tensor", KW_F32, KW_F32, 8, a, b, NULL, 0, got);
  for (int i = 0; i < 8; ++i) assert_near(got[i], (float)pow(a[i], b[i]), 2e-6);
  kw_value two = test_int_scalar(2);
  run(host, "pow.Tensor_Scalar", KW_F32, KW_F32, 8, a, NULL, &two, 1, got);
  for (int i = 0; i < 8; ++i) assert_near(got[i], (float)pow(a[i], 2), 2e-6);
}

static void test_binary_integer(void **state) {
  test_host *host = *state;
  const int32_t a[] = {7, -7, 7, -7, INT32_MIN, 5, INT32_MAX, 0}, b[] = {2, 2, -2, -2, -1, 0, 1, -3};
  const int32_t floors[] = {3, -4, -4, 3, INT32_MIN, 0, INT32_MAX, 0};
  const int32_t truncs[] = {3, -3, -3, 3, INT32_MIN, 0, INT32_MAX, 0};
  const int32_t powers[] = {49, 49, 0, 0, 0, 1, INT32_MAX, 0};
  int32_t got[8];
  kw_value alpha = test_int_scalar(3), mode = text("floor");
  run(host, "add.Tensor", KW_I32, KW_I32, 8, a, b, &alpha, 1, got);
  for (int i = 0; i < 8; ++i) assert_int_equal(got[i], (int32_t)((uint32_t)a[i] + 3u * (uint32_t)b[i]));
  run(host, "div.Tensor_mode", KW_I32, KW_I32, 8, a, b, &mode, 1, got);
  assert_memory_equal(got, floors, sizeof floors);
  mode = text("trunc");
  run(host, "div.Tensor_mode", KW_I32, KW_I32, 8, a, b, &mode, 1, got);
  assert_memory_equal(got, truncs, sizeof truncs);
  run(host, "pow.Tensor_Tensor", KW_I32, KW_I32, 8, a, b, NULL, 0, got);
  assert_memory_equal(got, powers, sizeof powers);
  run(host, "bitwise_xor.Tensor", KW_I32, KW_I32, 8, a, b, NULL, 0, got);
  for (int i = 0; i < 8; ++i) assert_int_equal(got[i], a[i] ^ b[i]);
  run(host, "neg", KW_I32, KW_I32, 8, a, NULL, NULL, 0, got);
  for (int i = 0; i < 8; ++i) assert_int_equal(got[i], (int32_t)(0u - (uint32_t)a[i]));

  const int64_t la[] = {INT64_MIN, INT64_C(1) << 40, -5}, lb[] = {-1, 3, 2};
  int64_t lgot[3];
  run(host, "div.Tensor_mode", KW_I64, KW_I64, 3, la, lb, &mode, 1, lgot);
  assert_true(lgot[0] == INT64_MIN && lgot[1] == (INT64_C(1) << 40) / 3 && lgot[2] == -2);

  const uint8_t ua[] = {250, 3, 200}, ub[] = {10, 5, 2};
  uint8_t ugot[3];
  kw_value one = test_int_scalar(1), minus = test_int_scalar(-1);
  run(host, "add.Tensor", KW_U8, KW_U8, 3, ua, ub, &one, 1, ugot);
  assert_true(ugot[0] == 4 && ugot[1] == 8 && ugot[2] == 202);
  run(host, "mul.Scalar", KW_U8, KW_U8, 3, ua, NULL, &minus, 1, ugot);
  assert_true(ugot[0] == 6 && ugot[1] == 253 && ugot[2] == 56);

  /* One element and a Scalar: contiguous, yet the Scalar is no tensor to read. */
  kw_value extra[] = {test_int_scalar(40), test_int_scalar(2)};
  run(host, "add.Scalar", KW_I64, KW_I64, 1, &la[2], NULL, extra, 2, lgot);
  assert_true(lgot[0] == 75);

  const uint8_t ba[] = {0, 1, 0, 1}, bb[] = {0, 0, 1, 1};
  uint8_t bgot[4];
  run(host, "add.Tensor", KW_BOOL, KW_BOOL, 4, ba, bb, &one, 1, bgot);
  assert_true(bgot[0] == 0 && bgot[1] == 1 && bgot[2] == 1 && bgot[3] == 1);
  run(host, "mul.Tensor", KW_BOOL, KW_BOOL, 4, ba, bb, NULL, 0, bgot);
  assert_true(bgot[0] == 0 && bgot[1] == 0 && bgot[2] == 0 && bgot[3] == 1);
  run(host, "bitwise_not", KW_BOOL, KW_BOOL, 4, ba, NULL, NULL, 0, bgot);
  assert_true(bgot[0] == 1 && bgot[1] == 0 && bgot[2] == 1 && bgot[3] == 0);
}

static void test_refusals(void **state) {
  test_host *host = *state;
  const int64_t shape[] = {4};
  kw_tensor_ref f = test_tensor(host, KW_F32, 1, shape, NULL);
  const struct {
    const char *op;
    kw_value args[3];
    const kw_tensor_ref *out;
  } cases[] = {
      {"gelu", {test_tensor_arg(&f), text("fast")}, &f},
      {"div.Tensor_mode", {test_tensor_arg(&f), test_tensor_arg(&f), text("ceil")}, &f},
  };
  for (size_t i = 0; i < COUNT(cases); ++i) {
    const kw_kernel_desc *kernel = test_kernel(host, cases[i].op);
    kw_call call = {.struct_size = sizeof call,
                    .arg_count = 3,
                    .out_count = 1,
                    .device = host->device,
                    .op = cases[i].op,
                    .args = cases[i].args,
                    .outs = &cases[i].out,
                    .user = kernel->user};
    host->error[0] = 0;
    assert_int_equal(kernel->can_implement(&call), KW_ERR_NOT_IMPLEMENTED);
    assert_non_null(strstr(host->error, cases[i].op));
  }
  test_tensor_free(host, &f);
}

static void test_compare_and_clamp(void **state) {
  test_host *host = *state;
  const float a[] = {1, 2, 3, NAN, 0}, b[] = {2, 2, 2, 2, NAN};
  const uint8_t want[6][5] = {{0, 1, 0, 0, 0}, {1, 0, 1, 1, 1}, {1, 0, 0, 0, 0},
                              {1, 1, 0, 0, 0}, {0, 0, 1, 0, 0}, {0, 1, 1, 0, 0}};
  const char *ops[6][2] = {{"eq.Tensor", "eq.Scalar"}, {"ne.Tensor", "ne.Scalar"}, {"lt.Tensor", "lt.Scalar"},
                           {"le.Tensor", "le.Scalar"}, {"gt.Tensor", "gt.Scalar"}, {"ge.Tensor", "ge.Scalar"}};
  const kw_value two = test_int_scalar(2);
  uint8_t got[5];
  for (int i = 0; i < 6; ++i) {
    run(host, ops[i][0], KW_F32, KW_BOOL, 5, a, b, NULL, 0, got);
    assert_memory_equal(got, want[i], 5);
    run(host, ops[i][1], KW_F32, KW_BOOL, 4, a, NULL, &two, 1, got);
    assert_memory_equal(got, want[i], 4);
  }
  run(host, "logical_xor", KW_F32, KW_BOOL, 5, a, b, NULL, 0, got);
  assert_memory_equal(got, ((uint8_t[]){0, 0, 0, 0, 1}), 5);
  run(host, "logical_not", KW_F32, KW_BOOL, 5, a, NULL, NULL, 0, got);
  assert_memory_equal(got, ((uint8_t[]){0, 0, 0, 0, 1}), 5);

  float clamped[5];
  kw_value bounds[2] = {test_float_scalar(1.5), none};
  run(host, "clamp", KW_F32, KW_F32, 5, a, NULL, bounds, 2, clamped);
  const float low[] = {1.5f, 2, 3, NAN, 1.5f}, crossed[] = {1, 1, 1, NAN, 1}, tensors[] = {2, 2, 2, NAN, NAN};
  for (int i = 0; i < 5; ++i) assert_near(clamped[i], low[i], 0);
  bounds[1] = test_float_scalar(1.0); /* below the minimum: it wins */
  run(host, "clamp", KW_F32, KW_F32, 5, a, NULL, bounds, 2, clamped);
  for (int i = 0; i < 5; ++i) assert_near(clamped[i], crossed[i], 0);
  kw_tensor_ref high = test_tensor(host, KW_F32, 1, SHAPE(5), b);
  kw_value tensor_bound = test_tensor_arg(&high);
  run(host, "clamp.Tensor", KW_F32, KW_F32, 5, a, b, &tensor_bound, 1, clamped);
  for (int i = 0; i < 5; ++i) assert_near(clamped[i], tensors[i], 0);
  test_tensor_free(host, &high);
}

/* Results too large for caches, which are stored another way: whole vectors, and the rest of the last one. */
static void test_large(void **state) {
  enum { N = (1 << 20) + 5 };
  const kw_value alpha = {.tag = KW_TAG_SCALAR, .kind = KW_SCALAR_I64, .u.i = 1};
  float *a = malloc(N * sizeof *a), *b = malloc(N * sizeof *b), *out = malloc(N * sizeof *out);
  assert_true(a && b && out);
  for (int i = 0; i < N; ++i) {
    a[i] = (float)(i % 1001 - 500);
    b[i] = (float)(i % 7);
  }
  run(*state, "add.Tensor", KW_F32, KW_F32, N, a, b, &alpha, 1, out);
  for (int i = 0; i < N; ++i)
    if (out[i] != a[i] + b[i]) fail_msg("element %d: got %g, want %g", i, (double)out[i], (double)(a[i] + b[i]));
  run(*state, "relu", KW_F32, KW_F32, N, a, NULL, NULL, 0, out);
  for (int i = 0; i < N; ++i)
    if (out[i] != fmaxf(a[i], 0)) fail_msg("element %d: got %g of %g", i, (double)out[i], (double)a[i]);
  free(a);
  free(b);
  free(out);
}

/* out[i][j] = a[j][i] + b[i], at offsets, into an output with gaps: every stride, offset and repetition counts. */
static void test_strides(void **state) {
  test_host *host = *state;
  float a[40], b[8], out[64];
  for (int i = 0; i < 40; ++i) a[i] = (float)i;
  for (int i = 0; i < 8; ++i) b[i] = 100.0f * (float)i;
  kw_tensor_ref ta = test_tensor(host, KW_F32, 1, SHAPE(40), a), tb = test_tensor(host, KW_F32, 1, SHAPE(8), b);
  kw_tensor_ref to = test_tensor(host, KW_F32, 1, SHAPE(64), NULL);
  kw_tensor_ref view[3] = {to, ta, tb};
  const int64_t strides[3][2] = {{12, 2}, {1, 5}, {1, 0}}, offsets[3] = {3, 2, 1};
  for (int k = 0; k < 3; ++k) {
    view[k].rank = 2;
    view[k].numel = 20;
    view[k].offset = 4 * (uint64_t)offsets[k];
    view[k].shape[0] = 4;
    view[k].shape[1] = 5;
    memcpy(view[k].strides, strides[k], sizeof strides[k]);
  }
  kw_value args[] = {test_tensor_arg(&view[1]), test_tensor_arg(&view[2]), test_int_scalar(1)};
  test_call(host, "add.Tensor", KW_F32, args, 3, &view[0]);
  test_read(host, &to, out, sizeof out);
  for (int p = 0; p < 64; ++p) {
    uint32_t untouched = 0xa5a5a5a5;
    float want;
    memcpy(&want, &untouched, sizeof want);
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < 5; ++j)
        if (p == 3 + 12 * i + 2 * j) want = a[2 + i + 5 * j] + b[1 + i];
    assert_memory_equal(&out[p], &want, sizeof want);
  }
  test_tensor_free(host, &ta);
  test_tensor_free(host, &tb);
  test_tensor_free(host, &to);
}

/* ---- Reductions and products ------------------------------------------------------------------------------------- */

static void test_sum(void **state) {
  test_host *host = *state;
  enum { N = 100003 }; /* two launches, and a tail */
  static float a[N];
  static int64_t l[N];
  double want = 0;
  int64_t want_l = 0;
  for (int i = 0; i < N; ++i) {
    a[i] = (float)((i * 37) % 101) / 64.0f;
    l[i] = (int64_t)i * INT64_C(1000000007) - (INT64_C(1) << 40);
    want += a[i];
    want_l += l[i];
  }
  kw_tensor_ref ta = test_tensor(host, KW_F32, 1, SHAPE(N), a), out = test_tensor(host, KW_F32, 0, NULL, NULL);
  kw_tensor_ref tl = test_tensor(host, KW_I64, 1, SHAPE(N), l), out_l = test_tensor(host, KW_I64, 0, NULL, NULL);
  float got;
  int64_t got_l;
  test_call(host, "sum", KW_F32, (kw_value[]){test_tensor_arg(&ta), none}, 2, &out);
  test_read(host, &out, &got, sizeof got);
  assert_near(got, want, 1e-6);
  test_call(host, "sum", KW_I64, (kw_value[]){test_tensor_arg(&tl), none}, 2, &out_l);
  test_read(host, &out_l, &got_l, sizeof got_l);
  assert_true(got_l == want_l);
  /* None. */
  ta.shape[0] = ta.numel = 0;
  test_call(host, "sum", KW_F32, (kw_value[]){test_tensor_arg(&ta), none}, 2, &out);
  test_read(host, &out, &got, sizeof got);
  assert_true(got == 0);
  test_tensor_free(host, &ta);
  test_tensor_free(host, &tl);
  test_tensor_free(host, &out);
  test_tensor_free(host, &out_l);
}

static void test_reduce_dims(void **state) {
  test_host *host = *state;
  float a[3 * 70 * 5], got[70], largest[210];
  for (int i = 0; i < 1050; ++i) a[i] = (float)((i * 29) % 97 - 200);
  a[5 * 11 + 2] = NAN;
  kw_tensor_ref in = test_tensor(host, KW_F32, 3, SHAPE(3, 70, 5), a);
  kw_tensor_ref out = test_tensor(host, KW_F32, 3, SHAPE(1, 70, 1), NULL);
  kw_tensor_ref out2 = test_tensor(host, KW_F32, 2, SHAPE(3, 5), NULL);
  const int64_t dims[] = {0, -1}, middle[] = {1};
  kw_value outer = {.tag = KW_TAG_INT_LIST, .count = 2, .u.ints = dims};
  kw_value inner = {.tag = KW_TAG_INT_LIST, .count = 1, .u.ints = middle};
  test_call(host, "sum.dim_IntList", KW_F32, (kw_value[]){test_tensor_arg(&in), outer, boolean(true), none}, 4, &out);
  test_read(host, &out, got, sizeof got);
  for (int j = 0; j < 70; ++j) {
    double want = 0;
    for (int i = 0; i < 3; ++i)
      for (int k = 0; k < 5; ++k) want += a[(i * 70 + j) * 5 + k];
    assert_near(got[j], want, 1e-6);
  }
  test_call(host, "amax", KW_F32, (kw_value[]){test_tensor_arg(&in), inner, boolean(false)}, 3, &out2);
  test_read(host, &out2, largest, 15 * sizeof largest[0]);
  for (int i = 0; i < 3; ++i)
    for (int k = 0; k < 5; ++k) {
      float want = -INFINITY;
      for (int j = 0; j < 70; ++j)
        if (!(a[(i * 70 + j) * 5 + k] <= want)) want = a[(i * 70 + j) * 5 + k];
      assert_near(largest[i * 5 + k], i == 0 && k == 2 ? NAN : want, 0);
    }
  /* Fewer elements than a work-group has items: what the idle items hold must not count. */
  kw_tensor_ref out3 = test_tensor(host, KW_F32, 2, SHAPE(3, 70), NULL);
  inner.u.ints = &dims[1];
  test_call(host, "amax", KW_F32, (kw_value[]){test_tensor_arg(&in), inner, boolean(false)}, 3, &out3);
  test_read(host, &out3, largest, sizeof largest);
  for (int i = 0; i < 210; ++i) {
    float want = -INFINITY;
    for (int k = 0; k < 5; ++k)
      if (a[i * 5 + k] > want) want = a[i * 5 + k];
    assert_near(largest[i], i == 11 ? NAN : want, 0);
  }
  test_tensor_free(host, &in);
  test_tensor_free(host, &out);
  test_tensor_free(host, &out2);
  test_tensor_free(host, &out3);
}

static int64_t argmax_of(test_host *host, const kw_tensor_ref *in) {
  kw_tensor_ref out = test_tensor(host, KW_I64, 0, NULL, NULL);
  int64_t got;
  test_call(host, "argmax", in->dtype, (kw_value[]){test_tensor_arg(in), none, boolean(false)}, 3, &out);
  test_read(host, &out, &got, sizeof got);
  test_tensor_free(host, &out);
  return got;
}

static void test_argmax(void **state) {
  test_host *host = *state;
  enum { N = 50001 };
  static float a[N];
  for (int i = 0; i < N; ++i) a[i] = -(float)(i % 1000);
  a[300] = a[20300] = a[40300] = 5;
  kw_tensor_ref in = test_tensor(host, KW_F32, 1, SHAPE(N), a);
  assert_int_equal(argmax_of(host, &in), 300);
  test_tensor_free(host, &in);
  a[30001] = a[45000] = NAN;
  in = test_tensor(host, KW_F32, 1, SHAPE(N), a);
  assert_int_equal(argmax_of(host, &in), 30001);
  test_tensor_free(host, &in);

  const int8_t b[] = {1, 9, 3, 4, 9, 9}; /* as [2, 3] and transposed [3, 2]: numbered in the view's order */
  const int64_t last = 1;
  int64_t rows[2];
  in = test_tensor(host, KW_I8, 2, SHAPE(2, 3), b);
  kw_tensor_ref out = test_tensor(host, KW_I64, 1, SHAPE(2), NULL);
  kw_value dim = {.tag = KW_TAG_INT, .u.i = last};
  test_call(host, "argmax", KW_I8, (kw_value[]){test_tensor_arg(&in), dim, boolean(false)}, 3, &out);
  test_read(host, &out, rows, sizeof rows);
  assert_true(rows[0] == 1 && rows[1] == 1);
  in.shape[0] = 3;
  in.shape[1] = 2;
  in.strides[0] = 1;
  in.strides[1] = 3;
  assert_int_equal(argmax_of(host, &in), 2);
  test_tensor_free(host, &in);
  test_tensor_free(host, &out);
}

static void test_mm(void **state) {
  test_host *host = *state;
  enum { ROWS = 33, DEPTH = 602, COLS = 21, WIDTH = DEPTH + 3 }; /* rows of a end in what must not be read */
  static float a[ROWS * WIDTH], b[DEPTH * COLS], got[ROWS * COLS];
  static int16_t ia[ROWS * DEPTH], ib[DEPTH * COLS], igot[ROWS * COLS];
  for (int i = 0; i < ROWS * WIDTH; ++i) a[i] = NAN;
  for (int i = 0; i < ROWS * DEPTH; ++i)
    a[i / DEPTH * WIDTH + i % DEPTH] = (float)(ia[i] = (int16_t)((i * 31) % 211 - 100)) / 8.0f;
  for (int i = 0; i < DEPTH * COLS; ++i) b[i] = (float)(ib[i] = (int16_t)((i * 17) % 157 - 70)) / 8.0f;
  kw_tensor_ref ta = test_tensor(host, KW_F32, 2, SHAPE(ROWS, WIDTH), a);
  kw_tensor_ref tb = test_tensor(host, KW_F32, 2, SHAPE(COLS, DEPTH), b);
  kw_tensor_ref to = test_tensor(host, KW_F32, 2, SHAPE(ROWS, COLS), NULL);
  ta.shape[1] = DEPTH;
  tb.shape[0] = DEPTH; /* b transposed */
  tb.shape[1] = COLS;
  tb.strides[0] = 1;
  tb.strides[1] = DEPTH;
  test_call(host, "mm", KW_F32, (kw_value[]){test_tensor_arg(&ta), test_tensor_arg(&tb)}, 2, &to);
  test_read(host, &to, got, sizeof got);
  for (int i = 0; i < ROWS; ++i)
    for (int j = 0; j < COLS; ++j) {
      double want = 0, magnitude = 0;
      for (int k = 0; k < DEPTH; ++k) {
        want += (double)a[i * WIDTH + k] * b[j * DEPTH + k];
        magnitude += fabs((double)a[i * WIDTH + k] * b[j * DEPTH + k]);
      }
      assert_true(fabs(got[i * COLS + j] - want) <= 1e-6 * magnitude);
    }
  test_tensor_free(host, &ta);
  test_tensor_free(host, &tb);
  test_tensor_free(host, &to);

  ta = test_tensor(host, KW_I16, 2, SHAPE(ROWS, DEPTH), ia);
  tb = test_tensor(host, KW_I16, 2, SHAPE(DEPTH, COLS), ib);
  to = test_tensor(host, KW_I16, 2, SHAPE(ROWS, COLS), NULL);
  test_call(host, "mm", KW_I16, (kw_value[]){test_tensor_arg(&ta), test_tensor_arg(&tb)}, 2, &to);
  test_read(host, &to, igot, sizeof igot);
  for (int i = 0; i < ROWS; ++i)
    for (int j = 0; j < COLS; ++j) {
      uint32_t want = 0;
      for (int k = 0; k < DEPTH; ++k) want += (uint32_t)(ia[i * DEPTH + k] * ib[k * COLS + j]);
      assert_int_equal((uint16_t)igot[i * COLS + j], (uint16_t)want);
    }
  ta.shape[1] = tb.shape[0] = ta.numel = tb.numel = 0; /* no terms: zeros */
  test_call(host, "mm", KW_I16, (kw_value[]){test_tensor_arg(&ta), test_tensor_arg(&tb)}, 2, &to);
  test_read(host, &to, igot, sizeof igot);
  for (int i = 0; i < ROWS * COLS; ++i) assert_int_equal(igot[i], 0);
  test_tensor_free(host, &ta);
  test_tensor_free(host, &tb);
  test_tensor_free(host, &to);
}

/* The largest sums of products of bytes, at depths around the one up to which f32 would hold them. */
static void test_int_mm_of_extremes(void **state) {
  test_host *host = *state;
  enum { ROWS = 40, COLS = 24, MOST = 1025 };
  static int8_t a[ROWS * MOST], b[MOST * COLS];
  static int32_t got[ROWS * COLS];
  for (int64_t depth = MOST - 2; depth <= MOST; ++depth) {
    for (int64_t i = 0; i < ROWS * depth; ++i) a[i] = i / depth % 2 == 0 ? -128 : i % 3 == 0 ? 127 : -127;
    for (int64_t i = 0; i < depth * COLS; ++i) b[i] = i % COLS == 5 ? 127 : -128;
    for (int64_t i = 0; i < ROWS; ++i) a[i * depth + depth - 1] = 127; /* the last product is odd */
    for (int64_t i = 0; i < COLS; ++i) b[(depth - 1) * COLS + i] = 127;
    kw_tensor_ref ta = test_tensor(host, KW_I8, 2, SHAPE(ROWS, depth), a),
                  tb = test_tensor(host, KW_I8, 2, SHAPE(depth, COLS), b),
                  to = test_tensor(host, KW_I32, 2, SHAPE(ROWS, COLS), NULL);
    test_call(host, "_int_mm", KW_I8, (kw_value[]){test_tensor_arg(&ta), test_tensor_arg(&tb)}, 2, &to);
    test_read(host, &to, got, sizeof got);
    for (int64_t i = 0; i < ROWS * COLS; ++i) {
      int32_t want = 0;
      for (int64_t k = 0; k < depth; ++k) want += a[i / COLS * depth + k] * b[k * COLS + i % COLS];
      assert_int_equal(got[i], want);
    }
    test_tensor_free(host, &ta);
    test_tensor_free(host, &tb);
    test_tensor_free(host, &to);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_kernels_take_all_dtypes_of_their_op),
      cmocka_unit_test(test_unary),
      cmocka_unit_test(test_gelu),
      cmocka_unit_test(test_binary_float),
      cmocka_unit_test(test_binary_integer),
      cmocka_unit_test(test_refusals),
      cmocka_unit_test(test_compare_and_clamp),
      cmocka_unit_test(test_large),
      cmocka_unit_test(test_strides),
      cmocka_unit_test(test_sum),
      cmocka_unit_test(test_reduce_dims),
      cmocka_unit_test(test_argmax),
      cmocka_unit_test(test_mm),
      cmocka_unit_test(test_int_mm_of_extremes),
  };
  return cmocka_run_group_tests(tests, test_host_start, test_host_stop);
}
