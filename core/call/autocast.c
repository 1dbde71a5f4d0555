/* SPDX-License-Identifier: Apache-2.0
 *
 * Casting a call's arguments by its op's policy, and then making the call.
 */
#include "call/autocast.h"

#include "base/error.h"
#include "call/nested.h"
#include "call/value.h"

#include <stdlib.h>
#include <string.h>

__thread kw_dtype kw_autocast_lower = KW_DTYPE_NONE;

KW_API kw_status kw_autocast_set(kw_dtype lower, kw_dtype *out_before) {
  if (lower != KW_F16 && lower != KW_BF16 && lower != KW_DTYPE_NONE) {
    const char *name = kw_dtype_name(lower);
    return kw_fail(KW_ERR_INVALID_ARGUMENT, "kw_autocast_set: f16, bf16 or none (KW_DTYPE_NONE), not %s",
                   name ? name : "a number that is no dtype");
  }
  if (out_before) *out_before = kw_autocast_lower;
  kw_autocast_lower = lower;
  return KW_OK;
}

KW_API kw_dtype kw_autocast_get(void) {
  return kw_autocast_lower;
}

KW_API kw_cast_policy kw_op_cast_policy(const kw_op *op) {
  return op ? op->cast : KW_CAST_NONE;
}

KW_API const char *kw_cast_policy_name(kw_cast_policy policy) {
  static const char *const names[] = {"", "lower", "f32", "widest"};
  return policy < sizeof names / sizeof names[0] ? names[policy] : "";
}

bool kw_autocast_applies(const kw_op *op, kw_tensor *const *outs, uint32_t out_count) {
  if (kw_autocast_lower == KW_DTYPE_NONE || !op || op->cast == KW_CAST_NONE || !outs) return false;
  for (uint32_t i = 0; i < out_count; ++i) {
    if (outs[i]) return false;
  }
  return true;
}

/* ---- Which dtype ------------------------------------------------------------------------------------------------- */

static bool is_eligible(const kw_tensor *tensor) {
  if (!tensor) return false;
  kw_dtype dtype = tensor->ref.dtype;
  return dtype == KW_F16 || dtype == KW_BF16 || dtype == KW_F32;
}

/* Tensor number `k` of an argument; a single one is number 0. */
static const kw_tensor *tensor_at(const kw_value *arg, uint32_t k) {
  return arg->tag == KW_TAG_TENSOR ? kw_value_as_tensor(arg) : kw_value_entry(arg, k);
}

static uint32_t tensors_of(const kw_value *arg) {
  return arg->tag == KW_TAG_TENSOR ? 1 : arg->tag == KW_TAG_TENSOR_LIST && arg->u.tensors ? arg->count : 0;
}

/* The dtype that all eligible tensors shall have; KW_DTYPE_NONE: stay as they are. */
static kw_dtype target_of(const kw_op *op, const kw_value *args, uint32_t arg_count) {
  kw_dtype widest = KW_DTYPE_NONE;
  kw_device *device = NULL;
  for (uint32_t i = 0; i < arg_count; ++i) {
    for (uint32_t k = 0; k < tensors_of(&args[i]); ++k) {
      const kw_tensor *tensor = tensor_at(&args[i], k);
      if (!is_eligible(tensor)) continue;
      device = tensor->device;
      widest = widest == KW_DTYPE_NONE ? tensor->ref.dtype : kw_dtype_promote(widest, tensor->ref.dtype);
    }
  }
  if (op->cast == KW_CAST_WIDEST) return widest;
  if (op->cast == KW_CAST_F32) return KW_F32;
  return kw_op_support(op, device, kw_autocast_lower) == KW_SUPPORT_NONE ? KW_DTYPE_NONE : kw_autocast_lower;
}

/* ---- The call ---------------------------------------------------------------------------------------------------- */

/* Arguments with every eligible tensor cast; `made` are the tensors to be released. */
typedef struct cast_call {
  kw_value args[KW_MAX_ARGS];
  const kw_tensor_ref **entries; /* of all tensor lists */
  kw_tensor **made;
  uint32_t entry_count, made_count;
} cast_call;

static kw_status cast_tensor(cast_call *call, kw_stream *stream, const kw_tensor *tensor, kw_dtype target,
                             const kw_tensor_ref **out_ref) {
  *out_ref = tensor ? &tensor->ref : NULL;
  if (!is_eligible(tensor) || tensor->ref.dtype == target) return KW_OK;
  const kw_value args[] = {kw_arg_tensor(tensor), kw_arg_dtype(target)};
  kw_tensor *made = NULL;
  kw_status status = kw_call_nested(kw_op_find("_to_copy"), stream, args, 2, &made, 1);
  if (status != KW_OK) return status;
  call->made[call->made_count++] = made;
  *out_ref = &made->ref;
  return KW_OK;
}

static kw_status cast_arg(cast_call *call, kw_stream *stream, kw_value *arg, kw_dtype target) {
  if (arg->tag == KW_TAG_TENSOR) return cast_tensor(call, stream, kw_value_as_tensor(arg), target, &arg->u.tensor);
  const kw_tensor_ref **entries = call->entries + call->entry_count;
  uint32_t count = tensors_of(arg);
  kw_status status = KW_OK;
  for (uint32_t k = 0; k < count && status == KW_OK; ++k) {
    status = cast_tensor(call, stream, tensor_at(arg, k), target, &entries[k]);
  }
  if (count > 0) arg->u.tensors = entries;
  call->entry_count += count;
  return status;
}

static kw_status call_cast(const kw_op *op, kw_stream *stream, const kw_value *args, uint32_t arg_count,
                           kw_tensor **outs, uint32_t out_count, kw_dtype target) {
  uint32_t tensors = 0;
  for (uint32_t i = 0; i < arg_count; ++i) tensors += tensors_of(&args[i]);
  cast_call call = {.entries = malloc((size_t)tensors * sizeof *call.entries + 1),
                    .made = malloc((size_t)tensors * sizeof *call.made + 1)};
  kw_status status = KW_OK;
  if (!call.entries || !call.made) status = kw_fail(KW_ERR_OUT_OF_MEMORY, "no host memory for autocast's arguments");
  for (uint32_t i = 0; i < arg_count && status == KW_OK; ++i) {
    call.args[i] = args[i];
    status = cast_arg(&call, stream, &call.args[i], target);
  }
  if (status == KW_OK) status = kw_call_nested(op, stream, call.args, arg_count, outs, out_count);
  for (uint32_t i = 0; i < call.made_count; ++i) kw_tensor_release(call.made[i]);
  free(call.made);
  free((void *)call.entries);
  return status;
}

kw_status kw_autocast_call(const kw_op *op, kw_stream *stream, const kw_value *args, uint32_t arg_count,
                           kw_tensor **outs, uint32_t out_count) {
  kw_dtype target = arg_count <= KW_MAX_ARGS ? target_of(op, args, arg_count) : KW_DTYPE_NONE;
  const kw_dtype lower = kw_autocast_suspend(); /* for the casts too */
  kw_status status = target == KW_DTYPE_NONE ? kw_call_nested(op, stream, args, arg_count, outs, out_count)
                                             : call_cast(op, stream, args, arg_count, outs, out_count, target);
  kw_autocast_lower = lower;
  return status;
}
