/* SPDX-License-Identifier: Apache-2.0
 *
 * For the check abi/structs_end: calls of kernels whose descriptors, arguments and lists all end where memory ends.
 * Each kernel is called as call.c calls its op, on small tensors of zeroes.
 */
#include "struct_end.h"

#include "kernel_trial.h"

enum { EDGE = 4, LISTED = KW_MAX_ARGS * KW_TEST_ENTRIES };

/* A call of a kernel with all that it points to, each where memory ends. */
typedef struct placed {
  kw_ends ends;
  kw_call *call;
  bool fits; /* in the memory that there is */
} placed;

/* For any call: memory of entry k of argument i, of results, for an error, for a workspace; a stream that graphs are
 * recorded on. */
static struct {
  kw_mem args[LISTED], results[KW_MAX_RESULTS], error, workspace;
  uint64_t workspace_size;
  void *recorder;
} memory;

/* ---- Placing ----------------------------------------------------------------------------------------------------- */

static kw_tensor_ref *place_tensor(placed *p, const kw_end_bench *b, kw_tensor_ref tensor, kw_mem mem) {
  tensor = kw_kernel_trial_place(tensor, mem, b->alignment);
  tensor.struct_size = KW_TENSOR_REF_MIN;
  p->fits &= kw_kernel_trial_bytes(&tensor) <= KW_END_BYTES;
  return kw_end_put(&p->ends, &tensor, KW_TENSOR_REF_MIN);
}

static kw_value place_argument(placed *p, const kw_end_bench *b, const kw_kernel_trial *t, uint32_t i,
                               bool is_launched) {
  const kw_tensor_ref *list[KW_TEST_ENTRIES];
  kw_value value = t->call.args[i].value;
  const bool is_list = value.tag == KW_TAG_META_LIST;
  if (value.tag == KW_TAG_INT_LIST) value.u.ints = kw_end_put(&p->ends, value.u.ints, value.count * sizeof(int64_t));
  if (value.tag == KW_TAG_STRING) value.u.s = kw_end_put(&p->ends, value.u.s, strlen(value.u.s) + 1);
  if (value.tag != KW_TAG_META && !is_list) return value;
  for (uint32_t k = 0; k < (is_list ? value.count : 1); k++) {
    list[k] =
        place_tensor(p, b, kw_kernel_trial_tensor(t, i, k), is_launched ? memory.args[i * KW_TEST_ENTRIES + k] : NULL);
  }
  value.tag = is_list ? KW_TAG_TENSOR_LIST : KW_TAG_TENSOR;
  if (is_list) {
    value.u.tensors = kw_end_put(&p->ends, list, value.count * sizeof(list[0]));
  } else {
    value.u.tensor = list[0];
  }
  return value;
}

static const kw_tensor_ref *place_result(placed *p, const kw_end_bench *b, const kw_kernel_trial *t,
                                         const kw_value *args, uint32_t i, bool is_launched) {
  const int32_t alias = kw_op_result_alias(t->call.op, i);
  if (alias >= 0) return args[alias].u.tensor;
  if (t->results[i].dtype == KW_DTYPE_NONE) return NULL; /* left out */
  return place_tensor(p, b, t->results[i], is_launched ? memory.results[i] : NULL);
}

/* stream NULL: as the kernel's pure functions see the call, without memory. */
static void place(placed *p, const kw_end_bench *b, const kw_kernel_trial *t, void *stream) {
  const bool is_launched = stream != NULL;
  const kw_kernel_desc *kernel = t->kernel;
  const kw_op_info *op = &t->call.info;
  const kw_tensor_ref *outs[KW_MAX_RESULTS];
  kw_value args[KW_MAX_ARGS];
  *p = (placed){.fits = true};
  for (uint32_t i = 0; i < op->arg_count; i++) args[i] = place_argument(p, b, t, i, is_launched);
  for (uint32_t i = 0; i < op->result_count; i++) outs[i] = place_result(p, b, t, args, i, is_launched);
  kw_call call = {.struct_size = KW_CALL_MIN,
                  .arg_count = op->arg_count,
                  .out_count = op->result_count,
                  .math_mode = kernel->math_needs,
                  .device = b->device,
                  .stream = stream,
                  .op = kernel->op,
                  .args = kw_end_put(&p->ends, args, op->arg_count * sizeof args[0]),
                  .outs = kw_end_put(&p->ends, outs, op->result_count * sizeof(outs[0])),
                  .user = kernel->user,
                  .call_id = 1};
  if (is_launched && (t->has_generator || kernel->flags & KW_KERNEL_DATA_ERRORS)) {
    kw_call_extra extra = {.struct_size = KW_CALL_EXTRA_MIN};
    if (kernel->flags & KW_KERNEL_DATA_ERRORS) extra.error_mem = memory.error;
    call.extra = kw_end_put(&p->ends, &extra, KW_CALL_EXTRA_MIN);
  }
  p->call = kw_end_put(&p->ends, &call, KW_CALL_MIN);
}

/* ---- Calling ----------------------------------------------------------------------------------------------------- */

/* Whether the kernel takes the call, and what it wants for it. */
static bool is_taken(const kw_end_bench *b, const kw_kernel_trial *t, uint64_t *out_workspace, void **out_prepared) {
  static placed p;
  const kw_kernel_desc *kernel = t->kernel;
  place(&p, b, t, NULL);
  const bool taken = p.fits && (!kernel->can_implement || kernel->can_implement(p.call) == KW_OK) &&
                     (!kernel->workspace_size || kernel->workspace_size(p.call, out_workspace) == KW_OK) &&
                     (!kernel->prepare || kernel->prepare(p.call, out_prepared) == KW_OK);
  kw_end_take_away(&p.ends);
  return taken;
}

static void need_workspace(const kw_end_bench *b, uint64_t size) {
  if (size <= memory.workspace_size) return;
  if (memory.workspace) KW_GUEST_OK(KW_AT_END, b->guest.memory->dealloc(b->device, memory.workspace));
  KW_CHECK(kw_end_alloc_as(b, KW_MEM_DEVICE, 0, size, &memory.workspace), "device memory was refused");
  memory.workspace_size = size;
}

/* All zeroes again: they are what indices may be. */
static void clear_changed(const kw_end_bench *b, const kw_kernel_trial *t) {
  for (uint32_t i = 0; i < t->call.info.arg_count; i++) {
    if (!(t->call.args[i].info.flags & KW_ARG_MUTATED)) continue;
    for (uint32_t k = 0; k < KW_TEST_ENTRIES; k++) kw_end_clear(b, memory.args[i * KW_TEST_ENTRIES + k]);
  }
}

static kw_status launch(const kw_end_bench *b, const kw_kernel_trial *t, void *stream, uint64_t workspace,
                        void *prepared) {
  static placed p;
  place(&p, b, t, stream);
  p.call->prepared = prepared;
  p.call->workspace_size = workspace;
  if (workspace) p.call->workspace = memory.workspace;
  const kw_status status = t->kernel->launch(p.call);
  kw_end_take_away(&p.ends); /* it is the launch's no longer */
  return status;
}

/* The same launch in a graph, where a plugin has such: it runs when the structs are long gone. A slot that fails is no
 * fault, hosts do without. */
static void launch_in_graph(const kw_end_bench *b, const kw_kernel_trial *t, uint64_t workspace, void *prepared) {
  const kw_graph_api *api = b->guest.graph;
  void *graph = NULL;
  if (!api || !(t->kernel->flags & KW_KERNEL_CAPTURABLE)) return;
  const kw_capture_info capture = {.struct_size = KW_CAPTURE_INFO_MIN};
  const kw_graph_launch_info info = {.struct_size = KW_GRAPH_LAUNCH_INFO_MIN, .call_id = 1};
  static kw_ends ends;
  const void *how = kw_end_put(&ends, &capture, KW_CAPTURE_INFO_MIN);
  const void *which = kw_end_put(&ends, &info, KW_GRAPH_LAUNCH_INFO_MIN);
  const bool begun = api->begin(b->device, memory.recorder, how) == KW_OK;
  const bool recorded = begun && launch(b, t, memory.recorder, workspace, prepared) == KW_OK;
  const bool ended = begun && api->end(b->device, memory.recorder, recorded ? &graph : NULL) == KW_OK;
  if (ended && graph) KW_GUEST_OK(KW_AT_END, api->launch(b->device, graph, b->stream, which));
  kw_end_take_away(&ends);
  if (!ended || !graph) return;
  kw_end_wait(b);
  KW_GUEST_OK(KW_AT_END, api->destroy(b->device, graph));
}

static void use_kernel(const kw_end_bench *b, const kw_kernel_trial *t, uint64_t workspace, void *prepared) {
  const kw_kernel_desc *kernel = t->kernel;
  need_workspace(b, workspace);
  const kw_status status = launch(b, t, b->stream, workspace, prepared);
  KW_CHECK(status == KW_OK, "kernel %s of %s, " KW_AT_END ": launch gave %s: %s", kernel->name, kernel->op,
           kw_status_name(status), kw_guest_seen.error);
  kw_end_wait(b);
  launch_in_graph(b, t, workspace, prepared);
  clear_changed(b, t);
  if (kernel->release) KW_GUEST_OK(KW_AT_END, kernel->release(kernel->user, prepared));
}

/* Makes calls of the kernel's op until it takes one, and that one is run. */
static void run_kernel(const kw_end_bench *b, const kw_kernel_desc *kernel, const kw_op *op, const kw_op_info *info) {
  static kw_kernel_trial t;
  const kw_dtype dtype = kw_kernel_trial_dtype(kernel, info);
  uint32_t asked = 0;
  t.kernel = kernel;
  for (uint32_t number = 0; dtype != KW_DTYPE_NONE && number < KW_TEST_ATTEMPTS; number++) {
    uint64_t workspace = 0;
    void *prepared = NULL;
    if (!kw_kernel_trial_describe(&t, op, dtype, EDGE, number)) continue;
    asked++;
    if (!is_taken(b, &t, &workspace, &prepared)) continue;
    use_kernel(b, &t, workspace, prepared);
    return;
  }
  KW_CHECK(asked > 0 || !info->pointwise || dtype == KW_DTYPE_NONE, "the suite has no call of %s for the kernel %s",
           kernel->op, kernel->name);
}

void kw_end_run_kernels(const kw_end_bench *b, kw_level level) {
  for (uint32_t i = 0; i < LISTED; i++) memory.args[i] = kw_end_alloc(b);
  for (uint32_t i = 0; i < KW_MAX_RESULTS; i++) memory.results[i] = kw_end_alloc(b);
  memory.error = kw_end_alloc(b);
  if (b->guest.graph) memory.recorder = kw_end_stream(b, 2);
  for (uint32_t k = 0; k < kw_guest_kernel_count; k++) {
    kw_op_info info = {.struct_size = sizeof info};
    const kw_op *op = kw_op_find(kw_guest_kernels[k].op); /* NULL: a vendor's own */
    if (op && kw_op_get_info(op, &info) == KW_OK && info.level == level) run_kernel(b, &kw_guest_kernels[k], op, &info);
  }
}
