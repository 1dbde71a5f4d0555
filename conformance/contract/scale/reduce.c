/* SPDX-License-Identifier: Apache-2.0
 *
 * Suite scale: reductions, scans, sorts and products along one long dimension. Inputs are small whole numbers, so that
 * what comes out is known without adding up.
 */
#include "contract/scale/scale.h"

#include <math.h>
#include <stdio.h>

/* The call under test: an op, and the line that it is given, or rows of that length. */
typedef struct line {
  const kw_op *op;
  kw_op_info info;
  kw_scale_kind kind;
  int64_t length, rows;
  float *numbers; /* of one row */
  kw_tensor *tensor;
  kw_tensor *outs[2];
} line;
static line now;

static void write_line(line *l) {
  for (int64_t row = 0; row < l->rows; row++) {
    kw_tensor *view = NULL;
    KW_CHECK_OK(kw_tensor_slice(l->tensor, 0, row * l->length, (row + 1) * l->length, 1, &view));
    kw_scale_keep(view);
    KW_CHECK_OK(kw_tensor_write(view, l->numbers));
    kw_scale_drop(view);
  }
}

static void set_all(line *l, float number) {
  for (int64_t i = 0; i < l->length; i++) l->numbers[i] = number;
}

/* Calls the op on rows of the line. Arguments behind it are dim where there is one, and for some a number. */
static void call(line *l) {
  kw_tensor *input = l->tensor;
  kw_value args[KW_MAX_ARGS];
  uint32_t count = 1;
  if (l->rows > 1) {
    KW_CHECK_OK(kw_tensor_view(l->tensor, 2, (int64_t[]){l->rows, l->length}, &input));
    kw_scale_keep(input);
  }
  static const int64_t last = -1;
  args[0] = kw_arg_tensor(input);
  kw_arg_info arg = {.struct_size = sizeof arg};
  for (uint32_t i = 1; i < l->info.arg_count; i++) {
    KW_CHECK_OK(kw_op_get_arg(l->op, i, &arg));
    args[i] = arg.default_value;
    if (strcmp(arg.name, "dim") == 0) {
      args[i] = arg.tag == KW_TAG_INT ? kw_arg_int(-1) : kw_arg_int_list(&last, 1);
    } else if (strcmp(arg.name, "k") == 0) {
      args[i] = kw_arg_int(3);
    } else if (arg.flags & KW_ARG_HAS_DEFAULT) {
      continue;
    } else if (arg.tag == KW_TAG_BOOL) {
      args[i] = kw_arg_bool(strcmp(arg.name, "stable") == 0);
    } else {
      continue;
    }
    count = i + 1;
  }
  l->outs[0] = l->outs[1] = NULL;
  kw_scale_call(l->op, args, count, l->outs, l->info.result_count);
  if (input != l->tensor) kw_scale_drop(input);
}

static void drop_results(line *l) {
  kw_scale_drop(l->outs[0]);
  kw_scale_drop(l->outs[1]);
}

/* Element `index` of a result as a number. */
static double read_at(const kw_tensor *tensor, int64_t index) {
  const kw_tensor_ref *ref = kw_tensor_describe(tensor);
  int64_t one = 1;
  kw_tensor *view = NULL;
  union {
    float f;
    int64_t i;
    unsigned char b;
  } element = {.i = 0};
  KW_CHECK_OK(
      kw_tensor_reinterpret(tensor, ref->dtype, 1, &one, &one, (uint64_t)index * kw_dtype_size(ref->dtype), &view));
  kw_scale_keep(view);
  KW_CHECK_OK(kw_tensor_read(view, &element));
  kw_scale_drop(view);
  return ref->dtype == KW_F32 ? (double)element.f : ref->dtype == KW_BOOL ? element.b : (double)element.i;
}

static void expect(const line *l, uint32_t out, int64_t index, double want, double slack) {
  const double got = read_at(l->outs[out], index);
  KW_CHECK(fabs(got - want) <= slack * fabs(want),
           "%s of %lld rows of %lld f32, output %u: element %lld is %.9g, not %.9g", l->info.name, (long long)l->rows,
           (long long)l->length, out, (long long)index, got, want);
}

/* ---- One number -------------------------------------------------------------------------------------------------- */

/* `number` at `place`, and `others` elsewhere. */
static void call_with_one(line *l, float others, float number, int64_t place) {
  kw_tensor *view = NULL;
  KW_CHECK_OK(kw_tensor_slice(l->tensor, 0, place, place + 1, 1, &view));
  kw_scale_keep(view);
  KW_CHECK_OK(kw_tensor_write(view, &number));
  call(l);
  KW_CHECK_OK(kw_tensor_write(view, &others));
  kw_scale_drop(view);
}

/* The one that differs, wherever it lies. */
static void find_one(line *l, float others, float number) {
  const bool index = strncmp(l->info.name, "arg", 3) == 0, both = l->info.result_count == 2;
  const int64_t places[] = {(INT64_C(1) << 24) + 1, l->length - 1, (INT64_C(65535) << 8) + 1, (1 << 20) - 1, 65536};
  const int count = kw_contract.effort == KW_EFFORT_THOROUGH ? 5 : 1;
  set_all(l, others);
  write_line(l);
  for (int i = 0; i < count; i++) {
    const int64_t place = places[i] < l->length ? places[i] : l->length / 2 + 1;
    call_with_one(l, others, number, place);
    expect(l, 0, 0, index ? (double)place : (double)number, 0);
    if (both) expect(l, 1, 0, (double)place, 0);
    drop_results(l);
  }
}

/* Of ones; and of the last one alone, which a bound for so many would hide. */
static void check_sum(line *l) {
  set_all(l, 1);
  write_line(l);
  call(l);
  expect(l, 0, 0, l->kind == KW_SCALE_MEAN ? 1 : (double)l->length, 0x1p-9);
  drop_results(l);
  set_all(l, 0);
  write_line(l);
  call_with_one(l, 0, 1, l->length - 1);
  expect(l, 0, 0, l->kind == KW_SCALE_MEAN ? 1 / (double)l->length : 1, 0x1p-9);
  drop_results(l);
}

/* Two, and a half, and ones. */
static void check_prod(line *l) {
  set_all(l, 1);
  l->numbers[l->length - 1] = 3;
  l->numbers[l->length / 2] = 5;
  write_line(l);
  call(l);
  expect(l, 0, 0, 15, 0);
  drop_results(l);
}

static void check_logsum(line *l) {
  set_all(l, 0);
  write_line(l);
  call(l);
  expect(l, 0, 0, log((double)l->length), 0x1p-9);
  drop_results(l);
}

/* ---- A line of numbers ------------------------------------------------------------------------------------------- */

/* Each of all rows: the sum of ones and zeros is exact. */
static void check_scan(line *l) {
  for (int64_t i = 0; i < l->length; i++) l->numbers[i] = i % 3 == 0;
  write_line(l);
  call(l);
  float *got = kw_scale_host((size_t)(l->rows * l->length) * sizeof *got);
  KW_CHECK_OK(kw_tensor_read(l->outs[0], got));
  for (int64_t i = 0; i < l->rows * l->length; i++) {
    const float want = (float)(i % l->length / 3 + 1);
    KW_CHECK(got[i] == want, "cumsum of %lld rows of %lld f32: element %lld is %.9g, not %.9g", (long long)l->rows,
             (long long)l->length, (long long)i, (double)got[i], (double)want);
  }
  kw_scale_host_drop(got);
  drop_results(l);
}

/* Fours of equal numbers, down from the largest: sorted they are the other way round, each four in order. */
static void check_sort(line *l) {
  const int64_t fours = l->length / 4;
  for (int64_t i = 0; i < l->length; i++) l->numbers[i] = (float)(fours - i / 4);
  write_line(l);
  call(l);
  float *values = kw_scale_host((size_t)l->length * sizeof *values);
  int64_t *indices = kw_scale_host((size_t)l->length * sizeof *indices);
  KW_CHECK_OK(kw_tensor_read(l->outs[0], values));
  KW_CHECK_OK(kw_tensor_read(l->outs[1], indices));
  for (int64_t i = 0; i < l->length; i++) {
    const int64_t four = fours - 1 - i / 4, place = 4 * four + i % 4;
    const float want = (float)(fours - four);
    KW_CHECK(values[i] == want && indices[i] == place,
             "%s of %lld f32: element %lld is %.9g, from place %lld, not %.9g, from place %lld", l->info.name,
             (long long)l->length, (long long)i, (double)values[i], (long long)indices[i], (double)want,
             (long long)place);
  }
  kw_scale_host_drop(values);
  kw_scale_host_drop(indices);
  drop_results(l);
}

static void check_topk(line *l) {
  const int64_t places[3] = {l->length - 1, (1 << 20) - 1, l->length / 2 + 1};
  set_all(l, 0);
  for (int i = 0; i < 3; i++) l->numbers[places[i]] = (float)(3 - i);
  write_line(l);
  call(l);
  for (int i = 0; i < 3; i++) {
    expect(l, 0, i, 3 - i, 0);
    expect(l, 1, i, (double)places[i], 0);
  }
  drop_results(l);
}

/* Of equal numbers all shares are equal. */
static void check_softmax(line *l) {
  const double share = 1 / (double)l->length, want = strcmp(l->info.name, "_softmax") == 0 ? share : log(share);
  set_all(l, 0);
  write_line(l);
  call(l);
  float *got = kw_scale_host((size_t)l->length * sizeof *got);
  KW_CHECK_OK(kw_tensor_read(l->outs[0], got));
  for (int64_t i = 0; i < l->length; i++) {
    KW_CHECK(fabs((double)got[i] - want) <= 0x1p-9 * fabs(want), "%s of %lld equal f32: element %lld is %.9g, not %.9g",
             l->info.name, (long long)l->length, (long long)i, (double)got[i], want);
  }
  kw_scale_host_drop(got);
  drop_results(l);
}

/* Long sums of products, and long rows of them. */
static void check_product(line *l) {
  const int64_t length = l->length, tall[2] = {length, 1}, wide[2] = {1, length};
  kw_tensor *row = NULL, *column = NULL;
  set_all(l, 1);
  write_line(l);
  KW_CHECK_OK(kw_tensor_view(l->tensor, 2, wide, &row));
  KW_CHECK_OK(kw_tensor_view(l->tensor, 2, tall, &column));
  kw_scale_keep(row);
  kw_scale_keep(column);
  l->outs[0] = NULL;
  kw_scale_call(l->op, (kw_value[]){kw_arg_tensor(row), kw_arg_tensor(column)}, 2, l->outs, 1);
  expect(l, 0, 0, (double)length, 0x1p-9);
  kw_scale_drop(l->outs[0]);
  set_all(l, 0);
  l->numbers[length - 1] = 1;
  write_line(l);
  l->outs[0] = NULL;
  kw_scale_call(l->op, (kw_value[]){kw_arg_tensor(row), kw_arg_tensor(column)}, 2, l->outs, 1);
  expect(l, 0, 0, 1, 0);
  kw_scale_drop(l->outs[0]);
  float *numbers = l->numbers;
  for (int64_t i = 0; i < length; i++) numbers[i] = (float)(i % 251);
  write_line(l);
  static const int64_t pair[2] = {3, 1};
  static const float three[3] = {1, 2, 3};
  kw_tensor *few = kw_scale_tensor(KW_F32, 2, pair), *product = NULL;
  KW_CHECK_OK(kw_tensor_write(few, three));
  kw_scale_call(l->op, (kw_value[]){kw_arg_tensor(few), kw_arg_tensor(row)}, 2, &product, 1);
  float *got = kw_scale_host(3 * (size_t)length * sizeof *got);
  KW_CHECK_OK(kw_tensor_read(product, got));
  for (int64_t i = 0; i < 3 * length; i++) {
    const float want = (float)((i / length + 1) * (i % length % 251));
    KW_CHECK(got[i] == want, "mm of [3, 1] and [1, %lld]: element %lld is %.9g, not %.9g", (long long)length,
             (long long)i, (double)got[i], (double)want);
  }
  kw_scale_host_drop(got);
}

/* ---- All --------------------------------------------------------------------------------------------------------- */

static void check(line *l) {
  switch (l->kind) {
    case KW_SCALE_SUM:
    case KW_SCALE_MEAN:
      check_sum(l);
      break;
    case KW_SCALE_PROD:
      check_prod(l);
      break;
    case KW_SCALE_LARGEST:
    case KW_SCALE_ANY:
      find_one(l, 0, 1);
      break;
    case KW_SCALE_SMALLEST:
      find_one(l, 0, -1);
      break;
    case KW_SCALE_ALL:
      find_one(l, 1, 0);
      break;
    case KW_SCALE_LOGSUM:
      check_logsum(l);
      break;
    case KW_SCALE_SCAN:
      check_scan(l);
      break;
    case KW_SCALE_SORT:
      check_sort(l);
      break;
    case KW_SCALE_TOPK:
      check_topk(l);
      break;
    case KW_SCALE_SOFTMAX:
      check_softmax(l);
      break;
    case KW_SCALE_PRODUCT:
      check_product(l);
      break;
  }
}

static void run(kw_scale_kind kind, int64_t rows, int64_t length) {
  const uint64_t size = (uint64_t)(rows * length) * sizeof(float);
  const bool of_all = kind >= KW_SCALE_SCAN; /* results: of a sort values and indices, of a product three rows */
  kw_scale_need((of_all ? 5 : 1) * size, (of_all ? 3 : 1) * size, (of_all ? 4 : 1) * size);
  if (kind == KW_SCALE_SORT) length -= length % 4;
  now = (line){.op = kw_contract.op, .kind = kind, .length = length, .rows = rows};
  now.info.struct_size = sizeof now.info;
  KW_CHECK_OK(kw_op_get_info(now.op, &now.info));
  now.numbers = kw_scale_host((size_t)length * sizeof *now.numbers);
  now.tensor = kw_scale_line(KW_F32, rows * length);
  check(&now);
  kw_scale_drop(now.tensor);
  kw_scale_host_drop(now.numbers);
}

/* Past 2^24 elements, where f32 stops counting, of ops that are drawn; of others past 2^20. Thoroughly all past 2^25.
 */
void kw_contract_scale_long(void **state) {
  (void)state;
  enum { DRAWN = 5 };
  const bool thorough = kw_contract.effort == KW_EFFORT_THOROUGH;
  const int64_t some = (1 << 20) + 77, many = (1 << 24) + (1 << 20) + 77;
  kw_op_info info = {.struct_size = sizeof info};
  kw_scale_kind kind;
  KW_CHECK_OK(kw_op_get_info(kw_contract.op, &info));
  KW_CHECK(kw_scale_line_kind(info.name, &kind), "the suite has no long call of %s", info.name);
  if (kw_op_support(kw_contract.op, kw_contract.device, KW_F32) == KW_SUPPORT_NONE) {
    kw_test_skip("the device has no %s in f32", info.name);
  }
  const bool slow = kind >= KW_SCALE_SCAN, all = thorough || kw_scale_is_drawn("long", DRAWN);
  run(kind, kind == KW_SCALE_SCAN ? 3 : 1, slow || !all ? some : many);
  if (slow && thorough) run(kind, 1, many);
  if (!slow && thorough) run(kind, 1, (1 << 25) + 77);
}
