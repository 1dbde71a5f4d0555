/* SPDX-License-Identifier: Apache-2.0
 *
 * Suite scale: more than 2^31 elements, most of them through views that are expanded and take no memory.
 */
#include "contract/scale/scale.h"

#include <math.h>

static const int64_t count = (INT64_C(1) << 31) + 4096;

/* These elements, a tensor of the shape `few`, as one of `shape`. */
static kw_tensor *expanded(kw_dtype dtype, const void *elements, uint32_t rank, const int64_t *few,
                           const int64_t *shape) {
  kw_tensor *tensor = kw_scale_tensor(dtype, rank, few), *view = NULL;
  KW_CHECK_OK(kw_tensor_write(tensor, elements));
  KW_CHECK_OK(kw_tensor_expand(tensor, rank, shape, &view));
  return kw_scale_keep(view);
}

/* One element as so many. */
static kw_tensor *expanded_one(kw_dtype dtype, const void *element, int64_t numel) {
  return expanded(dtype, element, 1, (int64_t[]){1}, &numel);
}

/* [65536, 1] of these as [65536, 32769]. */
enum { HEIGHT = 65536, WIDTH = 32769 };
static const int64_t grid[2] = {HEIGHT, WIDTH};
static kw_tensor *expanded_rows(kw_dtype dtype, const void *values) {
  return expanded(dtype, values, 2, (int64_t[]){HEIGHT, 1}, grid);
}

static const kw_op *first_or_skip(const char *const *names, kw_dtype dtype) {
  const kw_op *op = kw_scale_first(names, dtype);
  if (!op) kw_test_skip("the device has no %s in %s, nor any like it", names[0], kw_dtype_name(dtype));
  return op;
}

/* A sum of ones. The bound of so many terms is about a hundredth. */
void kw_contract_scale_sum_beyond_31_bits(void **state) {
  (void)state;
  static const char *const names[] = {"sum", "mean", NULL};
  const kw_op *op = first_or_skip(names, KW_F32);
  const float one = 1;
  float got = -1;
  kw_tensor *result = NULL;
  kw_scale_need(KW_GIB, KW_MIB, 0);
  kw_value args[] = {kw_arg_tensor(expanded_one(KW_F32, &one, count))};
  kw_scale_call(op, args, 1, &result, 1);
  KW_CHECK_OK(kw_tensor_read(result, &got));
  const double want = op == kw_op_find("sum") ? (double)count : 1;
  KW_CHECK(fabs((double)got - want) <= 0x1p-5 * want, "%s of %lld ones, an expanded view, is %.9g", kw_scale_name(op),
           (long long)count, (double)got);
}

/* The largest of rows, all but the last of which are zero. */
void kw_contract_scale_extreme_beyond_31_bits(void **state) {
  (void)state;
  static const char *const names[] = {"amax", "max", "any", NULL};
  static float values[HEIGHT];
  const kw_op *op = first_or_skip(names, KW_F32);
  unsigned char got[4] = {0};
  kw_tensor *result = NULL;
  kw_scale_need(KW_GIB, KW_MIB, 0);
  values[HEIGHT - 1] = 1;
  kw_value args[] = {kw_arg_tensor(expanded_rows(KW_F32, values))};
  kw_scale_call(op, args, 1, &result, 1);
  KW_CHECK_OK(kw_tensor_read(result, got));
  const bool found = kw_test_bytes_of(result) == 1 ? got[0] == 1 : got[3] == 0x3f && got[2] == 0x80;
  KW_CHECK(found, "%s of %lld f32, an expanded view, did not find the 1 in its last row", kw_scale_name(op),
           (long long)HEIGHT * WIDTH);
}

/* Where that is. */
void kw_contract_scale_index_beyond_31_bits(void **state) {
  (void)state;
  static const char *const names[] = {"argmax", "argmin", NULL};
  static float values[HEIGHT];
  const kw_op *op = first_or_skip(names, KW_F32);
  const int64_t want = (int64_t)(HEIGHT - 1) * WIDTH;
  int64_t got = -1;
  kw_tensor *result = NULL;
  kw_scale_need(KW_GIB, KW_MIB, 0);
  values[HEIGHT - 1] = op == kw_op_find("argmax") ? 1 : -1;
  kw_value args[] = {kw_arg_tensor(expanded_rows(KW_F32, values))};
  kw_scale_call(op, args, 1, &result, 1);
  KW_CHECK_OK(kw_tensor_read(result, &got));
  KW_CHECK(got == want, "%s of %lld f32, an expanded view, is %lld, not %lld", kw_scale_name(op),
           (long long)HEIGHT * WIDTH, (long long)got, (long long)want);
}

/* ---- Results of so many elements --------------------------------------------------------------------------------- */

enum { WINDOW = 64 };

/* Around kw_scale_places, element i of a u8 or i8 tensor is want(i). */
static void check_places(const kw_tensor *tensor, unsigned char (*want)(int64_t), const char *name) {
  const int64_t numel = kw_tensor_describe(tensor)->numel;
  int64_t places[KW_SCALE_PLACES];
  const uint32_t places_count = kw_scale_places(numel, places);
  for (uint32_t p = 0; p < places_count; p++) {
    unsigned char got[WINDOW];
    int64_t begin = places[p] < WINDOW / 2 ? 0 : places[p] - WINDOW / 2, one = 1, window = WINDOW;
    if (begin > numel - WINDOW) begin = numel - WINDOW;
    kw_tensor *view = NULL;
    KW_CHECK_OK(kw_tensor_reinterpret(tensor, KW_U8, 1, &window, &one, (uint64_t)begin, &view));
    kw_scale_keep(view);
    KW_CHECK_OK(kw_tensor_read(view, got));
    kw_scale_drop(view);
    for (int i = 0; i < WINDOW; i++) {
      const unsigned char wanted = want(begin + i);
      KW_CHECK(got[i] == wanted, "%s with a result of %lld elements: element %lld is 0x%02x, not 0x%02x", name,
               (long long)numel, (long long)begin + i, got[i], wanted);
    }
  }
}

static const kw_op *broadcast_op;

static unsigned char broadcast_want(int64_t i) {
  const int a = (int)(i / WIDTH % 100), b = (int)(i % WIDTH % 101);
  return (unsigned char)(broadcast_op == kw_op_find("add.Tensor")   ? a + b
                         : broadcast_op == kw_op_find("maximum")    ? (a > b ? a : b)
                         : broadcast_op == kw_op_find("mul.Tensor") ? a * b
                                                                    : (a & b));
}

/* A column and a row. */
void kw_contract_scale_broadcast_beyond_31_bits(void **state) {
  (void)state;
  static const char *const names[] = {"add.Tensor", "maximum", "mul.Tensor", "bitwise_and.Tensor", NULL};
  static unsigned char column[HEIGHT], row[WIDTH];
  kw_tensor *result = NULL;
  broadcast_op = first_or_skip(names, KW_U8);
  kw_scale_need(2 * KW_GIB + KW_MIB, 2 * KW_GIB + KW_MIB, 0);
  for (int i = 0; i < HEIGHT; i++) column[i] = (unsigned char)(i % 100);
  for (int i = 0; i < WIDTH; i++) row[i] = (unsigned char)(i % 101);
  kw_value args[] = {kw_arg_tensor(expanded_rows(KW_U8, column)),
                     kw_arg_tensor(expanded(KW_U8, row, 2, (int64_t[]){1, WIDTH}, grid))};
  kw_scale_call(broadcast_op, args, 2, &result, 1);
  check_places(result, broadcast_want, kw_scale_name(broadcast_op));
}

static unsigned char five(int64_t i) {
  (void)i;
  return 5;
}

/* An op of one operand. */
void kw_contract_scale_elements_beyond_31_bits(void **state) {
  (void)state;
  static const char *const names[] = {"abs", "relu", "neg", NULL};
  const kw_op *op = first_or_skip(names, KW_I8);
  const signed char value = op == kw_op_find("relu") ? 5 : -5;
  kw_tensor *result = NULL;
  kw_scale_need(2 * KW_GIB + KW_MIB, 2 * KW_GIB + KW_MIB, 0);
  kw_value args[] = {kw_arg_tensor(expanded_one(KW_I8, &value, count))};
  kw_scale_call(op, args, 1, &result, 1);
  check_places(result, five, kw_scale_name(op));
}

static unsigned char cat_want(int64_t i) {
  return i < count / 2 ? 5 : 9;
}

/* Two halves put together. */
void kw_contract_scale_cat_beyond_31_bits(void **state) {
  (void)state;
  static const char *const names[] = {"cat", NULL};
  const kw_op *op = first_or_skip(names, KW_U8);
  const unsigned char low = 5, high = 9;
  const int64_t half = count / 2;
  kw_tensor *result = NULL;
  kw_scale_need(2 * KW_GIB + KW_MIB, 2 * KW_GIB + KW_MIB, 0);
  kw_tensor *parts[] = {expanded_one(KW_U8, &low, half), expanded_one(KW_U8, &high, half)};
  kw_value args[] = {kw_arg_tensor_list(parts, 2), kw_arg_int(0)};
  kw_scale_call(op, args, 2, &result, 1);
  check_places(result, cat_want, "cat");
}

/* ---- A table of so many elements --------------------------------------------------------------------------------- */

/* The narrowest dtype that the device has the op in; KW_DTYPE_NONE for none. */
static kw_dtype narrowest(const char *op) {
  static const kw_dtype dtypes[] = {KW_U8, KW_I8, KW_BOOL, KW_F16, KW_BF16, KW_F32};
  for (size_t i = 0; i < sizeof dtypes / sizeof dtypes[0]; i++) {
    if (kw_scale_has(op, dtypes[i])) return dtypes[i];
  }
  return KW_DTYPE_NONE;
}

enum { ROW = 1024, TAKEN = 6 };

/* Rows that are asked for: the odd ones are beyond 2^31 elements. */
static const int64_t taken[TAKEN] = {0, (1 << 21) + 5, 1, (1 << 21) + 3, (1 << 20) + 3, (1 << 21) + 1};

static void fill_row(const kw_tensor *table, int64_t row, unsigned char byte) {
  static unsigned char bytes[ROW * 4];
  kw_tensor *view = NULL;
  memset(bytes, byte, sizeof bytes);
  KW_CHECK_OK(kw_tensor_select(table, 0, row, &view));
  kw_scale_keep(view);
  KW_CHECK_OK(kw_tensor_write(view, bytes));
  kw_scale_drop(view);
}

static void check_rows(const kw_op *op, const kw_value *args, uint32_t arg_count, size_t item, unsigned char far_byte) {
  kw_tensor *result = NULL;
  const size_t size = ROW * item;
  kw_scale_call(op, args, arg_count, &result, 1);
  unsigned char *got = kw_scale_host(TAKEN * size);
  KW_CHECK_OK(kw_tensor_read(result, got));
  for (size_t i = 0; i < TAKEN * size; i++) {
    const unsigned char want = i / size % 2 ? far_byte : 0;
    KW_CHECK(got[i] == want, "%s, row %lld of a table of rows of %d elements: byte %zu is 0x%02x, not 0x%02x",
             kw_scale_name(op), (long long)taken[i / size], ROW, i % size, got[i], want);
  }
  kw_scale_host_drop(got);
  kw_scale_drop(result);
}

/* Rows beyond 2^31 elements. Only those that are asked for are touched, and those that a place kept in 31 bits would
 * take for them. */
static void take_rows(const char *name, bool has_dim) {
  const kw_op *op = kw_op_find(name);
  const kw_dtype dtype = narrowest(name);
  if (dtype == KW_DTYPE_NONE) return;
  const int64_t shape[2] = {(1 << 21) + 6, ROW}, wrapped = (1 << 21) - 1;
  const size_t item = kw_dtype_size(dtype);
  const unsigned char far_byte = item == 1 ? 1 : 0x3c;
  const uint64_t size = (uint64_t)shape[0] * ROW * item;
  kw_scale_need(size + KW_MIB, size, 0);
  kw_tensor *table = kw_scale_tensor(dtype, 2, shape), *indices = kw_scale_line(KW_I64, TAKEN);
  for (int i = 0; i < TAKEN; i++) fill_row(table, taken[i] & wrapped, 0);
  for (int i = 1; i < TAKEN; i += 2) fill_row(table, taken[i], far_byte);
  KW_CHECK_OK(kw_tensor_write(indices, taken));
  kw_value args[3] = {kw_arg_tensor(table), has_dim ? kw_arg_int(0) : kw_arg_tensor(indices), kw_arg_tensor(indices)};
  check_rows(op, args, has_dim ? 3 : 2, item, far_byte);
  kw_scale_drop(table);
  kw_scale_drop(indices);
}

void kw_contract_scale_rows_beyond_31_bits(void **state) {
  (void)state;
  if (narrowest("embedding") == KW_DTYPE_NONE && narrowest("index_select") == KW_DTYPE_NONE) {
    kw_test_skip("the device has neither embedding nor index_select");
  }
  take_rows("embedding", false);
  take_rows("index_select", true);
}
