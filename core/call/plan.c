/* SPDX-License-Identifier: Apache-2.0
 *
 * Building a plan: the signature that it is found by, the checks, and who serves the call: a kernel, other ops, cpu:0.
 */
#include "call/plan.h"

#include "base/error.h"
#include "base/overlap.h"
#include "call/dynamic_output.h"
#include "call/fallback.h"
#include "call/mutated_args.h"
#include "call/packs.h"
#include "call/has_kernel.h"
#include "device/abandon.h"
#include "device/generator.h"
#include "op/normalize.h"
#include "plugin/kernel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Building: the signature ------------------------------------------------------------------------------------- */

static size_t stored_size(const kw_value *value) {
  size_t size = 0;
  if (value->tag == KW_TAG_INT_LIST) size = value->count * sizeof(int64_t);
  if (value->tag == KW_TAG_STRING) size = strlen(value->u.s) + 1;
  return (size + 7) & ~(size_t)7;
}

/* Moves what a value points at into the plan's storage. */
static void store(kw_value *value, char **cursor) {
  size_t size = stored_size(value);
  if (size == 0) return;
  if (value->tag == KW_TAG_INT_LIST) {
    memcpy(*cursor, value->u.ints, value->count * sizeof(int64_t));
    value->u.ints = (const int64_t *)(const void *)*cursor;
  } else {
    memcpy(*cursor, value->u.s, strlen(value->u.s) + 1);
    value->u.s = *cursor;
  }
  *cursor += size;
}

static kw_status copy_signature(kw_plan *plan, const kw_request *request, const kw_value *normal) {
  plan->op = request->op;
  plan->device = request->device;
  plan->device_id = request->device->id;
  plan->math = request->math;
  plan->arg_count = request->arg_count;
  plan->out_count = request->out_count;
  plan->normal_count = request->op->schema.arg_count;
  memcpy(plan->args, request->args, request->arg_count * sizeof *request->args);
  memcpy(plan->normal, normal, plan->normal_count * sizeof *normal);
  if (plan->op->generator >= 0) plan->normal[plan->op->generator] = kw_arg_none(); /* kernels have kw_call_extra.rng */

  size_t size = 0, listed = 0;
  for (uint32_t i = 0; i < plan->arg_count; ++i) {
    size += stored_size(&plan->args[i]);
    if (plan->args[i].tag == KW_TAG_TENSOR_LIST) listed += plan->args[i].count;
  }
  for (uint32_t i = 0; i < plan->normal_count; ++i) size += stored_size(&plan->normal[i]);
  if (listed > 0 && !(plan->listed = calloc(listed, sizeof *plan->listed))) goto out_of_memory;
  if (size > 0 && !(plan->storage = malloc(size))) goto out_of_memory;

  char *cursor = plan->storage;
  listed = 0;
  plan->simple = plan->op->generator < 0 && plan->op->changed == 0;
  for (uint32_t i = 0; i < plan->arg_count; ++i) {
    kw_value *value = &plan->args[i];
    plan->signature[i].head = kw_value_head(value);
    switch (value->tag) {
      case KW_TAG_TENSOR:
        plan->signature[i].fingerprint = kw_value_as_tensor(value)->fingerprint;
        break;
      case KW_TAG_TENSOR_LIST:
        for (uint32_t k = 0; k < value->count; ++k, ++listed) {
          if (value->u.tensors[k]) plan->listed[listed] = kw_value_entry(value, k)->fingerprint;
        }
        plan->simple = false;
        break;
      case KW_TAG_INT_LIST:
      case KW_TAG_STRING:
        store(value, &cursor);
        plan->simple = false;
        break;
      case KW_TAG_GENERATOR:
        value->u.generator = NULL;
        break;
      default:
        memcpy(&plan->signature[i].fingerprint.low, &value->u, sizeof plan->signature[i].fingerprint.low);
        if (value->kind == KW_SCALAR_C128) plan->simple = false;
    }
  }
  for (uint32_t i = 0; i < plan->normal_count; ++i) {
    store(&plan->normal[i], &cursor);
    if (plan->normal[i].tag == KW_TAG_TENSOR) plan->tensor_args |= 1u << i;
  }
  return KW_OK;

out_of_memory:
  return kw_fail(KW_ERR_OUT_OF_MEMORY, "%s: no host memory for the plan of a call", request->op->schema.name);
}

static kw_status check_outs(kw_plan *plan, const kw_request *request) {
  const kw_schema *schema = &request->op->schema;
  bool all_alias = true;
  for (uint32_t i = 0; i < schema->result_count; ++i) all_alias = all_alias && schema->results[i].alias_of >= 0;
  const bool narrows = kw_dynamic_output_narrows(request->op, request->out_count);
  if (request->out_count != schema->result_count && !(request->out_count == 0 && all_alias) && !narrows) {
    return kw_fail(KW_ERR_INVALID_ARGUMENT, "%s: %u results were asked for, the op has %u", schema->name,
                   request->out_count, schema->result_count);
  }
  for (uint32_t i = 0; i < request->out_count; ++i) {
    if (schema->results[i].alias_of >= 0 || !request->outs[i]) continue;
    if (narrows && i == 0) return kw_dynamic_output_refuse_result(request->op, &plan->inference);
    if (plan->inference.absent >> i & 1) {
      return kw_fail(KW_ERR_INVALID_ARGUMENT, "%s: result %u is left out by 'output_mask'; give NULL for it",
                     schema->name, i);
    }
    const kw_tensor_ref *out = &request->outs[i]->ref, *want = &plan->inference.results[i];
    if (out->dtype != want->dtype || out->rank != want->rank ||
        memcmp(out->shape, want->shape, want->rank * sizeof want->shape[0]) != 0) {
      char given[160], wanted[160];
      return kw_fail(KW_ERR_INVALID_ARGUMENT, "%s: result %u is %s; it must be %s", schema->name, i,
                     kw_ref_describe(out, given, sizeof given), kw_ref_describe(want, wanted, sizeof wanted));
    }
    if (out->layout != 0) {
      return kw_fail(KW_ERR_NOT_IMPLEMENTED,
                     "%s: result %u has layout %u, which no kernel of this version takes; give a tensor of layout 0",
                     schema->name, i, out->layout);
    }
    if (kw_ref_overlaps_itself(out)) {
      return kw_fail(
          KW_ERR_INVALID_ARGUMENT,
          "%s: result %u overlaps itself (a stride of 0, or smaller than the dimension below it); write to a tensor "
          "with memory of its own",
          schema->name, i);
    }
    if (kw_tensor_bars_writing(request->outs[i])) {
      return kw_fail(
          KW_ERR_INVALID_ARGUMENT,
          "%s: result %u lies in memory that was imported read-only (a mapped file?); write to another tensor",
          schema->name, i);
    }
    plan->out_given |= 1u << i;
    plan->outs[i] = request->outs[i]->fingerprint;
  }
  return KW_OK;
}

/* ---- Matching ---------------------------------------------------------------------------------------------------- */

static bool list_matches(const kw_fingerprint *have, const kw_value *got) {
  if (got->count > 0 && !got->u.tensors) return false;
  for (uint32_t k = 0; k < got->count; ++k) {
    const kw_tensor *entry = kw_value_entry(got, k);
    if (!kw_fingerprint_equal(have[k], entry ? entry->fingerprint : (kw_fingerprint){0, 0})) return false;
  }
  return true;
}

bool kw_plan_matches(const kw_plan *plan, const kw_request *request) {
  if (plan->op != request->op || plan->device_id != request->device->id || plan->arg_count != request->arg_count ||
      plan->out_count != request->out_count || plan->math != request->math) {
    return false;
  }
  const kw_fingerprint *listed = plan->listed;
  for (uint32_t i = 0; i < plan->arg_count; ++i) {
    const kw_value *have = &plan->args[i], *got = &request->args[i];
    if (plan->signature[i].head != kw_value_head(got)) return false;
    if (have->tag == KW_TAG_TENSOR) {
      const kw_tensor *tensor = kw_value_as_tensor(got);
      if (!tensor || !kw_fingerprint_equal(plan->signature[i].fingerprint, tensor->fingerprint)) return false;
    } else if (have->tag == KW_TAG_TENSOR_LIST) {
      if (!list_matches(listed, got)) return false;
      listed += have->count;
    } else if (have->tag == KW_TAG_GENERATOR) { /* any of the device */
      if (got->u.generator && got->u.generator->device != request->device) return false;
    } else if (!kw_values_equal(have, got)) {
      return false;
    }
  }
  for (uint32_t i = 0; i < plan->out_count; ++i) {
    if (plan->out_given >> i & 1) {
      if (!request->outs[i] || !kw_fingerprint_equal(plan->outs[i], request->outs[i]->fingerprint)) return false;
    } else if (request->outs[i] && plan->op->schema.results[i].alias_of < 0) {
      return false;
    }
  }
  return true;
}

/* ---- Building: the kernel ---------------------------------------------------------------------------------------- */

/* A trailing argument the kernel does not know must hold its default. */
static bool knows_arguments(const kw_kernel *kernel, const kw_plan *plan) {
  for (uint32_t i = kernel->desc.known_args; i < plan->normal_count; ++i) {
    if (!kw_values_equal(&plan->normal[i], &plan->op->schema.args[i].default_value)) return false;
  }
  return true;
}

/* Expands a descriptor to the shape of `target` with stride 0, as a broadcast does. */
static void expand_to(kw_tensor_ref *ref, const kw_tensor_ref *target) {
  int64_t strides[KW_MAX_RANK] = {0};
  for (uint32_t d = 0; d < ref->rank; ++d) {
    uint32_t at = target->rank - ref->rank + d;
    strides[at] = ref->shape[d] == target->shape[at] ? ref->strides[d] : 0;
  }
  ref->rank = target->rank;
  ref->numel = target->numel;
  memcpy(ref->shape, target->shape, target->rank * sizeof target->shape[0]);
  memcpy(ref->strides, strides, target->rank * sizeof strides[0]);
}

bool kw_plan_expand(const kw_plan *plan, kw_tensor_ref *ref) {
  const kw_tensor_ref *target = &plan->inference.results[0];
  if (!plan->inference.broadcast) return false;
  if (ref->rank == target->rank && memcmp(ref->shape, target->shape, ref->rank * sizeof ref->shape[0]) == 0)
    return false;
  expand_to(ref, target);
  return true;
}

/* The call as a kernel's pure functions see it: no memory, no addresses. */
typedef struct trial {
  kw_call call;
  kw_value args[KW_MAX_ARGS];
  kw_tensor_ref tensors[KW_MAX_ARGS];
  kw_tensor_ref outs[KW_MAX_RESULTS];
  const kw_tensor_ref *out_pointers[KW_MAX_RESULTS];
  kw_tensor_ref *entries; /* of all tensor lists */
  const kw_tensor_ref **entry_pointers;
} trial;

static void hide_memory(kw_tensor_ref *ref) {
  ref->mem = NULL;
  ref->offset = 0;
}

/* Copies of the tensors in lists. */
static kw_status hide_lists(trial *t, const kw_plan *plan) {
  size_t count = 0;
  for (uint32_t i = 0; i < plan->normal_count; ++i) {
    if (plan->normal[i].tag == KW_TAG_TENSOR_LIST) count += plan->normal[i].count;
  }
  t->entries = count ? calloc(count, sizeof *t->entries) : NULL;
  t->entry_pointers = count ? calloc(count, sizeof *t->entry_pointers) : NULL;
  if (count && (!t->entries || !t->entry_pointers)) {
    return kw_fail(KW_ERR_OUT_OF_MEMORY, "%s: no host memory to choose a kernel for %zu listed tensors",
                   plan->op->schema.name, count);
  }
  size_t at = 0;
  for (uint32_t i = 0; i < plan->normal_count; ++i) {
    const kw_value *list = &plan->normal[i];
    if (list->tag != KW_TAG_TENSOR_LIST || list->count == 0) continue;
    t->args[i].u.tensors = &t->entry_pointers[at];
    for (uint32_t k = 0; k < list->count; ++k, ++at) {
      if (!list->u.tensors[k]) continue;
      t->entries[at] = *list->u.tensors[k];
      hide_memory(&t->entries[at]);
      t->entry_pointers[at] = &t->entries[at];
    }
  }
  return KW_OK;
}

static void free_trial(trial *t) {
  free(t->entries);
  free(t->entry_pointers);
}

/* free_trial is due in any case. */
static kw_status make_trial(trial *t, const kw_plan *plan, const kw_request *request, uint32_t cast) {
  memset(&t->call, 0, sizeof t->call);
  memcpy(t->args, plan->normal, sizeof t->args);
  const uint32_t fresh_alignment = kw_device_fresh_alignment(plan->device);
  for (uint32_t i = 0; i < plan->normal_count; ++i) {
    if (!(plan->tensor_args >> i & 1)) continue;
    kw_tensor_ref *ref = &t->tensors[i];
    *ref = *plan->normal[i].u.tensor;
    hide_memory(ref);
    if (cast >> i & 1) {
      ref->dtype = plan->inference.key;
      ref->alignment = fresh_alignment;
      kw_shape_contiguous_strides(ref->rank, ref->shape, ref->strides);
    }
    kw_plan_expand(plan, ref);
    t->args[i].u.tensor = ref;
  }
  for (uint32_t i = 0; i < plan->inference.result_count; ++i) {
    int32_t alias = plan->op->schema.results[i].alias_of;
    t->outs[i] = plan->out_given >> i & 1 ? request->outs[i]->ref : plan->inference.results[i];
    if (!(plan->out_given >> i & 1)) t->outs[i].alignment = fresh_alignment;
    if (alias >= 0) t->outs[i] = t->tensors[alias];
    hide_memory(&t->outs[i]);
    t->out_pointers[i] = plan->inference.absent >> i & 1 ? NULL : &t->outs[i];
  }
  t->call.struct_size = sizeof t->call;
  t->call.arg_count = plan->normal_count;
  t->call.out_count = plan->inference.result_count;
  t->call.math_mode = plan->math & KW_MATH_MODE_MASK;
  t->call.flags = kw_plan_call_flags(plan);
  t->call.device = plan->device->handle;
  t->call.op = plan->op->schema.name;
  t->call.args = t->args;
  t->call.outs = t->out_pointers;
  return hide_lists(t, plan);
}

/* Whether the device can cast what this kernel does not take as it is. Lists are never cast: those of several dtypes go
 * to kernels that take them as they are, or are decomposed. */
static bool can_cast_for(const kw_kernel_desc *kernel, const kw_plan *plan) {
  if (kernel->flags & KW_KERNEL_MIXED_DTYPES) return true;
  for (uint32_t i = 0; i < plan->normal_count; ++i) {
    if (!(plan->inference.cast >> i & 1)) continue;
    if (plan->normal[i].tag == KW_TAG_TENSOR_LIST ||
        !kw_can_cast_from(plan->device, plan->normal[i].u.tensor->dtype, plan->math))
      return false;
  }
  return true;
}

/* Asks one kernel. KW_ERR_NOT_IMPLEMENTED: the next one, please. */
static kw_status try_kernel(kw_plan *plan, const kw_request *request, const kw_kernel *kernel) {
  if (!kw_dtype_mask_has(kernel->desc.dtypes, plan->inference.key) || !knows_arguments(kernel, plan)) {
    return KW_ERR_NOT_IMPLEMENTED;
  }
  uint32_t cast = kernel->desc.flags & KW_KERNEL_MIXED_DTYPES ? 0 : plan->inference.cast;
  if (!can_cast_for(&kernel->desc, plan)) return KW_ERR_NOT_IMPLEMENTED;

  trial t;
  kw_status made = make_trial(&t, plan, request, cast);
  if (made != KW_OK) {
    free_trial(&t);
    return made;
  }
  t.call.user = kernel->desc.user;
  kw_status status = kernel->desc.can_implement ? kernel->desc.can_implement(&t.call) : KW_OK;
  const char *step = "can_implement";
  uint64_t workspace = 0; /* of this kernel, if it is the one */
  void *prepared = NULL;
  if (status == KW_OK && kernel->desc.workspace_size) {
    step = "workspace_size";
    status = kernel->desc.workspace_size(&t.call, &workspace);
  }
  t.call.workspace_size = workspace;
  if (status == KW_OK && kernel->desc.prepare && !request->only_asked) {
    step = "prepare";
    status = kernel->desc.prepare(&t.call, &prepared);
  }
  if (status == KW_OK && !request->only_asked) {
    step = "packed_size";
    t.call.prepared = prepared;
    status = kw_packs_plan(plan, kernel, cast, &t.call);
    if (status != KW_OK && prepared && kernel->desc.release) kernel->desc.release(kernel->desc.user, prepared);
  }
  free_trial(&t);
  status = kw_plugin_status(plan->device->plugin, status);
  if (status == KW_ERR_NOT_IMPLEMENTED || status == KW_ERR_FALLBACK) return KW_ERR_NOT_IMPLEMENTED;
  if (status != KW_OK) {
    return kw_device_mark_if_lost(plan->device, kw_from_plugin(status, "kernel '%s': %s", kernel->desc.name, step));
  }
  bool expands = false;
  for (uint32_t i = 0; i < plan->normal_count && !expands; ++i) {
    if (!(plan->tensor_args >> i & 1)) continue;
    kw_tensor_ref ref = *plan->normal[i].u.tensor;
    expands = kw_plan_expand(plan, &ref);
  }
  plan->kernel = kernel;
  plan->workspace = workspace;
  plan->prepared = prepared;
  plan->cast = cast;
  plan->mode = cast != 0 || expands || plan->workspace != 0 || plan->listed ? KW_PLAN_PREPARED : KW_PLAN_DIRECT;
  return KW_OK;
}

static kw_status choose(kw_plan *plan, const kw_request *request) {
  bool empty = kw_mutated_args_are_empty(plan->op, plan->normal);
  for (uint32_t i = 0; i < plan->inference.result_count; ++i) empty = empty && plan->inference.results[i].numel == 0;
  uint32_t count;
  kw_kernel *const *kernels =
      (request->kernel ? kw_plugin_kernels_by_name : kw_plugin_kernels)(plan->device->plugin, plan->op, &count);
  bool named = false;
  const kw_kernel_desc *barred = NULL; /* that takes the dtypes, and the math mode does not allow */
  for (uint32_t i = 0; i < count; ++i) {
    if (request->kernel && strcmp(request->kernel, kernels[i]->desc.name) != 0) continue;
    named = true;
    const kw_kernel_desc *desc = &kernels[i]->desc;
    const bool takes = kw_dtype_mask_has(desc->dtypes, plan->inference.key);
    if (takes && !kw_math_allows(plan->math, desc)) {
      if (can_cast_for(desc, plan)) barred = desc;
      continue;
    }
    if (empty && takes) { /* no kernel sees a call without results */
      plan->mode = KW_PLAN_EMPTY;
      plan->kernel = kernels[i];
      return KW_OK;
    }
    kw_status status = try_kernel(plan, request, kernels[i]);
    if (status != KW_ERR_NOT_IMPLEMENTED) return status;
  }
  char call[512];
  kw_request_describe(request, call, sizeof call);
  if (request->kernel && barred) return kw_math_refuse(call, barred, plan->math);
  if (request->kernel) {
    return named ? kw_fail(KW_ERR_NOT_IMPLEMENTED, "%s: kernel '%s' does not take this call", call, request->kernel)
                 : kw_fail(KW_ERR_NOT_FOUND, "%s: there is no kernel '%s'; kw_op_get_kernel lists those there are",
                           call, request->kernel);
  }
  plan->decomposition = kw_decompose_find(plan->op, plan->device, plan->inference.key, plan->math);
  if (plan->decomposition) {
    plan->mode = empty ? KW_PLAN_EMPTY : KW_PLAN_DECOMPOSE;
    return KW_OK;
  }
  if (kw_fallback_get() == KW_FALLBACK_OFF) {
    return barred ? kw_math_refuse(call, barred, plan->math) : kw_fallback_refuse(plan, request);
  }
  plan->mode = KW_PLAN_FALLBACK;
  return KW_OK;
}

void kw_plan_release_prepared(kw_plan *plan) {
  if (plan->prepared && kw_device_is_abandoned(plan->device)) {
    kw_abandon_keep(plan->prepared);
  } else if (plan->prepared && plan->kernel->desc.release) {
    plan->kernel->desc.release(plan->kernel->desc.user, plan->prepared);
  }
  plan->prepared = NULL;
}

void kw_plan_free(kw_plan *plan) {
  kw_plan_release_prepared(plan);
  free(plan->listed);
  free(plan->storage);
  free(atomic_load(&plan->own));
  free(plan);
}

kw_status kw_plan_build(const kw_request *request, kw_plan **out_plan) {
  kw_value normal[KW_MAX_ARGS];
  int64_t scratch[KW_MAX_ARGS];
  kw_status status = kw_op_normalize(request->op, request->args, request->arg_count, normal, scratch);
  if (status != KW_OK) return status;
  kw_plan *plan = calloc(1, sizeof *plan);
  if (!plan) return kw_fail(KW_ERR_OUT_OF_MEMORY, "%s: no host memory for a plan", request->op->schema.name);
  atomic_init(&plan->refs, 1);
  status = copy_signature(plan, request, normal);
  if (status == KW_OK) status = kw_infer(request->op, plan->normal, &plan->inference);
  if (status == KW_OK) status = check_outs(plan, request);
  if (status == KW_OK) status = kw_mutated_args_check_each(plan->op, plan->normal);
  if (status == KW_OK) status = choose(plan, request);
  if (status != KW_OK) {
    kw_plan_free(plan);
    return status;
  }
  const kw_schema *schema = &plan->op->schema;
  plan->simple = plan->simple && plan->mode == KW_PLAN_DIRECT && schema->result_count == 1 && plan->out_given == 1 &&
                 !(plan->kernel->desc.flags & KW_KERNEL_DATA_ERRORS);
  /* The caller's descriptors are gone after this call: what normal[] points at is patched in at each run. */
  for (uint32_t i = 0; i < plan->normal_count; ++i) {
    if (plan->normal[i].tag == KW_TAG_TENSOR) plan->normal[i].u.tensor = NULL;
    if (plan->normal[i].tag == KW_TAG_TENSOR_LIST) plan->normal[i].u.tensors = NULL;
  }
  *out_plan = plan;
  return KW_OK;
}
