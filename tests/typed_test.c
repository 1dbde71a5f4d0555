/* SPDX-License-Identifier: Apache-2.0
 *
 * Typed calls and scopes on cpu:0: what is left out is ATen's default, numbers keep their kind, a scope releases what
 * was made in it and keeps the first failure.
 */
#include <keyway/functions.h>

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static kw_device *device;

static void ok_at(kw_status status, int line) {
  if (status != KW_OK) fail_msg("line %d: %s: %s", line, kw_status_name(status), kw_error_message());
}
#define OK(call) ok_at(call, __LINE__)

static kw_tensor *floats(uint32_t rank, const int64_t *shape, const float *numbers) {
  kw_tensor *tensor;
  OK(kw_tensor_create(device, KW_F32, rank, shape, &tensor));
  OK(kw_tensor_write(tensor, numbers));
  return tensor;
}

/* f32 [2, 2] */
static kw_tensor *square(float a, float b, float c, float d) {
  return floats(2, (const int64_t[]){2, 2}, (const float[]){a, b, c, d});
}

static uint64_t live(void) {
  kw_memory_stats stats = {.struct_size = sizeof stats};
  OK(kw_memory_get_stats(device, &stats));
  return stats.live;
}

static void holds(const kw_tensor *tensor, const char *text) {
  char is[256];
  OK(kw_tensor_format(tensor, is, sizeof is));
  assert_string_equal(is, text);
}

/* Looks at it, and releases it. */
static void gave(kw_tensor **tensor, const char *text) {
  holds(*tensor, text);
  kw_tensor_release(*tensor);
  *tensor = NULL;
}

/* ---- Calls ------------------------------------------------------------------------------------------------------- */

static void what_is_left_out_is_the_default(void **state) {
  (void)state;
  kw_tensor *a = square(1, 2, 3, 4), *b = square(10, 20, 30, 40), *zero = NULL, *out = NULL;
  OK(kw_add_tensor(a, b, &out));
  gave(&out, "tensor([[11, 22], [33, 44]], f32, cpu:0)");
  OK(kw_add_tensor(a, b, 2, &out));
  gave(&out, "tensor([[21, 42], [63, 84]], f32, cpu:0)");
  OK(kw_addmm(a, a, b, &out));
  gave(&out, "tensor([[71, 102], [153, 224]], f32, cpu:0)");
  OK(kw_addmm(a, a, b, 0, &out));
  gave(&out, "tensor([[70, 100], [150, 220]], f32, cpu:0)");
  OK(kw_addmm(a, a, b, 0, 0.5, &out));
  gave(&out, "tensor([[35, 50], [75, 110]], f32, cpu:0)");
  OK(kw_mul_scalar(a, 0, &zero));
  OK(kw_softmax(zero, -1, &out));
  gave(&out, "tensor([[0.5, 0.5], [0.5, 0.5]], f32, cpu:0)");
  kw_tensor_release(zero);
  kw_tensor_release(a);
  kw_tensor_release(b);
}

static void lists_and_none(void **state) {
  (void)state;
  kw_tensor *a = square(1, 2, 3, 4), *out = NULL;
  OK(kw_sum_dim_intlist(a, KW_INTS(1), &out));
  gave(&out, "tensor([3, 7], f32, cpu:0)");
  OK(kw_sum_dim_intlist(a, KW_INTS(0, 1), true, &out));
  gave(&out, "tensor([[10]], f32, cpu:0)");
  OK(kw_sum_dim_intlist(a, KW_NO_INTS, &out)); /* None: all */
  gave(&out, "tensor(10, f32, cpu:0)");
  OK(kw_sum_dim_intlist(a, KW_INTS(1), false, KW_F64, &out));
  gave(&out, "tensor([3, 7], f64, cpu:0)");
  OK(kw_cat(KW_TENSORS(a, a), 1, &out));
  gave(&out, "tensor([[1, 2, 1, 2], [3, 4, 3, 4]], f32, cpu:0)");
  OK(kw_clamp(a, kw_arg_none(), 2, &out));
  gave(&out, "tensor([[1, 2], [2, 2]], f32, cpu:0)");
  OK(kw_argmax(a, &out));
  gave(&out, "tensor(3, i64, cpu:0)");
  OK(kw_argmax(a, 0, true, &out));
  gave(&out, "tensor([[1, 1]], i64, cpu:0)");
  OK(kw_fill_scalar_(a, 2));
  OK(kw_rms_norm(a, KW_INTS(2), NULL, 0.0, &out));
  gave(&out, "tensor([[1, 1], [1, 1]], f32, cpu:0)");
  kw_tensor_release(a);
}

static void scalars_keep_their_kind(void **state) {
  (void)state;
  kw_tensor *a, *out = NULL;
  OK(kw_tensor_create(device, KW_I32, 1, (const int64_t[]){2}, &a));
  OK(kw_tensor_write(a, (const int32_t[]){1, 2}));
  OK(kw_mul_scalar(a, 2, &out));
  gave(&out, "tensor([2, 4], i32, cpu:0)");
  OK(kw_mul_scalar(a, 2.0, &out));
  gave(&out, "tensor([2, 4], f32, cpu:0)");
  OK(kw_mul_scalar(a, 2.0f, &out));
  gave(&out, "tensor([2, 4], f32, cpu:0)");
  const int64_t many = INT64_C(1) << 30;
  OK(kw_mul_scalar(a, many, &out));
  gave(&out, "tensor([1073741824, -2147483648], i32, cpu:0)");
  OK(kw_mul_scalar(a, kw_arg_scalar_i64(3), &out));
  gave(&out, "tensor([3, 6], i32, cpu:0)");
  kw_tensor_release(a);
}

static void several_results_and_in_place(void **state) {
  (void)state;
  kw_tensor *a = square(1, 4, 3, 2), *values = NULL, *indices = NULL;
  OK(kw_max_dim(a, 1, &values, &indices));
  gave(&values, "tensor([4, 3], f32, cpu:0)");
  gave(&indices, "tensor([1, 0], i64, cpu:0)");
  OK(kw_fill_scalar_(a, 7));
  holds(a, "tensor([[7, 7], [7, 7]], f32, cpu:0)");
  kw_tensor *given = square(0, 0, 0, 0), *same = given;
  OK(kw_mul_scalar(a, 2, &given));
  assert_ptr_equal(given, same);
  gave(&given, "tensor([[14, 14], [14, 14]], f32, cpu:0)");
  assert_int_equal(kw_max_dim(NULL, 1, &values, &indices), KW_ERR_INVALID_ARGUMENT);
  assert_null(values);
  kw_tensor_release(a);
}

static void an_op_that_is_not_there(void **state) {
  (void)state;
  kw_op_name op = {"adm.Tensor", NULL};
  kw_scope *scope;
  assert_int_equal(kw_op_run(&op, NULL, NULL, 0, NULL, 0), KW_ERR_NOT_FOUND);
  OK(kw_scope_begin(NULL, &scope));
  assert_int_equal(kw_op_run(&op, NULL, NULL, 0, NULL, 0), KW_ERR_NOT_FOUND);
  assert_int_equal(kw_scope_end(scope), KW_ERR_NOT_FOUND);
}

static void functions_of_several_ops(void **state) {
  (void)state;
  const uint64_t before = live();
  kw_tensor *x = square(1, 2, 3, 4), *w = square(1, 0, 1, 1),
            *b = floats(1, (const int64_t[]){2}, (const float[]){10, 20});
  kw_tensor *out = NULL, *row = NULL, *deep = NULL;
  OK(kw_linear(x, w, b, &out));
  gave(&out, "tensor([[11, 23], [13, 27]], f32, cpu:0)");
  OK(kw_linear(x, w, NULL, &out));
  holds(out, "tensor([[1, 3], [3, 7]], f32, cpu:0)");
  kw_tensor *given = out;
  OK(kw_linear(x, w, b, &out));
  assert_ptr_equal(out, given);
  gave(&out, "tensor([[11, 23], [13, 27]], f32, cpu:0)");
  OK(kw_tensor_select(x, 0, 1, &row));
  OK(kw_linear(row, w, b, &out));
  gave(&out, "tensor([13, 27], f32, cpu:0)");
  OK(kw_tensor_view(x, 3, (const int64_t[]){2, 1, 2}, &deep));
  OK(kw_linear(deep, w, NULL, &out));
  gave(&out, "tensor([[[1, 3]], [[3, 7]]], f32, cpu:0)");
  assert_int_equal(kw_linear(NULL, w, NULL, &out), KW_ERR_INVALID_ARGUMENT);
  assert_int_equal(kw_linear(x, b, NULL, &out), KW_ERR_INVALID_ARGUMENT);
  assert_null(out);
  OK(kw_layer_norm(x, KW_INTS(2), NULL, NULL, 0, &out));
  gave(&out, "tensor([[-1, 1], [-1, 1]], f32, cpu:0)");
  OK(kw_cdist(x, x, &out));
  gave(&out, "tensor([[0, 2.828427], [2.828427, 0]], f32, cpu:0)");
  kw_tensor *directions = square(0, 0, 0, 4);
  OK(kw_normalize(directions, 1, &out));
  gave(&out, "tensor([[0, 0], [0, 1]], f32, cpu:0)");
  OK(kw_normalize(directions, 0, &out));
  gave(&out, "tensor([[0, 0], [0, 1]], f32, cpu:0)");
  kw_tensor_release(directions);
  kw_tensor_release(row);
  kw_tensor_release(deep);
  kw_tensor_release(x);
  kw_tensor_release(w);
  kw_tensor_release(b);
  assert_int_equal(live(), before);
}

/* Two heads of width 1: each sees what it is alike. */
static void heads_of_attention(void **state) {
  (void)state;
  const uint64_t before = live();
  kw_tensor *query = square(90, 0, 0, 90), *key = square(1, 0, 0, 1), *value = square(1, 2, 3, 4);
  kw_tensor *out = NULL;
  OK(kw_multi_head_attention(query, key, value, NULL, false, 2, &out));
  gave(&out, "tensor([[1, 3], [2, 4]], f32, cpu:0)");
  OK(kw_multi_head_attention(query, key, value, NULL, true, 2, &out)); /* the first token sees itself alone */
  gave(&out, "tensor([[1, 2], [2, 4]], f32, cpu:0)");
  assert_int_equal(kw_multi_head_attention(query, key, value, NULL, false, 3, &out), KW_ERR_INVALID_ARGUMENT);
  assert_int_equal(kw_multi_head_attention(query, key, value, NULL, false, 0, &out), KW_ERR_INVALID_ARGUMENT);
  assert_int_equal(kw_multi_head_attention(query, NULL, value, NULL, false, 2, &out), KW_ERR_INVALID_ARGUMENT);
  assert_null(out);
  kw_tensor_release(query);
  kw_tensor_release(key);
  kw_tensor_release(value);
  assert_int_equal(live(), before);
}

static void views_and_tensors_in_expressions(void **state) {
  (void)state;
  const uint64_t before = live();
  const float numbers[] = {1, 2, 3, 4, 5, 6};
  kw_scope *scope;
  assert_null(kwx_tensor(KW_F32, KW_INTS(6), numbers)); /* on which device? */
  OK(kw_scope_begin(kw_stream_default(device), &scope));
  kw_tensor *x = kwx_tensor(KW_F32, KW_INTS(2, 3), numbers);
  holds(kwx_transpose(x, 0, 1), "tensor([[1, 4], [2, 5], [3, 6]], f32, cpu:0)");
  holds(kwx_permute(x, KW_INTS(1, 0)), "tensor([[1, 4], [2, 5], [3, 6]], f32, cpu:0)");
  holds(kwx_view(x, KW_INTS(3, 2)), "tensor([[1, 2], [3, 4], [5, 6]], f32, cpu:0)");
  holds(kwx_select(x, 1, -1), "tensor([3, 6], f32, cpu:0)");
  holds(kwx_slice(x, 1, 1, INT64_MAX), "tensor([[2, 3], [5, 6]], f32, cpu:0)");
  holds(kwx_expand(kwx_unsqueeze(kwx_select(x, 0, 0), 0), KW_INTS(2, 3)), "tensor([[1, 2, 3], [1, 2, 3]], f32, cpu:0)");
  holds(kwx_squeeze(kwx_slice(x, 0, 0, 1), 0), "tensor([1, 2, 3], f32, cpu:0)");
  holds(kwx_reshape(x, KW_INTS(-1)), "tensor([1, 2, 3, 4, 5, 6], f32, cpu:0)");
  holds(kwx_reshape(kwx_transpose(x, 0, 1), KW_INTS(2, 3)), "tensor([[1, 4, 2], [5, 3, 6]], f32, cpu:0)");
  holds(kwx_reinterpret(x, KW_F32, KW_INTS(2, 2), 8), "tensor([[3, 4], [5, 6]], f32, cpu:0)");
  kw_tensor *image = kwx_view(x, KW_INTS(1, 1, 2, 3)), *kernel = kwx_full(KW_INTS(1, 1, 2, 2), 1.0);
  holds(kwx_conv2d(image, kernel), "tensor([[[[12, 16]]]], f32, cpu:0)");
  holds(kwx_conv2d(image, kernel, NULL, KW_INTS(2, 2), KW_INTS(1, 1)), "tensor([[[[1, 5], [4, 11]]]], f32, cpu:0)");
  holds(kwx_max_pool2d(image, KW_INTS(2, 2)), "tensor([[[[5]]]], f32, cpu:0)");
  holds(kwx_layer_norm(kwx_view(x, KW_INTS(3, 2)), KW_INTS(2), NULL, NULL, 0.0),
        "tensor([[-1, 1], [-1, 1], [-1, 1]], f32, cpu:0)");
  assert_null(kwx_view(x, KW_INTS(4, 2)));
  assert_null(kwx_linear(x, kernel, NULL)); /* a scope within begins as failed */
  assert_int_equal(kw_scope_end(scope), KW_ERR_INVALID_ARGUMENT);
  assert_null(strstr(kw_error_message(), "NULL"));
  assert_int_equal(live(), before);
}

/* ---- Scopes ------------------------------------------------------------------------------------------------------ */

static void a_scope_releases_what_was_made_in_it(void **state) {
  (void)state;
  const uint64_t before = live();
  kw_scope *scope;
  OK(kw_scope_begin(kw_stream_default(device), &scope));
  kw_tensor *a = kwx_full(KW_INTS(2, 2), 3, KW_F32), *given = square(0, 0, 0, 0), *values = NULL, *indices = NULL;
  kw_tensor *kept = kw_scope_keep(kwx_add_tensor(kwx_mul_tensor(a, a), kwx_relu(kwx_neg(a)), 2));
  OK(kw_neg(a, &given));
  OK(kw_max_dim(a, 0, &values, &indices));
  holds(kwx_max_dim(given, 0), "tensor([-3, -3], f32, cpu:0)"); /* its indices are gone at once */
  assert_int_equal(live(), before + 9);
  kw_scope_release(values);
  kw_scope_release(a);
  assert_int_equal(live(), before + 7);
  OK(kw_scope_end(scope));
  assert_int_equal(live(), before + 2);
  gave(&given, "tensor([[-3, -3], [-3, -3]], f32, cpu:0)");
  gave(&kept, "tensor([[9, 9], [9, 9]], f32, cpu:0)");
  assert_int_equal(live(), before);
}

static void the_first_failure_stays(void **state) {
  (void)state;
  const uint64_t before = live();
  kw_tensor *a = square(1, 2, 3, 4), *b = floats(1, (const int64_t[]){3}, (const float[]){1, 2, 3}), *out = NULL;
  kw_scope *scope;
  char first[1024];
  OK(kw_scope_begin(NULL, &scope));
  OK(kw_scope_status());
  kw_tensor *nothing = kwx_exp(kwx_add_tensor(a, b));
  snprintf(first, sizeof first, "%s", kw_error_message());
  assert_null(nothing);
  assert_non_null(strstr(first, "add.Tensor"));
  assert_int_equal(kw_scope_status(), KW_ERR_INVALID_ARGUMENT);
  assert_int_equal(kw_mm(a, a, &out), KW_ERR_INVALID_ARGUMENT); /* good by itself, and not run */
  assert_null(out);
  assert_int_equal(kw_tensor_read(nothing, NULL), KW_ERR_INVALID_ARGUMENT); /* another text meanwhile */
  assert_string_not_equal(kw_error_message(), first);
  assert_int_equal(kw_scope_end(scope), KW_ERR_INVALID_ARGUMENT);
  assert_string_equal(kw_error_message(), first);
  OK(kw_mm(a, a, &out));
  kw_tensor_release(out);
  kw_tensor_release(a);
  kw_tensor_release(b);
  assert_int_equal(live(), before);
}

static void calls_of_the_applications_own(void **state) {
  (void)state;
  const uint64_t before = live();
  kw_tensor *a = square(1, 2, 3, 4), *view = NULL;
  kw_scope *scope;
  OK(kw_scope_begin(NULL, &scope));
  kw_status status = kw_tensor_transpose(a, 0, 1, &view);
  holds(kw_scope_result(status, view), "tensor([[1, 3], [2, 4]], f32, cpu:0)");
  status = kw_tensor_select(a, 5, 0, &view);
  assert_null(kw_scope_result(status, NULL));
  assert_int_equal(kw_scope_end(scope), status);
  kw_tensor_release(a);
  assert_int_equal(live(), before);
  assert_null(kw_scope_result(KW_ERR_IO, NULL)); /* without a scope */
}

static void scopes_nest(void **state) {
  (void)state;
  const uint64_t before = live();
  kw_scope *outer, *inner, *left;
  OK(kw_scope_begin(kw_stream_default(device), &outer));
  kw_tensor *a = kwx_full(KW_INTS(2), 1.5);
  OK(kw_scope_begin(NULL, &inner)); /* the outer one's stream */
  kw_tensor *b = kw_scope_keep(kwx_full(KW_INTS(2), 2.5));
  assert_null(kwx_mm(a, b));
  assert_int_equal(kw_scope_end(inner), KW_ERR_INVALID_ARGUMENT);
  OK(kw_scope_status()); /* the failure was the inner one's */
  b = kw_scope_result(KW_OK, b);
  assert_int_equal(kw_scope_end(inner), KW_ERR_INVALID_ARGUMENT);
  assert_non_null(strstr(kw_error_message(), "not open"));
  OK(kw_scope_begin(NULL, &left)); /* as by a function that returned early */
  kwx_add_tensor(a, b);
  kwx_mm(a, b);
  assert_int_equal(kw_scope_end(outer), KW_ERR_INVALID_ARGUMENT);
  assert_non_null(strstr(kw_error_message(), "mm"));
  assert_int_equal(live(), before);
  OK(kw_scope_end(NULL));
}

static void *leave_open(void *outer) {
  kw_scope *scope;
  OK(kw_scope_status());
  assert_int_equal(kw_scope_end(outer), KW_ERR_INVALID_ARGUMENT);
  OK(kw_scope_begin(kw_stream_default(device), &scope));
  kwx_full(KW_INTS(2), 1);
  OK(kw_scope_begin(NULL, &scope));
  kwx_full(KW_INTS(2), 1);
  return NULL;
}

static void scopes_are_a_threads_own(void **state) {
  (void)state;
  const uint64_t before = live();
  kw_scope *scope;
  pthread_t thread;
  OK(kw_scope_begin(NULL, &scope));
  kwx_mm(NULL, NULL);
  assert_int_equal(pthread_create(&thread, NULL, leave_open, scope), 0);
  assert_int_equal(pthread_join(thread, NULL), 0);
  assert_int_equal(live(), before); /* what the thread left open has ended with it */
  assert_int_equal(kw_scope_end(scope), KW_ERR_INVALID_ARGUMENT);
}

static void many_tensors(void **state) {
  (void)state;
  const uint64_t before = live();
  kw_scope *scope;
  OK(kw_scope_begin(kw_stream_default(device), &scope));
  kw_tensor *sum = kwx_full(KW_INTS(1), 0), *one = kwx_full(KW_INTS(1), 1);
  for (int i = 0; i < 1000; ++i) {
    kw_tensor *last = sum;
    sum = kwx_add_tensor(sum, one);
    if (i % 3 == 0) kw_scope_release(last);
  }
  holds(sum, "tensor([1000], i64, cpu:0)");
  OK(kw_scope_end(scope));
  assert_int_equal(live(), before);
}

static int open_cpu(void **state) {
  (void)state;
  return kw_device_open("cpu:0", &device) != KW_OK;
}

static int close_cpu(void **state) {
  (void)state;
  return kw_device_close(device) != KW_OK;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_left_out_is_the_default),
      cmocka_unit_test(lists_and_none),
      cmocka_unit_test(scalars_keep_their_kind),
      cmocka_unit_test(several_results_and_in_place),
      cmocka_unit_test(functions_of_several_ops),
      cmocka_unit_test(heads_of_attention),
      cmocka_unit_test(views_and_tensors_in_expressions),
      cmocka_unit_test(an_op_that_is_not_there),
      cmocka_unit_test(a_scope_releases_what_was_made_in_it),
      cmocka_unit_test(the_first_failure_stays),
      cmocka_unit_test(calls_of_the_applications_own),
      cmocka_unit_test(scopes_nest),
      cmocka_unit_test(scopes_are_a_threads_own),
      cmocka_unit_test(many_tensors),
  };
  return cmocka_run_group_tests(tests, open_cpu, close_cpu);
}
