/* SPDX-License-Identifier: Apache-2.0
 *
 * Suite error, bad input to every op: calls that work (call.h), made wrong in one place at a time. What is wrong
 * follows from the schema; what a schema does not say is in the tables here. Each wrong call is refused with
 * KW_ERR_INVALID_ARGUMENT and a text that names the op and the argument, leaves results and arguments as they were, and
 * the device works on.
 */
#include "error_shape.h"
#include "op_table.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

enum { NUMEL = 16 };

/* ---- Counts and kinds of arguments ------------------------------------------------------------------------------- */

static void bad_counts(kw_trial *t) {
  uint32_t count = t->call.info.arg_count, results = t->call.info.result_count;
  for (t->given = 0; t->given < count && !(t->call.args[t->given].info.flags & KW_ARG_HAS_DEFAULT); t->given++) {
    char what[64];
    snprintf(what, sizeof what, "%u arguments", t->given);
    kw_trial_refuse(t, KW_TRIAL_NO_ARGUMENT, what);
  }
  kw_value more[KW_MAX_ARGS + 1];
  memcpy(more, t->values, sizeof t->values);
  more[count] = kw_arg_int(0);
  kw_tensor *outs[KW_MAX_RESULTS + 1] = {NULL};
  kw_error_clear();
  kw_stream *stream = kw_stream_default(kw_contract.device);
  kw_trial_check_refusal(t, kw_op_call(t->call.op, stream, more, count + 1, outs, results), KW_TRIAL_NO_ARGUMENT,
                         "an argument too many");
  kw_error_clear();
  kw_trial_check_refusal(t, kw_op_call(t->call.op, stream, NULL, count, outs, results), KW_TRIAL_NO_ARGUMENT,
                         "NULL for the arguments");
  kw_trial_reset(t);
  kw_trial_refuse_with(t, NULL, results + 1, KW_TRIAL_NO_ARGUMENT, "a result too many");
  if (results > 0 && !t->call.in_place) {
    if (!t->call.info.counted) {
      kw_trial_refuse_with(t, NULL, results - 1, KW_TRIAL_NO_ARGUMENT, "a result too few");
    } else {
      kw_trial_refuse_with(t, t->outs, results - 1, KW_TRIAL_NO_ARGUMENT, "memory for a result without its count");
    }
    kw_error_clear();
    kw_trial_check_refusal(t, kw_op_call(t->call.op, stream, t->values, t->given, NULL, results), KW_TRIAL_NO_ARGUMENT,
                           "NULL for the results");
  }
}

static bool accepts(const kw_arg_info *info, kw_tag tag) {
  if (tag == info->tag) return true;
  if (tag == KW_TAG_NONE) return (info->flags & KW_ARG_OPTIONAL) != 0;
  bool number = tag == KW_TAG_INT || tag == KW_TAG_FLOAT || tag == KW_TAG_BOOL;
  if (info->tag == KW_TAG_SCALAR) return number;
  if (info->tag == KW_TAG_FLOAT) return tag == KW_TAG_INT;
  return info->tag == KW_TAG_INT_LIST && info->list_size > 0 && tag == KW_TAG_INT;
}

static void bad_kinds(kw_trial *t, uint32_t index) {
  static const int64_t ints[] = {0, 1};
  kw_tensor *tensor = kw_test_f32(4, 1), *pair[] = {tensor, tensor};
  const struct {
    kw_value value;
    const char *what;
  } kinds[] = {
      {kw_arg_none(), "none"},
      {kw_arg_tensor(tensor), "a tensor"},
      {kw_arg_tensor_list(pair, 2), "a list of tensors"},
      {kw_arg_int(1), "an int"},
      {kw_arg_int_list(ints, 2), "a list of ints"},
      {kw_arg_float(0.5), "a float"},
      {kw_arg_bool(true), "a bool"},
      {kw_arg_string("none"), "a string"},
      {kw_arg_scalar_f64(0.5), "a Scalar"},
      {kw_arg_dtype(KW_F32), "a dtype"},
      {{.tag = 0x7ff0}, "a value of an unknown kind"},
  };
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
    if (!accepts(&t->call.args[index].info, kinds[i].value.tag)) {
      kw_trial_refuse_value(t, index, kinds[i].value, kinds[i].what);
    }
  }
  kw_tensor_release(tensor);
}

/* Values of the right kind that point nowhere or hold what does not exist. */
static void bad_contents(kw_trial *t, uint32_t index) {
  const kw_arg_info *info = &t->call.args[index].info;
  kw_tensor *hole[] = {NULL, NULL};
  kw_value list = {.tag = info->tag, .count = 2}, kind = {.tag = KW_TAG_SCALAR, .kind = 77};
  switch (info->tag) {
    case KW_TAG_TENSOR:
      kw_trial_refuse_value(t, index, (kw_value){.tag = KW_TAG_TENSOR}, "a NULL tensor");
      break;
    case KW_TAG_TENSOR_LIST:
      kw_trial_refuse_value(t, index, list, "a list of two at NULL");
      if (!(info->flags & KW_ARG_OPTIONAL_ENTRIES)) {
        kw_trial_refuse_value(t, index, kw_arg_tensor_list(hole, 2), "a list of NULL tensors");
      }
      break;
    case KW_TAG_INT_LIST:
      kw_trial_refuse_value(t, index, list, "a list of two at NULL");
      break;
    case KW_TAG_STRING:
      kw_trial_refuse_value(t, index, kw_arg_string(NULL), "a NULL string");
      kw_trial_refuse_value(t, index, kw_arg_string("no_such_choice"), "an unknown string");
      kw_trial_refuse_value(t, index, kw_arg_string(""), "an empty string");
      break;
    case KW_TAG_DTYPE:
      kw_trial_refuse_value(t, index, kw_arg_dtype(0x7ff0), "an unknown dtype");
      break;
    case KW_TAG_SCALAR:
      kw_trial_refuse_value(t, index, kind, "a Scalar of an unknown kind");
      break;
    default:
      break;
  }
}

/* ---- Numbers ----------------------------------------------------------------------------------------------------- */

/* The tensor whose dimensions `dim` counts: the first one. */
static int64_t rank_of_first(const kw_trial *t) {
  for (uint32_t i = 0; i < t->call.info.arg_count; i++) {
    if (t->call.args[i].tensors[0]) return kw_tensor_describe(t->call.args[i].tensors[0])->rank;
  }
  return 0;
}

static void bad_dims(kw_trial *t, uint32_t index) {
  const kw_arg_info *info = &t->call.args[index].info;
  if (strcmp(info->name, "dim") != 0 && strcmp(info->name, "dims") != 0) return;
  int64_t rank = rank_of_first(t) ? rank_of_first(t) : 1;
  const int64_t outside[] = {rank, -rank - 1, INT64_MAX, INT64_MIN, INT64_C(1) << 32};
  for (size_t i = 0; i < sizeof outside / sizeof outside[0]; i++) {
    bool list = info->tag == KW_TAG_INT_LIST;
    kw_trial_refuse_value(t, index, list ? kw_arg_int_list(&outside[i], 1) : kw_arg_int(outside[i]),
                          "a dimension out of range");
  }
  if (info->tag != KW_TAG_INT_LIST) return;
  const int64_t twice[] = {0, 0}, same[] = {0, -rank};
  kw_trial_refuse_value(t, index, kw_arg_int_list(twice, 2), "a dimension given twice");
  kw_trial_refuse_value(t, index, kw_arg_int_list(same, 2), "a dimension given twice, once from the end");
}

static void bad_sizes(kw_trial *t, uint32_t index) {
  if (t->call.args[index].role != KW_ROLE_SIZES) return;
  int64_t many[KW_MAX_RANK + 1];
  for (int i = 0; i <= KW_MAX_RANK; i++) many[i] = 1;
  const struct {
    uint32_t count;
    int64_t sizes[3];
    const char *what;
  } cases[] = {
      {1, {-1}, "a negative size"},
      {2, {0, -1}, "a negative size beside a zero"},
      {2, {INT64_MIN, 2}, "the lowest size"},
      {1, {INT64_MAX}, "more bytes than int64 holds"},
      {2, {INT64_MAX, INT64_MAX}, "more elements than int64 holds"},
      {3, {INT64_C(1) << 32, INT64_C(1) << 32, 4}, "more elements than 64 bits hold"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    kw_trial_refuse_value(t, index, kw_arg_int_list(cases[i].sizes, cases[i].count), cases[i].what);
  }
  kw_trial_refuse_value(t, index, kw_arg_int_list(many, KW_MAX_RANK + 1), "more dimensions than KW_MAX_RANK");
}

/* Numbers that an argument of this name does not take. */
static const struct {
  const char *arg;
  double number;
} bad_numbers[] = {
    {"end", NAN},
    {"end", 1e19},
    {"normalization", 3},
    {"last_dim_size", 0},
    {"p", -0.25},
    {"p", 1.25},
    {"p", NAN},
    {"std", -1},
    {"std", NAN},
    {"high", -3},
    {"reduction", 3},
    {"reduction", -1},
    {"delta", 0},
    {"delta", -1},
    {"delta", NAN},
    {"decimals", 1000},
    {"decimals", -1000},
    {"dropout_p", 0.5},
    {"softcap", -1},
    {"softcap", NAN},
    {"softcap", INFINITY},
    {"k", -1},
    {"k", 1e9},
    {"groups", 0},
    {"groups", -1},
    {"scales", 0},
    {"scales_h", -1},
    {"scales_w", NAN},
    {"interpolation_mode", 3},
    {"padding_mode", -1},
    {"label_smoothing", -0.25},
    {"label_smoothing", 1.25},
    {"label_smoothing", NAN},
    {"num_weights", -3},
    {"N", -3},
    {"C", -3},
    {"HxW", -3},
    {"growth_interval", 0},
    {"growth_interval", -1},
    {"max_norm", -1},
    {"max_norm", NAN},
    {"norm_type", 0},
    {"norm_type", -2},
    {"norm_type", NAN},
    {"group", -3},
    {"group", 0},
    {"group", 3},
    {"iou_threshold", NAN},
    {"spatial_scale", 0},
    {"spatial_scale", INFINITY},
    {"spatial_scale", NAN},
    {"pooled_height", 0},
    {"pooled_width", -1},
    {"sampling_ratio", 0x1p40},
};

/* Numbers that windows do not have; in the place of a list they stand for all its numbers. */
static const struct {
  const char *arg;
  int64_t number;
} bad_windows[] = {
    {"kernel_size", 0}, {"kernel_size", -1}, {"stride", 0},    {"stride", -1},
    {"padding", -1},    {"dilation", 0},     {"dilation", -1}, {"divisor_override", 0},
};

static kw_value number_like(kw_tag tag, double number) {
  if (tag == KW_TAG_FLOAT) return kw_arg_float(number);
  if (tag == KW_TAG_INT) return kw_arg_int((int64_t)number);
  return kw_arg_scalar_f64(number);
}

static void bad_range(kw_trial *t, uint32_t index) {
  const kw_arg_info *info = &t->call.args[index].info;
  for (size_t i = 0; i < sizeof bad_numbers / sizeof bad_numbers[0]; i++) {
    bool whole = info->tag == KW_TAG_INT && !(fabs(bad_numbers[i].number) < 0x1p63); /* no int says it */
    bool norm = strstr(t->call.info.name, "dist_") && bad_numbers[i].number > 1;     /* p is no probability */
    if (strcmp(bad_numbers[i].arg, info->name) != 0 || whole || norm) continue;
    char what[64];
    snprintf(what, sizeof what, "%g", bad_numbers[i].number);
    kw_trial_refuse_value(t, index, number_like(info->tag, bad_numbers[i].number), what);
  }
  for (size_t i = 0; i < sizeof bad_windows / sizeof bad_windows[0]; i++) {
    if (strcmp(bad_windows[i].arg, info->name) != 0) continue;
    char what[64];
    snprintf(what, sizeof what, "%" PRId64, bad_windows[i].number);
    kw_trial_refuse_value(t, index, kw_arg_int(bad_windows[i].number), what);
  }
}

/* ---- Dtypes ------------------------------------------------------------------------------------------------------ */

static bool defined_for(const kw_trial *t, kw_dtype dtype) {
  return kw_dtype_mask_has(t->call.info.dtypes, dtype);
}

/* The arguments with this role get another dtype, all of them or, with `only` >= 0, one. They are the caller's to free:
 * t->values holds them until reset. */
static uint32_t retype(kw_trial *t, kw_role role, int only, kw_dtype dtype, kw_tensor **out_made) {
  uint32_t made = 0;
  for (uint32_t i = 0; i < t->call.info.arg_count; i++) {
    const kw_test_arg *arg = &t->call.args[i];
    if (arg->role != role || (only >= 0 && (int)i != only)) continue;
    uint32_t first = made;
    for (int k = 0; k < KW_TEST_ENTRIES && arg->tensors[k]; k++) {
      const kw_tensor_ref *ref = kw_tensor_describe(arg->tensors[k]);
      out_made[made++] = kw_test_tensor(kw_contract.device, dtype, ref->rank, ref->shape, 7);
    }
    t->values[i] = arg->info.tag == KW_TAG_TENSOR ? kw_arg_tensor(out_made[first])
                                                  : kw_arg_tensor_list(out_made + first, made - first);
  }
  return made;
}

static void refuse_retyped(kw_trial *t, kw_role role, int only, kw_dtype dtype, int argument) {
  kw_tensor *made[KW_MAX_ARGS * KW_TEST_ENTRIES];
  uint32_t count = retype(t, role, only, dtype, made);
  char what[96];
  snprintf(what, sizeof what, "%s of %s", only >= 0 ? t->call.args[only].info.name : "tensors", kw_dtype_name(dtype));
  if (count > 0) kw_trial_refuse(t, argument, what);
  kw_trial_reset(t);
  while (count > 0) kw_tensor_release(made[--count]);
}

static void bad_dtypes(kw_trial *t) {
  kw_value complex = {.tag = KW_TAG_SCALAR, .kind = KW_SCALAR_C128};
  complex.u.c[0] = complex.u.c[1] = 1;
  for (kw_dtype dtype = 0; dtype < KW_KEY_DTYPE_COUNT; dtype++) {
    if (!defined_for(t, dtype)) refuse_retyped(t, KW_ROLE_DATA, -1, dtype, KW_TRIAL_ANY_ARGUMENT);
  }
  for (uint32_t i = 0; i < t->call.info.arg_count; i++) {
    const kw_test_arg *arg = &t->call.args[i];
    if (arg->role == KW_ROLE_DATA && !defined_for(t, KW_C128))
      refuse_retyped(t, KW_ROLE_DATA, (int)i, KW_C128, KW_TRIAL_ANY_ARGUMENT);
    const bool counts = arg->role == KW_ROLE_INDEX || arg->role == KW_ROLE_COUNT;
    if (counts || arg->role == KW_ROLE_MASK) {
      refuse_retyped(t, arg->role, (int)i, KW_F32, (int)i);
      refuse_retyped(t, arg->role, (int)i, KW_F64, (int)i);
      refuse_retyped(t, arg->role, (int)i, KW_C64, (int)i);
    }
    const bool list = arg->info.tag == KW_TAG_TENSOR_LIST; /* which takes masks */
    if (counts && !list) refuse_retyped(t, arg->role, (int)i, KW_BOOL, (int)i);
    if (arg->info.tag == KW_TAG_SCALAR && !defined_for(t, KW_C128))
      kw_trial_refuse_value(t, i, complex, "a complex Scalar");
    if (arg->info.tag == KW_TAG_DTYPE && !defined_for(t, KW_C128)) {
      kw_trial_refuse_value(t, i, kw_arg_dtype(KW_C128), "a dtype that the op is not defined for");
    }
  }
}

/* ---- One op ------------------------------------------------------------------------------------------------------ */

static void begin(kw_trial *t) {
  memset(t, 0, sizeof *t);
  bool made = false, supported = false;
  for (kw_dtype dtype = KW_KEY_DTYPE_COUNT; dtype-- > 0 && !made;) { /* wide floats first */
    kw_dtype tried = (kw_dtype)((dtype + KW_F32 + 1) % KW_KEY_DTYPE_COUNT);
    if (kw_op_support(kw_contract.op, kw_contract.device, tried) == KW_SUPPORT_NONE) continue;
    supported = true;
    made = kw_test_call_make(kw_contract.op, tried, NUMEL, &t->call);
  }
  if (!supported) kw_test_skip("the device has no kernel of this op; its own cases tell so");
  if (!made && t->call.info.level == KW_LEVEL_VENDOR)
    kw_test_skip("nothing tells what the arguments of a vendor's op need");
  KW_CHECK(made,
           "no call of this op could be made: either it refuses square tensors, and contract/call_needs.c has to know "
           "what its arguments need, or it cannot run at all: %s",
           kw_error_message());
}

static void remember(kw_trial *t) {
  kw_test_call_values(&t->call, t->values);
  KW_CHECK_OK(kw_test_call_run(&t->call, NULL, t->outs));
  KW_CHECK_OK(kw_device_synchronize(kw_contract.device));
  for (uint32_t r = 0; r < t->call.info.result_count; r++) {
    if (t->outs[r]) t->known[r] = kw_trial_contents(t->outs[r]);
  }
  for (uint32_t i = 0; i < t->call.info.arg_count; i++) {
    for (int k = 0; k < KW_TEST_ENTRIES; k++) {
      if (t->call.args[i].tensors[k]) t->inputs[i][k] = kw_trial_contents(t->call.args[i].tensors[k]);
    }
  }
  kw_trial_reset(t);
}

static void expect_contents(const kw_tensor *tensor, const unsigned char *want, const char *what) {
  unsigned char *got = kw_trial_contents(tensor);
  kw_test_same(got, want, kw_test_bytes_of(tensor), what);
  free(got);
}

static void check_untouched(kw_trial *t) {
  char what[128];
  KW_CHECK_OK(kw_device_synchronize(kw_contract.device));
  for (uint32_t r = 0; r < t->call.info.result_count; r++) {
    snprintf(what, sizeof what, "%s: result %u after refused calls only", t->call.info.name, r);
    if (t->outs[r]) expect_contents(t->outs[r], t->known[r], what);
  }
  for (uint32_t i = 0; i < t->call.info.arg_count; i++) {
    snprintf(what, sizeof what, "%s: '%s' after refused calls only", t->call.info.name, t->call.args[i].info.name);
    for (int k = 0; k < KW_TEST_ENTRIES; k++) {
      if (t->call.args[i].tensors[k]) expect_contents(t->call.args[i].tensors[k], t->inputs[i][k], what);
    }
  }
}

static void end(kw_trial *t) {
  for (uint32_t r = 0; r < t->call.info.result_count; r++) {
    kw_tensor_release(t->outs[r]);
    free(t->known[r]);
  }
  for (uint32_t i = 0; i < KW_MAX_ARGS; i++) {
    for (int k = 0; k < KW_TEST_ENTRIES; k++) free(t->inputs[i][k]);
  }
  kw_test_call_free(&t->call);
}

/* Every op: arguments of wrong number, kind, dtype, shape and value, and results that do not fit, are refused with
 * KW_ERR_INVALID_ARGUMENT and a text that names op and argument; nothing is written; the device works on. */
void kw_contract_error_op(void **state) {
  (void)state;
  kw_trial t;
  begin(&t);
  remember(&t);
  bad_counts(&t);
  for (uint32_t i = 0; i < t.call.info.arg_count; i++) {
    bad_kinds(&t, i);
    bad_contents(&t, i);
    bad_dims(&t, i);
    bad_sizes(&t, i);
    bad_range(&t, i);
    kw_trial_refuse_shapes(&t, i);
  }
  bad_dtypes(&t);
  kw_trial_refuse_results(&t);
  check_untouched(&t);
  KW_CHECK_OK(kw_test_call_run(&t.call, NULL, t.outs)); /* the right call still is */
  for (uint32_t i = 0; i < t.call.info.arg_count; i++) kw_trial_try_shapes(&t, i);
  end(&t);
  kw_test_usable("a round trip after wrong calls");
}
