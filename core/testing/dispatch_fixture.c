/* SPDX-License-Identifier: Apache-2.0
 *
 * A plugin for dispatch_test, generator_test and graph_test: host memory, work done inline, kernels that record how
 * they were called. FIXTURE_KEY is defined outside. FIXTURE_GRAPHS: the plugin has a graph group, and all kernels but
 * that of fixture::jitter may be recorded by it.
 */
#define FIXTURE_DEVICES 2
#include "../../tests/plugins/fixture.h"

#include "testing/dispatch_fixture.h"
#include "index.h"

#include <pthread.h>

KW_PLUGIN_EXPORT kw_dispatch_fixture kw_dispatch_fixture_instance;
#define fixture kw_dispatch_fixture_instance

/* ---- Graphs ------------------------------------------------------------------------------------------------------ */

/* A launch or, without `run`, a fill to come; kernels of at most four tensors and one result. */
typedef struct captured {
  kw_status (*run)(const kw_call *call);
  unsigned char *memory, pattern[16];
  uint64_t size;
  uint32_t pattern_size;
  kw_call call;
  kw_value args[4];
  kw_tensor_ref tensors[4], out;
  const kw_tensor_ref *outs[1];
  kw_call_extra extra;
  struct captured *next;
} captured;

static void *capturing; /* the stream that records, if any */
static captured *first_captured, **last_captured = &first_captured;

static void keep(captured *kept) {
  *last_captured = kept;
  last_captured = &kept->next;
  fixture.captured++;
}

/* Runs a kernel, or keeps it for the graph. */
static kw_status run_or_capture(kw_status (*run)(const kw_call *call), const kw_call *call) {
  if (!capturing || call->stream != capturing) return run(call);
  if (fixture.capture_status != KW_OK) return fixture.capture_status;
  captured *kept = calloc(1, sizeof *kept);
  if (!kept) return KW_ERR_OUT_OF_MEMORY;
  kept->run = run;
  kept->call = *call;
  for (uint32_t i = 0; i < call->arg_count; ++i) {
    kept->args[i] = call->args[i];
    if (call->args[i].tag != KW_TAG_TENSOR) continue;
    kept->tensors[i] = *call->args[i].u.tensor;
    kept->args[i].u.tensor = &kept->tensors[i];
  }
  kept->out = *call->outs[0];
  kept->outs[0] = &kept->out;
  kept->call.args = kept->args;
  kept->call.outs = kept->outs;
  if (call->extra) {
    kept->extra = *call->extra;
    kept->call.extra = &kept->extra;
  }
  keep(kept);
  return KW_OK;
}

#ifdef FIXTURE_GRAPHS
static kw_status graph_begin(void *device, void *stream, const kw_capture_info *info) {
  (void)device, (void)info;
  if (fixture.begin_status != KW_OK) return fixture.begin_status;
  capturing = stream;
  return KW_OK;
}

static void free_captured(captured *kept) {
  while (kept) {
    captured *next = kept->next;
    free(kept);
    kept = next;
  }
}

static kw_status graph_end(void *device, void *stream, void **out_graph) {
  (void)device, (void)stream;
  captured *kept = first_captured;
  first_captured = NULL;
  last_captured = &first_captured;
  capturing = NULL;
  if (!out_graph || fixture.end_status != KW_OK) {
    free_captured(kept);
    return fixture.end_status;
  }
  fixture.graphs++;
  *out_graph = kept;
  return KW_OK;
}

static void fill_now(const captured *kept) {
  for (uint64_t at = 0; at < kept->size; at += kept->pattern_size) {
    memcpy(kept->memory + at, kept->pattern, kept->pattern_size);
  }
}

static kw_status graph_launch(void *device, void *graph, void *stream, const kw_graph_launch_info *info) {
  (void)device, (void)stream, (void)info;
  if (fixture.graph_status != KW_OK) return fixture.graph_status;
  fixture.graph_launches++;
  for (captured *kept = graph; kept; kept = kept->next) {
    if (kept->run) {
      kept->run(&kept->call);
    } else {
      fill_now(kept);
    }
  }
  return KW_OK;
}

static kw_status graph_destroy(void *device, void *graph) {
  (void)device;
  fixture.graphs--;
  free_captured(graph);
  return KW_OK;
}

static kw_status fill(void *device, void *stream, kw_mem mem, uint64_t offset, uint64_t size, const void *pattern,
                      uint32_t pattern_size) {
  (void)device;
  captured *kept = calloc(1, sizeof *kept);
  if (!kept) return KW_ERR_OUT_OF_MEMORY;
  kept->memory = (unsigned char *)mem + offset;
  kept->size = size;
  kept->pattern_size = pattern_size;
  memcpy(kept->pattern, pattern, pattern_size);
  if (stream == capturing) {
    keep(kept);
  } else {
    fill_now(kept);
    free(kept);
  }
  return KW_OK;
}

static const kw_memory_api memory_table = {.struct_size = sizeof(kw_memory_api),
                                           .alloc = fixture_alloc,
                                           .dealloc = fixture_free,
                                           .copy = fixture_copy,
                                           .fill = fill};
static const kw_graph_api graph_table = {.struct_size = sizeof(kw_graph_api),
                                         .begin = graph_begin,
                                         .end = graph_end,
                                         .launch = graph_launch,
                                         .destroy = graph_destroy};
#define FIXTURE_MEMORY &memory_table
#define FIXTURE_MORE_GROUPS                                           \
  {KW_GROUP_GRAPH, &graph_table}, {KW_GROUP_ENERGY, &energy_table}, { \
    KW_GROUP_PROFILE, &profile_table                                  \
  }
#define CAPTURABLE KW_KERNEL_CAPTURABLE
#else
#define CAPTURABLE 0
#define FIXTURE_MORE_GROUPS           \
  {KW_GROUP_ENERGY, &energy_table}, { \
    KW_GROUP_PROFILE, &profile_table  \
  }
#endif

/* ---- Energy and profile ------------------------------------------------------------------------------------------ */

static kw_status energy_read(void *device, uint64_t *out_microjoules) {
  (void)device;
  *out_microjoules = fixture.microjoules;
  return fixture.energy_status;
}

static const kw_energy_api energy_table = {.struct_size = sizeof(kw_energy_api), .read = energy_read};

static kw_status profile_push(void *plugin, const char *name) {
  (void)plugin;
  size_t used = strlen(fixture.ranges);
  snprintf(fixture.ranges + used, sizeof fixture.ranges - used, "+%s", name);
  return KW_ERR_INTERNAL; /* which core ignores */
}

static kw_status profile_pop(void *plugin) {
  (void)plugin;
  size_t used = strlen(fixture.ranges);
  snprintf(fixture.ranges + used, sizeof fixture.ranges - used, "-");
  return KW_OK;
}

static const kw_profile_api profile_table = {
    .struct_size = sizeof(kw_profile_api), .push = profile_push, .pop = profile_pop};

/* ---- Kernels ----------------------------------------------------------------------------------------------------- */

static void record(const kw_call *call) {
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&mutex);
  fixture.last_kernel = call->user;
  fixture.last_call = *call;
  if (call->extra) fixture.last_extra = *call->extra;
  for (uint32_t i = 0; i < call->arg_count && i < 4; ++i) {
    fixture.last_args[i] = call->args[i];
    if (call->args[i].tag == KW_TAG_TENSOR) fixture.last_tensors[i] = *call->args[i].u.tensor;
  }
  fixture.launches++;
  pthread_mutex_unlock(&mutex);
}

static char *element(const kw_tensor_ref *ref, int64_t index, size_t item) {
  int64_t at = 0;
  for (uint32_t d = ref->rank; d-- > 0; index /= ref->shape[d]) at += index % ref->shape[d] * ref->strides[d];
  return (char *)ref->mem + ref->offset + (size_t)at * item;
}

static float as_float(const kw_value *scalar) {
  return scalar->kind == KW_SCALAR_I64 ? (float)scalar->u.i : (float)scalar->u.f;
}

static kw_status run_add(const kw_call *call) {
  if (fixture.launch_status != KW_OK)
    return fixture_host->set_error(fixture_host->ctx, fixture.launch_status, "the knob says so");
  record(call);
  const fixture_stream *stream = call->stream;
  if (fixture.late_status != KW_OK)
    fixture_host->report_async_error(fixture_host->ctx, stream->token, call->call_id, fixture.late_status,
                                     "it is late");
  for (int64_t i = 0; i < call->outs[0]->numel; ++i) {
    float a, b;
    memcpy(&a, element(call->args[0].u.tensor, i, 4), 4);
    memcpy(&b, element(call->args[1].u.tensor, i, 4), 4);
    a += as_float(&call->args[2]) * b;
    memcpy(element(call->outs[0], i, 4), &a, 4);
  }
  return KW_OK;
}

static kw_status add(const kw_call *call) {
  return run_or_capture(run_add, call);
}

static void note_tensor(const kw_tensor_ref *tensor) {
  if (tensor && (tensor->mem || tensor->offset)) fixture.pure_calls_with_memory++;
}

static void note_pure(const kw_call *call) {
  for (uint32_t i = 0; i < call->arg_count; ++i) {
    const kw_value *arg = &call->args[i];
    if (arg->tag == KW_TAG_TENSOR) note_tensor(arg->u.tensor);
    for (uint32_t k = 0; arg->tag == KW_TAG_TENSOR_LIST && k < arg->count; ++k) note_tensor(arg->u.tensors[k]);
  }
}

static kw_status fast_can(const kw_call *call) {
  note_pure(call);
  if (fixture.on_can) fixture.on_can();
  return fixture.fast_refuses ? KW_ERR_NOT_IMPLEMENTED : KW_OK;
}

static kw_status fast_workspace(const kw_call *call, uint64_t *out_size) {
  note_pure(call);
  *out_size = fixture.fast_gives_up ? 4096 : 0;
  return KW_OK;
}

static kw_status fast_prepare(const kw_call *call, void **out_prepared) {
  note_pure(call);
  if (!fixture.fast_gives_up) return KW_OK;
  *out_prepared = &fixture;
  return KW_ERR_NOT_IMPLEMENTED;
}

static kw_status plain_workspace(const kw_call *call, uint64_t *out_size) {
  note_pure(call);
  *out_size = fixture.workspace;
  return KW_OK;
}

static kw_status prepare(const kw_call *call, void **out_prepared) {
  note_pure(call);
  fixture.prepares++;
  fixture_host->report_build(fixture_host->ctx, call->device, "fixture", 1000, false);
  if (fixture_host->report_build(fixture_host->ctx, NULL, "of no device", 1, true) != KW_ERR_INVALID_ARGUMENT)
    return KW_ERR_INTERNAL;
  *out_prepared = &fixture_state;
  return KW_OK;
}

static kw_status release(void *user, void *prepared) {
  (void)user, (void)prepared;
  fixture.releases++;
  return KW_OK;
}

/* i32 or f32 to f32. */
static kw_status run_copy(const kw_call *call) {
  record(call);
  const kw_tensor_ref *source = call->args[1].u.tensor;
  for (int64_t i = 0; i < source->numel; ++i) {
    float value;
    int32_t whole;
    memcpy(&value, element(source, i, 4), 4);
    memcpy(&whole, element(source, i, 4), 4);
    if (source->dtype == KW_I32) value = (float)whole;
    memcpy(element(call->outs[0], i, 4), &value, 4);
  }
  return KW_OK;
}

static kw_status copy_can(const kw_call *call) {
  return kw_call_is_known(call, (kw_dtype_mask){{KW_DTYPES_ANY, 0}}) ? KW_OK : KW_ERR_NOT_IMPLEMENTED;
}

static kw_status copy_kernel(const kw_call *call) {
  return run_or_capture(run_copy, call);
}

/* fixture::noise_ and fixture::jitter: element i is its argument, if there is one, plus what names its number: seed and
 * place in the sequence. */
static kw_status run_noise(const kw_call *call) {
  if (fixture.launch_status != KW_OK)
    return fixture_host->set_error(fixture_host->ctx, fixture.launch_status, "the knob says so");
  record(call);
  const kw_rng *rng = &call->extra->rng;
  uint64_t state[2] = {rng->seed, 0};
  if (rng->state) memcpy(state, (char *)rng->state + rng->state_offset, sizeof state);
  const uint64_t first = state[0] * 1000 + (state[1] + rng->offset) * 4;
  for (int64_t i = 0; i < call->outs[0]->numel; ++i) {
    float value = (float)(first + (uint64_t)i), added = 0;
    if (call->arg_count == 3) memcpy(&added, element(call->args[1].u.tensor, i, 4), 4);
    value += added;
    memcpy(element(call->outs[0], i, 4), &value, 4);
  }
  return KW_OK;
}

static kw_status noise(const kw_call *call) {
  return run_or_capture(run_noise, call);
}

/* fixture::pick: self at index, both f32; what is out of range becomes -1. */
static kw_status run_pick(const kw_call *call) {
  if (fixture.launch_status != KW_OK)
    return fixture_host->set_error(fixture_host->ctx, fixture.launch_status, "the knob says so");
  record(call);
  const kw_tensor_ref *self = call->args[0].u.tensor;
  for (int64_t i = 0; i < call->outs[0]->numel; ++i) {
    float at, value = -1;
    memcpy(&at, element(call->args[1].u.tensor, i, 4), 4);
    if (at >= 0 && at < (float)self->numel) {
      memcpy(&value, element(self, (int64_t)at, 4), 4);
    } else {
      uint32_t *word = (uint32_t *)(void *)((char *)call->extra->error_mem + call->extra->error_offset);
      if (*word == 0) *word = call->extra->error_code + 1;
    }
    memcpy(element(call->outs[0], i, 4), &value, 4);
  }
  return KW_OK;
}

static kw_status pick(const kw_call *call) {
  return run_or_capture(run_pick, call);
}

static kw_status infer_pick(void *user, const kw_value *args, uint32_t arg_count, kw_tensor_ref *const *outs,
                            uint32_t out_count) {
  (void)user;
  (void)arg_count, (void)out_count;
  *outs[0] = *args[1].u.tensor;
  return KW_OK;
}

/* fixture::multiples: result i is self times i + 1, all f32. */
static kw_status run_multiples(const kw_call *call) {
  if (fixture.launch_status != KW_OK)
    return fixture_host->set_error(fixture_host->ctx, fixture.launch_status, "the knob says so");
  record(call);
  for (uint32_t r = 0; r < call->out_count; ++r) {
    for (int64_t i = 0; call->outs[r] && i < call->outs[r]->numel; ++i) {
      float value;
      memcpy(&value, element(call->args[0].u.tensor, i, 4), 4);
      value *= (float)(r + 1);
      memcpy(element(call->outs[r], i, 4), &value, 4);
    }
  }
  return KW_OK;
}

static kw_status multiples(const kw_call *call) {
  return run_or_capture(run_multiples, call);
}

/* Counts on a result being there. */
static kw_status multiples_can(const kw_call *call) {
  note_pure(call);
  bool any = false;
  for (uint32_t r = 0; r < call->out_count; ++r) any = any || call->outs[r];
  return any ? KW_OK : KW_ERR_NOT_IMPLEMENTED;
}

/* fixture::drops: two rows of noise, of which output_mask may leave one out. */
static kw_status drops(const kw_call *call) {
  kw_call of_one = *call;
  kw_status status = KW_OK;
  of_one.arg_count = 1; /* nothing is added */
  for (uint32_t r = 0; r < call->out_count && status == KW_OK; ++r) {
    of_one.outs = &call->outs[r];
    if (call->outs[r]) status = run_noise(&of_one);
  }
  return status;
}

static kw_status infer_multiples(void *user, const kw_value *args, uint32_t arg_count, kw_tensor_ref *const *outs,
                                 uint32_t out_count) {
  (void)user;
  (void)arg_count;
  for (uint32_t r = 0; r < out_count; ++r) *outs[r] = *args[0].u.tensor;
  return KW_OK;
}

static kw_status define_ops(const kw_host_api *host) {
  const kw_op_desc ops[] = {
      {.schema = "fixture::noise_(Tensor(a!) self, *, Generator? generator=None) -> Tensor(a!)"},
      {.schema = "fixture::jitter(Tensor self, Tensor other, *, Generator? generator=None) -> Tensor"},
      {.schema = "fixture::pick(Tensor self, Tensor index) -> Tensor", .infer = infer_pick},
      {.schema = "fixture::multiples(Tensor self, bool[3] output_mask) -> (Tensor, Tensor, Tensor)",
       .infer = infer_multiples},
      {.schema = "fixture::drops(Tensor self, bool[2] output_mask, *, Generator? generator=None) -> (Tensor, Tensor)",
       .infer = infer_multiples},
  };
  kw_status status = KW_OK;
  for (size_t i = 0; i < sizeof ops / sizeof ops[0] && status == KW_OK; ++i) {
    kw_op_desc op = ops[i];
    op.struct_size = sizeof op;
    status = host->define_op(host->ctx, &op);
  }
  return status;
}

/* f32 of rank 2 along the one dimension that is named, or along both. */
static kw_status reduce_kernel(const kw_call *call, void (*take)(char *to, float value, int64_t count)) {
  record(call);
  const kw_tensor_ref *self = call->args[0].u.tensor, *out = call->outs[0];
  const kw_value *dim = &call->args[1];
  size_t item = out->dtype == KW_BOOL ? 1 : 4;
  for (int64_t i = 0; i < out->numel; ++i) memset(element(out, i, item), 0, item);
  for (int64_t i = 0; i < self->numel; ++i) {
    float value;
    memcpy(&value, element(self, i, 4), 4);
    int64_t at = dim->tag == KW_TAG_NONE ? 0 : dim->u.ints[0] == 0 ? i % self->shape[1] : i / self->shape[1];
    take(element(out, at, item), value, self->numel / out->numel);
  }
  return KW_OK;
}

static void take_mean(char *to, float value, int64_t count) {
  float sum;
  memcpy(&sum, to, sizeof sum);
  sum += value / (float)count;
  memcpy(to, &sum, sizeof sum);
}

static kw_status mean_kernel(const kw_call *call) {
  return reduce_kernel(call, take_mean);
}

static void take_any(char *to, float value, int64_t count) {
  (void)count;
  if (value != 0) *to = 1;
}

static kw_status any_kernel(const kw_call *call) {
  return reduce_kernel(call, take_any);
}

/* cat, gather and scatter.src are the reference's. */
static kw_status cat_can(const kw_call *call) {
  note_pure(call);
  if (fixture.on_can) fixture.on_can();
  return fixture.cat_refuses ? KW_ERR_NOT_IMPLEMENTED : KW_OK;
}

static kw_status cat(const kw_call *call) {
  record(call);
  return kw_index_cat(call);
}

static kw_status gather(const kw_call *call) {
  record(call);
  return kw_index_gather(call);
}

static kw_status scatter(const kw_call *call) {
  record(call);
  return kw_index_scatter(call);
}

#define F32 KW_DTYPE_BIT(KW_F32)
#define I32 KW_DTYPE_BIT(KW_I32)

static const kw_kernel_desc kernels[] = {
    {.op = "add.Tensor",
     .name = "plain",
     .dtypes = {{F32, 0}},
     .user = "plain",
     .flags = CAPTURABLE,
     .workspace_size = plain_workspace,
     .prepare = prepare,
     .launch = add,
     .release = release},
    {.op = "add.Tensor",
     .name = "fast",
     .dtypes = {{F32, 0}},
     .priority = 10,
     .user = "fast",
     .flags = CAPTURABLE,
     .known_args = 2,
     .can_implement = fast_can,
     .workspace_size = fast_workspace,
     .prepare = fast_prepare,
     .launch = add},
    {.op = "add.Tensor",
     .name = "tf32",
     .dtypes = {{F32, 0}},
     .priority = 20,
     .user = "tf32",
     .math_needs = KW_MATH_TF32,
     .flags = CAPTURABLE,
     .launch = add},
    {.op = "add.Tensor",
     .name = "bf16",
     .dtypes = {{F32, 0}},
     .priority = 30,
     .user = "bf16",
     .math_needs = KW_MATH_FAST,
     .flags = KW_KERNEL_DETERMINISTIC | CAPTURABLE,
     .launch = add},
    {.op = "sub.Tensor",
     .name = "off",
     .dtypes = {{F32, 0}},
     .priority = KW_PRIORITY_OFF,
     .user = "off",
     .launch = add},
    {.op = "mean.dim", .name = "mean", .dtypes = {{F32, 0}}, .user = "mean", .launch = mean_kernel},
    {.op = "any.dims", .name = "any", .dtypes = {{F32, 0}}, .user = "any", .launch = any_kernel},
    {.op = "copy_",
     .name = "copy",
     .dtypes = {{F32 | I32, 0}},
     .user = "copy",
     .flags = KW_KERNEL_MIXED_DTYPES | CAPTURABLE,
     .can_implement = copy_can,
     .launch = copy_kernel},
    {.op = "cat", .name = "cat", .dtypes = {{F32, 0}}, .user = "cat", .can_implement = cat_can, .launch = cat},
    {.op = "gather",
     .name = "gather",
     .dtypes = {{F32, 0}},
     .user = "gather",
     .flags = KW_KERNEL_DATA_ERRORS,
     .launch = gather},
    {.op = "scatter.src", .name = "scatter", .dtypes = {{F32, 0}}, .user = "scatter", .launch = scatter},
    {.op = "fixture::noise_",
     .name = "noise",
     .dtypes = {{F32, 0}},
     .user = "noise",
     .flags = CAPTURABLE,
     .known_args = 1,
     .launch = noise},
    {.op = "fixture::jitter", .name = "jitter", .dtypes = {{F32, 0}}, .user = "jitter", .launch = noise},
    {.op = "fixture::drops", .name = "drops", .dtypes = {{F32, 0}}, .user = "drops", .launch = drops},
    {.op = "fixture::pick",
     .name = "pick",
     .dtypes = {{F32, 0}},
     .user = "pick",
     .flags = KW_KERNEL_DATA_ERRORS | CAPTURABLE,
     .launch = pick},
    {.op = "fixture::multiples",
     .name = "multiples",
     .dtypes = {{F32, 0}},
     .user = "multiples",
     .flags = CAPTURABLE,
     .can_implement = multiples_can,
     .launch = multiples},
};

static kw_status register_kernels(const kw_host_api *host, const kw_init_info *info, void **out_plugin) {
  (void)info;
  fixture_host = host;
  *out_plugin = &fixture_state;
  kw_status defined = define_ops(host);
  if (defined != KW_OK) return defined;
  for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; ++i) {
    kw_kernel_desc kernel = kernels[i];
    kernel.struct_size = sizeof kernel;
    if (kernel.known_args == 0) kernel.known_args = 8; /* all */
    /* Only what others fall back to draws from AES. */
    if (strcmp(kernel.name, "noise") == 0 && strcmp(FIXTURE_KEY, "cpu") == 0) kernel.flags |= KW_KERNEL_AES_CTR;
    kw_status status = host->register_kernel(host->ctx, &kernel);
    if (status != KW_OK) return status;
    /* A second one of that name is refused. */
    if (host->register_kernel(host->ctx, &kernel) != KW_ERR_INVALID_ARGUMENT) return KW_ERR_INTERNAL;
  }
  return KW_OK;
}

#define FIXTURE_INIT register_kernels
#include "../../tests/plugins/fixture_plugin.h"
