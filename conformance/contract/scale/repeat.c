/* SPDX-License-Identifier: Apache-2.0
 *
 * A small call, and many copies of it in one large call: each copy of the result has to be the small one.
 */
#include "contract/scale/scale.h"

#include <keyway/plugin.h>
#include <math.h>
#include <stdio.h>

/* The small call, what it takes and gives, and the large one. */
typedef struct repeat {
  kw_test_call call; /* holds pointers into itself */
  uint32_t repeated;
  int64_t times;
  kw_value values[KW_MAX_ARGS]; /* of the large call */
  unsigned char *results[KW_MAX_RESULTS];
  size_t sizes[KW_MAX_RESULTS];
  kw_tensor *outs[KW_MAX_RESULTS];
  uint32_t overwritten; /* arguments, a bit each, that the call changes whatever they held */
} repeat;
static repeat now;

/* ---- Numbers ----------------------------------------------------------------------------------------------------- */

static double from_bits(uint32_t bits, int exponent_bits, int fraction_bits) {
  const int bias = (1 << (exponent_bits - 1)) - 1, exponent = (int)(bits >> fraction_bits) & ((1 << exponent_bits) - 1);
  const double sign = bits >> (exponent_bits + fraction_bits) ? -1 : 1;
  const double fraction = (double)(bits & ((1u << fraction_bits) - 1)) / (double)(1u << fraction_bits);
  if (exponent == (1 << exponent_bits) - 1) return fraction != 0 ? (double)NAN : sign * (double)INFINITY;
  return sign * ldexp(exponent ? 1 + fraction : fraction, (exponent ? exponent : 1) - bias);
}

/* How far a number may be from another of this size; 0: they have to be the same bits. This is about places, not about
 * precision: kernels for large calls may add up in another order and take other ways to a function. */
static double slack_of(kw_dtype dtype) {
  switch (dtype) {
    case KW_F32:
    case KW_F64:
    case KW_C64:
    case KW_C128:
      return 0x1p-10;
    case KW_F16:
      return 0x1p-6;
    case KW_BF16:
      return 0x1p-4;
    default:
      return 0;
  }
}

static double number_at(kw_dtype dtype, const unsigned char *at) {
  float single;
  double wide;
  uint16_t half;
  if (dtype == KW_F64 || dtype == KW_C128) return memcpy(&wide, at, sizeof wide), wide;
  if (dtype == KW_F32 || dtype == KW_C64) return memcpy(&single, at, sizeof single), (double)single;
  memcpy(&half, at, sizeof half);
  return dtype == KW_F16 ? from_bits(half, 5, 10) : from_bits(half, 8, 7);
}

static bool close_to(double got, double want, double scale, double slack) {
  if (isnan(want) || isnan(got)) return isnan(want) && isnan(got);
  if (isinf(want) || isinf(got)) return want == got || fabs(got) > 0x1p120;
  return fabs(got - want) <= slack * fmax(fabs(want), scale);
}

/* Bytes of a number: of complex elements each has two. */
static size_t part_size(kw_dtype dtype) {
  return kw_dtype_size(dtype) / (dtype == KW_C64 || dtype == KW_C128 ? 2 : 1);
}

/* The largest finite number of a result: what cancels to little is off by a share of that. 0 where bits decide. */
static double scale_of(kw_dtype dtype, const unsigned char *bytes, size_t size) {
  double largest = 0;
  for (size_t at = 0; at < size && slack_of(dtype) > 0; at += part_size(dtype)) {
    const double number = fabs(number_at(dtype, bytes + at));
    if (isfinite(number) && number > largest) largest = number;
  }
  return largest;
}

static void put_element(char *out, size_t size, kw_dtype dtype, const unsigned char *at) {
  if (slack_of(dtype) > 0) {
    snprintf(out, size, "%g", number_at(dtype, at));
    return;
  }
  int64_t number = 0;
  memcpy(&number, at, kw_dtype_size(dtype) > 8 ? 8 : kw_dtype_size(dtype));
  snprintf(out, size, "0x%llx", (unsigned long long)number);
}

/* ---- The large call ---------------------------------------------------------------------------------------------- */

/* Whether argument `index` is one that is repeated. */
static bool is_repeated(const repeat *r, uint32_t index) {
  return r->call.args[index].tensors[0] && (r->repeated >> index & 1) != 0;
}

/* Those that have the shape of the first result. */
static uint32_t of_result_shape(const kw_test_call *call, const kw_tensor *result) {
  const kw_tensor_ref *want = kw_tensor_describe(result);
  uint32_t found = 0;
  for (uint32_t i = 0; i < call->info.arg_count; i++) {
    if (!call->args[i].tensors[0]) continue;
    const kw_tensor_ref *ref = kw_tensor_describe(call->args[i].tensors[0]);
    const bool same = ref->rank == want->rank && memcmp(ref->shape, want->shape, ref->rank * sizeof *ref->shape) == 0;
    if (same && ref->rank > 0) found |= 1u << i;
  }
  return found;
}

static kw_tensor *larger(const kw_tensor *small, int64_t times) {
  const kw_tensor_ref *ref = kw_tensor_describe(small);
  int64_t shape[KW_MAX_RANK];
  memcpy(shape, ref->shape, ref->rank * sizeof *shape);
  shape[0] *= times;
  return kw_scale_tensor(ref->dtype, ref->rank, shape);
}

/* A tensor of `times` copies of the bytes of a small one. */
static kw_tensor *copies_of(const kw_tensor *small, int64_t times) {
  const size_t size = kw_test_bytes_of(small);
  kw_tensor *large = larger(small, times);
  unsigned char *bytes = kw_scale_host(size * (size_t)times);
  KW_CHECK_OK(kw_tensor_read(small, bytes));
  for (int64_t i = 1; i < times; i++) memcpy(bytes + (size_t)i * size, bytes, size);
  KW_CHECK_OK(kw_tensor_write(large, bytes));
  kw_scale_host_drop(bytes);
  return large;
}

/* Fills the tensor with what is no result. */
static void poison(kw_tensor *tensor) {
  const size_t size = kw_test_bytes_of(tensor);
  unsigned char *bytes = kw_scale_host(size);
  memset(bytes, 0xa5, size);
  KW_CHECK_OK(kw_tensor_write(tensor, bytes));
  kw_scale_host_drop(bytes);
}

static kw_tensor *poisoned(const kw_tensor *small, int64_t times) {
  kw_tensor *large = larger(small, times);
  poison(large);
  return large;
}

/* Dimensions to go along: the last one, whether or not the call has a default for it. */
static void take_last_dim(kw_test_call *call) {
  for (uint32_t i = 0; i < call->info.arg_count; i++) {
    kw_test_arg *arg = &call->args[i];
    if (strcmp(arg->info.name, "dim") != 0) continue;
    arg->ints[0] = -1;
    arg->value = arg->info.tag == KW_TAG_INT ? kw_arg_int(-1) : kw_arg_int_list(arg->ints, 1);
    if (call->given <= i) call->given = i + 1;
  }
}

static void run_small(repeat *r, const kw_scale_copies *how) {
  if (!kw_test_call_make(kw_contract.op, how->dtype, how->numel, &r->call)) {
    kw_test_skip("no call of the op could be made in %s", kw_dtype_name(how->dtype));
  }
  for (uint32_t i = 0; i < r->call.info.arg_count; i++) {
    for (int k = 0; k < KW_TEST_ENTRIES; k++) {
      if (r->call.args[i].tensors[k]) kw_scale_keep(r->call.args[i].tensors[k]);
    }
  }
  if (how->last_dim) take_last_dim(&r->call);
  kw_tensor *outs[KW_MAX_RESULTS] = {NULL};
  kw_status status = kw_test_call_run(&r->call, NULL, outs);
  if (status == KW_OK) status = kw_device_synchronize(kw_contract.device);
  KW_CHECK(status == KW_OK, "a small call of %s gave %s: %s", r->call.info.name, kw_status_name(status),
           kw_error_message());
  for (uint32_t i = 0; i < r->call.info.result_count; i++) {
    const kw_tensor *result = kw_test_call_result(&r->call, outs, i);
    if (outs[i]) kw_scale_keep(outs[i]);
    r->sizes[i] = result ? kw_test_bytes_of(result) : 0;
    if (!result) continue;
    r->results[i] = kw_scale_host(r->sizes[i]);
    KW_CHECK_OK(kw_tensor_read(result, r->results[i]));
    r->outs[i] = outs[i]; /* its shape */
  }
  r->repeated = how->repeated ? how->repeated : of_result_shape(&r->call, kw_test_call_result(&r->call, outs, 0));
}

/* Results that are arguments, and the same again when these hold something else before. */
static void find_overwritten(repeat *r) {
  kw_tensor *outs[KW_MAX_RESULTS] = {NULL};
  if (!r->call.in_place) return;
  for (uint32_t i = 0; i < r->call.info.arg_count; i++) {
    if (r->call.args[i].info.flags & KW_ARG_MUTATED && r->call.args[i].tensors[0]) poison(r->call.args[i].tensors[0]);
  }
  kw_scale_call(r->call.op, r->values, r->call.given, outs, r->call.info.result_count);
  for (uint32_t i = 0; i < r->call.info.result_count; i++) {
    const int32_t alias = kw_op_result_alias(r->call.op, i);
    if (alias < 0) kw_scale_drop(outs[i]);
    if (alias < 0 || r->sizes[i] == 0) continue;
    unsigned char *again = kw_scale_host(r->sizes[i]);
    KW_CHECK_OK(kw_tensor_read(r->call.args[alias].tensors[0], again));
    if (memcmp(again, r->results[i], r->sizes[i]) == 0) r->overwritten |= 1u << alias;
    KW_CHECK_OK(kw_tensor_write(r->call.args[alias].tensors[0], r->results[i]));
    kw_scale_host_drop(again);
  }
}

static void need_room(const repeat *r) {
  uint64_t device = 0, largest = 0;
  for (uint32_t i = 0; i < r->call.info.arg_count; i++) {
    const uint64_t size = is_repeated(r, i) ? kw_test_bytes_of(r->call.args[i].tensors[0]) * (uint64_t)r->times : 0;
    device += size;
    if (size > largest) largest = size;
  }
  for (uint32_t i = 0; i < r->call.info.result_count; i++) {
    const uint64_t size = r->sizes[i] * (uint64_t)r->times;
    device += size;
    if (size > largest) largest = size;
  }
  kw_scale_need(device, largest, largest);
}

/* ---- Judging ----------------------------------------------------------------------------------------------------- */

/* What is wrong in copies of one result. */
typedef struct tally {
  uint64_t wrong, first;
  char got[40], want[40];
} tally;

static void judge_copy(kw_dtype dtype, const unsigned char *got, const unsigned char *want, size_t size, double scale,
                       uint64_t before, tally *out) {
  const size_t item = part_size(dtype);
  const double slack = slack_of(dtype);
  for (size_t at = 0; at < size; at += item) {
    const bool same = slack > 0 ? close_to(number_at(dtype, got + at), number_at(dtype, want + at), scale, slack)
                                : memcmp(got + at, want + at, item) == 0;
    if (same) continue;
    if (out->wrong++ > 0) continue;
    out->first = before + at / kw_dtype_size(dtype);
    put_element(out->got, sizeof out->got, dtype, got + at);
    put_element(out->want, sizeof out->want, dtype, want + at);
  }
}

void kw_scale_same(kw_dtype dtype, const void *got, const void *want, size_t size, const char *what) {
  tally found = {0};
  if (memcmp(got, want, size) == 0) return;
  judge_copy(dtype, got, want, size, scale_of(dtype, want, size), 0, &found);
  KW_CHECK(found.wrong == 0, "%s: element %llu is %s, not %s; %llu of %zu elements are wrong", what,
           (unsigned long long)found.first, found.got, found.want, (unsigned long long)found.wrong,
           size / kw_dtype_size(dtype));
}

static void judge(const repeat *r, uint32_t index, const kw_tensor *result, const char *kernel) {
  const kw_tensor_ref *ref = kw_tensor_describe(result);
  const size_t size = r->sizes[index], item = kw_dtype_size(ref->dtype);
  const unsigned char *want = r->results[index];
  const double scale = scale_of(ref->dtype, want, size);
  unsigned char *got = kw_scale_host(size * (size_t)r->times);
  tally found = {0};
  KW_CHECK_OK(kw_tensor_read(result, got));
  for (int64_t i = 0; i < r->times; i++) {
    const size_t at = (size_t)i * size;
    if (memcmp(got + at, want, size) != 0) judge_copy(ref->dtype, got + at, want, size, scale, at / item, &found);
  }
  kw_scale_host_drop(got);
  KW_CHECK(found.wrong == 0,
           "%s%s%s, output %u of %lld %s: element %llu is %s, and %s in a call of %zu elements that this one has %lld "
           "copies of; %llu elements are wrong",
           r->call.info.name, *kernel ? ", kernel " : "", kernel, index, (long long)ref->numel,
           kw_dtype_name(ref->dtype), (unsigned long long)found.first, found.got, found.want, size / item,
           (long long)r->times, (unsigned long long)found.wrong);
}

/* One run of the large call, by a kernel or, for "", the one that is chosen. False: the kernel does not take it. */
static bool run_large(repeat *r, const char *kernel) {
  kw_tensor *outs[KW_MAX_RESULTS] = {NULL};
  const uint32_t count = r->call.info.result_count;
  for (uint32_t i = 0; i < count; i++) {
    if (r->outs[i]) outs[i] = poisoned(r->outs[i], r->times);
  }
  if (*kernel) {
    kw_plan *plan = NULL;
    kw_stream *stream = kw_stream_default(kw_contract.device);
    kw_status status = kw_plan_make(r->call.op, stream, r->values, r->call.given, outs, count, kernel, &plan);
    if (status == KW_OK) status = kw_plan_run(plan, stream, r->values, r->call.given, outs, count);
    if (status == KW_OK) status = kw_stream_synchronize(stream);
    kw_plan_destroy(plan);
    KW_CHECK(status == KW_OK || status == KW_ERR_NOT_IMPLEMENTED || status == KW_ERR_OUT_OF_MEMORY,
             "kernel %s of %s gave %s: %s", kernel, r->call.info.name, kw_status_name(status), kw_error_message());
    if (status != KW_OK) kw_error_clear();
    if (status != KW_OK) return false;
  } else {
    kw_scale_call(r->call.op, r->values, r->call.given, outs, count);
  }
  for (uint32_t i = 0; i < count; i++) {
    const int32_t alias = kw_op_result_alias(r->call.op, i);
    const kw_tensor_ref *changed = alias >= 0 ? r->values[alias].u.tensor : NULL;
    if (outs[i] || changed) judge(r, i, outs[i] ? outs[i] : (const kw_tensor *)(const void *)changed, kernel);
    kw_scale_drop(outs[i]);
  }
  return true;
}

static void run_kernels(repeat *r) {
  kw_kernel_info kernel = {.struct_size = sizeof kernel};
  uint32_t count = 0;
  while (kw_op_get_kernel(r->call.op, kw_contract.device, count, &kernel) == KW_OK) count++;
  for (uint32_t k = 0; k < count && count > 1 && !r->call.in_place; k++) {
    if (kw_op_get_kernel(r->call.op, kw_contract.device, k, &kernel) != KW_OK) break;
    const bool mine = kw_dtype_mask_has(kernel.dtypes, r->call.dtype) && kernel.math_mode == KW_MATH_HIGHEST;
    if (mine) run_large(r, kernel.name);
  }
  kw_error_clear();
}

void kw_scale_run_copies(const kw_scale_copies *how) {
  now = (repeat){.times = 0};
  run_small(&now, how);
  if (!now.repeated || now.sizes[0] == 0) {
    kw_test_skip("no argument of %s has the shape of its result", now.call.info.name);
  }
  const kw_tensor_ref *first = kw_tensor_describe(kw_test_call_result(&now.call, now.outs, 0));
  now.times = (how->rows ? how->rows / first->shape[0] + 1 : how->total / first->numel) | 1;
  need_room(&now);
  kw_test_call_values(&now.call, now.values);
  find_overwritten(&now);
  for (uint32_t i = 0; i < now.call.info.arg_count; i++) {
    const kw_tensor *small = now.call.args[i].tensors[0];
    if (!is_repeated(&now, i)) continue;
    now.values[i] = kw_arg_tensor(now.overwritten >> i & 1 ? poisoned(small, now.times) : copies_of(small, now.times));
  }
  run_large(&now, "");
  if (how->all_kernels) run_kernels(&now);
}
