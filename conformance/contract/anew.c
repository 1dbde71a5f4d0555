/* SPDX-License-Identifier: Apache-2.0
 *
 * Suite launch: the same call again with one attribute changed. A driver keeps what it has compiled or prepared for a
 * call; where the key of that leaves an attribute out, the second call does what the first one did.
 */
#include "call.h"
#include "soak/soak.h"

#include <math.h>

enum { NUMEL = 36, MOST_VALUES = 4 };

/* Results of one run. */
typedef struct outcome {
  unsigned char *bytes;
  size_t size;
} outcome;

/* The call on a device, with another value for one argument. False where the op refuses that value. */
static bool run_with(const kw_test_call *call, kw_device *device, uint32_t index, kw_value value, outcome *out) {
  kw_tensor *outs[KW_MAX_RESULTS] = {NULL};
  kw_test_call copy;
  *out = (outcome){NULL, 0};
  kw_test_call_copy_to(call, device, &copy);
  copy.args[index].value = value;
  if (copy.given <= index) copy.given = index + 1;
  kw_stream *stream = kw_stream_default(device);
  bool done = kw_test_call_run(&copy, stream, outs) == KW_OK;
  done = kw_stream_synchronize(stream) == KW_OK && done; /* indices may be out of range with this value */
  if (done) KW_CHECK_OK(kw_test_call_results(&copy, outs, &out->bytes, &out->size));
  for (uint32_t r = 0; r < call->info.result_count; r++) kw_tensor_release(outs[r]);
  kw_test_call_free(&copy);
  kw_error_clear();
  return done;
}

static bool same(const outcome *a, const outcome *b) {
  return a->size == b->size && memcmp(a->bytes, b->bytes, a->size) == 0;
}

/* Whether a quarter of the numbers differ by more than any error bound: then no right device gives the same bits for
 * both. What is no float of the call's dtype counts by its bytes, which suits whole numbers as well. */
static bool clearly_differ(kw_dtype dtype, const outcome *a, const outcome *b) {
  const size_t item = kw_dtype_size(dtype), count = a->size / item;
  const double least = dtype == KW_F64 ? 1e-12 : 1e-2;
  size_t apart = 0;
  if (a->size != b->size || count == 0) return false;
  for (size_t i = 0; i < count; i++) {
    double x[2];
    for (int k = 0; k < 2; k++) {
      const unsigned char *from = (k ? b : a)->bytes + i * item;
      float narrow = 0;
      memcpy(&narrow, from, sizeof narrow);
      x[k] = narrow;
      if (dtype == KW_F64) memcpy(&x[k], from, sizeof x[k]);
    }
    apart += dtype == KW_F32 || dtype == KW_F64 ? fabs(x[0] - x[1]) > least * (fabs(x[0]) + fabs(x[1]))
                                                : memcmp(a->bytes + i * item, b->bytes + i * item, item) != 0;
  }
  return 4 * apart > count;
}

/* Other values for an argument, as many as there is one of that kind to think of. `ints`: memory for lists. */
static uint32_t other_values(const kw_test_arg *arg, int64_t (*ints)[KW_MAX_RANK], kw_value *out) {
  const kw_value is = arg->value;
  static const int64_t steps[] = {1, -1, 2};
  uint32_t count = 0;
  if (arg->info.tag == KW_TAG_BOOL) out[count++] = kw_arg_bool(is.tag != KW_TAG_BOOL || !is.u.b);
  for (uint32_t i = 0; i < sizeof steps / sizeof steps[0] && arg->role != KW_ROLE_SIZES; i++) {
    const bool whole = is.tag == KW_TAG_INT || (is.tag == KW_TAG_SCALAR && is.kind == KW_SCALAR_I64);
    if (arg->info.tag == KW_TAG_INT) out[count++] = kw_arg_int((whole ? is.u.i : 0) + steps[i]);
    if (arg->info.tag == KW_TAG_SCALAR) out[count++] = kw_arg_scalar_f64((whole ? (double)is.u.i : 1) + 3 * steps[i]);
    if (arg->info.tag == KW_TAG_FLOAT)
      out[count++] = kw_arg_float((is.tag == KW_TAG_FLOAT ? is.u.f : 0) + 0.25 * i + 0.2);
    if (arg->info.tag != KW_TAG_INT_LIST) continue;
    const uint32_t length = is.tag == KW_TAG_INT_LIST && is.count > 0 ? is.count : 1;
    for (uint32_t k = 0; k < length && k < KW_MAX_RANK; k++) {
      ints[i][k] = (is.tag == KW_TAG_INT_LIST && is.count > 0 ? is.u.ints[k] : -1) + steps[i];
    }
    out[count++] = kw_arg_int_list(ints[i], length);
  }
  return count;
}

/* Two values, one call behind the other: where the device gives the same bits, the cpu is asked whether that is right.
 */
static void check_values(const kw_test_call *call, kw_device *cpu, uint32_t index, const kw_value values[2]) {
  outcome device[2], right[2] = {{NULL, 0}, {NULL, 0}};
  bool ran = true;
  for (int k = 0; k < 2; k++) ran = run_with(call, kw_contract.device, index, values[k], &device[k]) && ran;
  if (ran && same(&device[0], &device[1])) {
    for (int k = 0; k < 2; k++) ran = run_with(call, cpu, index, values[k], &right[k]) && ran;
    KW_CHECK(!ran || !clearly_differ(call->dtype, &right[0], &right[1]),
             "%s in %s, called again with another '%s', gave the bits of the call before: is what was made for that "
             "one found without it?",
             call->info.name, kw_dtype_name(call->dtype), call->args[index].info.name);
  }
  for (int k = 0; k < 2; k++) {
    free(device[k].bytes);
    free(right[k].bytes);
  }
}

/* Numbers that are one number in six digits behind the point, in six digits, and in f32. */
static void check_close(const kw_test_call *call, kw_device *cpu, uint32_t index) {
  static const double close[][2] = {{1e-7, 3e-7}, {1000001.0, 1000004.0}, {1.5, 1.5 + 0x1p-30}};
  for (size_t i = 0; i < sizeof close / sizeof close[0]; i++) {
    kw_value pair[2];
    for (int k = 0; k < 2; k++) {
      const bool is_float = call->args[index].info.tag == KW_TAG_FLOAT;
      pair[k] = is_float ? kw_arg_float(close[i][k]) : kw_arg_scalar_f64(close[i][k]);
    }
    if (i < 2 || call->dtype == KW_F64) check_values(call, cpu, index, pair);
  }
}

/* The same call with no other number that may be left out; false where there is none. It holds what `call` holds. */
static bool leave_others(const kw_test_call *call, uint32_t index, kw_test_call *out) {
  bool some = false;
  *out = *call;
  for (uint32_t i = 0; i < call->info.arg_count; i++) {
    kw_test_arg *arg = &out->args[i];
    const bool number = arg->value.tag == KW_TAG_FLOAT || arg->value.tag == KW_TAG_SCALAR;
    if (i == index || !number || !(arg->info.flags & KW_ARG_OPTIONAL)) continue;
    arg->value = kw_arg_none();
    some = true;
  }
  return some;
}

static void check_argument(const kw_test_call *call, kw_device *cpu, uint32_t index) {
  static int64_t ints[MOST_VALUES][KW_MAX_RANK];
  const kw_test_arg *arg = &call->args[index];
  kw_value others[MOST_VALUES];
  const uint32_t count = other_values(arg, ints, others);
  for (uint32_t i = 0; i < count; i++) check_values(call, cpu, index, (kw_value[]){arg->value, others[i]});
  if (arg->info.tag != KW_TAG_FLOAT && arg->info.tag != KW_TAG_SCALAR) return;
  kw_test_call alone;
  check_close(call, cpu, index);
  if (leave_others(call, index, &alone)) check_close(&alone, cpu, index);
}

/* Whether the op has attributes that a value can be changed of. */
static bool has_attributes(const kw_op *op) {
  kw_op_info info = {.struct_size = sizeof info};
  KW_CHECK_OK(kw_op_get_info(op, &info));
  for (uint32_t i = 0; i < info.arg_count && info.level != KW_LEVEL_VENDOR; i++) {
    kw_arg_info arg = {.struct_size = sizeof arg};
    KW_CHECK_OK(kw_op_get_arg(op, i, &arg));
    if (arg.tag == KW_TAG_INT || arg.tag == KW_TAG_INT_LIST || arg.tag == KW_TAG_FLOAT || arg.tag == KW_TAG_SCALAR ||
        arg.tag == KW_TAG_BOOL) {
      return true;
    }
  }
  return false;
}

static uint32_t check_op(const kw_op *op, kw_device *cpu) {
  static const kw_dtype dtypes[] = {KW_F32, KW_F64, KW_I64};
  uint32_t calls = 0;
  for (size_t d = 0; d < sizeof dtypes / sizeof dtypes[0]; d++) {
    kw_test_call call;
    if (dtypes[d] == KW_I64 && calls > 0) continue; /* for ops without floats */
    if (kw_op_support(op, kw_contract.device, dtypes[d]) != KW_SUPPORT_KERNEL) continue;
    if (!kw_test_call_make(op, dtypes[d], NUMEL, &call)) continue;
    for (uint32_t i = 0; i < call.info.arg_count && !kw_test_call_random(&call); i++) check_argument(&call, cpu, i);
    kw_test_call_free(&call);
    calls++;
  }
  return calls;
}

/* Each attribute of an op changed from one call to the next, all else being the same: as many of the device's ops as
 * the effort says, from where the seed says on. */
void kw_contract_launch_every_attribute_anew(void **state) {
  (void)state;
  const uint64_t most = kw_soak_count(4, 96, UINT64_MAX);
  kw_device *cpu = NULL;
  uint64_t first = 0, checked = 0;
  if (kw_device_open("cpu:0", &cpu) != KW_OK) kw_contract_not_tried("there is no cpu:0 to compare with");
  kw_test_pattern(&first, sizeof first, 0xa77e);
  for (uint32_t i = 0; i < kw_op_count() && checked < most; i++) {
    const kw_op *op = kw_op_at((uint32_t)((first + i) % kw_op_count()));
    if (has_attributes(op) && check_op(op, cpu) > 0) checked++;
  }
  KW_CHECK_OK(kw_device_close(cpu));
  if (checked == 0) kw_test_skip("the device has no op with attributes in f32, f64 or i64");
}
