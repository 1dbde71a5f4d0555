/* SPDX-License-Identifier: Apache-2.0
 *
 * The worker's facts and units.
 */
#include "worker.h"

#include "image.h"

#include <keyway/plugin.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- The device -------------------------------------------------------------------------------------------------- */

static void add_op(kw_worker *w, const kw_suite_op *suite_op, const kw_op *op) {
  kw_op_facts *facts = &w->facts.ops[w->facts.op_count++];
  facts->op = *suite_op;
  uint64_t keys = kw_suite_op_keys(suite_op);
  for (kw_dtype d = 0; d < KW_DTYPE_COUNT; d++) {
    if (!(keys & KW_DTYPE_BIT(d))) continue;
    kw_support support = kw_op_support(op, w->device, d);
    if (support == KW_SUPPORT_KERNEL) facts->kernels |= KW_DTYPE_BIT(d);
    if (support == KW_SUPPORT_DECOMPOSED) facts->decomposed |= KW_DTYPE_BIT(d);
  }
}

/* An op that only this plugin defines, as far as cases of it can be generated. */
static bool vendor_op(const kw_op *op, const kw_op_info *info, kw_suite_op *out) {
  if (!kw_suite_op_take(op, out)) return false;
  out->vendor = true;
  out->row.dtypes = info->dtypes.bits[0];
  out->row.shape = KW_SHAPE_CUSTOM;
  out->row.result = KW_RESULT_CUSTOM;
  out->row.compare = KW_CMP_ULP;
  out->row.ulp = info->max_ulp;
  out->row.magnitude = "";
  out->row.level = KW_LEVEL_VENDOR;
  return true;
}

static void list_ops(kw_worker *w) {
  uint32_t table_count, total = kw_op_count();
  const kw_suite_op *table = kw_suite_ops(&table_count);
  w->facts.ops = calloc(table_count + total, sizeof *w->facts.ops);
  w->ops = calloc(table_count + total, sizeof *w->ops);
  if (!w->facts.ops || !w->ops) abort();
  for (uint32_t i = 0; i < table_count; i++) {
    const kw_op *op = kw_op_find(table[i].name);
    if (op) add_op(w, &table[i], op);
  }
  for (uint32_t i = 0; i < total; i++) {
    kw_op_info info = {.struct_size = sizeof info};
    kw_suite_op op;
    const kw_op *at = kw_op_at(i);
    if (kw_op_get_info(at, &info) != KW_OK || info.level != KW_LEVEL_VENDOR || !vendor_op(at, &info, &op)) continue;
    add_op(w, &op, at);
  }
  for (uint32_t i = 0; i < w->facts.op_count; i++) w->ops[i] = w->facts.ops[i].op;
}

static const char *plugin_path_of(kw_device *device) {
  uint32_t count = 0;
  kw_device_count(&count);
  for (uint32_t i = 0; i < count; i++) {
    kw_device_entry entry = {.struct_size = sizeof entry};
    kw_plugin_report report = {.struct_size = sizeof report};
    if (kw_device_get_entry(i, &entry) != KW_OK || strcmp(entry.name, kw_device_name(device)) != 0) continue;
    if (kw_plugin_get_report(entry.plugin, &report) == KW_OK) return report.path;
  }
  return "";
}

static void refuse(kw_worker *w, kw_status status, const char *what, const char *name) {
  const char *reason = kw_error_message();
  size_t size = strlen(what) + strlen(name) + strlen(reason) + 64;
  w->facts.status = status;
  w->facts.text = malloc(size);
  if (w->facts.text) snprintf(w->facts.text, size, "%s %s: %s", what, name, *reason ? reason : kw_status_name(status));
}

void kw_worker_open(kw_worker *w, const char *device, char *const *plugins, uint32_t plugin_count, uint64_t seed) {
  memset(w, 0, sizeof *w);
  w->seed = seed;
  kw_fallback_set(KW_FALLBACK_OFF);
  for (uint32_t i = 0; i < plugin_count; i++) {
    kw_status status = kw_plugin_load(plugins[i]);
    if (status != KW_OK) {
      refuse(w, status, "plugin", plugins[i]);
      return;
    }
  }
  kw_status status = kw_device_open(device, &w->device);
  if (status == KW_OK) status = kw_stream_create(w->device, &w->stream);
  if (status != KW_OK) {
    refuse(w, status, "device", device);
    return;
  }
  kw_device_info info = {.struct_size = sizeof info};
  kw_device_get_info(w->device, &info);
  w->facts.device = strdup(kw_device_name(w->device));
  w->facts.product = strdup(info.name);
  w->facts.emulated = (info.flags & KW_DEVICE_EMULATED) != 0;
  w->facts.flush = info.flush_subnormal.bits[0];
  list_ops(w);
  kw_worker_contract_open(w, plugin_path_of(w->device));
}

/* ---- One unit ---------------------------------------------------------------------------------------------------- */

typedef struct unit {
  kw_worker *w;
  const kw_case *c;
  const kw_op *op;
  uint32_t run;
  unsigned char poison;
  kw_image images[KW_SUITE_ARGS];  /* of inputs; bytes NULL where there is none */
  kw_tensor *views[KW_SUITE_ARGS]; /* of input tensors */
  kw_unit_result *result;
  void *owned[4 * KW_UNIT_PATHS * KW_SUITE_RESULTS]; /* buffers that the result points to */
  uint32_t owned_count;
} unit;

static void *own(unit *u, size_t size) {
  void *memory = malloc(size ? size : 1);
  if (!memory) abort();
  u->owned[u->owned_count++] = memory;
  return memory;
}

static const char *own_text(unit *u, const char *text) {
  char *copy = own(u, strlen(text) + 1);
  strcpy(copy, text);
  return copy;
}

static const char *own_format(unit *u, const char *format, uint32_t number) {
  char text[96];
  snprintf(text, sizeof text, format, number);
  return own_text(u, text);
}

static void path_failed(unit *u, kw_unit_path *path, kw_status status) {
  path->status = status;
  path->message = own_text(u, kw_error_message());
}

/* Storage does not start where it did in the other run. */
static int64_t lead_of(const unit *u, uint32_t arg) {
  return u->run == 0 ? 64 : 65 + (int64_t)((u->c->hash >> (4 * arg)) % 31);
}

static bool is_shared(const kw_case *c, uint32_t arg) {
  for (uint32_t i = 0; i < c->arg_count; i++) {
    if (c->args[i].value.tag == KW_TAG_TENSOR && c->args[i].tensor.share == (int)arg) return true;
  }
  return false;
}

static kw_status make_inputs(unit *u) {
  const kw_case *c = u->c;
  for (uint32_t i = 0; i < c->arg_count; i++) {
    const kw_case_tensor *tensor = &c->args[i].tensor;
    if (c->args[i].value.tag != KW_TAG_TENSOR || (c->args[i].output && !c->op->vendor)) continue;
    uint32_t source = tensor->share >= 0 ? (uint32_t)tensor->share : i;
    kw_image *image = &u->images[source];
    if (source == i) {
      kw_value_key key = kw_case_value_key(c, i, u->w->seed, u->run);
      kw_status status = kw_image_create(u->w->device, tensor, lead_of(u, i), u->poison, image);
      if (status != KW_OK) return status;
      kw_image_fill(image, &key, is_shared(c, i));
      status = kw_image_upload(image);
      if (status != KW_OK) return status;
    }
    kw_status status = kw_image_view(image, tensor, &u->views[i]);
    if (status != KW_OK) return status;
  }
  return KW_OK;
}

static void check_inputs(unit *u, kw_unit_path *path) {
  for (uint32_t i = 0; i < u->c->arg_count && !*path->defect; i++) {
    if (!u->images[i].base || u->c->args[i].output) continue;
    kw_change change;
    kw_status status = kw_image_check(&u->images[i], true, NULL, &change);
    if (status != KW_OK) {
      path_failed(u, path, status);
      return;
    }
    if (change == KW_CHANGE_NONE) continue;
    bool inside = change == KW_CHANGE_INSIDE;
    path->defect = own_format(u, inside ? "input %u changed" : "guard zone around input %u changed", i);
    kw_image_upload(&u->images[i]); /* the next path starts from what the case says */
  }
}

static void check_output(unit *u, kw_unit_path *path, const kw_image *image, kw_unit_output *out) {
  static const char *const texts[] = {"", "guard zone before output 0 changed", "guard zone after output 0 changed",
                                      "bytes between the elements of output 0 changed", ""};
  out->dtype = image->layout.dtype;
  out->rank = image->layout.rank;
  memcpy(out->shape, image->layout.shape, sizeof out->shape);
  out->length = (size_t)image->layout.numel * image->item;
  out->expected_dtype = KW_DTYPE_NONE;
  void *dense = own(u, out->length);
  out->data = dense;
  kw_change change;
  kw_status status = kw_image_check(image, false, dense, &change);
  if (status != KW_OK) path_failed(u, path, status);
  if (change != KW_CHANGE_NONE && !*path->defect) path->defect = texts[change];
  path->output_count = 1;
}

static void read_outputs(unit *u, kw_unit_path *path, kw_tensor **outs) {
  for (uint32_t o = 0; o < u->c->op->result_count; o++) {
    const kw_tensor_ref *ref = kw_tensor_describe(outs[o]);
    kw_unit_output *out = &path->outputs[o];
    out->dtype = ref->dtype;
    out->rank = ref->rank;
    memcpy(out->shape, ref->shape, sizeof out->shape);
    out->length = (size_t)ref->numel * kw_dtype_size(ref->dtype);
    out->expected_dtype = KW_DTYPE_NONE;
    void *dense = own(u, out->length);
    out->data = dense;
    kw_status status = kw_tensor_read(outs[o], dense);
    if (status != KW_OK) path_failed(u, path, status);
    path->output_count = o + 1;
  }
}

static void fill_args(const unit *u, kw_tensor *out_view, kw_value args[KW_SUITE_ARGS]) {
  for (uint32_t i = 0; i < u->c->arg_count; i++) {
    args[i] = kw_case_arg_value(u->c, i);
    if (args[i].tag != KW_TAG_TENSOR) continue;
    args[i] = kw_arg_tensor(u->c->args[i].output && !u->c->op->vendor ? out_view : u->views[i]);
  }
}

static kw_status call_kernel(const unit *u, const kw_value *args, kw_tensor **outs, const char *kernel) {
  kw_stream *stream = u->run ? u->w->stream : NULL;
  uint32_t count = u->c->op->result_count;
  if (!kernel) return kw_op_call(u->op, stream, args, u->c->arg_count, outs, count);
  kw_plan *plan;
  kw_status status = kw_plan_make(u->op, stream, args, u->c->arg_count, outs, count, kernel, &plan);
  if (status != KW_OK) return status;
  status = kw_plan_run(plan, stream, args, u->c->arg_count, outs, count);
  kw_stream_synchronize(u->run ? u->w->stream : kw_stream_default(u->w->device)); /* before its state is released */
  kw_plan_destroy(plan);
  return status;
}

/* Runs one path. Kernels get a guarded output of the case's layout. The default path lets core allocate in run 0,
 * except in cases about outputs and where the op writes in place. A vendor's op always allocates. */
static void run_path(unit *u, const char *kernel) {
  const kw_case *c = u->c;
  kw_unit_path *path = &u->result->paths[u->result->path_count++];
  *path = (kw_unit_path){.kernel = kernel ? own_text(u, kernel) : "", .message = "", .defect = ""};
  bool given = !c->op->vendor && (kernel || u->run || c->op->in_place || c->class == KW_CLASS_OUTPUTS);
  kw_image image = {0};
  kw_tensor *outs[KW_SUITE_RESULTS] = {NULL};
  kw_value args[KW_SUITE_ARGS];
  bool own_memory = c->op->vendor && c->op->in_place; /* a vendor's (a!): its argument, anew for each path */
  kw_status status = own_memory ? kw_image_upload(&u->images[0]) : KW_OK;
  if (given) status = kw_image_create(u->w->device, &c->out, lead_of(u, 7), u->poison, &image);
  if (given && status == KW_OK) status = kw_image_upload(&image);
  if (given && status == KW_OK) status = kw_image_view(&image, &c->out, &outs[0]);
  if (status == KW_OK) {
    kw_tensor *view = outs[0];
    fill_args(u, view, args);
    if (c->op->in_place && !c->op->vendor) outs[0] = NULL;
    status = call_kernel(u, args, outs, kernel);
    if (!outs[0]) outs[0] = own_memory ? u->views[0] : view;
    if (own_memory) kw_tensor_retain(outs[0]);
  }
  kw_status late = kw_stream_synchronize(u->run ? u->w->stream : kw_stream_default(u->w->device));
  if (status == KW_OK) status = late;
  if (status != KW_OK) path_failed(u, path, status);
  if (status == KW_OK && given) check_output(u, path, &image, &path->outputs[0]);
  if (status == KW_OK && !given) read_outputs(u, path, outs);
  check_inputs(u, path);
  for (uint32_t o = 0; o < KW_SUITE_RESULTS; o++) kw_tensor_release(outs[o]);
  kw_image_destroy(&image);
}

/* ---- A vendor's own reference ------------------------------------------------------------------------------------ */

static kw_tensor_ref host_input(const unit *u, uint32_t arg) {
  const kw_case_tensor *tensor = &u->c->args[arg].tensor;
  const kw_image *image = &u->images[tensor->share >= 0 ? (uint32_t)tensor->share : arg];
  kw_tensor_ref ref = {.struct_size = sizeof ref, .dtype = tensor->dtype, .rank = (uint8_t)tensor->rank};
  ref.mem = image->bytes;
  ref.offset = (uint64_t)(image->lead + tensor->offset) * image->item;
  ref.numel = tensor->numel;
  ref.alignment = 1;
  memcpy(ref.shape, tensor->shape, sizeof ref.shape);
  memcpy(ref.strides, tensor->strides, sizeof ref.strides);
  return ref;
}

static kw_tensor_ref host_output(const kw_unit_output *out, void *memory) {
  kw_tensor_ref ref = {
      .struct_size = sizeof ref, .dtype = out->expected_dtype, .rank = (uint8_t)out->rank, .mem = memory};
  ref.alignment = 1;
  ref.numel = 1;
  for (uint32_t d = out->rank; d-- > 0;) {
    ref.shape[d] = out->shape[d];
    ref.strides[d] = ref.numel;
    ref.numel *= out->shape[d];
  }
  return ref;
}

/* Runs the vendor's reference on the same inputs; the outputs of every path are to be like these. */
static void expect_vendor(unit *u) {
  kw_unit_path *first = NULL;
  for (uint32_t i = 0; i < u->result->path_count && !first; i++) {
    if (u->result->paths[i].status == KW_OK) first = &u->result->paths[i];
  }
  if (!first || u->c->op->in_place) return;
  kw_value args[KW_SUITE_ARGS];
  kw_tensor_ref inputs[KW_SUITE_ARGS], results[KW_SUITE_RESULTS];
  const kw_tensor_ref *outs[KW_SUITE_RESULTS];
  for (uint32_t i = 0; i < u->c->op->arg_count; i++) {
    args[i] = kw_case_arg_value(u->c, i);
    if (args[i].tag != KW_TAG_TENSOR) continue;
    inputs[i] = host_input(u, i);
    args[i].u.tensor = &inputs[i];
  }
  for (uint32_t o = 0; o < first->output_count; o++) {
    kw_unit_output *out = &first->outputs[o];
    out->expected_dtype = kw_datum_is_float(out->dtype) ? KW_F64 : out->dtype;
    out->expected_length = out->length / kw_datum_size(out->dtype) * kw_datum_size(out->expected_dtype);
    void *memory = own(u, out->expected_length);
    memset(memory, 0, out->expected_length);
    out->expected = memory;
    results[o] = host_output(out, memory);
    outs[o] = &results[o];
  }
  kw_call call = {.struct_size = sizeof call,
                  .arg_count = u->c->op->arg_count,
                  .out_count = first->output_count,
                  .op = u->c->op->name,
                  .args = args,
                  .outs = outs};
  bool known = kw_op_run_reference(u->op, &call) == KW_OK;
  for (uint32_t i = 0; i < u->result->path_count; i++) {
    kw_unit_path *path = &u->result->paths[i];
    for (uint32_t o = 0; o < path->output_count; o++) {
      kw_unit_output *out = &path->outputs[o], *like = &first->outputs[o];
      out->expected_dtype = known ? like->expected_dtype : KW_DTYPE_NONE;
      out->expected = like->expected;
      out->expected_length = like->expected_length;
    }
  }
}

/* ---- All paths --------------------------------------------------------------------------------------------------- */

static void run_paths(unit *u) {
  uint32_t kernels = 0;
  kw_kernel_info info = {.struct_size = sizeof info};
  for (uint32_t i = 0; kw_op_get_kernel(u->op, u->w->device, i, &info) == KW_OK; i++) {
    bool takes = info.dtypes.bits[0] & KW_DTYPE_BIT(u->c->key);
    if (takes && u->result->path_count < KW_UNIT_PATHS - 1) {
      run_path(u, info.name);
      kernels += u->result->paths[u->result->path_count - 1].status != KW_ERR_NOT_IMPLEMENTED;
    }
    info.struct_size = sizeof info;
  }
  if (u->run == 0 || kernels == 0) run_path(u, NULL);
}

void kw_worker_run(kw_worker *w, const char *id, uint32_t run, kw_message *out_message) {
  kw_unit_result result = {.id = id, .run = run};
  kw_case c;
  unit u = {.w = w, .c = &c, .run = run, .poison = kw_unit_poison(run), .result = &result};
  kw_counters before = {.struct_size = sizeof before}, after = {.struct_size = sizeof after};
  kw_device_get_counters(w->device, &before);
  bool known = kw_case_from_id(id, w->ops, w->facts.op_count, &c);
  if (known) u.op = kw_op_find(c.op->name);
  if (u.op) {
    kw_status status = make_inputs(&u);
    if (status == KW_OK) {
      run_paths(&u);
      if (c.op->vendor) expect_vendor(&u);
    } else {
      kw_unit_path *path = &result.paths[result.path_count++];
      *path = (kw_unit_path){.kernel = "", .defect = "inputs could not be made"};
      path_failed(&u, path, status);
    }
  }
  kw_device_get_counters(w->device, &after);
  result.launches = after.launches - before.launches;
  result.decomposed = after.decomposed - before.decomposed;
  result.fallbacks = after.fallbacks - before.fallbacks;
  kw_unit_write(&result, out_message);
  for (uint32_t i = 0; i < KW_SUITE_ARGS; i++) {
    kw_tensor_release(u.views[i]);
    kw_image_destroy(&u.images[i]);
  }
  for (uint32_t i = 0; i < u.owned_count; i++) free(u.owned[i]);
}
