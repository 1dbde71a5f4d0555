/* SPDX-License-Identifier: Apache-2.0
 *
 * Suite error: what a caller does wrong gets the documented status and a text that names op and argument;
 * out-parameters stay as they were or become NULL; the device works on.
 */
#include "contract_helpers.h"

#include <stdio.h>

/* An address that no call may write to; only compared. */
static char nobody_object;
#define NOBODY ((void *)&nobody_object)

static void check_text(const char *text) {
  KW_CHECK(*kw_error_message(), "a call failed without a message");
  KW_CHECK(strstr(kw_error_message(), text), "the message does not name \"%s\": %s", text, kw_error_message());
}

/* The call failed as it should: status, a message that has `text` in it ("" for any), and the out-parameter left. */
static void check_failed(const char *call, kw_status status, kw_status want, const char *text, const void *out) {
  KW_CHECK(status == want, "%s gave %d (%s), not %d (%s): %s", call, (int)status, kw_status_name(status), (int)want,
           kw_status_name(want), status ? kw_error_message() : "");
  KW_CHECK(out == NULL || out == NOBODY, "%s failed and changed its out-parameter", call);
  check_text(text);
}

/* Calls op with these arguments and expects KW_ERR_INVALID_ARGUMENT that names op and argument. */
static void check_call(const char *op, kw_stream *stream, const kw_value *args, uint32_t count, kw_tensor *out,
                       const char *argument, const char *what) {
  kw_tensor *outs[1] = {out};
  kw_error_clear();
  kw_status status = kw_op_call(kw_op_find(op), stream, args, count, outs, 1);
  KW_CHECK(status == KW_ERR_INVALID_ARGUMENT, "%s: %s gave %d (%s), not %d (%s): %s", op, what, (int)status,
           kw_status_name(status), KW_ERR_INVALID_ARGUMENT, kw_status_name(KW_ERR_INVALID_ARGUMENT),
           status ? kw_error_message() : "");
  KW_CHECK(outs[0] == out, "%s: %s failed and changed outs[0]", op, what);
  check_text(op);
  if (argument) check_text(argument);
}

/* Names that no device has: KW_ERR_NOT_FOUND, and the message lists those that exist. */
void kw_contract_error_unknown_device(void **state) {
  (void)state;
  char beyond[160];
  kw_device_entry entry = kw_test_entry();
  snprintf(beyond, sizeof beyond, "%.*s:4000", (int)strcspn(entry.name, ":"), entry.name);
  const char *names[] = {"no_such_device", "no_such_device:0", "nobody.no_such_device:0", beyond};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    kw_device *device = NOBODY;
    kw_error_clear();
    kw_status status = kw_device_open(names[i], &device);
    check_failed(names[i], status, KW_ERR_NOT_FOUND, entry.name, device);
    check_text(names[i]);
  }
  kw_test_usable("a round trip after unknown devices were asked for");
}

/* Ops that do not exist. */
void kw_contract_error_unknown_op(void **state) {
  (void)state;
  static const char *const names[] = {"no_such_op", "add.NoSuchOverload", "nobody::add.Tensor", ""};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    KW_CHECK(!kw_op_find(names[i]), "kw_op_find(\"%s\") found an op", names[i]);
  }
  kw_tensor *x = kw_test_f32(4, 1), *out = NULL;
  kw_value args[] = {kw_arg_tensor(x), kw_arg_tensor(x)};
  kw_error_clear();
  kw_status status = kw_op_call(NULL, NULL, args, 2, &out, 1);
  check_failed("kw_op_call(NULL, ...)", status, KW_ERR_INVALID_ARGUMENT, "", out);
  kw_tensor_release(x);
  kw_test_usable("a round trip after unknown ops were asked for");
}

/* Too few arguments, too many. */
void kw_contract_error_argument_count(void **state) {
  (void)state;
  kw_tensor *x = kw_test_f32(4, 1);
  kw_value args[] = {kw_arg_tensor(x), kw_arg_tensor(x), kw_arg_scalar_i64(1), kw_arg_scalar_i64(1)};
  check_call("add.Tensor", NULL, args, 0, NULL, NULL, "no argument");
  check_call("add.Tensor", NULL, args, 1, NULL, NULL, "one argument of two");
  check_call("add.Tensor", NULL, args, 4, NULL, NULL, "four arguments of at most three");
  kw_tensor_release(x);
  kw_test_usable("a round trip after calls with wrong argument counts");
}

/* An argument of a kind that the schema does not have there. */
void kw_contract_error_argument_tag(void **state) {
  (void)state;
  kw_tensor *x = kw_test_f32(4, 1);
  int64_t ints[] = {1, 2};
  const struct {
    kw_value self, other, alpha;
    const char *argument, *what;
  } cases[] = {
      {kw_arg_int(1), kw_arg_tensor(x), kw_arg_scalar_i64(1), "self", "an int for a tensor"},
      {kw_arg_tensor(x), kw_arg_string("x"), kw_arg_scalar_i64(1), "other", "a string for a tensor"},
      {kw_arg_tensor(x), kw_arg_none(), kw_arg_scalar_i64(1), "other", "none for a tensor that is not optional"},
      {kw_arg_tensor(x), kw_arg_tensor_list(&x, 1), kw_arg_scalar_i64(1), "other", "a tensor list for a tensor"},
      {kw_arg_tensor(x), kw_arg_tensor(x), kw_arg_string("1"), "alpha", "a string for a Scalar"},
      {kw_arg_tensor(x), kw_arg_tensor(x), kw_arg_int_list(ints, 2), "alpha", "an int list for a Scalar"},
      {kw_arg_tensor(x), kw_arg_tensor(x), kw_arg_tensor(x), "alpha", "a tensor for a Scalar"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    kw_value args[] = {cases[i].self, cases[i].other, cases[i].alpha};
    check_call("add.Tensor", NULL, args, 3, NULL, cases[i].argument, cases[i].what);
  }
  kw_tensor_release(x);
  kw_test_usable("a round trip after calls with arguments of wrong kinds");
}

static kw_tensor *empty_of(kw_dtype dtype, uint32_t rank, const int64_t *shape) {
  kw_tensor *tensor = NULL;
  KW_CHECK_OK(kw_tensor_create(kw_contract.device, dtype, rank, shape, &tensor));
  return tensor;
}

/* A dtype that the op is not defined for. */
void kw_contract_error_argument_dtype(void **state) {
  (void)state;
  kw_tensor *x = empty_of(KW_F8E4M3FN, 1, (int64_t[]){4}), *y = empty_of(KW_BOOL, 1, (int64_t[]){4});
  kw_value f8[] = {kw_arg_tensor(x), kw_arg_tensor(x)}, bools[] = {kw_arg_tensor(y), kw_arg_tensor(y)};
  check_call("add.Tensor", NULL, f8, 2, NULL, "f8e4m3fn", "f8 tensors, which add.Tensor is not defined for");
  check_call("sub.Tensor", NULL, bools, 2, NULL, "bool", "bool tensors, which sub.Tensor is not defined for");
  kw_tensor_release(x);
  kw_tensor_release(y);
  kw_test_usable("a round trip after calls with wrong dtypes");
}

/* Shapes that do not broadcast. */
void kw_contract_error_shapes_do_not_broadcast(void **state) {
  (void)state;
  static const struct {
    uint32_t rank_a, rank_b;
    int64_t a[3], b[3];
  } cases[] = {
      {1, 1, {3}, {4}}, {2, 2, {2, 3}, {3, 2}}, {2, 1, {4, 3}, {4}}, {1, 1, {0}, {2}}, {3, 2, {2, 1, 3}, {2, 2}}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    kw_tensor *a = empty_of(KW_F32, cases[i].rank_a, cases[i].a), *b = empty_of(KW_F32, cases[i].rank_b, cases[i].b);
    kw_value args[] = {kw_arg_tensor(a), kw_arg_tensor(b)};
    check_call("add.Tensor", NULL, args, 2, NULL, NULL, "shapes that do not broadcast");
    kw_tensor_release(a);
    kw_tensor_release(b);
  }
  kw_test_usable("a round trip after calls with shapes that do not broadcast");
}

/* ---- Outputs ----------------------------------------------------------------------------------------------------- */

/* A given output must have the inferred shape and dtype. */
void kw_contract_error_output_shape_and_dtype(void **state) {
  (void)state;
  kw_test_need_op("add.Tensor");
  kw_tensor *x = kw_test_f32(6, 1);
  kw_value args[] = {kw_arg_tensor(x), kw_arg_tensor(x)};
  static const struct {
    kw_dtype dtype;
    uint32_t rank;
    int64_t shape[3];
  } cases[] = {{KW_F32, 1, {5}}, {KW_F32, 1, {7}}, {KW_F32, 2, {2, 3}}, {KW_F32, 2, {1, 6}},
               {KW_F32, 0, {0}}, {KW_I32, 1, {6}}, {KW_F64, 1, {6}},    {KW_F16, 1, {6}}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    kw_tensor *out = empty_of(cases[i].dtype, cases[i].rank, cases[i].shape);
    check_call("add.Tensor", NULL, args, 2, out, NULL, "an output of another shape or dtype");
    kw_tensor_release(out);
  }
  kw_tensor_release(x);
  kw_test_usable("a round trip after calls with wrong outputs");
}

/* An output that shares memory with an argument, in whole or in part. */
void kw_contract_error_output_overlaps_input(void **state) {
  (void)state;
  kw_test_need_op("add.Tensor");
  kw_tensor *whole = kw_test_f32(30, 1), *part = NULL, *shifted = NULL, *apart = NULL, *y = kw_test_f32(10, 2);
  KW_CHECK_OK(kw_tensor_slice(whole, 0, 0, 10, 1, &part));
  KW_CHECK_OK(kw_tensor_slice(whole, 0, 9, 19, 1, &shifted));
  KW_CHECK_OK(kw_tensor_slice(whole, 0, 10, 20, 1, &apart));
  kw_value first[] = {kw_arg_tensor(part), kw_arg_tensor(y)}, second[] = {kw_arg_tensor(y), kw_arg_tensor(part)};
  kw_tensor *turned = NULL; /* the same elements, in another order */
  KW_CHECK_OK(kw_tensor_slice(whole, 0, 0, 20, 2, &turned));
  check_call("add.Tensor", NULL, first, 2, turned, NULL, "an output that begins where the first input does");
  kw_tensor_release(turned);
  check_call("add.Tensor", NULL, first, 2, shifted, NULL, "an output that overlaps the first input in one element");
  check_call("add.Tensor", NULL, second, 2, shifted, NULL, "an output that overlaps the second input in one element");
  KW_CHECK_OK(kw_op_call(kw_op_find("add.Tensor"), NULL, first, 2, &apart, 1)); /* beside it is fine */
  KW_CHECK_OK(kw_device_synchronize(kw_contract.device));
  kw_tensor_release(part);
  kw_tensor_release(shifted);
  kw_tensor_release(apart);
  kw_tensor_release(whole);
  kw_tensor_release(y);
  kw_test_usable("a round trip after calls with overlapping outputs");
}

/* An output two of whose elements share memory. */
void kw_contract_error_output_overlaps_itself(void **state) {
  (void)state;
  kw_test_need_op("add.Tensor");
  kw_tensor *x = kw_test_f32(6, 1), *one = kw_test_f32(1, 2), *wide = NULL, *window = NULL;
  kw_value args[] = {kw_arg_tensor(x), kw_arg_tensor(x)};
  KW_CHECK_OK(kw_tensor_expand(one, 1, (int64_t[]){6}, &wide));
  check_call("add.Tensor", NULL, args, 2, wide, NULL, "an expanded output");
  kw_tensor *base = kw_test_f32(10, 3), *grid = empty_of(KW_F32, 2, (int64_t[]){3, 4});
  kw_value grids[] = {kw_arg_tensor(grid), kw_arg_tensor(grid)};
  KW_CHECK_OK(kw_tensor_as_strided(base, 2, (int64_t[]){3, 4}, (int64_t[]){2, 1}, 0, &window));
  check_call("add.Tensor", NULL, grids, 2, window, NULL, "an output of overlapping windows");
  kw_tensor_release(wide);
  kw_tensor_release(window);
  kw_tensor_release(grid);
  kw_tensor_release(base);
  kw_tensor_release(one);
  kw_tensor_release(x);
  kw_test_usable("a round trip after calls with outputs that overlap themselves");
}

/* The same holds for an argument that an op changes in place. */
void kw_contract_error_in_place_overlap(void **state) {
  (void)state;
  kw_tensor *one = kw_test_f32(1, 1), *wide = NULL, *whole = kw_test_f32(20, 2), *left = NULL, *right = NULL;
  KW_CHECK_OK(kw_tensor_expand(one, 1, (int64_t[]){6}, &wide));
  KW_CHECK_OK(kw_tensor_slice(whole, 0, 0, 10, 1, &left));
  KW_CHECK_OK(kw_tensor_slice(whole, 0, 5, 15, 1, &right));
  kw_value fill[] = {kw_arg_tensor(wide), kw_arg_scalar_f64(1)}, copy[] = {kw_arg_tensor(left), kw_arg_tensor(right)};
  if (kw_test_has("fill_.Scalar")) check_call("fill_.Scalar", NULL, fill, 2, NULL, "self", "an expanded tensor");
  if (kw_test_has("copy_")) check_call("copy_", NULL, copy, 2, NULL, NULL, "two tensors that overlap in part");
  kw_tensor_release(wide);
  kw_tensor_release(one);
  kw_tensor_release(left);
  kw_tensor_release(right);
  kw_tensor_release(whole);
  kw_test_usable("a round trip after in-place calls with overlaps");
}

/* Tensors, streams and outputs of another device. */
void kw_contract_error_other_device(void **state) {
  (void)state;
  const char *name = NULL;
  kw_device *other = kw_test_other_device(&name);
  if (!other) kw_test_skip("there is no other device");
  kw_tensor *here = kw_test_f32(4, 1), *there = NULL;
  kw_stream *stream = NULL;
  KW_CHECK_OK(kw_tensor_create(other, KW_F32, 1, (int64_t[]){4}, &there));
  KW_CHECK_OK(kw_stream_create(other, &stream));
  kw_value mixed[] = {kw_arg_tensor(here), kw_arg_tensor(there)}, both[] = {kw_arg_tensor(here), kw_arg_tensor(here)};
  check_call("add.Tensor", NULL, mixed, 2, NULL, "other", "a tensor of another device");
  if (kw_test_has("add.Tensor")) {
    check_call("add.Tensor", NULL, both, 2, there, NULL, "an output on another device");
    check_call("add.Tensor", stream, both, 2, NULL, NULL, "a stream of another device");
  }
  kw_event *event = kw_test_event();
  float host[4] = {0};
  kw_error_clear();
  check_failed("kw_tensor_write_async on a stream of another device", kw_tensor_write_async(here, host, stream),
               KW_ERR_INVALID_ARGUMENT, "", NULL);
  kw_error_clear();
  check_failed("kw_event_record on a stream of another device", kw_event_record(event, stream), KW_ERR_INVALID_ARGUMENT,
               "", NULL);
  KW_CHECK_OK(kw_event_destroy(event));
  kw_tensor_release(here);
  kw_tensor_release(there);
  KW_CHECK_OK(kw_stream_destroy(stream));
  KW_CHECK_OK(kw_device_close(other));
  kw_test_usable("a round trip after calls that mixed devices");
}

/* ---- Tensors and views ------------------------------------------------------------------------------------------- */

/* Shapes that no tensor may have. */
void kw_contract_error_tensor_shapes(void **state) {
  (void)state;
  int64_t ones[KW_MAX_RANK + 1];
  for (int i = 0; i <= KW_MAX_RANK; i++) ones[i] = 1;
  const struct {
    kw_dtype dtype;
    uint32_t rank;
    int64_t shape[3];
    const char *what;
  } cases[] = {
      {KW_F32, 1, {-1}, "a negative size"},
      {KW_F32, 3, {2, -3, 4}, "a negative size"},
      {KW_F32, 2, {0, -1}, "a negative size beside a zero"},
      {KW_F32, 1, {INT64_MAX}, "more bytes than int64 holds"},
      {KW_F64, 2, {INT64_C(1) << 40, INT64_C(1) << 40}, "more elements than int64 holds"},
      {KW_U8, 3, {INT64_C(1) << 32, INT64_C(1) << 32, 2}, "more elements than 64 bits hold"},
      {0x7ff0, 1, {4}, "an unknown dtype"},
      {KW_DTYPE_NONE, 1, {4}, "no dtype"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    kw_tensor *tensor = NOBODY;
    kw_error_clear();
    kw_status status = kw_tensor_create(kw_contract.device, cases[i].dtype, cases[i].rank, cases[i].shape, &tensor);
    check_failed(cases[i].what, status, KW_ERR_INVALID_ARGUMENT, "", tensor);
  }
  kw_tensor *tensor = NOBODY;
  kw_error_clear();
  kw_status status = kw_tensor_create(kw_contract.device, KW_F32, KW_MAX_RANK + 1, ones, &tensor);
  check_failed("a rank past KW_MAX_RANK", status, KW_ERR_INVALID_ARGUMENT, "", tensor);
  kw_test_usable("a round trip after tensors of impossible shapes were asked for");
}

#define CHECK_VIEW(call)                                            \
  do {                                                              \
    view = NOBODY;                                                  \
    kw_error_clear();                                               \
    kw_status status = (call);                                      \
    check_failed(#call, status, KW_ERR_INVALID_ARGUMENT, "", view); \
  } while (0)

/* Views that do not fit their tensor. */
void kw_contract_error_views(void **state) {
  (void)state;
  kw_tensor *x = empty_of(KW_F32, 2, (int64_t[]){4, 6}), *turned = NULL, *view = NULL, *views[2] = {NOBODY, NOBODY};
  KW_CHECK_OK(kw_tensor_transpose(x, 0, 1, &turned));
  CHECK_VIEW(kw_tensor_view(x, 2, (int64_t[]){5, 5}, &view));
  CHECK_VIEW(kw_tensor_view(x, 1, (int64_t[]){23}, &view));
  CHECK_VIEW(kw_tensor_view(turned, 1, (int64_t[]){24}, &view));
  CHECK_VIEW(kw_tensor_as_strided(x, 1, (int64_t[]){25}, (int64_t[]){1}, 0, &view));
  CHECK_VIEW(kw_tensor_as_strided(x, 1, (int64_t[]){4}, (int64_t[]){1}, 21, &view));
  CHECK_VIEW(kw_tensor_as_strided(x, 2, (int64_t[]){4, 4}, (int64_t[]){7, 1}, 0, &view));
  CHECK_VIEW(kw_tensor_as_strided(x, 1, (int64_t[]){4}, (int64_t[]){-1}, 10, &view));
  CHECK_VIEW(kw_tensor_as_strided(x, 1, (int64_t[]){4}, (int64_t[]){1}, -1, &view));
  CHECK_VIEW(kw_tensor_as_strided(x, 1, (int64_t[]){2}, (int64_t[]){INT64_MAX / 2}, 0, &view));
  CHECK_VIEW(kw_tensor_expand(x, 2, (int64_t[]){8, 6}, &view));
  CHECK_VIEW(kw_tensor_expand(x, 1, (int64_t[]){6}, &view));
  CHECK_VIEW(kw_tensor_permute(x, 2, (int64_t[]){1, 1}, &view));
  CHECK_VIEW(kw_tensor_permute(x, 2, (int64_t[]){0, 2}, &view));
  CHECK_VIEW(kw_tensor_permute(x, 1, (int64_t[]){0}, &view));
  CHECK_VIEW(kw_tensor_transpose(x, 0, 2, &view));
  CHECK_VIEW(kw_tensor_transpose(x, -3, 1, &view));
  CHECK_VIEW(kw_tensor_select(x, 2, 0, &view));
  CHECK_VIEW(kw_tensor_select(x, 0, 4, &view));
  CHECK_VIEW(kw_tensor_select(x, 0, -5, &view));
  CHECK_VIEW(kw_tensor_slice(x, 2, 0, 1, 1, &view));
  CHECK_VIEW(kw_tensor_slice(x, 0, 0, 4, 0, &view));
  CHECK_VIEW(kw_tensor_slice(x, 0, 0, 4, -1, &view));
  CHECK_VIEW(kw_tensor_squeeze(x, 2, &view));
  CHECK_VIEW(kw_tensor_unsqueeze(x, 4, &view));
  CHECK_VIEW(kw_tensor_diagonal(x, 0, 0, 0, &view));
  CHECK_VIEW(kw_tensor_diagonal(x, 0, 0, 2, &view));
  kw_error_clear();
  kw_status status = kw_tensor_split_with_sizes(x, 2, (int64_t[]){2, 3}, 0, views);
  check_failed("kw_tensor_split_with_sizes with sizes that do not add up", status, KW_ERR_INVALID_ARGUMENT, "",
               views[0]);
  kw_tensor_release(turned);
  kw_tensor_release(x);
  kw_test_usable("a round trip after impossible views were asked for");
}

/* Asynchronous copies take contiguous tensors only. */
void kw_contract_error_async_needs_contiguous(void **state) {
  (void)state;
  kw_tensor *x = empty_of(KW_F32, 2, (int64_t[]){4, 6}), *turned = NULL;
  float *host = kw_test_memory(24 * sizeof *host);
  KW_CHECK_OK(kw_tensor_transpose(x, 0, 1, &turned));
  kw_error_clear();
  check_failed("kw_tensor_write_async to a strided tensor", kw_tensor_write_async(turned, host, NULL),
               KW_ERR_INVALID_ARGUMENT, "", NULL);
  kw_error_clear();
  check_failed("kw_tensor_read_async of a strided tensor", kw_tensor_read_async(turned, host, NULL),
               KW_ERR_INVALID_ARGUMENT, "", NULL);
  kw_tensor_release(turned);
  kw_tensor_release(x);
  free(host);
  kw_test_usable("a round trip after asynchronous copies of strided tensors");
}

/* A plan runs for the signature that it was made for and no other. */
void kw_contract_error_plan_signature(void **state) {
  (void)state;
  kw_test_need_op("add.Tensor");
  const kw_op *add = kw_op_find("add.Tensor");
  kw_tensor *x = kw_test_f32(8, 1), *longer = kw_test_f32(9, 1), *ints = empty_of(KW_I32, 1, (int64_t[]){8}),
            *out = kw_test_f32(8, 2), *long_out = kw_test_f32(9, 2);
  kw_value args[] = {kw_arg_tensor(x), kw_arg_tensor(x)}, long_args[] = {kw_arg_tensor(longer), kw_arg_tensor(longer)},
           int_args[] = {kw_arg_tensor(ints), kw_arg_tensor(ints)};
  kw_plan *plan = NULL;
  KW_CHECK_OK(kw_plan_make(add, NULL, args, 2, &out, 1, NULL, &plan));
  KW_CHECK_OK(kw_plan_run(plan, NULL, args, 2, &out, 1));
  KW_CHECK_STATUS(kw_plan_run(plan, NULL, long_args, 2, &long_out, 1), KW_ERR_INVALID_ARGUMENT);
  check_text("add.Tensor");
  KW_CHECK_STATUS(kw_plan_run(plan, NULL, long_args, 2, &out, 1), KW_ERR_INVALID_ARGUMENT);
  KW_CHECK_STATUS(kw_plan_run(plan, NULL, int_args, 2, &out, 1), KW_ERR_INVALID_ARGUMENT);
  KW_CHECK_OK(kw_plan_run(plan, NULL, args, 2, &out, 1));
  float want[8];
  kw_test_floats(want, 8, 1);
  for (int i = 0; i < 8; i++) want[i] += want[i];
  kw_test_expect_f32(out, want, 8, "a plan's result after it was run with other signatures");
  kw_plan_destroy(plan);
  kw_tensor_release(x);
  kw_tensor_release(longer);
  kw_tensor_release(ints);
  kw_tensor_release(out);
  kw_tensor_release(long_out);
}

static int error_body(int index, void *user, char *text, size_t size) {
  (void)user;
  char name[32];
  snprintf(name, sizeof name, "nobody%d", index);
  for (int i = 0; i < 50; i++) {
    kw_device *device = NULL;
    if (kw_device_open(name, &device) != KW_ERR_NOT_FOUND || !strstr(kw_error_message(), name)) {
      snprintf(text, size, "the message for %s is: %s", name, kw_error_message());
      return 1;
    }
  }
  return 0;
}

/* The error text belongs to the thread whose call failed. */
void kw_contract_error_text_is_per_thread(void **state) {
  (void)state;
  kw_tensor *tensor = NULL;
  KW_CHECK_STATUS(kw_tensor_create(kw_contract.device, KW_F32, 1, (int64_t[]){-77}, &tensor), KW_ERR_INVALID_ARGUMENT);
  char before[2048];
  snprintf(before, sizeof before, "%s", kw_error_message());
  kw_test_run_threads(error_body, NULL);
  KW_CHECK(strncmp(before, kw_error_message(), sizeof before - 1) == 0,
           "failures of other threads changed this thread's message to: %s", kw_error_message());
  kw_error_clear();
  KW_CHECK(!*kw_error_message(), "kw_error_clear left a message");
}
