/* SPDX-License-Identifier: Apache-2.0
 *
 * Suite soak: calls of many ops prepared and forgotten again, and calls with ever new shapes.
 */
#include "resources.h"
#include "soak.h"

#include <stdio.h>

enum { NUMEL = 64, FEW_OPS = 16, BLOCK = 200, LEAST = 16 };

/* ---- Of many ops ------------------------------------------------------------------------------------------------- */

typedef struct planned {
  kw_known_call known;
  int64_t kept; /* bytes of the heap that its plans took and did not give back, made and destroyed */
} planned;

static struct {
  planned *calls;
  uint32_t count;
} known;

/* Whether the plugin compiles its kernels: then a test cannot have one of every op. */
static bool compiles(void) {
  kw_counters counters = {.struct_size = sizeof counters};
  KW_CHECK_OK(kw_device_get_counters(kw_contract.device, &counters));
  return counters.modules_built + counters.modules_cached > 0;
}

static bool learn(const kw_op *op, kw_dtype dtype, kw_known_call *out) {
  kw_op_info info = {.struct_size = sizeof info};
  KW_CHECK_OK(kw_op_get_info(op, &info));
  return !info.counted && kw_op_support(op, kw_contract.device, dtype) == KW_SUPPORT_KERNEL && kw_test_op_repeats(op) &&
         kw_known_call_make(op, dtype, NUMEL, out);
}

/* One call of each op that can be compared with itself; of a plugin that compiles, of some, by the seed. */
static void learn_calls(void) {
  const uint32_t count = kw_op_count(), start = (uint32_t)(kw_contract.seed * 97 % count);
  known.calls = kw_test_memory(count * sizeof *known.calls);
  known.count = 0;
  for (uint32_t i = 0; i < count; i++) {
    bool learnt = false;
    for (int kind = 0; kind < KW_TEST_KINDS && !learnt; kind++) {
      learnt = learn(kw_op_at((start + i) % count), kw_test_kinds[kind], &known.calls[known.count].known);
    }
    known.count += learnt;
    if (kw_contract.effort != KW_EFFORT_THOROUGH && known.count >= FEW_OPS && compiles()) break;
  }
  if (known.count == 0) kw_contract_not_tried("%s has no op that gives the same each time", kw_contract.device_name);
}

static void free_calls(void) {
  for (uint32_t i = 0; i < known.count; i++) kw_known_call_free(&known.calls[i].known);
  free(known.calls);
}

static void run_plan(planned *p, kw_stream *stream, uint64_t number) {
  const kw_known_call *c = &p->known;
  kw_value values[KW_MAX_ARGS];
  kw_tensor *outs[KW_MAX_RESULTS] = {NULL};
  kw_plan *plan = NULL;
  unsigned char *got = NULL;
  size_t size = 0;
  kw_test_call_values(&c->call, values);
  p->kept -= kw_resource_heap();
  KW_CHECK_OK(kw_plan_make(c->call.op, stream, values, c->call.given, outs, c->call.info.result_count, NULL, &plan));
  p->kept += kw_resource_heap();
  KW_CHECK_OK(kw_plan_run(plan, stream, values, c->call.given, outs, c->call.info.result_count));
  p->kept -= kw_resource_heap();
  kw_plan_destroy(plan);
  p->kept += kw_resource_heap();
  KW_CHECK_OK(kw_stream_synchronize(stream));
  KW_CHECK_OK(kw_test_call_results(&c->call, outs, &got, &size));
  KW_CHECK(size == c->size && memcmp(got, c->want, size) == 0, "plan %s, of %s, gave another result than a call of it",
           kw_soak_number(number), c->call.info.name);
  free(got);
  for (uint32_t r = 0; r < c->call.info.result_count; r++) kw_tensor_release(outs[r]);
}

static void run_plans(void *user, uint64_t first, uint64_t count) {
  for (uint64_t i = 0; i < count; i++) run_plan(&known.calls[(first + i) % known.count], user, first + i + 1);
}

static void explain(void *user, char *out_text, size_t size) {
  (void)user;
  const planned *most = &known.calls[0];
  for (uint32_t i = 1; i < known.count; i++) most = known.calls[i].kept > most->kept ? &known.calls[i] : most;
  snprintf(out_text, size, "; the most those of %s, one in %u", most->known.call.info.name, known.count);
}

/* Plans of many ops, made, run once and destroyed. */
void kw_contract_soak_plans(void **state) {
  (void)state;
  learn_calls();
  kw_stream *stream = kw_test_stream();
  const kw_soak_work work = {.objects = "plans",
                             .count = kw_soak_count(250, 10000, 70000),
                             .block = BLOCK,
                             .least = LEAST,
                             .run = run_plans,
                             .explain = explain,
                             .user = stream};
  kw_soak_run(&work);
  KW_CHECK_OK(kw_stream_destroy(stream));
  free_calls();
}

/* ---- Of many shapes ---------------------------------------------------------------------------------------------- */

enum { LARGEST = 1 << 17 };

/* A pointwise op of the device's, and arguments of which any first part will do. */
static kw_known_call broad;

/* The first elements of each argument, in place of it. */
static void take_views(int64_t count, kw_value values[KW_MAX_ARGS], kw_tensor *views[KW_MAX_ARGS]) {
  kw_test_call_values(&broad.call, values);
  for (uint32_t i = 0; i < broad.call.given; i++) {
    views[i] = NULL;
    if (values[i].tag != KW_TAG_TENSOR) continue;
    KW_CHECK_OK(kw_tensor_as_strided(broad.call.args[i].tensors[0], 1, &count, (int64_t[]){1}, 0, &views[i]));
    values[i] = kw_arg_tensor(views[i]);
  }
}

static void run_shapes(void *user, uint64_t first, uint64_t count) {
  const size_t item = kw_dtype_size(broad.form.dtype);
  for (uint64_t i = 0; i < count; i++) {
    const int64_t elements = 1 + (int64_t)(first + i) % broad.form.numel;
    kw_value values[KW_MAX_ARGS];
    kw_tensor *views[KW_MAX_ARGS], *out = NULL;
    kw_plan *plan = NULL;
    take_views(elements, values, views);
    KW_CHECK_OK(kw_plan_make(broad.call.op, user, values, broad.call.given, &out, 1, NULL, &plan));
    KW_CHECK_OK(kw_plan_run(plan, user, values, broad.call.given, &out, 1));
    kw_plan_destroy(plan);
    KW_CHECK_OK(kw_stream_synchronize(user));
    kw_tensor *last = NULL;
    unsigned char got[16];
    KW_CHECK_OK(kw_tensor_select(out, 0, elements - 1, &last));
    KW_CHECK_OK(kw_tensor_read(last, got));
    KW_CHECK(memcmp(got, broad.want + (size_t)(elements - 1) * item, item) == 0,
             "%s of %s elements, one of ever new shapes, has another last element than with more", broad.call.info.name,
             kw_soak_number((uint64_t)elements));
    kw_tensor_release(last);
    kw_tensor_release(out);
    for (uint32_t k = 0; k < broad.call.given; k++) kw_tensor_release(views[k]);
  }
}

/* Whether each of its arguments is a number, or a tensor of as many elements as the result. */
static bool is_elementwise(const kw_test_call *call, const kw_tensor_ref *out) {
  for (uint32_t i = 0; i < call->given; i++) {
    if (call->args[i].value.tag == KW_TAG_TENSOR_LIST) return false;
    if (call->args[i].value.tag != KW_TAG_TENSOR) continue;
    if (kw_tensor_describe(call->args[i].tensors[0])->numel != out->numel) return false;
  }
  return out->numel > LARGEST / 2;
}

static bool take_broad(void *user, const kw_op *op, kw_dtype dtype) {
  kw_known_call *known = user;
  if (!kw_known_call_make(op, dtype, LARGEST, known)) return false;
  if (is_elementwise(&known->call, &known->form)) return true;
  kw_known_call_free(known);
  return false;
}

/* Calls of one op with ever new shapes: what is kept for a shape has an end. */
void kw_contract_soak_shapes(void **state) {
  (void)state;
  if (!kw_soak_choose(true, take_broad, &broad)) {
    kw_contract_not_tried("%s has no pointwise op that gives the same each time", kw_contract.device_name);
  }
  kw_stream *stream = kw_test_stream();
  const kw_soak_work work = {.objects = "calls with ever new shapes",
                             .count = kw_soak_count(250, 5000, 20000),
                             .block = BLOCK,
                             .least = LEAST,
                             .run = run_shapes,
                             .user = stream};
  kw_soak_run(&work);
  KW_CHECK_OK(kw_stream_destroy(stream));
  kw_known_call_free(&broad);
}
