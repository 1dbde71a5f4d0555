/* SPDX-License-Identifier: Apache-2.0
 *
 * Suite scale: elements that are taken and put by index, tensors put together, and operands of different shapes, past
 * 2^24 elements and 65,535 rows and columns.
 */
#include "contract/scale/scale.h"

/* Element i of the numbers that are indexed: another one at every place that an index could be mistaken for. */
static float number_at(int64_t i) {
  return (float)((i * 7 + (i >> 13)) % 16381);
}

static kw_tensor *numbers_of(int64_t length) {
  float *numbers = kw_scale_host((size_t)length * sizeof *numbers);
  kw_tensor *tensor = kw_scale_line(KW_F32, length);
  for (int64_t i = 0; i < length; i++) numbers[i] = number_at(i);
  KW_CHECK_OK(kw_tensor_write(tensor, numbers));
  kw_scale_host_drop(numbers);
  return tensor;
}

static kw_tensor *indices_of(const int64_t *places, uint32_t count) {
  kw_tensor *tensor = kw_scale_line(KW_I64, count);
  KW_CHECK_OK(kw_tensor_write(tensor, places));
  return tensor;
}

static void check_taken(const kw_op *op, const kw_value *args, uint32_t arg_count, const int64_t *places,
                        uint32_t count, int64_t width) {
  float got[KW_SCALE_PLACES * 2];
  kw_tensor *result = NULL;
  kw_scale_call(op, args, arg_count, &result, 1);
  KW_CHECK(kw_tensor_describe(result)->numel == count * width, "%s gave another number of elements", kw_scale_name(op));
  KW_CHECK_OK(kw_tensor_read(result, got));
  for (int64_t i = 0; i < count * width; i++) {
    const float want = number_at(places[i / width] * width + i % width);
    KW_CHECK(got[i] == want, "%s: what index %lld takes is %g, not %g", kw_scale_name(op), (long long)places[i / width],
             (double)got[i], (double)want);
  }
  kw_scale_drop(result);
}

/* Elements, and rows of two, from a large tensor. */
void kw_contract_scale_taken_by_index(void **state) {
  (void)state;
  const int64_t length = (1 << 25) + 154, half[2] = {length / 2, 2};
  int64_t places[KW_SCALE_PLACES], rows[KW_SCALE_PLACES];
  const char *const names[] = {"index_select", "gather", "index.Tensor", "embedding"};
  bool any = false;
  for (size_t i = 0; i < 4; i++) any |= kw_scale_has(names[i], KW_F32);
  if (!any) kw_test_skip("the device takes nothing by index in f32");
  kw_scale_need((uint64_t)length * 8, (uint64_t)length * 4, (uint64_t)length * 4);
  const uint32_t count = kw_scale_places(length, places), row_count = kw_scale_places(length / 2, rows);
  kw_tensor *numbers = numbers_of(length), *table = NULL;
  kw_tensor *by_place = indices_of(places, count), *by_row = indices_of(rows, row_count);
  kw_tensor *list[1] = {by_place};
  KW_CHECK_OK(kw_tensor_view(numbers, 2, half, &table));
  kw_scale_keep(table);
  kw_value taken[] = {kw_arg_tensor(numbers), kw_arg_int(0), kw_arg_tensor(by_place)};
  kw_value listed[] = {kw_arg_tensor(numbers), kw_arg_tensor_list(list, 1)};
  kw_value looked_up[] = {kw_arg_tensor(table), kw_arg_tensor(by_row)};
  kw_value rows_taken[] = {kw_arg_tensor(table), kw_arg_int(0), kw_arg_tensor(by_row)};
  for (int i = 0; i < 2; i++) {
    if (kw_scale_has(names[i], KW_F32)) check_taken(kw_op_find(names[i]), taken, 3, places, count, 1);
  }
  if (kw_scale_has(names[0], KW_F32)) check_taken(kw_op_find(names[0]), rows_taken, 3, rows, row_count, 2);
  if (kw_scale_has(names[2], KW_F32)) check_taken(kw_op_find(names[2]), listed, 2, places, count, 1);
  if (kw_scale_has(names[3], KW_F32)) check_taken(kw_op_find(names[3]), looked_up, 2, rows, row_count, 2);
}

/* Of `length` numbers those at `places` are others: `put` of the number that was there. */
static void check_put(const kw_op *op, const kw_value *args, uint32_t arg_count, int64_t length, const int64_t *places,
                      bool adds) {
  float *got = kw_scale_host((size_t)length * sizeof *got);
  kw_tensor *result = NULL;
  int64_t next = 0;
  kw_scale_call(op, args, arg_count, &result, 1);
  KW_CHECK_OK(kw_tensor_read(result, got));
  for (int64_t i = 0; i < length; i++) {
    const bool there = places[next] == i;
    const float want = there ? (adds ? number_at(i) - 20000 : -20000) : number_at(i);
    KW_CHECK(got[i] == want, "%s: element %lld of %lld, where %s index points, is %g, not %g", kw_scale_name(op),
             (long long)i, (long long)length, there ? "an" : "no", (double)got[i], (double)want);
    if (there && places[next] != length - 1) next++;
  }
  kw_scale_drop(result);
  kw_scale_host_drop(got);
}

/* A number put to many places of a large tensor. */
void kw_contract_scale_put_by_index(void **state) {
  (void)state;
  const bool thorough = kw_contract.effort == KW_EFFORT_THOROUGH;
  const int64_t length = (thorough ? 1 << 24 : 1 << 20) + 70077;
  int64_t places[KW_SCALE_PLACES];
  float numbers[KW_SCALE_PLACES];
  const char *const names[] = {"scatter.src", "scatter_add", "index_add", "scatter.value", "index_put"};
  bool any = false;
  for (size_t i = 0; i < 5; i++) any |= kw_scale_has(names[i], KW_F32);
  if (!any) kw_test_skip("the device puts nothing by index in f32");
  kw_scale_need((uint64_t)length * 8, (uint64_t)length * 4, (uint64_t)length * 4);
  const uint32_t count = kw_scale_places(length, places);
  for (uint32_t i = 0; i < count; i++) numbers[i] = -20000;
  kw_tensor *base = numbers_of(length), *indices = indices_of(places, count), *from = kw_scale_line(KW_F32, count);
  kw_tensor *list[1] = {indices};
  KW_CHECK_OK(kw_tensor_write(from, numbers));
  kw_value put[] = {kw_arg_tensor(base), kw_arg_int(0), kw_arg_tensor(indices), kw_arg_tensor(from)};
  kw_value valued[] = {kw_arg_tensor(base), kw_arg_int(0), kw_arg_tensor(indices), kw_arg_scalar_f64(-20000)};
  kw_value listed[] = {kw_arg_tensor(base), kw_arg_tensor_list(list, 1), kw_arg_tensor(from)};
  for (int i = 0; i < 3; i++) {
    if (kw_scale_has(names[i], KW_F32)) check_put(kw_op_find(names[i]), put, 4, length, places, i > 0);
  }
  if (kw_scale_has(names[3], KW_F32)) check_put(kw_op_find(names[3]), valued, 4, length, places, false);
  if (kw_scale_has(names[4], KW_F32)) check_put(kw_op_find(names[4]), listed, 3, length, places, false);
}

/* Three tensors in one. */
void kw_contract_scale_cat_of_parts(void **state) {
  (void)state;
  if (!kw_scale_has("cat", KW_F32)) kw_test_skip("the device has no cat in f32");
  const int64_t sizes[3] = {(1 << 20) + 5, (1 << 22) + 1, (1 << 24) - (1 << 22) + 9};
  kw_tensor *parts[3], *result = NULL;
  int64_t length = 0;
  kw_scale_need(UINT64_C(256) * KW_MIB, UINT64_C(80) * KW_MIB, UINT64_C(80) * KW_MIB);
  for (int i = 0; i < 3; i++) {
    parts[i] = numbers_of(sizes[i]);
    length += sizes[i];
  }
  kw_scale_call(kw_op_find("cat"), (kw_value[]){kw_arg_tensor_list(parts, 3), kw_arg_int(0)}, 2, &result, 1);
  float *got = kw_scale_host((size_t)length * sizeof *got);
  KW_CHECK_OK(kw_tensor_read(result, got));
  int64_t begin = 0, part = 0;
  for (int64_t i = 0; i < length; i++) {
    if (i - begin == sizes[part]) begin += sizes[part++];
    KW_CHECK(got[i] == number_at(i - begin), "cat of three tensors: element %lld of %lld is %g, not %g", (long long)i,
             (long long)length, (double)got[i], (double)number_at(i - begin));
  }
}

/* ---- Operands of different shapes -------------------------------------------------------------------------------- */

static const kw_op *broadcast_op;

static float combined(float a, float b) {
  return broadcast_op == kw_op_find("add.Tensor")   ? a + b
         : broadcast_op == kw_op_find("mul.Tensor") ? a * b
         : broadcast_op == kw_op_find("sub.Tensor") ? a - b
                                                    : (a > b ? a : b);
}

/* An operand whose sizes are those of `shape` or 1, as bits of `own` say, turned so that its first dimension lies
 * innermost where `turned`. Its element is small, and another one for each place. */
static kw_tensor *operand(const int64_t *shape, uint32_t own, bool turned) {
  int64_t sizes[3], numel = 1;
  for (int d = 0; d < 3; d++) numel *= sizes[d] = own >> d & 1 ? shape[d] : 1;
  const int64_t across[3] = {sizes[2], sizes[1], sizes[0]}, *stored = turned ? across : sizes;
  kw_tensor *tensor = kw_scale_tensor(KW_F32, 3, stored), *view = NULL;
  float *numbers = kw_scale_host((size_t)numel * sizeof *numbers);
  for (int64_t i = 0; i < numel; i++) numbers[i] = (float)(i % 2039);
  KW_CHECK_OK(kw_tensor_write(tensor, numbers));
  kw_scale_host_drop(numbers);
  if (!turned) return tensor;
  KW_CHECK_OK(kw_tensor_transpose(tensor, 0, 2, &view));
  return kw_scale_keep(view);
}

static float operand_at(const int64_t *shape, uint32_t own, bool turned, const int64_t *at) {
  int64_t place = 0, stride = 1;
  for (int k = 0; k < 3; k++) {
    const int d = turned ? k : 2 - k;
    if (!(own >> d & 1)) continue;
    place += at[d] * stride;
    stride *= shape[d];
  }
  return (float)(place % 2039);
}

static void check_broadcast(const int64_t *shape, uint32_t own_a, uint32_t own_b, bool turned) {
  const int64_t numel = shape[0] * shape[1] * shape[2];
  kw_tensor *a = operand(shape, own_a, false), *b = operand(shape, own_b, turned), *result = NULL;
  kw_scale_call(broadcast_op, (kw_value[]){kw_arg_tensor(a), kw_arg_tensor(b)}, 2, &result, 1);
  float *got = kw_scale_host((size_t)numel * sizeof *got);
  KW_CHECK_OK(kw_tensor_read(result, got));
  for (int64_t i = 0; i < numel; i++) {
    const int64_t at[3] = {i / (shape[1] * shape[2]), i / shape[2] % shape[1], i % shape[2]};
    const float want = combined(operand_at(shape, own_a, false, at), operand_at(shape, own_b, turned, at));
    KW_CHECK(got[i] == want, "%s of operands that make [%lld, %lld, %lld]: element %lld is %g, not %g",
             kw_scale_name(broadcast_op), (long long)shape[0], (long long)shape[1], (long long)shape[2], (long long)i,
             (double)got[i], (double)want);
  }
  kw_scale_host_drop(got);
  kw_scale_drop(a);
  kw_scale_drop(b);
  kw_scale_drop(result);
}

/* Each dimension beyond 65,535 in its turn: columns, rows, and operands that lie the other way. */
void kw_contract_scale_broadcast(void **state) {
  (void)state;
  static const char *const names[] = {"add.Tensor", "mul.Tensor", "sub.Tensor", "maximum", NULL};
  static const int64_t shapes[][3] = {{65543, 3, 1}, {1, 65543, 3}, {2, 3, 65543}, {65543, 1, 3}};
  broadcast_op = kw_scale_first(names, KW_F32);
  if (!broadcast_op) kw_test_skip("the device has no add.Tensor in f32, nor any like it");
  kw_scale_need(64 * KW_MIB, 16 * KW_MIB, 16 * KW_MIB);
  for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
    check_broadcast(shapes[i], 7, 7, true);
    check_broadcast(shapes[i], 1, 6, false);
    check_broadcast(shapes[i], 3, 4, false);
    check_broadcast(shapes[i], 5, 2, true);
  }
}
