/* SPDX-License-Identifier: Apache-2.0
 *
 * The steps. TRY leaves a step at the first call that fails, by way of its clean-up.
 */
#include "steps.h"

#include "op_table.h"

#include <keyway/dlpack.h>
#include <keyway/interop.h>

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

_Thread_local const char *step_device;
const char *step_plugin, *step_host, *step_other;
_Thread_local char step_where[128], step_message[512];

static kw_status stop(const char *where, kw_status status) {
  snprintf(step_where, sizeof step_where, "%s", where);
  snprintf(step_message, sizeof step_message, "%s", status == STEP_WRONG ? "" : kw_error_message());
  return status;
}

#define TRY(call)          \
  do {                     \
    status = (call);       \
    if (status != KW_OK) { \
      stop(#call, status); \
      goto end;            \
    }                      \
  } while (0)
#define WANT(condition)                      \
  do {                                       \
    if (!(condition)) {                      \
      status = stop(#condition, STEP_WRONG); \
      goto end;                              \
    }                                        \
  } while (0)

#define SIDE 8
#define COUNT (SIDE * SIDE)
static const int64_t square[] = {SIDE, SIDE};

/* 0, 1, 2, .. as a square. */
static kw_status make_square(kw_device *device, kw_stream *stream, kw_tensor **out_tensor) {
  float numbers[COUNT];
  for (int i = 0; i < COUNT; i++) numbers[i] = (float)i;
  kw_status status = stream != NULL ? kw_tensor_create_on(stream, KW_F32, 2, square, out_tensor)
                                    : kw_tensor_create(device, KW_F32, 2, square, out_tensor);
  return status == KW_OK ? kw_tensor_write(*out_tensor, numbers) : status;
}

/* A call with one result that is not given. */
static kw_status call(const char *op, kw_stream *stream, const kw_value *args, uint32_t count, kw_tensor **out_tensor) {
  return kw_op_call(kw_op_find(op), stream, args, count, out_tensor, 1);
}

/* ---- Start ------------------------------------------------------------------------------------------------------- */

/* A plugin whose file cannot be read is missing, and its report says why; want of memory keeps none away. */
static kw_status list(void) {
  kw_status status = KW_OK;
  uint32_t devices, plugins, missing = 0;
  if (kw_op_count() == 0) return stop("kw_op_count()", KW_ERR_OUT_OF_MEMORY);
  WANT(kw_op_count() >= kw_op_table_count && kw_op_find("add.Tensor") != NULL);
  TRY(kw_device_count(&devices));
  for (uint32_t i = 0; i < devices; i++) {
    kw_device_entry entry = {.struct_size = sizeof entry};
    TRY(kw_device_get_entry(i, &entry));
    WANT(entry.name[0] != '\0');
  }
  TRY(kw_plugin_count(&plugins));
  for (uint32_t i = 0; i < plugins; i++) {
    kw_plugin_report report = {.struct_size = sizeof report};
    TRY(kw_plugin_get_report(i, &report));
    WANT(report.status == KW_OK || report.reason[0] != '\0');
    WANT(report.status != KW_ERR_OUT_OF_MEMORY);
    missing += report.status != KW_OK;
  }
  WANT(plugins > missing ? devices > 0 : plugins > 0);
end:
  return status;
}

static kw_status start_alone(void) {
  kw_status status;
  const kw_init_options options = {.struct_size = sizeof options, .flags = KW_INIT_NO_DISCOVERY};
  static bool started; /* it does once */
  if (!started) TRY(kw_init(&options));
  started = true;
  TRY(kw_plugin_load(step_plugin));
  if (step_host != NULL) TRY(kw_plugin_load(step_host));
  status = list();
end:
  return status;
}

static kw_status load(void) {
  kw_status status;
  kw_plugin_report report = {.struct_size = sizeof report};
  uint32_t plugins;
  TRY(kw_plugin_load(step_other));
  TRY(kw_plugin_count(&plugins));
  TRY(kw_plugin_get_report(plugins - 1, &report));
  WANT(report.status == KW_OK && report.device_count > 0);
end:
  return status;
}

/* ---- Devices ----------------------------------------------------------------------------------------------------- */

static kw_status open_and_close(void) {
  kw_status status;
  kw_device *device = NULL;
  kw_attribute attribute = {.struct_size = sizeof attribute};
  TRY(kw_device_open(step_device, &device));
  WANT(kw_device_name(device)[0] != '\0' && kw_generator_default(device) != NULL && kw_stream_default(device) != NULL);
  if (kw_device_attribute(device, "memory.total", &attribute) != KW_OK) kw_error_clear();
end:
  if (device != NULL) kw_device_close(device);
  return status;
}

static kw_status copies(void) {
  kw_status status;
  kw_device *device = NULL;
  kw_tensor *from = NULL, *to = NULL, *turned = NULL;
  kw_stream *stream = NULL;
  void *host = NULL, *map = NULL;
  float got[COUNT];
  char text[128];
  TRY(kw_device_open(step_device, &device));
  TRY(kw_stream_create(device, &stream));
  TRY(make_square(device, NULL, &from));
  TRY(kw_tensor_create(device, KW_F32, 2, square, &to));
  TRY(kw_tensor_copy_async(to, stream, from, NULL));
  TRY(kw_host_alloc(device, sizeof got, &host));
  TRY(kw_tensor_read_async(to, host, stream));
  TRY(kw_stream_synchronize(stream));
  WANT(((float *)host)[COUNT - 1] == COUNT - 1);
  TRY(kw_tensor_write_async(to, host, stream));
  TRY(kw_stream_synchronize(stream));
  TRY(kw_tensor_transpose(to, 0, 1, &turned));
  TRY(kw_tensor_read(turned, got));
  WANT(got[1] == SIDE && got[SIDE] == 1);
  TRY(kw_tensor_write(turned, host));
  TRY(kw_tensor_map(to, NULL, KW_MAP_READ | KW_MAP_WRITE, &map));
  WANT(((float *)map)[1] == SIDE);
  TRY(kw_tensor_unmap(to, map));
  map = NULL;
  TRY(kw_tensor_format(to, text, sizeof text));
  kw_tensor_release(turned);
  turned = NULL;
  TRY(kw_tensor_to(from, device, &turned));
  TRY(kw_memory_trim(device));
end:
  if (map != NULL && kw_tensor_unmap(to, map) != KW_OK) kw_error_clear();
  kw_tensor_release(turned);
  kw_tensor_release(to);
  kw_tensor_release(from);
  if (host != NULL) kw_host_free(device, host);
  kw_stream_destroy(stream);
  if (device != NULL) kw_device_close(device);
  return status;
}

static void KW_CALL count_run(void *user) {
  atomic_fetch_add((atomic_int *)user, 1);
}

static kw_status streams(void) {
  kw_status status;
  kw_device *device = NULL;
  kw_stream *first = NULL, *second = NULL;
  kw_event *begin = NULL, *end_event = NULL;
  kw_tensor *tensor = NULL, *sum = NULL;
  static atomic_int ran; /* a call that was enqueued before a failure may still come */
  const int before = ran;
  uint64_t ns;
  float got[COUNT];
  TRY(kw_device_open(step_device, &device));
  TRY(kw_stream_create(device, &first));
  TRY(kw_stream_create(device, &second));
  TRY(kw_event_create(device, &begin));
  TRY(kw_event_create(device, &end_event));
  TRY(make_square(device, first, &tensor));
  const kw_value args[] = {kw_arg_tensor(tensor), kw_arg_tensor(tensor)};
  TRY(kw_event_record(begin, first));
  TRY(kw_stream_wait_event(second, begin));
  TRY(call("add.Tensor", second, args, 2, &sum));
  TRY(kw_stream_call_host(second, count_run, &ran));
  TRY(kw_event_record(end_event, second));
  TRY(kw_event_synchronize(end_event));
  WANT(ran > before);
  TRY(kw_event_elapsed(begin, end_event, &ns));
  TRY(kw_stream_synchronize(second));
  TRY(kw_tensor_read(sum, got));
  WANT(got[3] == 6);
  TRY(kw_device_synchronize(device));
end:
  kw_tensor_release(tensor);
  kw_tensor_release(sum);
  kw_event_destroy(begin);
  kw_event_destroy(end_event);
  kw_stream_destroy(first);
  kw_stream_destroy(second);
  if (device != NULL) kw_device_close(device);
  return status;
}

/* ---- Calls ------------------------------------------------------------------------------------------------------- */

static kw_status calls(void) {
  kw_status status;
  kw_device *device = NULL;
  kw_tensor *tensor = NULL, *turned = NULL, *out = NULL;
  float got[COUNT];
  TRY(kw_device_open(step_device, &device));
  TRY(make_square(device, NULL, &tensor));
  TRY(kw_tensor_transpose(tensor, 0, 1, &turned));
  const kw_value two[] = {kw_arg_tensor(tensor), kw_arg_tensor(turned)};
  TRY(call("add.Tensor", NULL, two, 2, &out));
  TRY(kw_tensor_read(out, got));
  WANT(got[1] == 1 + SIDE && got[COUNT - 1] == 2 * (COUNT - 1));
  TRY(kw_op_call(kw_op_find("add.Tensor"), NULL, two, 2, &out, 1)); /* into a result that is given */
  kw_tensor_release(out);
  out = NULL;
  TRY(call("mm", NULL, two, 2, &out));
  TRY(kw_tensor_read(out, got));
  WANT(got[0] == 140); /* 0 + 1 + 4 + .. + 49 */
  kw_tensor_release(out);
  out = NULL;
  const kw_value softmax[] = {kw_arg_tensor(tensor), kw_arg_int(-1), kw_arg_bool(false)};
  TRY(call("_softmax", NULL, softmax, 3, &out));
  TRY(kw_tensor_read(out, got));
  WANT(got[7] > 0.6f && got[7] < 0.7f);
  kw_tensor_release(out);
  out = NULL;
  const kw_value fill[] = {kw_arg_tensor(tensor), kw_arg_scalar_f64(7)};
  TRY(kw_op_call(kw_op_find("fill_.Scalar"), NULL, fill, 2, NULL, 0));
  TRY(kw_tensor_read(turned, got));
  WANT(got[5] == 7);
end:
  kw_tensor_release(tensor);
  kw_tensor_release(turned);
  kw_tensor_release(out);
  if (device != NULL) kw_device_close(device);
  return status;
}

/* Those that need more than one kernel, host memory or a wait: a decomposition, a mask, an unknown size, a list, random
 * numbers, autocast, a weight. */
static kw_status long_calls(void) {
  kw_status status;
  kw_device *device = NULL;
  kw_tensor *tensor = NULL, *out = NULL, *mask = NULL;
  kw_generator *generator = NULL;
  float got[2 * COUNT];
  TRY(kw_device_open(step_device, &device));
  TRY(make_square(device, NULL, &tensor));
  TRY(kw_generator_create(device, 3, &generator));
  const kw_value addmm[] = {kw_arg_tensor(tensor), kw_arg_tensor(tensor), kw_arg_tensor(tensor)};
  TRY(call("addmm", NULL, addmm, 3, &out));
  kw_tensor_release(out);
  out = NULL;
  const kw_value compared[] = {kw_arg_tensor(tensor), kw_arg_scalar_f64(60)};
  TRY(call("ge.Scalar", NULL, compared, 2, &mask));
  const kw_value nonzero[] = {kw_arg_tensor(mask)};
  TRY(call("nonzero", NULL, nonzero, 1, &out));
  WANT(kw_tensor_describe(out)->shape[0] == 4);
  kw_tensor_release(out);
  out = NULL;
  kw_tensor *masks[] = {mask};
  const kw_value indexed[] = {kw_arg_tensor(tensor), kw_arg_tensor_list(masks, 1)};
  TRY(call("index.Tensor", NULL, indexed, 2, &out));
  TRY(kw_tensor_read(out, got));
  WANT(got[0] == 60 && got[3] == 63);
  kw_tensor_release(out);
  out = NULL;
  kw_tensor *both[] = {tensor, tensor};
  const kw_value cat[] = {kw_arg_tensor_list(both, 2), kw_arg_int(0)};
  TRY(call("cat", NULL, cat, 2, &out));
  TRY(kw_tensor_read(out, got));
  WANT(got[COUNT + 1] == 1);
  kw_tensor_release(out);
  out = NULL;
  TRY(kw_tensor_set_constant(tensor, true));
  TRY(kw_autocast_set(KW_BF16, NULL));
  status = call("mm", NULL, addmm, 2, &out);
  kw_autocast_set(KW_DTYPE_NONE, NULL);
  TRY(status);
  TRY(kw_device_synchronize(device));
end:
  kw_generator_destroy(generator);
  kw_tensor_release(tensor);
  kw_tensor_release(out);
  kw_tensor_release(mask);
  if (device != NULL) kw_device_close(device);
  return status;
}

static kw_status plan(void) {
  kw_status status;
  kw_device *device = NULL;
  kw_tensor *tensor = NULL, *out = NULL;
  kw_plan *plan = NULL;
  float got[1];
  TRY(kw_device_open(step_device, &device));
  TRY(make_square(device, NULL, &tensor));
  const int64_t dims[] = {0, 1};
  const kw_value args[] = {kw_arg_tensor(tensor), kw_arg_int_list(dims, 2), kw_arg_bool(false)};
  const kw_op *op = kw_op_find("sum.dim_IntList");
  kw_call_support support = {.struct_size = sizeof support};
  TRY(kw_op_can_run(op, device, args, 3, &support));
  TRY(kw_plan_make(op, NULL, args, 3, &out, 1, NULL, &plan));
  TRY(kw_plan_run(plan, NULL, args, 3, &out, 1));
  TRY(kw_tensor_read(out, got));
  WANT(got[0] == COUNT * (COUNT - 1) / 2);
end:
  kw_tensor_release(tensor);
  kw_tensor_release(out);
  kw_plan_destroy(plan);
  if (device != NULL) kw_device_close(device);
  return status;
}

static kw_status graph(void) {
  kw_status status;
  kw_device *device = NULL;
  kw_stream *stream = NULL;
  kw_tensor *tensor = NULL, *sum = NULL, *whole = NULL;
  kw_graph *graph = NULL;
  float got[COUNT];
  TRY(kw_device_open(step_device, &device));
  TRY(kw_stream_create(device, &stream));
  TRY(make_square(device, NULL, &tensor));
  TRY(kw_graph_begin(stream));
  const kw_value twice[] = {kw_arg_tensor(tensor), kw_arg_tensor(tensor)};
  kw_status recorded = call("add.Tensor", stream, twice, 2, &sum);
  if (recorded != KW_OK) stop("the first call that is recorded", recorded);
  const kw_value sum_args[] = {kw_arg_tensor(sum), kw_arg_tensor(tensor)};
  if (recorded == KW_OK) {
    recorded = call("add.Tensor", stream, sum_args, 2, &whole);
    if (recorded != KW_OK) stop("the second call that is recorded", recorded);
  }
  TRY(kw_graph_end(stream, &graph));
  status = recorded;
  if (status != KW_OK) goto end;
  TRY(kw_graph_launch(graph, stream));
  TRY(kw_stream_synchronize(stream));
  TRY(kw_tensor_read(sum, got));
  WANT(got[5] == 10);
  TRY(kw_tensor_read(whole, got));
  WANT(got[5] == 15);
  TRY(kw_graph_launch(graph, NULL));
  TRY(kw_device_synchronize(device));
end:
  kw_tensor_release(tensor);
  kw_tensor_release(sum);
  kw_tensor_release(whole);
  kw_graph_destroy(graph);
  kw_stream_destroy(stream);
  if (device != NULL) kw_device_close(device);
  return status;
}

/* Memory of others and for others; what tells of calls. */
static void KW_CALL see_event(const kw_trace_event *event, void *user) {
  (void)event;
  ++*(unsigned *)user;
}

static kw_status exchange(void) {
  kw_status status;
  kw_device *device = NULL;
  kw_tensor *tensor = NULL, *back = NULL, *imported = NULL;
  DLManagedTensorVersioned *managed = NULL;
  static _Alignas(64) float memory[COUNT];
  unsigned events = 0;
  bool listening = false;
  const kw_external_memory external = {
      .struct_size = sizeof external, .kind = KW_HANDLE_HOST, .size = sizeof memory, .host = memory};
  TRY(kw_device_open(step_device, &device));
  TRY(kw_trace_listen(see_event, &events));
  listening = true;
  TRY(make_square(device, NULL, &tensor));
  TRY(kw_profile_push("range"));
  kw_profile_pop();
  TRY(kw_tensor_to_dlpack(tensor, NULL, &managed));
  TRY(kw_tensor_from_dlpack(device, managed, &back));
  managed = NULL;
  status = kw_tensor_import(device, &external, NULL, NULL, &imported);
  if (status == KW_ERR_UNSUPPORTED) status = KW_OK;
  TRY(status);
  TRY(kw_device_synchronize(device));
  WANT(events > 0);
end:
  if (listening) kw_trace_listen(NULL, NULL);
  if (managed != NULL) managed->deleter(managed);
  kw_tensor_release(imported);
  kw_tensor_release(back);
  kw_tensor_release(tensor);
  if (device != NULL) kw_device_close(device);
  return status;
}

const attack_step attack_steps[] = {
    {"start", true, false, list},          {"start-alone", true, false, start_alone}, {"load", false, false, load},
    {"open", false, true, open_and_close}, {"copies", false, true, copies},           {"streams", false, true, streams},
    {"calls", false, true, calls},         {"long-calls", false, true, long_calls},   {"plan", false, true, plan},
    {"graph", false, true, graph},         {"exchange", false, false, exchange},      {NULL, false, false, NULL},
};
