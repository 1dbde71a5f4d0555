/* SPDX-License-Identifier: Apache-2.0
 *
 * Running a plan: results made and checked, numbers taken, then the kernel, after what must come before it; or, in
 * place of the kernel, the decomposition or the fallback to cpu:0.
 */
#include "call/execute.h"

#include "base/error.h"
#include "base/overlap.h"
#include "base/trace.h"
#include "call/autocast.h"
#include "call/dynamic_output.h"
#include "call/fallback.h"
#include "call/launch.h"
#include "call/mutated_args.h"
#include "call/nested.h"
#include "call/packs.h"
#include "call/record_drop.h"
#include "device/constant.h"

/* One run. */
typedef struct run {
  const kw_plan *plan;
  const kw_request *request;
  kw_stream *stream;
  kw_record *record;               /* that the calling thread makes on the stream, or NULL */
  kw_tensor *outs[KW_MAX_RESULTS]; /* NULL: the result is absent */
  kw_rng rng;                      /* of a random op that no decomposition serves */
} run;

/* ---- Overlap ----------------------------------------------------------------------------------------------------- */

static kw_status refuse_overlap(const kw_plan *plan, uint32_t result, uint32_t arg) {
  const kw_schema *schema = &plan->op->schema;
  return kw_fail(
      KW_ERR_INVALID_ARGUMENT,
      "%s: result %u shares memory with argument '%s', which the schema does not allow; write to a tensor of its own",
      schema->name, result, schema->args[arg].name);
}

/* One result against the tensor arguments. Two tensors of different buffers never overlap. */
static inline kw_status check_overlap(const kw_plan *plan, const kw_request *request, uint32_t result,
                                      const kw_tensor *out) {
  int32_t alias = plan->op->schema.results[result].alias_of;
  for (uint32_t i = 0; i < plan->arg_count; ++i) {
    if (plan->args[i].tag == KW_TAG_TENSOR) {
      const kw_tensor *arg = kw_value_as_tensor(&request->args[i]);
      if (arg->buffer != out->buffer || (int32_t)i == alias) continue;
      /* x += x, or a result given to a pointwise op that is its argument: element by element */
      if ((alias >= 0 || plan->op->pointwise) && kw_refs_identical(&arg->ref, &out->ref)) continue;
      if (kw_refs_overlap(&arg->ref, &out->ref)) return refuse_overlap(plan, result, i);
    } else if (plan->args[i].tag == KW_TAG_TENSOR_LIST) {
      for (uint32_t k = 0; k < request->args[i].count; ++k) {
        const kw_tensor *arg = kw_value_entry(&request->args[i], k);
        if (arg && arg->buffer == out->buffer && kw_refs_overlap(&arg->ref, &out->ref)) {
          return refuse_overlap(plan, result, i);
        }
      }
    }
  }
  return KW_OK;
}

/* ---- A kernel ---------------------------------------------------------------------------------------------------- */

/* The op that the application called, while a decomposition of it runs in this thread. */
static __thread const kw_op *outer_op;

/* The word for what the kernel finds wrong in the data. */
static kw_status add_error_word(const run *r, kw_call_extra *extra) {
  kw_error_word *word;
  kw_status status = r->record ? kw_record_error_word(r->record, &word) : kw_stream_error_word(r->stream, &word);
  if (status != KW_OK) return status;
  extra->error_mem = word->mem;
  extra->error_code = kw_error_word_code(outer_op ? outer_op : r->plan->op, r->plan->op);
  return KW_OK;
}

/* Launches the kernel, or records that. A status of our own comes with its text on offer, as a plugin's does. */
static inline __attribute__((always_inline)) kw_status launch_with(const run *r, kw_call *call,
                                                                   const kw_packed *const *packed) {
  const bool data_errors = r->plan->kernel->desc.flags & KW_KERNEL_DATA_ERRORS;
  kw_call_extra extra;
  if (data_errors || packed || r->plan->op->generator >= 0) {
    extra = (kw_call_extra){.struct_size = sizeof extra, .rng = r->rng, .packed = packed};
    call->extra = &extra;
  }
  kw_status status = data_errors ? add_error_word(r, &extra) : KW_OK;
  if (status != KW_OK) return kw_error_offer(status);
  if (r->record) return kw_error_offer(kw_record_launch(r->record, (kw_plan *)(uintptr_t)r->plan, call));
  status = kw_plan_launch(r->plan, r->stream, call);
  if (status == KW_OK && data_errors) kw_error_words_use_own(r->stream);
  return status;
}

/* With packed forms of what is constant. A graph has none: its launches read what the memory holds by then. */
static __attribute__((noinline)) kw_status launch_packed(const run *r, kw_call *call) {
  kw_packs packs;
  kw_status status = kw_packs_obtain(&packs, r->plan, r->request, r->stream, call);
  status = status == KW_OK ? launch_with(r, call, packs.count > 0 ? packs.by_arg : NULL) : kw_error_offer(status);
  kw_packs_release(&packs);
  return status;
}

static inline kw_status launch(const run *r, kw_call *call) {
  return r->plan->packs != 0 && !r->record ? launch_packed(r, call) : launch_with(r, call, NULL);
}

/* Arguments that the call changes without returning them. */
static __attribute__((noinline)) void change_arguments(const run *r) {
  for (uint32_t i = 0; i < r->request->arg_count; ++i) {
    const kw_value *value = &r->request->args[i];
    if (!(r->plan->op->changed >> i & 1)) continue;
    if (value->tag == KW_TAG_TENSOR) kw_buffer_change(kw_value_as_tensor(value)->buffer, r->stream);
    for (uint32_t k = 0; value->tag == KW_TAG_TENSOR_LIST && k < value->count; ++k) {
      if (kw_value_entry(value, k)) kw_buffer_change(kw_value_entry(value, k)->buffer, r->stream);
    }
  }
}

/* The results as a kernel sees them. From here on the stream uses them, and they and whatever else the call changes are
 * not constant. */
static inline void use_results(const run *r, const kw_tensor_ref **out_refs) {
  for (uint32_t i = 0; i < r->plan->inference.result_count; ++i) {
    out_refs[i] = r->outs[i] ? &r->outs[i]->ref : NULL;
    if (r->outs[i]) kw_buffer_change(r->outs[i]->buffer, r->stream);
  }
  if (__builtin_expect(r->plan->op->changed != 0, 0)) change_arguments(r);
}

/* The kernel on the caller's own tensors. */
static inline kw_status run_direct(const run *r) {
  const kw_plan *plan = r->plan;
  kw_value normal[KW_MAX_ARGS];
  const kw_tensor_ref *out_refs[KW_MAX_RESULTS];
  for (uint32_t i = 0; i < plan->normal_count; ++i) {
    normal[i] = plan->normal[i];
    if (plan->tensor_args >> i & 1) {
      normal[i].u.tensor = r->request->args[i].u.tensor;
      kw_buffer_use(kw_value_as_tensor(&normal[i])->buffer, r->stream);
    }
  }
  use_results(r, out_refs);
  kw_call call;
  kw_plan_begin_call(plan, r->request->device, normal, out_refs, &call);
  return launch(r, &call);
}

/* What calls that a call leads to find: its own math mode, whatever the application sets meanwhile, and no autocast,
 * since they have their dtypes already. */
typedef struct nested_scope {
  kw_dtype lower;
  const _Atomic kw_math *math_before;
  _Atomic kw_math math;
} nested_scope;

static void begin_nested(nested_scope *scope, const kw_plan *plan) {
  scope->lower = kw_autocast_suspend();
  scope->math_before = kw_math_current;
  atomic_init(&scope->math, plan->math);
  kw_math_current = &scope->math;
}

static void end_nested(const nested_scope *scope) {
  kw_math_current = scope->math_before;
  kw_autocast_lower = scope->lower;
}

static kw_status cast_argument(const run *r, uint32_t index, const kw_tensor *source, kw_tensor **out_cast) {
  const kw_plan *plan = r->plan;
  kw_dtype key = plan->inference.key;
  kw_status status = kw_tensor_create_for_call(r->stream, key, source->ref.rank, source->ref.shape, out_cast);
  if (status != KW_OK) return status;
  kw_value args[] = {kw_arg_tensor(*out_cast), kw_arg_tensor(source)};
  nested_scope scope;
  begin_nested(&scope, plan);
  status = kw_call_nested(kw_op_find("copy_"), r->stream, args, 2, NULL, 0);
  end_nested(&scope);
  if (status != KW_OK) {
    kw_tensor_release(*out_cast);
    *out_cast = NULL;
    return kw_wrap(status, "%s: casting '%s' from %s to %s", plan->op->schema.name, plan->op->schema.args[index].name,
                   kw_dtype_name(source->ref.dtype), kw_dtype_name(key));
  }
  return KW_OK;
}

/* The kernel after casts, expansion and with workspace. */
static kw_status run_prepared(const run *r) {
  const kw_plan *plan = r->plan;
  kw_value normal[KW_MAX_ARGS];
  kw_tensor_ref expanded[KW_MAX_ARGS];
  kw_tensor *casts[KW_MAX_ARGS] = {NULL};
  const kw_tensor_ref *out_refs[KW_MAX_RESULTS];
  kw_buffer *workspace = NULL;
  kw_status status = KW_OK;
  for (uint32_t i = 0; i < plan->normal_count && status == KW_OK; ++i) {
    normal[i] = plan->normal[i];
    if (normal[i].tag == KW_TAG_TENSOR_LIST) {
      normal[i].u.tensors = r->request->args[i].u.tensors;
      for (uint32_t k = 0; k < normal[i].count; ++k) {
        const kw_tensor *entry = kw_value_entry(&normal[i], k);
        if (entry) kw_buffer_use(entry->buffer, r->stream);
      }
    }
    if (!(plan->tensor_args >> i & 1)) continue;
    const kw_tensor *tensor = kw_value_as_tensor(&r->request->args[i]);
    if (plan->cast >> i & 1) {
      status = cast_argument(r, i, tensor, &casts[i]);
      if (status != KW_OK) break;
      tensor = casts[i];
    }
    kw_buffer_use(tensor->buffer, r->stream);
    expanded[i] = tensor->ref;
    normal[i].u.tensor = kw_plan_expand(plan, &expanded[i]) ? &expanded[i] : &tensor->ref;
  }
  if (status == KW_OK && plan->workspace > 0)
    status = kw_buffer_create_for_call(r->stream, plan->workspace, &workspace);
  if (status == KW_OK) {
    use_results(r, out_refs);
    kw_call call;
    kw_plan_begin_call(plan, r->request->device, normal, out_refs, &call);
    if (workspace) {
      call.workspace = workspace->mem;
      call.workspace_offset = workspace->offset;
    }
    status = launch(r, &call);
  }
  if (workspace) kw_buffer_release(workspace);
  for (uint32_t i = 0; i < plan->normal_count; ++i) kw_tensor_release(casts[i]);
  return status;
}

/* ---- Other ops, another device ----------------------------------------------------------------------------------- */

/* Decomposition and fallback want the caller's tensors, and his generator, in normalised order. */
static void fill_normal(const run *r, kw_value *normal) {
  const kw_plan *plan = r->plan;
  const kw_value *args = r->request->args;
  for (uint32_t i = 0; i < plan->normal_count; ++i) {
    normal[i] = plan->normal[i];
    if (normal[i].tag == KW_TAG_TENSOR || normal[i].tag == KW_TAG_TENSOR_LIST) normal[i].u = args[i].u;
  }
  int32_t generator = plan->op->generator;
  if (generator >= 0 && (uint32_t)generator < plan->arg_count) normal[generator] = args[generator];
}

static kw_status may_fall_back(const run *r) {
  if (kw_fallback_get() == KW_FALLBACK_OFF) return kw_fallback_refuse(r->plan, r->request);
  return r->record ? kw_stream_may_not_record("falling back to cpu:0", r->stream) : KW_OK;
}

static kw_status run_fallback(const run *r) {
  kw_value normal[KW_MAX_ARGS];
  fill_normal(r, normal);
  nested_scope scope;
  begin_nested(&scope, r->plan);
  kw_status status = kw_fallback_run(r->plan->op, r->stream, normal, &r->rng, r->outs);
  end_nested(&scope);
  return status;
}

/* Whether the result of a pointwise op was given and is an argument. */
static bool is_in_place(const run *r) {
  for (uint32_t i = 0; i < r->plan->arg_count && r->plan->op->pointwise && r->outs[0]; ++i) {
    if (r->plan->args[i].tag == KW_TAG_TENSOR && kw_value_as_tensor(&r->request->args[i])->buffer == r->outs[0]->buffer)
      return true;
  }
  return false;
}

static __attribute__((noinline)) kw_status serve(const run *r, const kw_value *normal, kw_tensor **outs) {
  const kw_inference *inferred = &r->plan->inference;
  return kw_decompose_serve(r->plan->decomposition, r->stream, inferred->key, inferred->cast, normal, outs);
}

/* The ops that serve a call may read an argument after they have written the result: one that is both is made apart. */
static kw_status serve_apart(const run *r, const kw_value *normal) {
  const kw_tensor_ref *want = &r->outs[0]->ref;
  kw_tensor *apart = NULL;
  kw_status status = kw_tensor_create_for_call(r->stream, want->dtype, want->rank, want->shape, &apart);
  if (status != KW_OK) return status;
  status = serve(r, normal, &apart);
  const kw_value copy[] = {kw_arg_tensor(r->outs[0]), kw_arg_tensor(apart)};
  if (status == KW_OK) status = kw_call_nested(kw_op_find("copy_"), r->stream, copy, 2, NULL, 0);
  kw_tensor_release(apart);
  return status;
}

static kw_status run_decomposed(run *r) {
  kw_value normal[KW_MAX_ARGS];
  fill_normal(r, normal);
  const bool outermost = !outer_op;
  if (outermost) outer_op = r->plan->op;
  nested_scope scope;
  begin_nested(&scope, r->plan);
  kw_status status = is_in_place(r) ? serve_apart(r, normal) : serve(r, normal, r->outs);
  end_nested(&scope);
  if (outermost) outer_op = NULL;
  if (status != KW_OK) return kw_wrap(status, "%s, by decomposition", r->plan->op->schema.name);
  if (outermost) atomic_fetch_add(&r->request->device->decomposed, 1);
  return KW_OK;
}

/* ---- All of it --------------------------------------------------------------------------------------------------- */

static kw_status fail_launch(const run *r, kw_status status) {
  char call[512];
  return kw_device_mark_if_lost(
      r->request->device, kw_from_plugin(status, "%s, kernel '%s'", kw_request_describe(r->request, call, sizeof call),
                                         r->plan->kernel->desc.name));
}

/* A launch that did not go well. */
static __attribute__((noinline)) kw_status handle_failure(const run *r, kw_status status) {
  status = kw_plugin_status(r->request->device->plugin, status);
  if (status != KW_ERR_FALLBACK) return fail_launch(r, status);
  status = may_fall_back(r);
  return status == KW_OK ? run_fallback(r) : status;
}

kw_status kw_plan_handle_failure(const kw_plan *plan, const kw_request *request, kw_tensor *out, kw_status status) {
  const run r = {.plan = plan, .request = request, .stream = request->stream, .outs = {out}};
  return handle_failure(&r, status);
}

/* How many blocks a random op takes, by the first result that is not absent. */
static uint64_t count_blocks(const run *r) {
  for (uint32_t i = 0; i < r->plan->inference.result_count; ++i) {
    if (r->outs[i]) return kw_generator_blocks(r->outs[i]->ref.numel);
  }
  return 0;
}

/* The blocks of a random op are taken once, here: decompositions leave that to the ops they call, and a kernel that
 * gives up leaves its own to the fallback. A call that fails has used its blocks up. */
static kw_status take_numbers(run *r) {
  const kw_request *request = r->request;
  const uint32_t index = (uint32_t)r->plan->op->generator;
  kw_generator *given = index < request->arg_count && request->args[index].tag == KW_TAG_GENERATOR
                            ? request->args[index].u.generator
                            : NULL;
  kw_generator *generator = given ? given : request->device->generator;
  const uint64_t blocks = count_blocks(r);
  if (r->record) return kw_record_take_numbers(r->record, generator, blocks, &r->rng);
  r->rng = kw_generator_take(generator, blocks);
  return KW_OK;
}

/* Whether the plan's kernel knows the algorithm of the numbers that it has been given. */
static bool draws(const run *r) {
  const kw_kernel *kernel = r->plan->kernel;
  return !kernel || r->rng.algorithm == KW_GENERATOR_PHILOX4X32_10 || kernel->desc.flags & KW_KERNEL_AES_CTR;
}

static kw_status run_elsewhere(const run *r) {
  if (kw_fallback_get() != KW_FALLBACK_OFF && !r->record) return run_fallback(r);
  return kw_fail(KW_ERR_NOT_IMPLEMENTED,
                 "%s: the kernel '%s' of %s draws from Philox only and the generator is AES-128-CTR: give it a "
                 "generator of Philox, or set KEYWAY_FALLBACK=warn, which runs it on cpu:0 unless a graph records it",
                 r->plan->op->schema.name, r->plan->kernel->desc.name, r->request->device->name);
}

static inline kw_status run_plan(run *r) {
  if (r->plan->mode == KW_PLAN_EMPTY) return KW_OK;
  if (r->plan->mode == KW_PLAN_DECOMPOSE) return run_decomposed(r);
  kw_status status = r->plan->mode == KW_PLAN_FALLBACK ? may_fall_back(r) : KW_OK;
  if (status == KW_OK && r->plan->op->generator >= 0) status = take_numbers(r);
  if (status != KW_OK) return status;
  if (r->plan->mode == KW_PLAN_FALLBACK) return run_fallback(r);
  if (r->plan->op->generator >= 0 && !draws(r)) return run_elsewhere(r);
  status = __builtin_expect(r->plan->mode == KW_PLAN_DIRECT, 1) ? run_direct(r) : run_prepared(r);
  return __builtin_expect(status == KW_OK, 1) ? KW_OK : handle_failure(r, status);
}

/* Collects the results, made or given, in r->outs; bit i of *out_created: result i is a new tensor. */
static inline kw_status complete_results(run *r, uint32_t *out_created) {
  const kw_plan *plan = r->plan;
  for (uint32_t i = 0; i < plan->inference.result_count; ++i) {
    int32_t alias = plan->op->schema.results[i].alias_of;
    if (plan->inference.absent >> i & 1) continue;
    if (alias >= 0) {
      r->outs[i] = kw_value_as_tensor(&r->request->args[alias]);
    } else if (plan->out_given >> i & 1) {
      r->outs[i] = r->request->outs[i];
    } else {
      const kw_tensor_ref *want = &plan->inference.results[i];
      kw_status status = kw_tensor_create_for_call(r->stream, want->dtype, want->rank, want->shape, &r->outs[i]);
      if (status != KW_OK) return status;
      *out_created |= 1u << i;
      continue; /* new memory overlaps nothing */
    }
    kw_status status = check_overlap(plan, r->request, i, r->outs[i]);
    if (status != KW_OK) return status;
    for (uint32_t k = 0; k < i; ++k) {
      if (r->outs[k] && r->outs[k]->buffer == r->outs[i]->buffer &&
          kw_refs_overlap(&r->outs[k]->ref, &r->outs[i]->ref)) {
        return kw_fail(KW_ERR_INVALID_ARGUMENT, "%s: results %u and %u share memory", plan->op->schema.name, k, i);
      }
    }
  }
  return KW_OK;
}

/* The device is lost, or one of its streams records, or there is a trace. */
static __attribute__((noinline)) kw_status leave_fast_path(run *r) {
  kw_status status = kw_device_check(r->request->device);
  if (status != KW_OK) return status;
  r->record = kw_record_of(r->stream);
  return r->record ? KW_OK : kw_stream_may_not_record(r->plan->op->schema.name, r->stream);
}

kw_status kw_plan_execute(const kw_plan *plan, const kw_request *request) {
  kw_device *device = request->device;
  run r = {.plan = plan, .request = request, .stream = request->stream ? request->stream : device->default_stream};
  if (__builtin_expect(kw_device_is_barred(device), 0)) {
    kw_status barred = leave_fast_path(&r);
    if (barred != KW_OK) return barred;
  }
  const uint32_t recorded = r.record ? r.record->node_count : 0;
  const bool narrows = kw_dynamic_output_narrows(plan->op, request->out_count);
  uint64_t begin = kw_trace_begin();
  uint32_t created = 0;
  kw_status status = narrows ? kw_dynamic_output_may_narrow(plan->op, r.record != NULL) : KW_OK;
  if (status == KW_OK) status = complete_results(&r, &created);
  if (status == KW_OK && plan->op->changed) status = kw_mutated_args_check_overlap(plan, request, r.outs);
  if (status == KW_OK) status = run_plan(&r);
  if (status == KW_OK && narrows) {
    kw_tensor **counter = &r.outs[request->out_count];
    status = kw_dynamic_output_narrow(plan->op, r.stream, *counter, &r.outs[0]);
    kw_tensor_release(*counter);
    created &= ~(1u << request->out_count);
  }
  if (status != KW_OK && r.record) kw_record_rewind(r.record, recorded);
  for (uint32_t i = 0; created >> i; ++i) {
    if (!(created >> i & 1)) continue;
    if (status == KW_OK) {
      request->outs[i] = r.outs[i];
    } else {
      kw_tensor_release(r.outs[i]);
    }
  }
  if (__builtin_expect(begin != 0, 0)) {
    char call[512];
    kw_trace_span("op", plan->op->schema.name, kw_request_describe(request, call, sizeof call), begin);
    kw_device_trace_memory(device);
  }
  return status;
}
