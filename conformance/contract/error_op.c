/* SPDX-License-Identifier: Apache-2.0
 *
 * Suite error, bad input to every op: calls that work (call.h), made wrong in one place at a time. What is wrong
 * follows from the schema; what a schema does not say is in the tables here. Each wrong call is refused with
 * KW_ERR_INVALID_ARGUMENT and a text that names the op and the argument, leaves results and arguments as they were, and
 * the device works on.
 */
#include "call.h"
#include "op_table.h"

#include <math.h>
#include <stdio.h>

enum { NUMEL = 16 };
#define ANY_ARGUMENT (-1) /* the text names one of the op's arguments, or a result */
#define NO_ARGUMENT (-2)  /* the call as a whole is wrong: the text names the op */

/* The call under test: `call` is right, `values` and the others are what a wrong call passes. */
typedef struct trial {
  kw_test_call call;
  kw_value values[KW_TEST_ARGS];
  uint32_t given;
  kw_tensor *outs[KW_TEST_RESULTS]; /* of the right shape, with known contents; NULL where an argument is the result */
  unsigned char *known[KW_TEST_RESULTS];                /* these contents */
  unsigned char *inputs[KW_TEST_ARGS][KW_TEST_ENTRIES]; /* what the arguments hold */
  bool by_address;                                      /* what is wrong is where tensors lie: no part of a plan */
} trial;

static unsigned char *contents_of(const kw_tensor *tensor) {
  unsigned char *bytes = kw_test_memory(kw_test_bytes_of(tensor));
  KW_CHECK_OK(kw_tensor_read(tensor, bytes));
  return bytes;
}

/* ---- Refusals ---------------------------------------------------------------------------------------------------- */

static bool names_argument(const trial *t, uint32_t index) {
  char quoted[64];
  snprintf(quoted, sizeof quoted, "'%s'", t->call.args[index].info.name);
  return strstr(kw_error_message(), quoted) != NULL;
}

static bool names_any(const trial *t) {
  for (uint32_t i = 0; i < t->call.info.arg_count; i++) {
    if (names_argument(t, i)) return true;
  }
  return strstr(kw_error_message(), "result") != NULL;
}

static void check_refusal(const trial *t, kw_status status, int argument, const char *what) {
  const char *op = t->call.info.name, *message = kw_error_message();
  KW_CHECK(status == KW_ERR_INVALID_ARGUMENT, "%s, %s: expected %s, got %s%s%s", op, what,
           kw_status_name(KW_ERR_INVALID_ARGUMENT), status == KW_OK ? "KW_OK" : kw_status_name(status),
           status == KW_OK ? "" : ": ", status == KW_OK ? "" : message);
  KW_CHECK(strstr(message, op), "%s, %s: the text does not name the op: %s", op, what, message);
  if (argument >= 0) {
    KW_CHECK(names_argument(t, (uint32_t)argument), "%s, %s: the text does not name the argument '%s': %s", op, what,
             t->call.args[argument].info.name, message);
  } else if (argument == ANY_ARGUMENT) {
    KW_CHECK(names_any(t), "%s, %s: the text names no argument: %s", op, what, message);
  }
}

/* A plan for the wrong call is refused, or where the plan cannot know, its run. */
static void refuse_plan(trial *t, kw_tensor **outs, uint32_t out_count, int argument, const char *what) {
  kw_stream *stream = kw_stream_default(kw_contract.device);
  kw_plan *plan = NULL;
  kw_error_clear();
  kw_status status = kw_plan_make(t->call.op, stream, t->values, t->given, outs, out_count, NULL, &plan);
  if (t->by_address && status == KW_OK) {
    status = kw_plan_run(plan, stream, t->values, t->given, outs, out_count);
  } else {
    KW_CHECK(!plan, "%s, %s: kw_plan_make refused and gave a plan", t->call.info.name, what);
  }
  check_refusal(t, status, argument, what);
  kw_plan_destroy(plan);
}

/* The wrong call with these results is refused, now and as a plan; results are not replaced. */
static void refuse_with(trial *t, kw_tensor **outs, uint32_t out_count, int argument, const char *what) {
  kw_stream *stream = kw_stream_default(kw_contract.device);
  kw_tensor *passed[KW_TEST_RESULTS + 1] = {NULL}, *before[KW_TEST_RESULTS + 1];
  if (outs) memcpy(passed, outs, KW_TEST_RESULTS * sizeof *outs);
  memcpy(before, passed, sizeof before);
  kw_error_clear();
  kw_status status = kw_op_call(t->call.op, stream, t->values, t->given, passed, out_count);
  check_refusal(t, status, argument, what);
  refuse_plan(t, passed, out_count, argument, what);
  KW_CHECK(memcmp(passed, before, sizeof before) == 0, "%s, %s: refused, but outs[] changed", t->call.info.name, what);
}

/* The wrong call with results to allocate, and with results given. */
static void refuse(trial *t, int argument, const char *what) {
  refuse_with(t, NULL, t->call.info.result_count, argument, what);
  refuse_with(t, t->outs, t->call.info.result_count, argument, what);
}

static void reset(trial *t) {
  kw_test_call_values(&t->call, t->values);
  t->given = t->call.given;
}

/* Passes `value` as argument `index` and expects a refusal that names it. */
static void refuse_value(trial *t, uint32_t index, kw_value value, const char *what) {
  char text[160];
  snprintf(text, sizeof text, "%s for '%s'", what, t->call.args[index].info.name);
  t->values[index] = value;
  if (t->given <= index) t->given = index + 1;
  refuse(t, (int)index, text);
  reset(t);
}

/* ---- Counts and kinds of arguments ------------------------------------------------------------------------------- */

static void bad_counts(trial *t) {
  uint32_t count = t->call.info.arg_count, results = t->call.info.result_count;
  for (t->given = 0; t->given < count && !(t->call.args[t->given].info.flags & KW_ARG_HAS_DEFAULT); t->given++) {
    char what[64];
    snprintf(what, sizeof what, "%u arguments", t->given);
    refuse(t, NO_ARGUMENT, what);
  }
  kw_value more[KW_TEST_ARGS + 1];
  memcpy(more, t->values, sizeof t->values);
  more[count] = kw_arg_int(0);
  kw_tensor *outs[KW_TEST_RESULTS + 1] = {NULL};
  kw_error_clear();
  kw_stream *stream = kw_stream_default(kw_contract.device);
  check_refusal(t, kw_op_call(t->call.op, stream, more, count + 1, outs, results), NO_ARGUMENT, "an argument too many");
  kw_error_clear();
  check_refusal(t, kw_op_call(t->call.op, stream, NULL, count, outs, results), NO_ARGUMENT, "NULL for the arguments");
  reset(t);
  refuse_with(t, NULL, results + 1, NO_ARGUMENT, "a result too many");
  if (results > 0 && !t->call.in_place) {
    refuse_with(t, NULL, results - 1, NO_ARGUMENT, "a result too few");
    kw_error_clear();
    check_refusal(t, kw_op_call(t->call.op, stream, t->values, t->given, NULL, results), NO_ARGUMENT,
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

static void bad_kinds(trial *t, uint32_t index) {
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
      {{.tag = KW_TAG_COUNT + 7}, "a value of an unknown kind"},
  };
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
    if (!accepts(&t->call.args[index].info, kinds[i].value.tag)) {
      refuse_value(t, index, kinds[i].value, kinds[i].what);
    }
  }
  kw_tensor_release(tensor);
}

/* Values of the right kind that point nowhere or hold what does not exist. */
static void bad_contents(trial *t, uint32_t index) {
  const kw_arg_info *info = &t->call.args[index].info;
  kw_tensor *hole[] = {NULL, NULL};
  kw_value list = {.tag = info->tag, .count = 2}, kind = {.tag = KW_TAG_SCALAR, .kind = 77};
  switch (info->tag) {
    case KW_TAG_TENSOR:
      refuse_value(t, index, (kw_value){.tag = KW_TAG_TENSOR}, "a NULL tensor");
      break;
    case KW_TAG_TENSOR_LIST:
      refuse_value(t, index, list, "a list of two at NULL");
      if (!(info->flags & KW_ARG_OPTIONAL_ENTRIES)) {
        refuse_value(t, index, kw_arg_tensor_list(hole, 2), "a list of NULL tensors");
      }
      break;
    case KW_TAG_INT_LIST:
      refuse_value(t, index, list, "a list of two at NULL");
      break;
    case KW_TAG_STRING:
      refuse_value(t, index, kw_arg_string(NULL), "a NULL string");
      refuse_value(t, index, kw_arg_string("no_such_choice"), "an unknown string");
      refuse_value(t, index, kw_arg_string(""), "an empty string");
      break;
    case KW_TAG_DTYPE:
      refuse_value(t, index, kw_arg_dtype(KW_DTYPE_COUNT + 3), "an unknown dtype");
      break;
    case KW_TAG_SCALAR:
      refuse_value(t, index, kind, "a Scalar of an unknown kind");
      break;
    default:
      break;
  }
}

/* ---- Numbers ----------------------------------------------------------------------------------------------------- */

/* The tensor whose dimensions `dim` counts: the first one. */
static int64_t rank_of_first(const trial *t) {
  for (uint32_t i = 0; i < t->call.info.arg_count; i++) {
    if (t->call.args[i].tensors[0]) return kw_tensor_describe(t->call.args[i].tensors[0])->rank;
  }
  return 0;
}

static void bad_dims(trial *t, uint32_t index) {
  const kw_arg_info *info = &t->call.args[index].info;
  if (strcmp(info->name, "dim") != 0) return;
  int64_t rank = rank_of_first(t) ? rank_of_first(t) : 1;
  const int64_t outside[] = {rank, -rank - 1, INT64_MAX, INT64_MIN, INT64_C(1) << 32};
  for (size_t i = 0; i < sizeof outside / sizeof outside[0]; i++) {
    bool list = info->tag == KW_TAG_INT_LIST;
    refuse_value(t, index, list ? kw_arg_int_list(&outside[i], 1) : kw_arg_int(outside[i]), "a dimension out of range");
  }
  if (info->tag != KW_TAG_INT_LIST) return;
  const int64_t twice[] = {0, 0}, same[] = {0, -rank};
  refuse_value(t, index, kw_arg_int_list(twice, 2), "a dimension given twice");
  refuse_value(t, index, kw_arg_int_list(same, 2), "a dimension given twice, once from the end");
}

static void bad_sizes(trial *t, uint32_t index) {
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
    refuse_value(t, index, kw_arg_int_list(cases[i].sizes, cases[i].count), cases[i].what);
  }
  refuse_value(t, index, kw_arg_int_list(many, KW_MAX_RANK + 1), "more dimensions than KW_MAX_RANK");
}

/* Numbers that an argument of this name does not take. */
static const struct {
  const char *arg;
  double number;
} bad_numbers[] = {
    {"end", NAN}, {"end", 1e19}, {"p", -0.25}, {"p", 1.25}, {"p", NAN}, {"std", -1}, {"std", NAN}, {"high", -3},
};

static kw_value number_like(kw_tag tag, double number) {
  if (tag == KW_TAG_FLOAT) return kw_arg_float(number);
  if (tag == KW_TAG_INT) return kw_arg_int((int64_t)number);
  return kw_arg_scalar_f64(number);
}

static void bad_range(trial *t, uint32_t index) {
  const kw_arg_info *info = &t->call.args[index].info;
  for (size_t i = 0; i < sizeof bad_numbers / sizeof bad_numbers[0]; i++) {
    if (strcmp(bad_numbers[i].arg, info->name) != 0) continue;
    char what[64];
    snprintf(what, sizeof what, "%g", bad_numbers[i].number);
    refuse_value(t, index, number_like(info->tag, bad_numbers[i].number), what);
  }
}

/* ---- Dtypes ------------------------------------------------------------------------------------------------------ */

static bool defined_for(const trial *t, kw_dtype dtype) {
  return t->call.info.dtypes.bits[0] >> dtype & 1;
}

/* The arguments with this role get another dtype, all of them or, with `only` >= 0, one. They are the caller's to free:
 * t->values holds them until reset. */
static uint32_t retype(trial *t, kw_role role, int only, kw_dtype dtype, kw_tensor **out_made) {
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

static void refuse_retyped(trial *t, kw_role role, int only, kw_dtype dtype, int argument) {
  kw_tensor *made[KW_TEST_ARGS * KW_TEST_ENTRIES];
  uint32_t count = retype(t, role, only, dtype, made);
  char what[96];
  snprintf(what, sizeof what, "%s of %s", only >= 0 ? t->call.args[only].info.name : "tensors", kw_dtype_name(dtype));
  if (count > 0) refuse(t, argument, what);
  reset(t);
  while (count > 0) kw_tensor_release(made[--count]);
}

static void bad_dtypes(trial *t) {
  kw_value complex = {.tag = KW_TAG_SCALAR, .kind = KW_SCALAR_C128};
  complex.u.c[0] = complex.u.c[1] = 1;
  for (kw_dtype dtype = 0; dtype < KW_DTYPE_COUNT; dtype++) {
    if (!defined_for(t, dtype)) refuse_retyped(t, KW_ROLE_DATA, -1, dtype, ANY_ARGUMENT);
  }
  for (uint32_t i = 0; i < t->call.info.arg_count; i++) {
    const kw_test_arg *arg = &t->call.args[i];
    if (arg->role == KW_ROLE_DATA && !defined_for(t, KW_C128))
      refuse_retyped(t, KW_ROLE_DATA, (int)i, KW_C128, ANY_ARGUMENT);
    if (arg->role == KW_ROLE_INDEX || arg->role == KW_ROLE_MASK) {
      refuse_retyped(t, arg->role, (int)i, KW_F32, (int)i);
      refuse_retyped(t, arg->role, (int)i, KW_F64, (int)i);
      refuse_retyped(t, arg->role, (int)i, KW_C64, (int)i);
    }
    if (arg->role == KW_ROLE_INDEX) refuse_retyped(t, arg->role, (int)i, KW_BOOL, (int)i);
    if (arg->info.tag == KW_TAG_SCALAR && !defined_for(t, KW_C128)) refuse_value(t, i, complex, "a complex Scalar");
    if (arg->info.tag == KW_TAG_DTYPE && !defined_for(t, KW_C128)) {
      refuse_value(t, i, kw_arg_dtype(KW_C128), "a dtype that the op is not defined for");
    }
  }
}

/* ---- Shapes ------------------------------------------------------------------------------------------------------ */

/* A tensor in the place of argument `index`, of another shape; indices are 0, which is in range wherever there is a
 * range. The caller's to free: t->values holds it until reset. */
static kw_tensor *reshape(trial *t, uint32_t index, uint32_t rank, const int64_t *shape, kw_tensor *list[2]) {
  const kw_test_arg *arg = &t->call.args[index];
  kw_dtype dtype = kw_tensor_describe(arg->tensors[0])->dtype;
  kw_tensor *odd = NULL;
  if (arg->role == KW_ROLE_INDEX) {
    KW_CHECK_OK(kw_tensor_create(kw_contract.device, dtype, rank, shape, &odd));
    void *zeros = kw_test_memory(kw_test_bytes_of(odd));
    KW_CHECK_OK(kw_tensor_write(odd, zeros));
    free(zeros);
  } else {
    odd = kw_test_tensor(kw_contract.device, dtype, rank, shape, 9);
  }
  list[0] = odd;
  list[1] = arg->tensors[1];
  t->values[index] =
      arg->info.tag == KW_TAG_TENSOR ? kw_arg_tensor(odd) : kw_arg_tensor_list(list, arg->tensors[1] ? 2 : 1);
  return odd;
}

/* Shapes that are surely wrong while the other tensors stay square: a last size one larger, or one dimension more. In
 * ops that broadcast any of several tensors is wrong with another last size; the others are listed. */
enum { WRONG_SIZE = 1, WRONG_RANK = 2 };
static const struct {
  const char *op, *arg;
  int wrong;
} wrong_shapes[] = {
    {"fill_.Tensor", "value", WRONG_RANK},
    {"copy_", "src", WRONG_RANK},
    {"mm", "self", WRONG_SIZE | WRONG_RANK},
    {"mm", "mat2", WRONG_RANK},
    {"bmm", "self", WRONG_SIZE | WRONG_RANK},
    {"bmm", "mat2", WRONG_RANK},
    {"_int_mm", "self", WRONG_SIZE | WRONG_RANK},
    {"_int_mm", "mat2", WRONG_RANK},
    {"addmm", "self", WRONG_SIZE | WRONG_RANK},
    {"addmm", "mat1", WRONG_SIZE | WRONG_RANK},
    {"addmm", "mat2", WRONG_RANK},
    {"native_layer_norm", "input", WRONG_SIZE},
    {"rms_norm", "input", WRONG_SIZE},
    {"cat", "tensors", WRONG_SIZE | WRONG_RANK},
    {"embedding", "weight", WRONG_RANK},
    {"index_select", "index", WRONG_RANK},
    {"gather", "index", WRONG_SIZE | WRONG_RANK},
    {"scatter.src", "index", WRONG_SIZE | WRONG_RANK},
    {"scatter.src", "src", WRONG_RANK},
    {"scatter.value", "index", WRONG_SIZE | WRONG_RANK},
    {"index_put", "values", WRONG_SIZE},
};

static bool broadcasts(const trial *t) {
  uint32_t tensors = 0;
  for (uint32_t i = 0; i < t->call.info.arg_count; i++) {
    const kw_tensor *tensor = t->call.args[i].tensors[0];
    tensors += tensor && kw_tensor_describe(tensor)->rank > 0;
  }
  for (uint32_t i = 0; i < kw_op_table_count; i++) {
    if (strcmp(kw_op_table[i].schema, t->call.info.schema) != 0) continue;
    kw_shape_rule rule = kw_op_table[i].shape;
    return tensors > 1 && (rule == KW_SHAPE_BROADCAST || rule == KW_SHAPE_INPLACE);
  }
  return false;
}

static int wrong_shapes_of(const trial *t, const char *arg) {
  int wrong = broadcasts(t) ? WRONG_SIZE : 0;
  for (size_t i = 0; i < sizeof wrong_shapes / sizeof wrong_shapes[0]; i++) {
    bool here = strcmp(wrong_shapes[i].op, t->call.info.name) == 0 && strcmp(wrong_shapes[i].arg, arg) == 0;
    if (here) wrong |= wrong_shapes[i].wrong;
  }
  return wrong;
}

static void bad_shape(trial *t, uint32_t index) {
  const kw_test_arg *arg = &t->call.args[index];
  if (!arg->tensors[0]) return;
  kw_tensor_ref ref = *kw_tensor_describe(arg->tensors[0]);
  int wrong = wrong_shapes_of(t, arg->info.name);
  kw_tensor *list[2], *odd;
  if ((wrong & WRONG_RANK) && ref.rank < KW_MAX_RANK) {
    ref.shape[ref.rank] = t->call.edge;
    odd = reshape(t, index, ref.rank + 1u, ref.shape, list);
    refuse(t, ANY_ARGUMENT, "a tensor with a dimension more");
    reset(t);
    kw_tensor_release(odd);
  }
  if ((wrong & WRONG_SIZE) && ref.rank > 0) {
    ref.shape[ref.rank - 1]++;
    odd = reshape(t, index, ref.rank, ref.shape, list);
    refuse(t, ANY_ARGUMENT, "a tensor whose last size is one larger");
    reset(t);
    kw_tensor_release(odd);
  }
}

/* Many shapes, right or wrong as the op says: a wrong one is refused as everything is, and never with another status.
 */
static void odd_shapes(trial *t, uint32_t index) {
  const kw_test_arg *arg = &t->call.args[index];
  if (!arg->tensors[0]) return;
  kw_stream *stream = kw_stream_default(kw_contract.device);
  const int64_t n = t->call.edge;
  const struct {
    uint32_t rank;
    int64_t shape[KW_MAX_RANK];
  } shapes[] = {
      {0, {0}},
      {1, {0}},
      {1, {1}},
      {1, {n}},
      {1, {n + 1}},
      {2, {n, n + 1}},
      {2, {n + 1, n}},
      {2, {0, n}},
      {2, {n, 0}},
      {3, {n, n, n}},
      {3, {1, n, n + 1}},
      {4, {n + 1, 1, 1, 1}},
      {16, {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, n}},
  };
  for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
    char what[64];
    snprintf(what, sizeof what, "odd shape number %zu of '%s'", i, arg->info.name);
    kw_tensor *list[2], *outs[KW_TEST_RESULTS] = {NULL};
    kw_tensor *odd = reshape(t, index, shapes[i].rank, shapes[i].shape, list);
    kw_error_clear();
    kw_status status = kw_op_call(t->call.op, stream, t->values, t->given, outs, t->call.info.result_count);
    if (status != KW_OK) check_refusal(t, status, ANY_ARGUMENT, what);
    for (uint32_t r = 0; r < t->call.info.result_count; r++) kw_tensor_release(outs[r]);
    status = kw_stream_synchronize(stream);
    if (status != KW_OK)
      check_refusal(t, status, ANY_ARGUMENT, what); /* an index that the new shape puts out of range */
    reset(t);
    kw_tensor_release(odd);
  }
}

/* ---- Results ----------------------------------------------------------------------------------------------------- */

/* A view of rank `ref->rank` onto `base` (rank 1), contiguous from `offset`. */
static kw_tensor *view_at(kw_tensor *base, const kw_tensor_ref *ref, int64_t offset) {
  int64_t strides[KW_MAX_RANK], stride = 1;
  for (uint32_t d = ref->rank; d-- > 0; stride *= ref->shape[d]) strides[d] = stride;
  kw_tensor *view = NULL;
  KW_CHECK_OK(kw_tensor_as_strided(base, ref->rank, ref->shape, strides, offset, &view));
  return view;
}

/* A view that is one element everywhere. */
static kw_tensor *expanded_like(const kw_tensor_ref *ref) {
  int64_t ones[KW_MAX_RANK];
  for (int d = 0; d < KW_MAX_RANK; d++) ones[d] = 1;
  kw_tensor *one = kw_test_tensor(kw_contract.device, ref->dtype, ref->rank, ones, 3), *wide = NULL;
  KW_CHECK_OK(kw_tensor_expand(one, ref->rank, ref->shape, &wide));
  kw_tensor_release(one);
  return wide;
}

/* Passes `bad` as result `index`, which it then releases. */
static void refuse_result(trial *t, uint32_t index, kw_tensor *bad, const char *what) {
  kw_tensor *outs[KW_TEST_RESULTS];
  memcpy(outs, t->outs, sizeof outs);
  outs[index] = bad;
  refuse_with(t, outs, t->call.info.result_count, ANY_ARGUMENT, what);
  kw_tensor_release(bad);
}

/* Result `index` and the data of argument `arg` share memory: all of it, or one element. */
static void overlapping(trial *t, uint32_t index, uint32_t arg, int entry) {
  kw_tensor *tensor = t->call.args[arg].tensors[entry];
  const kw_tensor_ref *in = kw_tensor_describe(tensor), *out = kw_tensor_describe(t->outs[index]);
  if (in->dtype != out->dtype || in->numel == 0 || out->numel == 0) return;
  kw_tensor *base = kw_test_tensor(kw_contract.device, in->dtype, 1, (int64_t[]){in->numel + out->numel}, 5);
  kw_tensor *input = view_at(base, in, 0), *list[KW_TEST_ENTRIES];
  memcpy(list, t->call.args[arg].tensors, sizeof list);
  list[entry] = input;
  t->values[arg] =
      t->call.args[arg].info.tag == KW_TAG_TENSOR ? kw_arg_tensor(input) : kw_arg_tensor_list(list, list[1] ? 2 : 1);
  t->by_address = true;
  refuse_result(t, index, view_at(base, out, 0), "a result that begins where an argument does");
  refuse_result(t, index, view_at(base, out, in->numel - 1), "a result that shares one element with an argument");
  t->by_address = false;
  reset(t);
  kw_tensor_release(input);
  kw_tensor_release(base);
}

static void bad_result(trial *t, uint32_t index) {
  if (!t->outs[index]) return;
  kw_tensor_ref ref = *kw_tensor_describe(t->outs[index]);
  kw_device *device = kw_contract.device;
  kw_dtype other = ref.dtype == KW_F32 ? KW_I32 : KW_F32;
  refuse_result(t, index, kw_test_tensor(device, other, ref.rank, ref.shape, 4), "a result of another dtype");
  if (ref.numel > 1) refuse_result(t, index, expanded_like(&ref), "an expanded result");
  for (uint32_t i = 0; i < t->call.info.arg_count; i++) {
    for (int k = 0; k < KW_TEST_ENTRIES && t->call.args[i].tensors[k]; k++) overlapping(t, index, i, k);
  }
  for (uint32_t i = 0; i < index; i++) {
    if (!t->outs[i] || kw_tensor_describe(t->outs[i])->dtype != ref.dtype || ref.numel == 0) continue;
    const kw_tensor_ref *first = kw_tensor_describe(t->outs[i]);
    kw_tensor *base = kw_test_tensor(device, ref.dtype, 1, (int64_t[]){first->numel + ref.numel}, 5),
              *whole = t->outs[i];
    t->outs[i] = view_at(base, first, 0);
    t->by_address = true;
    refuse_result(t, index, view_at(base, &ref, first->numel - 1), "two results that share memory");
    t->by_address = false;
    kw_tensor_release(t->outs[i]);
    t->outs[i] = whole;
    kw_tensor_release(base);
  }
  if (ref.rank < KW_MAX_RANK) {
    ref.shape[ref.rank] = 1;
    refuse_result(t, index, kw_test_tensor(device, ref.dtype, ref.rank + 1u, ref.shape, 4), "a result of another rank");
  }
  if (ref.rank > 0) {
    ref.shape[0]++;
    refuse_result(t, index, kw_test_tensor(device, ref.dtype, ref.rank, ref.shape, 4), "a result of another size");
  }
}

/* An argument that the op changes: it may neither overlap itself nor, in part, another argument. */
static void bad_mutated(trial *t, uint32_t index) {
  kw_test_arg *arg = &t->call.args[index];
  if (!(arg->info.flags & KW_ARG_MUTATED) || arg->info.tag != KW_TAG_TENSOR) return;
  kw_tensor_ref ref = *kw_tensor_describe(arg->tensors[0]);
  if (ref.numel < 2) return;
  kw_tensor *wide = expanded_like(&ref);
  refuse_value(t, index, kw_arg_tensor(wide), "an expanded tensor");
  kw_tensor_release(wide);
  for (uint32_t i = 0; i < t->call.info.arg_count; i++) {
    const kw_test_arg *other = &t->call.args[i];
    if (i == index || other->info.tag != KW_TAG_TENSOR || !other->tensors[0]) continue;
    const kw_tensor_ref *in = kw_tensor_describe(other->tensors[0]);
    if (in->dtype != ref.dtype) continue;
    kw_tensor *base = kw_test_tensor(kw_contract.device, ref.dtype, 1, (int64_t[]){ref.numel + in->numel}, 5);
    kw_tensor *changed = view_at(base, &ref, 0), *read = view_at(base, in, ref.numel - 1);
    t->values[index] = kw_arg_tensor(changed);
    t->values[i] = kw_arg_tensor(read);
    t->by_address = true;
    refuse(t, ANY_ARGUMENT, "an argument that shares one element with the one that is changed");
    t->by_address = false;
    reset(t);
    kw_tensor_release(changed);
    kw_tensor_release(read);
    kw_tensor_release(base);
  }
}

/* ---- Another device ---------------------------------------------------------------------------------------------- */

/* A tensor that lies on `other`, in the place of entry `entry` of argument `index`. */
static void elsewhere(trial *t, uint32_t index, int entry, kw_device *other) {
  const kw_test_arg *arg = &t->call.args[index];
  const kw_tensor_ref *ref = kw_tensor_describe(arg->tensors[entry]);
  kw_tensor *there = kw_test_tensor(other, ref->dtype, ref->rank, ref->shape, 6), *list[KW_TEST_ENTRIES];
  memcpy(list, arg->tensors, sizeof list);
  list[entry] = there;
  bool single = arg->info.tag == KW_TAG_TENSOR;
  refuse_value(t, index, single ? kw_arg_tensor(there) : kw_arg_tensor_list(list, list[1] ? 2 : 1),
               "a tensor of another device");
  kw_tensor_release(there);
}

/* What belongs to another device: each tensor, a generator, a result, and when the op has tensors, the stream. Without
 * another device there is nothing to do: error/other_device says so. */
static void other_device(trial *t) {
  const char *name;
  kw_device *other = kw_test_other_device(&name);
  if (!other) return;
  bool tensors = false;
  for (uint32_t i = 0; i < t->call.info.arg_count; i++) {
    const kw_test_arg *arg = &t->call.args[i];
    for (int k = 0; k < KW_TEST_ENTRIES && arg->tensors[k]; k++) elsewhere(t, i, k, other);
    tensors |= arg->tensors[0] != NULL;
    if (arg->info.tag != KW_TAG_GENERATOR) continue;
    refuse_value(t, i, kw_arg_generator(kw_generator_default(other)), "a generator of another device");
  }
  for (uint32_t r = 0; r < t->call.info.result_count; r++) {
    if (!t->outs[r]) continue;
    const kw_tensor_ref *ref = kw_tensor_describe(t->outs[r]);
    refuse_result(t, r, kw_test_tensor(other, ref->dtype, ref->rank, ref->shape, 4), "a result on another device");
  }
  if (tensors) {
    kw_tensor *outs[KW_TEST_RESULTS] = {NULL};
    kw_error_clear();
    kw_status status =
        kw_op_call(t->call.op, kw_stream_default(other), t->values, t->given, outs, t->call.info.result_count);
    check_refusal(t, status, NO_ARGUMENT, "a stream of another device");
  }
  KW_CHECK_OK(kw_device_close(other));
}

/* ---- One op ------------------------------------------------------------------------------------------------------ */

static void begin(trial *t) {
  memset(t, 0, sizeof *t);
  bool made = false;
  for (kw_dtype dtype = KW_DTYPE_COUNT; dtype-- > 0 && !made;) { /* wide floats first */
    kw_dtype tried = (kw_dtype)((dtype + KW_F32 + 1) % KW_DTYPE_COUNT);
    made = kw_op_support(kw_contract.op, kw_contract.device, tried) != KW_SUPPORT_NONE &&
           kw_test_call_make(kw_contract.op, tried, NUMEL, &t->call);
  }
  if (!made && t->call.info.level == KW_LEVEL_VENDOR)
    kw_test_skip("nothing tells what the arguments of a vendor's op need");
  KW_CHECK(made,
           "no call of this op could be made: either it refuses square tensors, and contract/call.c has to know "
           "what its arguments need, or it cannot run at all: %s",
           kw_error_message());
}

static void remember(trial *t) {
  kw_test_call_values(&t->call, t->values);
  KW_CHECK_OK(kw_test_call_run(&t->call, NULL, t->outs));
  KW_CHECK_OK(kw_device_synchronize(kw_contract.device));
  for (uint32_t r = 0; r < t->call.info.result_count; r++) {
    if (t->outs[r]) t->known[r] = contents_of(t->outs[r]);
  }
  for (uint32_t i = 0; i < t->call.info.arg_count; i++) {
    for (int k = 0; k < KW_TEST_ENTRIES; k++) {
      if (t->call.args[i].tensors[k]) t->inputs[i][k] = contents_of(t->call.args[i].tensors[k]);
    }
  }
  reset(t);
}

static void expect_contents(const kw_tensor *tensor, const unsigned char *want, const char *what) {
  unsigned char *got = contents_of(tensor);
  kw_test_same(got, want, kw_test_bytes_of(tensor), what);
  free(got);
}

static void check_untouched(trial *t) {
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

static void end(trial *t) {
  for (uint32_t r = 0; r < t->call.info.result_count; r++) {
    kw_tensor_release(t->outs[r]);
    free(t->known[r]);
  }
  for (uint32_t i = 0; i < KW_TEST_ARGS; i++) {
    for (int k = 0; k < KW_TEST_ENTRIES; k++) free(t->inputs[i][k]);
  }
  kw_test_call_free(&t->call);
}

/* Every op: arguments of wrong number, kind, dtype, shape and value, and results that do not fit, are refused with
 * KW_ERR_INVALID_ARGUMENT and a text that names op and argument; nothing is written; the device works on. */
void kw_contract_error_op(void **state) {
  (void)state;
  trial t;
  begin(&t);
  remember(&t);
  bad_counts(&t);
  for (uint32_t i = 0; i < t.call.info.arg_count; i++) {
    bad_kinds(&t, i);
    bad_contents(&t, i);
    bad_dims(&t, i);
    bad_sizes(&t, i);
    bad_range(&t, i);
    bad_shape(&t, i);
    bad_mutated(&t, i);
  }
  bad_dtypes(&t);
  for (uint32_t r = 0; r < t.call.info.result_count; r++) bad_result(&t, r);
  other_device(&t);
  check_untouched(&t);
  KW_CHECK_OK(kw_test_call_run(&t.call, NULL, t.outs)); /* the right call still is */
  for (uint32_t i = 0; i < t.call.info.arg_count; i++) odd_shapes(&t, i);
  end(&t);
  kw_test_usable("a round trip after wrong calls");
}
