/* SPDX-License-Identifier: Apache-2.0
 *
 * How a worker runs a case.
 */
#include "worker/worker.h"

#include "case/make.h"
#include "case/parts.h"
#include "base/clock.h"
#include "base/worker_note.h"
#include "worker/guarded_tensor.h"

#include <keyway/plugin.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- One run of a case ------------------------------------------------------------------------------------------- */

typedef struct case_run {
  kw_worker *w;
  const kw_case *c;
  const kw_op *op;
  uint32_t run;
  unsigned char poison;
  kw_guarded_tensor guarded[KW_CASE_TENSORS]; /* of inputs; bytes NULL where there is none */
  kw_tensor *views[KW_CASE_TENSORS];          /* of input tensors; entries of a list follow each other */
  kw_case_tensor outs[KW_SUITE_RESULTS];      /* the results; a vendor's op: known after its first run */
  bool outs_known;
  kw_case_run *result;
  void *owned[4 * KW_CASE_RUN_PATHS * KW_SUITE_RESULTS]; /* buffers that live until the result is sent */
  uint32_t owned_count;
} case_run;

static void *own(case_run *u, size_t size) {
  void *memory = malloc(size ? size : 1);
  if (!memory || u->owned_count == sizeof u->owned / sizeof u->owned[0]) abort();
  u->owned[u->owned_count++] = memory;
  return memory;
}

static const char *own_text(case_run *u, const char *text) {
  char *copy = own(u, strlen(text) + 1);
  strcpy(copy, text);
  return copy;
}

static void path_failed(case_run *u, kw_case_run_path *path, kw_status status) {
  path->status = status;
  path->message = own_text(u, kw_error_message());
}

/* Storage does not start where it did in the other run. */
static int64_t lead_of(const case_run *u, uint32_t tensor) {
  return u->run == 0 ? 64 : 65 + (int64_t)((u->c->hash >> (3 * tensor % 60)) % 31);
}

/* True for a tensor of an op of the table that is one of the case's results. A vendor's (a!) argument is an input that
 * changes. */
static bool is_result(const kw_case *c, uint32_t tensor) {
  return c->tensors[tensor].output && !c->op->vendor;
}

static bool changes_arguments(const kw_case *c) {
  bool any = false;
  for (uint32_t i = 0; i < KW_CASE_TENSORS; i++) any |= c->tensors[i].output;
  return any;
}

static kw_status make_input(case_run *u, uint32_t index) {
  const kw_case_tensor *tensor = &u->c->tensors[index];
  uint32_t source = tensor->share >= 0 ? (uint32_t)tensor->share : index;
  kw_guarded_tensor *guarded = &u->guarded[source];
  kw_status status = KW_OK;
  if (source == index) {
    status = kw_guarded_tensor_create(u->w->device, tensor, lead_of(u, index), u->poison, guarded);
    if (status != KW_OK) return status;
    kw_case_fill(u->c, index, u->w->seed, u->run, kw_case_is_shared(u->c, index), kw_guarded_tensor_storage(guarded));
    status = kw_guarded_tensor_upload(guarded);
  }
  return status == KW_OK ? kw_guarded_tensor_view(guarded, tensor, &u->views[index]) : status;
}

static kw_status make_inputs(case_run *u) {
  kw_status status = KW_OK;
  for (uint32_t i = 0; i < KW_CASE_TENSORS && status == KW_OK; i++) {
    if (u->c->tensors[i].given && !is_result(u->c, i)) status = make_input(u, i);
  }
  return status;
}

static void check_inputs(case_run *u, kw_case_run_path *path) {
  for (uint32_t i = 0; i < KW_CASE_TENSORS && !*path->defect; i++) {
    if (!u->guarded[i].base) continue;
    bool mutable = u->c->tensors[i].output;
    kw_change change;
    kw_status status = kw_guarded_tensor_check(&u->guarded[i], !mutable, NULL, &change);
    if (status != KW_OK) {
      path_failed(u, path, status);
      return;
    }
    if (change == KW_CHANGE_NONE) continue;
    char name[40], text[96];
    kw_case_tensor_name(u->c, i, name, sizeof name);
    bool inside = change == KW_CHANGE_INSIDE;
    snprintf(text, sizeof text, inside ? "%s changed" : "guard zone around %s changed", name);
    path->defect = own_text(u, text);
    kw_guarded_tensor_upload(&u->guarded[i]); /* the next path starts from what the case says */
  }
}

/* An output that the call left out. */
static void miss_output(kw_case_run_path *path, uint32_t index) {
  path->outputs[index] = (kw_case_run_output){.dtype = KW_DTYPE_NONE, .expected_dtype = KW_DTYPE_NONE};
  path->output_count = index + 1;
}

/* An output that the suite gave, inside its guards. */
static void check_output(case_run *u, kw_case_run_path *path, const kw_guarded_tensor *guarded, uint32_t index) {
  static const char *const texts[] = {"", "guard zone before %s changed", "guard zone after %s changed",
                                      "bytes between the elements of %s changed", ""};
  kw_case_run_output *out = &path->outputs[index];
  out->dtype = guarded->layout.dtype;
  out->rank = guarded->layout.rank;
  memcpy(out->shape, guarded->layout.shape, sizeof out->shape);
  out->length = (size_t)guarded->layout.numel * guarded->item;
  out->expected_dtype = KW_DTYPE_NONE;
  void *dense = own(u, out->length);
  out->data = dense;
  kw_change change;
  char name[64], text[128];
  kw_status status = kw_guarded_tensor_check(guarded, false, dense, &change);
  if (status != KW_OK) path_failed(u, path, status);
  kw_case_out_name(u->c, index, name, sizeof name);
  snprintf(text, sizeof text, texts[change], name);
  if (*text && !*path->defect) path->defect = own_text(u, text);
  path->output_count = index + 1;
}

/* An output that core allocated. */
static void read_output(case_run *u, kw_case_run_path *path, kw_tensor *tensor, uint32_t index) {
  const kw_tensor_ref *ref = kw_tensor_describe(tensor);
  kw_case_run_output *out = &path->outputs[index];
  out->dtype = ref->dtype;
  out->rank = ref->rank;
  memcpy(out->shape, ref->shape, sizeof out->shape);
  out->length = (size_t)ref->numel * kw_dtype_size(ref->dtype);
  out->expected_dtype = KW_DTYPE_NONE;
  void *dense = own(u, out->length);
  out->data = dense;
  kw_status status = kw_tensor_read(tensor, dense);
  if (status != KW_OK) path_failed(u, path, status);
  path->output_count = index + 1;
}

/* What a vendor's op gave when core allocated its outputs: dense tensors like these are given to it from then on. */
static void learn_outputs(case_run *u, const kw_case_run_path *path) {
  for (uint32_t o = 0; o < path->output_count; o++) {
    kw_shape shape = {path->outputs[o].rank, {0}};
    u->outs[o].given = path->outputs[o].dtype != KW_DTYPE_NONE;
    if (!u->outs[o].given) continue;
    memcpy(shape.dims, path->outputs[o].shape, sizeof shape.dims);
    u->outs[o].dtype = path->outputs[o].dtype;
    kw_case_layout(&u->outs[o], &shape, KW_LAYOUT_DENSE);
  }
  u->outs_known = true;
}

/* `tensors` has room for all of the case; lists point into it. */
static void fill_args(const case_run *u, kw_tensor *const *results, kw_tensor **tensors, kw_value args[KW_MAX_ARGS]) {
  for (uint32_t i = 0; i < KW_CASE_TENSORS; i++) {
    tensors[i] = is_result(u->c, i) ? results[u->c->tensors[i].result] : u->views[i];
  }
  for (uint32_t i = 0; i < u->c->arg_count; i++) {
    args[i] = kw_case_arg_value(u->c, i);
    if (args[i].tag == KW_TAG_TENSOR) args[i] = kw_arg_tensor(tensors[i]);
    if (args[i].tag == KW_TAG_TENSOR_LIST) args[i] = kw_arg_tensor_list(&tensors[u->c->args[i].first], args[i].count);
    if (args[i].tag == KW_TAG_GENERATOR) args[i] = kw_arg_generator(u->w->generator);
  }
}

/* ---- Random numbers ---------------------------------------------------------------------------------------------- */

/* The generator of the case, and the one that it must leave alone. */
typedef struct generators {
  kw_generator *used, *other;
} generators;

static generators find_generators(const case_run *u) {
  int index = kw_suite_op_generator(u->c->op);
  bool named = index >= 0 && kw_case_arg_value(u->c, (uint32_t)index).tag == KW_TAG_GENERATOR;
  kw_generator *own = u->w->generator, *usual = kw_generator_default(u->w->device);
  return named ? (generators){own, usual} : (generators){usual, own};
}

static kw_status set_generators(const case_run *u) {
  generators g = find_generators(u);
  kw_rng rng = kw_case_rng(u->c, u->w->seed, u->run);
  kw_generator_state state = {.struct_size = sizeof state, .seed = rng.seed, .offset = rng.offset};
  kw_status status = kw_generator_set_state(g.used, &state);
  state.seed = ~rng.seed;
  return status == KW_OK ? kw_generator_set_state(g.other, &state) : status;
}

/* A call moves its generator past the blocks that it takes: of a vendor's op only the vendor knows how many. */
static void check_generators(case_run *u, kw_case_run_path *path) {
  generators g = find_generators(u);
  kw_rng rng = kw_case_rng(u->c, u->w->seed, u->run);
  kw_generator_state used = {.struct_size = sizeof used}, other = {.struct_size = sizeof other};
  kw_generator_get_state(g.used, &used);
  kw_generator_get_state(g.other, &other);
  uint64_t taken = used.offset - rng.offset, due = kw_case_rng_blocks(u->c);
  bool seeds = used.seed == rng.seed && other.seed == ~rng.seed;
  char text[120] = "";
  if (!seeds || other.offset != rng.offset) {
    snprintf(text, sizeof text, "a generator changed that is not the call's, or its seed");
  } else if (taken != due && !u->c->op->vendor) {
    snprintf(text, sizeof text, "the generator moved by %llu blocks instead of %llu", (unsigned long long)taken,
             (unsigned long long)due);
  }
  if (*text && !*path->defect) path->defect = own_text(u, text);
}

/* ---- Calls ------------------------------------------------------------------------------------------------------- */

/* Run 0 names no stream; but where no tensor names a device the stream does. */
static kw_stream *stream_to_name(const case_run *u) {
  bool tensors = false;
  for (uint32_t i = 0; i < KW_CASE_TENSORS; i++) tensors |= u->c->tensors[i].given;
  if (u->run) return u->w->stream;
  return tensors ? NULL : kw_stream_default(u->w->device);
}

static kw_status wait_for_stream(const case_run *u) {
  kw_worker_note_set(KW_WORKER_WAITS, "kw_stream_synchronize");
  return kw_stream_synchronize(u->run ? u->w->stream : kw_stream_default(u->w->device));
}

static kw_status call_kernel(const case_run *u, const kw_value *args, kw_tensor **outs, const char *kernel) {
  kw_stream *stream = stream_to_name(u);
  uint32_t count = u->c->op->result_count;
  kw_worker_note_set(KW_WORKER_CALLS, kernel ? kernel : "kw_op_call");
  if (!kernel) return kw_op_call(u->op, stream, args, u->c->arg_count, outs, count);
  kw_plan *plan;
  kw_status status = kw_plan_make(u->op, stream, args, u->c->arg_count, outs, count, kernel, &plan);
  if (status != KW_OK) return status;
  status = kw_plan_run(plan, stream, args, u->c->arg_count, outs, count);
  /* Before its state is released. */
  kw_status late = wait_for_stream(u);
  kw_plan_destroy(plan);
  return status == KW_OK ? late : status;
}

/* Guarded outputs, poisoned where nothing is read of them. */
static kw_status give_outputs(case_run *u, kw_guarded_tensor *guarded, kw_tensor **out_views) {
  kw_status status = KW_OK;
  for (uint32_t o = 0; o < u->c->result_count && status == KW_OK; o++) {
    if (!u->outs[o].given) continue;
    status =
        kw_guarded_tensor_create(u->w->device, &u->outs[o], lead_of(u, KW_CASE_TENSORS + o), u->poison, &guarded[o]);
    for (uint32_t i = 0; i < KW_CASE_TENSORS && status == KW_OK; i++) {
      const kw_case_tensor *tensor = &u->c->tensors[i];
      bool mine = tensor->read && tensor->result == o;
      if (mine) kw_case_fill(u->c, i, u->w->seed, u->run, false, kw_guarded_tensor_storage(&guarded[o]));
    }
    if (status == KW_OK) status = kw_guarded_tensor_upload(&guarded[o]);
    if (status == KW_OK) status = kw_guarded_tensor_view(&guarded[o], &u->outs[o], &out_views[o]);
  }
  return status;
}

/* How exactly the call has to compute. A kernel's own mode; but in run 1 it is allowed more, which must not show. */
static kw_math_mode mode_of_call(const case_run *u, const kw_kernel_info *kernel) {
  return !kernel ? KW_MATH_HIGHEST : u->run == 0 ? kernel->math_mode : KW_MATH_FAST;
}

/* Makes what the kernel may pack constant in run 1, or ends that. */
static void set_constants(const case_run *u, const kw_kernel_info *kernel, bool constant) {
  for (uint32_t i = 0; kernel && u->run == 1 && i < KW_MAX_ARGS; i++) {
    if (kernel->packable >> i & 1 && u->views[i]) kw_tensor_set_constant(u->views[i], constant);
  }
}

/* Runs one path, of a kernel or the default one. Kernels get guarded outputs of the case's layouts. The default path
 * lets core allocate in run 0, except in cases about outputs and where the op writes in place. */
static void run_path(case_run *u, const kw_kernel_info *kernel) {
  const kw_case *c = u->c;
  kw_case_run_path *path = &u->result->paths[u->result->path_count++];
  *path = (kw_case_run_path){.kernel = kernel ? own_text(u, kernel->name) : "",
                             .math_mode = kernel ? kernel->math_mode : KW_MATH_HIGHEST,
                             .message = "",
                             .defect = ""};
  bool own_memory = c->op->vendor && c->op->in_place; /* a vendor's (a!): its argument */
  bool wanted = kernel || u->run || changes_arguments(c) || c->class == KW_CLASS_OUTPUTS;
  bool given = wanted && u->outs_known && !own_memory;
  kw_guarded_tensor guarded[KW_SUITE_RESULTS] = {{0}};
  kw_tensor *views[KW_SUITE_RESULTS] = {NULL}, *outs[KW_SUITE_RESULTS] = {NULL}, *tensors[KW_CASE_TENSORS];
  kw_value args[KW_MAX_ARGS];
  kw_status status = KW_OK;
  for (uint32_t i = 0; i < KW_CASE_TENSORS && status == KW_OK && c->op->vendor; i++) {
    if (c->tensors[i].output)
      status = kw_guarded_tensor_upload(&u->guarded[i]); /* what an earlier path left is no input */
  }
  if (given && status == KW_OK) status = give_outputs(u, guarded, views);
  if (status == KW_OK) {
    fill_args(u, views, tensors, args);
    memcpy(outs, views, sizeof outs);
    for (uint32_t i = 0; i < KW_CASE_TENSORS; i++) {
      if (is_result(c, i)) outs[c->tensors[i].result] = NULL;
    }
    status = set_generators(u);
  }
  if (status == KW_OK) status = kw_math_mode_set(mode_of_call(u, kernel));
  set_constants(u, kernel, true);
  if (status == KW_OK) status = call_kernel(u, args, outs, kernel ? kernel->name : NULL);
  set_constants(u, kernel, false);
  kw_status late = wait_for_stream(u);
  if (status == KW_OK) status = late;
  if (status != KW_OK) path_failed(u, path, status);
  for (uint32_t o = 0; o < c->result_count && status == KW_OK; o++) {
    kw_tensor *alone = own_memory && o == 0 ? u->views[0] : outs[o]; /* what has no guards of ours */
    if (guarded[o].base) {
      check_output(u, path, &guarded[o], o);
    } else if (alone) {
      read_output(u, path, alone, o);
    } else {
      miss_output(path, o);
    }
  }
  if (status == KW_OK && !u->outs_known && !own_memory) learn_outputs(u, path);
  if (status == KW_OK) check_generators(u, path);
  check_inputs(u, path);
  for (uint32_t o = 0; o < KW_SUITE_RESULTS; o++) {
    kw_tensor_release(given ? views[o] : outs[o]);
    kw_guarded_tensor_destroy(&guarded[o]);
  }
}

/* ---- A vendor's own reference ------------------------------------------------------------------------------------ */

static const kw_guarded_tensor *guarded_of(const case_run *u, uint32_t arg) {
  const kw_case_tensor *tensor = &u->c->tensors[arg];
  return &u->guarded[tensor->share >= 0 ? (uint32_t)tensor->share : arg];
}

static kw_tensor_ref host_input(const case_run *u, uint32_t arg) {
  const kw_case_tensor *tensor = &u->c->tensors[arg];
  const kw_guarded_tensor *guarded = guarded_of(u, arg);
  kw_tensor_ref ref = {.struct_size = sizeof ref, .dtype = tensor->dtype, .rank = (uint8_t)tensor->rank};
  ref.mem = guarded->bytes;
  ref.offset = (uint64_t)(guarded->lead + tensor->offset) * guarded->item;
  ref.numel = tensor->numel;
  ref.alignment = 1;
  memcpy(ref.shape, tensor->shape, sizeof ref.shape);
  memcpy(ref.strides, tensor->strides, sizeof ref.strides);
  return ref;
}

static kw_tensor_ref host_output(const kw_case_run_output *out, void *memory) {
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

/* A number as it is where only magnitudes count. */
static kw_value absolute(kw_value value) {
  if (value.tag == KW_TAG_FLOAT) value.u.f = fabs(value.u.f);
  return kw_case_absolute(value);
}

/* The same of an input. */
static void make_absolute(case_run *u, const kw_guarded_tensor *guarded, kw_tensor_ref *input) {
  const size_t size = (size_t)guarded->count * guarded->item;
  unsigned char *copy = own(u, size);
  memcpy(copy, guarded->bytes, size);
  for (size_t at = 0; at < size; at += guarded->item) kw_element_set_absolute(input->dtype, copy + at);
  input->mem = copy;
}

/* Runs the vendor's reference on the inputs of the case, or on their absolute values, into `memory`, which has a place
 * for each of the path's outputs that there is. */
static bool run_reference(case_run *u, const kw_case_run_path *like, bool magnitudes, void *const *memory) {
  kw_value args[KW_MAX_ARGS];
  kw_tensor_ref inputs[KW_CASE_TENSORS], results[KW_SUITE_RESULTS];
  const kw_tensor_ref *entries[KW_CASE_TENSORS] = {NULL};
  const kw_tensor_ref *outs[KW_SUITE_RESULTS] = {NULL};
  for (uint32_t i = 0; i < KW_CASE_TENSORS; i++) {
    if (!u->c->tensors[i].given) continue;
    inputs[i] = host_input(u, i);
    if (magnitudes) make_absolute(u, guarded_of(u, i), &inputs[i]);
    entries[i] = &inputs[i];
  }
  for (uint32_t i = 0; i < u->c->op->arg_count; i++) {
    args[i] = kw_case_arg_value(u->c, i);
    if (magnitudes) args[i] = absolute(args[i]);
    if (args[i].tag == KW_TAG_TENSOR) args[i].u.tensor = entries[i];
    if (args[i].tag == KW_TAG_TENSOR_LIST) args[i].u.tensors = &entries[u->c->args[i].first];
  }
  for (uint32_t o = 0; o < like->output_count; o++) {
    if (like->outputs[o].dtype == KW_DTYPE_NONE) continue;
    results[o] = host_output(&like->outputs[o], memory[o]);
    outs[o] = &results[o];
  }
  const kw_call call = {.struct_size = sizeof call,
                        .arg_count = u->c->op->arg_count,
                        .out_count = like->output_count,
                        .op = u->c->op->name,
                        .args = args,
                        .outs = outs};
  return kw_op_run_reference(u->op, &call) == KW_OK;
}

/* What the vendor's reference says; the outputs of every path are to be like that. */
static void expect_vendor(case_run *u) {
  const kw_compare compare = u->c->op->row.compare;
  kw_case_run_path *first = NULL;
  for (uint32_t i = 0; i < u->result->path_count && !first; i++) {
    if (u->result->paths[i].status == KW_OK) first = &u->result->paths[i];
  }
  if (!first || u->c->op->in_place) return;
  void *expected[KW_SUITE_RESULTS] = {NULL}, *magnitudes[KW_SUITE_RESULTS] = {NULL};
  for (uint32_t o = 0; o < first->output_count; o++) {
    kw_case_run_output *out = &first->outputs[o];
    if (out->dtype == KW_DTYPE_NONE) continue;
    const bool wide = kw_element_is_float(out->dtype) && compare != KW_CMP_BITS;
    out->expected_dtype = wide ? KW_F64 : out->dtype;
    out->expected_length = out->length / kw_element_size(out->dtype) * kw_element_size(out->expected_dtype);
    out->expected = expected[o] = memset(own(u, out->expected_length), 0, out->expected_length);
    if (compare != KW_CMP_ACCUMULATE) continue;
    out->magnitude = magnitudes[o] = memset(own(u, out->expected_length), 0, out->expected_length);
  }
  bool known = run_reference(u, first, false, expected);
  if (known && compare == KW_CMP_ACCUMULATE) known = run_reference(u, first, true, magnitudes);
  for (uint32_t i = 0; i < u->result->path_count; i++) {
    kw_case_run_path *path = &u->result->paths[i];
    for (uint32_t o = 0; o < path->output_count; o++) {
      kw_case_run_output *out = &path->outputs[o], *like = &first->outputs[o];
      out->expected_dtype = known ? like->expected_dtype : KW_DTYPE_NONE;
      out->expected = like->expected;
      out->expected_length = like->expected_length;
      out->magnitude = like->magnitude;
    }
  }
}

/* ---- All paths --------------------------------------------------------------------------------------------------- */

static void run_paths(case_run *u) {
  uint32_t kernels = 0;
  u->outs_known = !u->c->op->vendor;
  memcpy(u->outs, u->c->outs, sizeof u->outs);
  bool learns = u->c->op->vendor && !u->c->op->in_place;
  if (learns) run_path(u, NULL);
  kw_kernel_info info = {.struct_size = sizeof info};
  for (uint32_t i = 0; kw_op_get_kernel(u->op, u->w->device, i, &info) == KW_OK; i++) {
    const bool takes = kw_dtype_mask_has(info.dtypes, u->c->key);
    info.struct_size = sizeof info;
    if (!takes) continue;
    if (u->result->path_count == KW_CASE_RUN_PATHS - 1) {
      u->result->paths[u->result->path_count - 1].defect = "more kernels than the suite runs for one case";
      break;
    }
    run_path(u, &info);
    kernels += u->result->paths[u->result->path_count - 1].status != KW_ERR_NOT_IMPLEMENTED;
  }
  const bool usual = u->run == 0 && u->c->class < KW_CLASS_COUNT; /* of a block the kernels alone are enough */
  if (!learns && (usual || kernels == 0)) run_path(u, NULL);
}

void kw_worker_run(kw_worker *w, const char *id, uint32_t run, kw_message *out_message) {
  kw_case_run result = {.id = id, .run = run};
  kw_case c;
  case_run u = {.w = w, .c = &c, .run = run, .poison = kw_case_run_poison(run), .result = &result};
  double start = kw_clock_seconds();
  kw_worker_note_set(KW_WORKER_CALLS, "");
  kw_counters before = {.struct_size = sizeof before}, after = {.struct_size = sizeof after};
  kw_device_get_counters(w->device, &before);
  bool known = kw_case_from_id(id, w->ops, w->facts.op_count, &c);
  if (known) u.op = kw_op_find(c.op->name);
  if (u.op) {
    kw_status status = kw_worker_hold(w);
    if (status == KW_OK) status = make_inputs(&u);
    if (status == KW_OK) {
      run_paths(&u);
      if (c.op->vendor) expect_vendor(&u);
    } else {
      kw_case_run_path *path = &result.paths[result.path_count++];
      *path = (kw_case_run_path){.kernel = "", .defect = "inputs could not be made"};
      path_failed(&u, path, status);
    }
  }
  kw_device_get_counters(w->device, &after);
  result.launches = after.launches - before.launches;
  result.decomposed = after.decomposed - before.decomposed;
  result.fallbacks = after.fallbacks - before.fallbacks;
  result.modules_built = after.modules_built - before.modules_built;
  result.modules_cached = after.modules_cached - before.modules_cached;
  result.build_ns = after.build_ns - before.build_ns;
  result.seconds = kw_clock_seconds() - start;
  kw_case_run_write(&result, out_message);
  kw_worker_note_set(KW_WORKER_IDLE, "");
  for (uint32_t i = 0; i < KW_CASE_TENSORS; i++) {
    kw_tensor_release(u.views[i]);
    kw_guarded_tensor_destroy(&u.guarded[i]);
  }
  for (uint32_t i = 0; i < u.owned_count; i++) free(u.owned[i]);
}
