/* SPDX-License-Identifier: Apache-2.0
 *
 * Suite determinism: a kernel flagged KW_KERNEL_DETERMINISTIC gives the same bits each time: at other addresses, on
 * other streams, from several threads at once, while other streams are busy.
 */
#include "call.h"

#include <stdio.h>

#include <keyway/plugin.h>

enum { NUMEL = 5000, REPEATS = 4, LOADS = 2 };

/* ---- Load -------------------------------------------------------------------------------------------------------- */

/* Streams with work in their queues while the test runs. */
typedef struct load {
  kw_stream *streams[LOADS];
  kw_tensor *from[LOADS], *to[LOADS];
  unsigned char *bytes;
} load;

enum { LOAD_SIZE = 1 << 16 };

static load start_load(void) {
  load l;
  l.bytes = kw_test_memory(LOADS * LOAD_SIZE);
  for (int i = 0; i < LOADS; i++) {
    l.streams[i] = kw_test_stream();
    l.from[i] = kw_test_f32(LOAD_SIZE / sizeof(float), (uint64_t)i);
    l.to[i] = kw_test_f32(LOAD_SIZE / sizeof(float), (uint64_t)i);
  }
  return l;
}

/* Enqueues more of it. */
static void add_load(load *l) {
  for (int i = 0; i < LOADS; i++) {
    KW_CHECK_OK(kw_tensor_read_async(l->from[i], l->bytes + i * LOAD_SIZE, l->streams[i]));
    if (kw_test_has("add.Tensor")) kw_test_add(l->streams[i], l->from[i], l->from[i], &l->to[i]);
    KW_CHECK_OK(kw_tensor_write_async(l->to[i], l->bytes + i * LOAD_SIZE, l->streams[i]));
  }
}

static void end_load(load *l) {
  for (int i = 0; i < LOADS; i++) {
    KW_CHECK_OK(kw_stream_destroy(l->streams[i]));
    kw_tensor_release(l->from[i]);
    kw_tensor_release(l->to[i]);
  }
  free(l->bytes);
}

/* ---- Repeats ----------------------------------------------------------------------------------------------------- */

/* One run: a copy of the call on tensors of its own. */
typedef struct repeat {
  kw_test_call call;
  kw_stream *stream;
  const char *kernel;
} repeat;

static kw_status run_kernel(const repeat *r, unsigned char **out_bytes, size_t *out_size) {
  kw_value values[KW_MAX_ARGS];
  kw_tensor *outs[KW_MAX_RESULTS] = {NULL};
  kw_plan *plan = NULL;
  uint32_t results = r->call.info.result_count;
  kw_test_call_values(&r->call, values);
  kw_status status = kw_plan_make(r->call.op, r->stream, values, r->call.given, outs, results, r->kernel, &plan);
  if (status == KW_OK) status = kw_plan_run(plan, r->stream, values, r->call.given, outs, results);
  if (status == KW_OK) status = kw_stream_synchronize(r->stream);
  if (status == KW_OK) status = kw_test_call_results(&r->call, outs, out_bytes, out_size);
  kw_plan_destroy(plan);
  for (uint32_t i = 0; i < results; i++) kw_tensor_release(outs[i]);
  return status;
}

/* What the threads of one comparison share. */
typedef struct comparison {
  repeat repeats[KW_TEST_THREADS];
  const unsigned char *want;
  size_t size;
  const char *what;
} comparison;

static int compare(const comparison *c, const repeat *r, char *text, size_t size) {
  unsigned char *got = NULL;
  size_t length = 0, at = 0;
  int failed = kw_test_note(run_kernel(r, &got, &length), c->what, text, size);
  while (!failed && at < length && got[at] == c->want[at]) at++;
  if (!failed && at < length) {
    snprintf(text, size, "%s: the same call gave other bits: byte %zu of %zu is 0x%02x, not 0x%02x", c->what, at,
             length, got[at], c->want[at]);
    failed = 1;
  }
  free(got);
  return failed;
}

static int compare_body(int index, void *user, char *text, size_t size) {
  const comparison *c = user;
  return compare(c, &c->repeats[index], text, size);
}

static void check_kernel(const kw_test_call *call, const kw_kernel_info *info, load *l) {
  static comparison c; /* threads may outlive a failed check */
  const char *kernel = info->name;
  char what[200], text[512] = "";
  snprintf(what, sizeof what, "%s, kernel %s, %s", call->info.name, kernel, kw_dtype_name(call->dtype));
  c = (comparison){.what = what};
  KW_CHECK_OK(kw_math_mode_set(info->math_mode));
  kw_stream *own = kw_test_stream(), *fallback = kw_stream_default(kw_contract.device);
  repeat first = {.stream = fallback, .kernel = kernel};
  unsigned char *want = NULL;
  kw_test_call_copy(call, &first.call);
  kw_status status = run_kernel(&first, &want, &c.size);
  c.want = want;
  if (status != KW_ERR_NOT_IMPLEMENTED) { /* it may not take this call */
    KW_CHECK(status == KW_OK, "%s: %s", what, kw_error_message());
    for (int i = 0; i < REPEATS; i++) {
      repeat *r = &c.repeats[0];
      *r = (repeat){.stream = i % 2 ? own : fallback, .kernel = kernel};
      kw_test_call_copy(call, &r->call);
      add_load(l);
      KW_CHECK(compare(&c, r, text, sizeof text) == 0, "%s", text);
      kw_test_call_free(&r->call);
    }
    for (int i = 0; i < KW_TEST_THREADS; i++) {
      c.repeats[i] = (repeat){.stream = i % 3 == 0 ? fallback : i % 3 == 1 ? own : kw_test_stream(), .kernel = kernel};
      kw_test_call_copy(call, &c.repeats[i].call);
    }
    add_load(l);
    kw_test_run_threads(compare_body, &c);
    for (int i = 0; i < KW_TEST_THREADS; i++) {
      kw_test_call_free(&c.repeats[i].call);
      if (i % 3 == 2) KW_CHECK_OK(kw_stream_destroy(c.repeats[i].stream));
    }
  }
  KW_CHECK_OK(kw_math_mode_set(KW_MATH_HIGHEST));
  kw_test_call_free(&first.call);
  KW_CHECK_OK(kw_stream_destroy(own));
  free(want);
}

/* Every kernel of every op that is flagged deterministic, in one dtype of each kind that it takes. */
void kw_contract_determinism_op(void **state) {
  (void)state;
  uint32_t checked = 0;
  load l = start_load();
  for (int d = 0; d < KW_TEST_KINDS; d++) {
    kw_test_call call;
    if (kw_op_support(kw_contract.op, kw_contract.device, kw_test_kinds[d]) == KW_SUPPORT_NONE) continue;
    if (!kw_test_call_make(kw_contract.op, kw_test_kinds[d], NUMEL, &call)) continue;
    kw_kernel_info kernel = {.struct_size = sizeof kernel};
    for (uint32_t k = 0; kw_op_get_kernel(call.op, kw_contract.device, k, &kernel) == KW_OK; k++) {
      if (!(kernel.flags & KW_KERNEL_DETERMINISTIC)) continue;
      check_kernel(&call, &kernel, &l);
      checked++;
    }
    kw_test_call_free(&call);
  }
  end_load(&l);
  if (!checked) kw_test_skip("the device has no kernel of this op that is flagged deterministic");
}
