/* SPDX-License-Identifier: Apache-2.0
 *
 * Suite error, what only the data show: an index out of range, or a source too small, is told at the next wait of the
 * stream, once, with the op and the argument, and the device works on.
 */
#include "error_bad.h"

#include <math.h>
#include <stdio.h>

enum { NUMEL = 16 };

/* ---- Wrong calls ------------------------------------------------------------------------------------------------- */

/* The call with one wrong index in argument `index`, into results like those of a right one. */
static void check_index(const kw_test_call *call, kw_tensor *const *like, uint32_t index, kw_dtype dtype, int64_t bad,
                        kw_stream *stream) {
  const kw_test_arg *arg = &call->args[index];
  int64_t last = kw_tensor_describe(arg->tensors[0])->numel - 1;
  for (int at_end = 0; at_end < 2; at_end++) {
    kw_value values[KW_MAX_ARGS];
    kw_tensor *wrong = kw_bad_indices(arg->tensors[0], dtype, at_end ? last : 0, bad);
    kw_guarded g = {{NULL}, {NULL}};
    kw_guarded_make(call, like, &g);
    kw_test_call_values(call, values);
    values[index] = arg->info.tag == KW_TAG_TENSOR ? kw_arg_tensor(wrong) : kw_arg_tensor_list(&wrong, 1);
    kw_error_clear();
    kw_status status = kw_op_call(call->op, stream, values, call->given, g.results, call->info.result_count);
    kw_bad_expect_told(call, index, stream, status, bad);
    kw_guarded_end(call, &g);
    kw_tensor_release(wrong);
  }
}

/* The same in a graph, each of whose launches is to tell it. */
static void check_recorded(const kw_test_call *call, kw_tensor *const *like, uint32_t index, kw_stream *stream) {
  const kw_test_arg *arg = &call->args[index];
  kw_value values[KW_MAX_ARGS];
  kw_tensor *wrong = kw_bad_indices(arg->tensors[0], KW_I64, 0, call->places);
  kw_graph *graph = NULL;
  kw_guarded g = {{NULL}, {NULL}};
  kw_guarded_make(call, like, &g);
  kw_test_call_values(call, values);
  values[index] = arg->info.tag == KW_TAG_TENSOR ? kw_arg_tensor(wrong) : kw_arg_tensor_list(&wrong, 1);
  KW_CHECK_OK(kw_graph_begin(stream));
  const kw_status status = kw_op_call(call->op, stream, values, call->given, g.results, call->info.result_count);
  KW_CHECK_OK(kw_graph_end(stream, &graph));
  KW_CHECK_STATUS(status, KW_OK);
  for (int i = 0; i < 2; i++) {
    kw_error_clear();
    kw_bad_expect_told(call, index, stream, kw_graph_launch(graph, stream), call->places);
  }
  KW_CHECK_OK(kw_graph_destroy(graph));
  kw_guarded_end(call, &g);
  kw_tensor_release(wrong);
}

static void check_op(const kw_test_call *call, kw_stream *stream) {
  const int64_t n = call->places, wide[] = {n, -n - 1, INT64_MAX, INT64_MIN, (INT64_C(1) << 32) + 1, -1};
  const int64_t narrow[] = {n, -n - 1, INT32_MAX, INT32_MIN, -1};
  bool negative = kw_bad_counts_from_end(call->info.name);
  unsigned char *want = NULL, *got = NULL;
  kw_tensor *outs[KW_MAX_RESULTS] = {NULL};
  size_t size = 0;
  for (int after = 0; after < 2; after++) {
    KW_CHECK_OK(kw_test_call_run(call, stream, outs));
    KW_CHECK_OK(kw_stream_synchronize(stream));
    KW_CHECK_OK(kw_test_call_results(call, outs, after ? &got : &want, &size));
    for (uint32_t i = 0; i < call->info.arg_count && !after; i++) {
      if (call->args[i].role != KW_ROLE_INDEX) continue;
      for (int k = 0; k < 6 - negative; k++) check_index(call, outs, i, KW_I64, wide[k], stream);
      for (int k = 0; k < 5 - negative; k++) check_index(call, outs, i, KW_I32, narrow[k], stream);
      check_recorded(call, outs, i, stream);
    }
    for (uint32_t r = 0; r < call->info.result_count; r++) {
      kw_tensor_release(outs[r]);
      outs[r] = NULL;
    }
  }
  if (!call->in_place) kw_test_same(got, want, size, "a right call after calls with indices out of range");
  free(want);
  free(got);
}

/* Every op that takes indices: beyond either end, by far too, in i64 and i32, first or last of them, and
 * in a graph. What lies around the results stays. */
void kw_contract_error_index_out_of_range(void **state) {
  (void)state;
  kw_stream *stream = kw_test_stream();
  kw_test_call call;
  uint32_t at = 0, calls = 0;
  for (; kw_bad_next_call(&at, NUMEL, &call); calls++) {
    check_op(&call, stream);
    kw_test_call_free(&call);
  }
  KW_CHECK_OK(kw_stream_destroy(stream));
  if (!calls) kw_test_skip("the device has no op that takes indices");
  kw_test_usable("a round trip after calls with indices out of range");
}

/* Where rows start, but for one number. */
static void check_starts(const kw_test_call *call, kw_tensor *const *like, uint32_t index, int64_t place, int64_t bad) {
  kw_stream *stream = kw_stream_default(kw_contract.device);
  kw_value values[KW_MAX_ARGS];
  kw_tensor *wrong = kw_bad_indices(call->args[index].tensors[0], KW_I64, place, bad);
  kw_guarded g = {{NULL}, {NULL}};
  kw_guarded_make(call, like, &g);
  kw_test_call_values(call, values);
  values[index] = kw_arg_tensor(wrong);
  kw_error_clear();
  kw_status status = kw_op_call(call->op, stream, values, call->given, g.results, call->info.result_count);
  kw_bad_expect_told(call, index, stream, status, bad);
  kw_guarded_end(call, &g);
  kw_tensor_release(wrong);
}

/* The rows of a block-sparse matrix start at 0, one behind the other, and end with the last block. */
void kw_contract_error_row_starts_out_of_order(void **state) {
  (void)state;
  enum { STARTS = 1 };
  const kw_op *op = kw_op_find("keyway::bsr_linear");
  kw_test_call call;
  if (kw_op_support(op, kw_contract.device, KW_F32) == KW_SUPPORT_NONE ||
      !kw_test_call_make(op, KW_F32, NUMEL, &call)) {
    kw_test_skip("the device has no linear layer of block-sparse weights");
  }
  kw_tensor *outs[KW_MAX_RESULTS] = {NULL};
  KW_CHECK_OK(kw_test_call_run(&call, NULL, outs));
  const int64_t n = call.edge,
                wrong[][2] = {{0, 1},  {0, -1},        {n, n - 1},     {n, n + 1},     {1, n + 1}, {2, 0},
                              {1, -1}, {n, INT64_MAX}, {1, INT64_MAX}, {1, INT64_MIN}, {n, 0}};
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    check_starts(&call, outs, STARTS, wrong[i][0], wrong[i][1]);
  }
  kw_tensor_release(outs[0]);
  kw_test_call_free(&call);
  kw_test_usable("a round trip after rows that start out of order");
}

/* The call as it is, then with one offset changed, `count` times. */
static void check_offsets(const kw_test_call *call, uint32_t offsets, const int64_t (*wrong)[2], size_t count) {
  kw_tensor *like[KW_MAX_RESULTS] = {NULL};
  KW_CHECK_OK(kw_test_call_run(call, NULL, like));
  KW_CHECK_OK(kw_device_synchronize(kw_contract.device));
  for (size_t i = 0; i < count; i++) check_starts(call, like, offsets, wrong[i][0], wrong[i][1]);
  for (uint32_t r = 0; r < call->info.result_count; r++) kw_tensor_release(like[r]);
}

/* The bags of an embedding bag start at 0, one behind the other, none behind the last index. Where the last offset is
 * the end of the last bag, it is the number of indices. */
void kw_contract_error_bags_out_of_order(void **state) {
  (void)state;
  enum { OFFSETS = 2, INCLUDE_LAST_OFFSET = 7 };
  const kw_op *op = kw_op_find("_embedding_bag");
  kw_test_call call;
  if (!kw_test_has("_embedding_bag") || !kw_test_call_make(op, KW_F32, NUMEL, &call)) {
    kw_test_skip("the device has no embedding bag in f32");
  }
  const int64_t n = call.edge, last = n - 1,
                starts[][2] = {{0, 1}, {0, -1}, {1, last}, {1, -1}, {1, INT64_MAX}, {last, 0}, {last, n + 1}},
                ends[][2] = {{0, 1}, {last, last}, {last, n + 1}, {last, 0}, {last, INT64_MAX}, {last, INT64_MIN}};
  check_offsets(&call, OFFSETS, starts, sizeof starts / sizeof starts[0]);

  kw_test_arg *offsets = &call.args[OFFSETS];
  kw_tensor *whole = kw_bad_indices(offsets->tensors[0], KW_I64, last, n);
  kw_tensor_release(offsets->tensors[0]);
  offsets->tensors[0] = whole;
  offsets->value = kw_arg_tensor(whole);
  call.args[INCLUDE_LAST_OFFSET].value = kw_arg_bool(true);
  call.given = INCLUDE_LAST_OFFSET + 1;
  check_offsets(&call, OFFSETS, ends, sizeof ends / sizeof ends[0]);
  kw_test_call_free(&call);
  kw_test_usable("a round trip after bags that start out of order");
}

/* Where three sequences begin instead, and where the last ends. */
static void replace_starts(kw_test_call *call, uint32_t index) {
  enum { STARTS = 4 };
  const int64_t count = STARTS, n = call->edge, starts[STARTS] = {0, 1, 1, n};
  kw_tensor *made = NULL;
  KW_CHECK_OK(kw_tensor_create(kw_contract.device, KW_I64, 1, &count, &made));
  KW_CHECK_OK(kw_tensor_write(made, starts));
  kw_tensor_release(call->args[index].tensors[0]);
  call->args[index].tensors[0] = made;
  call->args[index].value = kw_arg_tensor(made);
}

/* Sequences one after the other begin at 0, do not fall, and end with the rows, of queries and of keys. */
void kw_contract_error_sequences_out_of_order(void **state) {
  (void)state;
  enum { QUERIES = 3, KEYS };
  const kw_op *op = kw_op_find("keyway::attention_varlen");
  kw_test_call call;
  if (!kw_test_has("keyway::attention_varlen") || !kw_test_call_make(op, KW_F32, NUMEL, &call)) {
    kw_test_skip("the device has no attention over sequences one after the other in f32");
  }
  const int64_t n = call.edge, wrong[][2] = {{0, 1},         {0, -1},        {1, n - 1}, {1, n + 1},
                                             {1, INT64_MAX}, {1, INT64_MIN}, {1, -1},    {1, (INT64_C(1) << 32) + n}};
  for (uint32_t side = QUERIES; side <= KEYS; side++) check_offsets(&call, side, wrong, sizeof wrong / sizeof wrong[0]);
  const int64_t between[][2] = {{1, -1}, {1, n}, {2, 0}, {2, n + 1}, {2, INT64_MAX}, {1, INT64_MIN}, {3, 1}};
  for (uint32_t side = QUERIES; side <= KEYS; side++) replace_starts(&call, side);
  for (uint32_t side = QUERIES; side <= KEYS; side++) {
    check_offsets(&call, side, between, sizeof between / sizeof between[0]);
  }
  kw_test_call_free(&call);
  kw_test_usable("a round trip after sequences that begin out of order");
}

static uint32_t index_argument(const kw_test_call *call) {
  uint32_t index = 0;
  while (call->args[index].role != KW_ROLE_INDEX) index++;
  return index;
}

/* Enqueues the call with an index out of range. */
static kw_status run_wrong(const kw_test_call *call, kw_stream *stream) {
  const kw_test_arg *arg = &call->args[index_argument(call)];
  kw_tensor *outs[KW_MAX_RESULTS] = {NULL}, *wrong = kw_bad_indices(arg->tensors[0], KW_I64, 0, call->places);
  kw_value values[KW_MAX_ARGS];
  kw_test_call_values(call, values);
  values[arg - call->args] = arg->info.tag == KW_TAG_TENSOR ? kw_arg_tensor(wrong) : kw_arg_tensor_list(&wrong, 1);
  kw_status status = kw_op_call(call->op, stream, values, call->given, outs, call->info.result_count);
  for (uint32_t r = 0; r < call->info.result_count; r++) kw_tensor_release(outs[r]);
  kw_tensor_release(wrong);
  return status;
}

/* Of two calls with an index out of range the first is told: each op behind the one before it. */
void kw_contract_error_first_data_error_told(void **state) {
  (void)state;
  kw_test_call calls[2];
  uint32_t at = 0, count = 0;
  kw_stream *stream = kw_test_stream();
  for (; kw_bad_next_call(&at, NUMEL, &calls[count % 2]); count++) {
    const kw_test_call *first = &calls[(count + 1) % 2], *second = &calls[count % 2];
    if (count == 0) continue;
    kw_error_clear();
    KW_CHECK_OK(run_wrong(first, stream));
    KW_CHECK_OK(run_wrong(second, stream));
    kw_bad_expect_told(first, index_argument(first), stream, KW_OK, first->places);
    kw_test_call_free(&calls[(count + 1) % 2]);
  }
  if (count > 0) kw_test_call_free(&calls[(count + 1) % 2]);
  KW_CHECK_OK(kw_stream_destroy(stream));
  if (count < 2) kw_test_skip("the device has no two ops that take indices");
}

/* The error of a plan's run is told although the plan is gone by then. */
void kw_contract_error_late_error_outlives_plan(void **state) {
  (void)state;
  kw_test_call call;
  uint32_t at = 0;
  if (!kw_bad_next_call(&at, NUMEL, &call)) kw_test_skip("the device has no op that takes indices");
  const uint32_t index = index_argument(&call);
  kw_stream *stream = kw_test_stream();
  kw_value values[KW_MAX_ARGS];
  kw_tensor *outs[KW_MAX_RESULTS] = {NULL},
            *wrong = kw_bad_indices(call.args[index].tensors[0], KW_I64, 0, call.places);
  kw_plan *plan = NULL;
  kw_test_call_values(&call, values);
  values[index] = call.args[index].info.tag == KW_TAG_TENSOR ? kw_arg_tensor(wrong) : kw_arg_tensor_list(&wrong, 1);
  KW_CHECK_OK(kw_plan_make(call.op, stream, values, call.given, outs, call.info.result_count, NULL, &plan));
  kw_status status = kw_plan_run(plan, stream, values, call.given, outs, call.info.result_count);
  kw_plan_destroy(plan);
  for (uint32_t r = 0; r < call.info.result_count; r++) kw_tensor_release(outs[r]);
  kw_tensor_release(wrong);
  kw_bad_expect_told(&call, index, stream, status, call.places);
  kw_test_call_free(&call);
  KW_CHECK_OK(kw_stream_destroy(stream));
}

/* ---- Too little to place ----------------------------------------------------------------------------------------- */

enum { SOURCE = 5 }; /* the tag of its numbers */

/* The call with a mask that is true everywhere, and `count` elements for its places. */
static kw_status run_scatter(const kw_test_call *call, kw_stream *stream, int64_t count, kw_tensor **results) {
  const kw_tensor_ref *mask = kw_tensor_describe(call->args[1].tensors[0]);
  kw_tensor *all = NULL, *source = kw_test_tensor(kw_contract.device, call->dtype, 1, &count, SOURCE);
  KW_CHECK_OK(kw_tensor_create(kw_contract.device, KW_BOOL, mask->rank, mask->shape, &all));
  uint8_t *ones = kw_test_memory((size_t)mask->numel);
  memset(ones, 1, (size_t)mask->numel);
  KW_CHECK_OK(kw_tensor_write(all, ones));
  free(ones);
  const kw_value values[] = {call->args[0].value, kw_arg_tensor(all), kw_arg_tensor(source)};
  kw_error_clear();
  kw_status status = kw_op_call(call->op, stream, values, 3, results, 1);
  if (status == KW_OK) status = kw_stream_synchronize(stream);
  kw_tensor_release(all);
  kw_tensor_release(source);
  return status;
}

/* The places that there were elements for have them. */
static void expect_placed(const kw_test_call *call, const kw_tensor *result, int64_t count) {
  const size_t item = kw_dtype_size(call->dtype);
  unsigned char *want = kw_test_memory((size_t)count * item + 1), *got = kw_test_memory(kw_test_bytes_of(result));
  kw_test_fill(call->dtype, want, (size_t)count, SOURCE);
  KW_CHECK_OK(kw_tensor_read(result, got));
  kw_test_same(got, want, (size_t)count * item, "the places of masked_scatter that there are elements for");
  free(want);
  free(got);
}

/* masked_scatter with fewer elements than places, by one and by all: told at the next wait, once, and nothing is
 * written beside the result. As many as places are enough. */
void kw_contract_error_source_too_small(void **state) {
  (void)state;
  kw_test_need_op("masked_scatter");
  kw_test_call call;
  KW_CHECK(kw_test_call_make(kw_op_find("masked_scatter"), KW_F32, NUMEL, &call),
           "no call of masked_scatter could be made");
  kw_stream *stream = kw_test_stream();
  kw_tensor *like[KW_MAX_RESULTS] = {NULL};
  KW_CHECK_OK(kw_test_call_run(&call, stream, like));
  KW_CHECK_OK(kw_stream_synchronize(stream));
  const int64_t places = kw_tensor_describe(like[0])->numel, counts[] = {places - 1, 0, places};
  for (int i = 0; i < 3; i++) {
    kw_guarded g = {{NULL}, {NULL}};
    kw_guarded_make(&call, like, &g);
    kw_status status = run_scatter(&call, stream, counts[i], g.results);
    if (counts[i] == places) {
      KW_CHECK(status == KW_OK, "masked_scatter with as many elements as places: %s", kw_error_message());
    } else {
      bool named = strstr(kw_error_message(), "masked_scatter") && strstr(kw_error_message(), "'source'");
      KW_CHECK(status == KW_ERR_INVALID_ARGUMENT && named,
               "masked_scatter with %lld elements for %lld places: expected %s with op and argument, got %s",
               (long long)counts[i], (long long)places, kw_status_name(KW_ERR_INVALID_ARGUMENT),
               status == KW_OK ? "KW_OK" : kw_error_message());
    }
    KW_CHECK_OK(kw_stream_synchronize(stream)); /* once */
    expect_placed(&call, g.results[0], counts[i]);
    kw_guarded_end(&call, &g);
  }
  kw_tensor_release(like[0]);
  kw_test_call_free(&call);
  KW_CHECK_OK(kw_stream_destroy(stream));
}

/* ---- Numbers that ops refuse ------------------------------------------------------------------------------------- */

/* Rows of the result that do not depend on the wrong number are those of a right call. */
static void expect_other_rows(const kw_test_call *call, const kw_tensor *like, const kw_tensor *result, int64_t wrong) {
  const int64_t rows = kw_tensor_describe(like)->shape[0];
  const size_t size = kw_test_bytes_of(like), row_size = size / (size_t)rows;
  unsigned char *want = kw_test_memory(size), *got = kw_test_memory(size);
  char what[160];
  KW_CHECK_OK(kw_tensor_read(like, want));
  KW_CHECK_OK(kw_tensor_read(result, got));
  for (int64_t row = 0; row < rows; row++) {
    const size_t at = (size_t)row * row_size;
    snprintf(what, sizeof what, "row %lld of %s beside a wrong row %lld", (long long)row, call->info.name,
             (long long)wrong);
    if (row != wrong) kw_test_same(got + at, want + at, row_size, what);
  }
  free(want);
  free(got);
}

/* The call with `count` numbers of argument `index` changed, from `place` on. With `rows` a row of that argument is for
 * a row of the result. */
static void check_numbers(const kw_test_call *call, kw_tensor *const *like, uint32_t index, int64_t place,
                          int64_t count, float bad, bool rows) {
  const kw_tensor *given = call->args[index].tensors[0];
  const char *argument = call->args[index].info.name;
  const kw_tensor_ref *ref = kw_tensor_describe(given);
  kw_stream *stream = kw_stream_default(kw_contract.device);
  kw_tensor *wrong = NULL;
  char quoted[64];
  snprintf(quoted, sizeof quoted, "'%s'", argument);
  float *numbers = kw_test_memory(kw_test_bytes_of(given));
  KW_CHECK_OK(kw_tensor_read(given, numbers));
  for (int64_t i = 0; i < count; i++) numbers[place + i] = bad;
  KW_CHECK_OK(kw_tensor_create(kw_contract.device, ref->dtype, ref->rank, ref->shape, &wrong));
  KW_CHECK_OK(kw_tensor_write(wrong, numbers));
  free(numbers);
  kw_guarded g = {{NULL}, {NULL}};
  kw_guarded_make(call, like, &g);
  kw_value values[KW_MAX_ARGS];
  kw_test_call_values(call, values);
  values[index] = kw_arg_tensor(wrong);
  kw_error_clear();
  kw_status status = kw_op_call(call->op, stream, values, call->given, g.results, call->info.result_count);
  if (status == KW_OK) status = kw_stream_synchronize(stream);
  bool named = strstr(kw_error_message(), call->info.name) && strstr(kw_error_message(), quoted);
  KW_CHECK(status == KW_ERR_INVALID_ARGUMENT && named,
           "%s with %g in '%s', from element %lld on, %lld times: expected %s with op and argument, got %s",
           call->info.name, (double)bad, argument, (long long)place, (long long)count,
           kw_status_name(KW_ERR_INVALID_ARGUMENT), status == KW_OK ? "KW_OK" : kw_error_message());
  KW_CHECK_OK(kw_stream_synchronize(stream)); /* once */
  if (rows) expect_other_rows(call, like[0], g.results[0], place / ref->strides[0]);
  kw_guarded_end(call, &g);
  kw_tensor_release(wrong);
}

/* Regions of no image, and corners that are not finite: told at the next wait, once, and nothing is written beside the
 * result. Other regions are served. */
void kw_contract_error_region_of_no_image(void **state) {
  (void)state;
  enum { ROIS = 1 };
  static const char *const names[] = {"torchvision::roi_align", "torchvision::_roi_align_backward"};
  static const float images[] = {-1, 1e9f, -INFINITY, NAN}, corners[] = {INFINITY, NAN};
  uint32_t calls = 0;
  for (int i = 0; i < 2; i++) {
    const kw_op *op = kw_op_find(names[i]);
    kw_test_call call;
    if (!kw_test_has(names[i]) || !kw_test_call_make(op, KW_F32, NUMEL, &call)) continue;
    kw_tensor *like[KW_MAX_RESULTS] = {NULL};
    KW_CHECK_OK(kw_test_call_run(&call, NULL, like));
    const int64_t last = kw_tensor_describe(call.args[1].tensors[0])->numel - 5;
    for (size_t k = 0; k < sizeof images / sizeof images[0]; k++)
      check_numbers(&call, like, ROIS, k % 2 ? last : 0, 1, images[k], i == 0);
    for (size_t k = 0; k < sizeof corners / sizeof corners[0]; k++)
      check_numbers(&call, like, ROIS, last + 1, 1, corners[k], i == 0);
    kw_tensor_release(like[0]);
    kw_test_call_free(&call);
    calls++;
  }
  if (!calls) kw_test_skip("the device has no roi_align in f32");
  kw_test_usable("a round trip after regions of no image");
}

/* Weights that are negative or not finite, and rows without any: told at the next wait, once, and nothing is written
 * beside the result. */
void kw_contract_error_weights_of_no_kind(void **state) {
  (void)state;
  static const float none[] = {-1, INFINITY, -INFINITY, NAN};
  const kw_op *op = kw_op_find("multinomial");
  kw_test_call call;
  if (!kw_test_has("multinomial") || !kw_test_call_make(op, KW_F32, NUMEL, &call)) {
    kw_test_skip("the device has no multinomial in f32");
  }
  kw_tensor *like[KW_MAX_RESULTS] = {NULL};
  KW_CHECK_OK(kw_test_call_run(&call, NULL, like));
  const int64_t numel = kw_tensor_describe(call.args[0].tensors[0])->numel, row = call.edge;
  for (size_t k = 0; k < sizeof none / sizeof none[0]; k++) {
    check_numbers(&call, like, 0, 0, 1, none[k], false);
    check_numbers(&call, like, 0, numel - 1, 1, none[k], false);
  }
  check_numbers(&call, like, 0, 0, row, 0, false);
  check_numbers(&call, like, 0, numel - row, row, 0, false);
  kw_tensor_release(like[0]);
  kw_test_call_free(&call);
  kw_test_usable("a round trip after weights of no kind");
}
