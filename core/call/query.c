/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls that are asked about and not made: what they would give (kw_op_infer), and whether a device can run them
 * (kw_op_can_run). Tensors may be descriptors without memory then.
 */
#include "base/error.h"
#include "base/struct.h"
#include "call/fallback.h"
#include "call/plan.h"
#include "op/fail.h"
#include "op/normalize.h"

#include <stdlib.h>

/* The arguments of such a call with a tensor for each descriptor: it has all that a plan looks at, and no memory. */
typedef struct stand_ins {
  kw_value args[KW_MAX_ARGS];
  kw_tensor *tensors;
  const kw_tensor_ref **entries; /* of all lists of descriptors */
} stand_ins;

static kw_status stand_in(const kw_op *op, uint32_t index, kw_device *device, const kw_tensor_ref *given,
                          kw_tensor *out) {
  if (!given || given->struct_size < sizeof *given) {
    return kw_op_fail(op, index, "the descriptor is NULL, or its struct_size is not set: make it with kw_meta");
  }
  kw_tensor_ref *ref = &out->ref;
  kw_struct_read(ref, sizeof *ref, given);
  kw_status status = kw_shape_check(op->schema.args[index].name, ref->dtype, ref->rank, ref->shape, &ref->numel);
  if (status != KW_OK) return kw_wrap(status, "%s", op->schema.name);
  bool fits = kw_ref_extent(ref) != UINT64_MAX;
  for (uint32_t d = 0; d < ref->rank; ++d) fits = fits && ref->strides[d] >= 0;
  if (!fits) return kw_op_fail(op, index, "a stride is negative, or reaches past 2^63 bytes");
  ref->mem = NULL;
  ref->offset = 0;
  if (device) {
    if (ref->alignment == 0) ref->alignment = kw_device_fresh_alignment(device);
    out->device = device;
    out->fingerprint = kw_fingerprint_of(device->fingerprint_seed, ref, false);
  }
  atomic_store_explicit(&out->magic, KW_TENSOR_MAGIC, memory_order_relaxed);
  return KW_OK;
}

static uint32_t count_descriptors(const kw_value *value) {
  return value->tag == KW_TAG_META ? 1 : value->tag == KW_TAG_META_LIST && value->u.tensors ? value->count : 0;
}

static void free_stand_ins(stand_ins *s) {
  free(s->tensors);
  free(s->entries);
}

/* free_stand_ins is due in any case. */
static kw_status make_stand_ins(const kw_op *op, kw_device *device, const kw_value *args, uint32_t arg_count,
                                stand_ins *s) {
  *s = (stand_ins){0};
  if (!op) return kw_fail(KW_ERR_INVALID_ARGUMENT, "no op was given; kw_op_find returns NULL for an unknown name");
  if (arg_count > op->schema.arg_count || (arg_count && !args)) {
    return kw_fail(KW_ERR_INVALID_ARGUMENT, "%s: %u arguments given%s, it takes at most %u: %s", op->schema.name,
                   arg_count, args ? "" : " at NULL", op->schema.arg_count, op->schema.text);
  }
  size_t count = 0, at = 0;
  for (uint32_t i = 0; i < arg_count; ++i) count += count_descriptors(&args[i]);
  if (count > 0) {
    s->tensors = calloc(count, sizeof *s->tensors);
    s->entries = calloc(count, sizeof *s->entries);
    if (!s->tensors || !s->entries) {
      return kw_fail(KW_ERR_OUT_OF_MEMORY, "%s: no host memory for %zu descriptors", op->schema.name, count);
    }
  }
  for (uint32_t i = 0; i < arg_count; ++i) {
    kw_value *value = &s->args[i];
    *value = args[i];
    if (value->tag != KW_TAG_META && value->tag != KW_TAG_META_LIST) continue;
    const bool list = value->tag == KW_TAG_META_LIST;
    if (list && value->count && !value->u.tensors) return kw_op_fail(op, i, "the list is NULL, with entries");
    value->tag = list ? KW_TAG_TENSOR_LIST : KW_TAG_TENSOR;
    const size_t first = at;
    for (uint32_t k = 0; k < count_descriptors(&args[i]); ++k, ++at) {
      const kw_tensor_ref *given = list ? args[i].u.tensors[k] : args[i].u.tensor;
      if (list && !given) continue;
      kw_status status = stand_in(op, i, device, given, &s->tensors[at]);
      if (status != KW_OK) return status;
      s->entries[at] = &s->tensors[at].ref;
    }
    if (list) value->u.tensors = &s->entries[first];
    if (!list) value->u.tensor = &s->tensors[first].ref;
  }
  return KW_OK;
}

/* ---- What a call would give -------------------------------------------------------------------------------------- */

static kw_status write_results(const kw_op *op, const kw_inference *inference, kw_tensor_ref *const *outs,
                               uint32_t out_count) {
  if (out_count != inference->result_count || (out_count && !outs)) {
    return kw_fail(KW_ERR_INVALID_ARGUMENT, "%s: kw_op_infer: %u descriptors for results%s, the op has %u",
                   op->schema.name, out_count, outs ? "" : " at NULL", inference->result_count);
  }
  for (uint32_t i = 0; i < out_count; ++i) {
    kw_status status = kw_struct_check_given("kw_op_infer", outs[i]);
    if (status != KW_OK) return status;
  }
  for (uint32_t i = 0; i < out_count; ++i) {
    kw_tensor_ref result = inference->results[i];
    if (inference->absent >> i & 1) result.dtype = KW_DTYPE_NONE;
    result.mem = NULL;
    result.offset = 0;
    result.alignment = 0;
    kw_struct_write(outs[i], &result, sizeof result);
  }
  return KW_OK;
}

KW_API kw_status kw_op_infer(const kw_op *op, const kw_value *args, uint32_t arg_count, kw_tensor_ref *const *outs,
                             uint32_t out_count) {
  stand_ins s;
  kw_value normal[KW_MAX_ARGS];
  int64_t scratch[KW_MAX_ARGS];
  kw_inference inference;
  kw_status status = make_stand_ins(op, NULL, args, arg_count, &s);
  if (status == KW_OK) status = kw_op_normalize(op, s.args, arg_count, normal, scratch);
  if (status == KW_OK) status = kw_infer(op, normal, &inference);
  if (status == KW_OK) status = write_results(op, &inference, outs, out_count);
  free_stand_ins(&s);
  return status;
}

/* ---- Whether a device can run it --------------------------------------------------------------------------------- */

KW_API kw_status kw_op_can_run(const kw_op *op, kw_device *device, const kw_value *args, uint32_t arg_count,
                               kw_call_support *out_support) {
  if (!device) return kw_fail(KW_ERR_INVALID_ARGUMENT, "kw_op_can_run: device is NULL; open one by kw_device_open");
  if (out_support) {
    kw_status status = kw_struct_check_given("kw_op_can_run", out_support);
    if (status != KW_OK) return status;
  }
  stand_ins s;
  kw_tensor *outs[KW_MAX_RESULTS] = {NULL};
  kw_plan *plan = NULL;
  kw_status status = make_stand_ins(op, device, args, arg_count, &s);
  kw_request request = {.op = op,
                        .stream = device->default_stream,
                        .args = s.args,
                        .arg_count = arg_count,
                        .outs = outs,
                        .out_count = op ? op->schema.result_count : 0,
                        .math = kw_math_now(),
                        .only_asked = true};
  if (status == KW_OK) status = kw_request_resolve(&request);
  if (status == KW_OK) status = kw_plan_build(&request, &plan);
  if (status == KW_OK && plan->mode == KW_PLAN_FALLBACK) status = kw_fallback_refuse(plan, &request);
  if (status == KW_OK && out_support) {
    const kw_call_support support = {.struct_size = sizeof support,
                                     .support = plan->kernel ? KW_SUPPORT_KERNEL : KW_SUPPORT_DECOMPOSED,
                                     .kernel = plan->kernel ? plan->kernel->desc.name : ""};
    kw_struct_write(out_support, &support, sizeof support);
  }
  if (plan) kw_plan_free(plan);
  free_stand_ins(&s);
  return status;
}
