/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls of a plugin's kernels, as a small host makes them.
 */
#include "kernel_trial.h"

kw_dtype kw_kernel_trial_dtype(const kw_kernel_desc *kernel, const kw_op_info *op) {
  const uint64_t dtypes = kernel->dtypes.bits[0] & op->dtypes.bits[0], numbers = dtypes & ~KW_DTYPES_BOOL;
  if (dtypes & KW_DTYPES_F32) return KW_F32;
  if (dtypes & KW_DTYPE_BIT(KW_I64)) return KW_I64;
  if (numbers) return (kw_dtype)__builtin_ctzll(numbers);
  return dtypes ? KW_BOOL : KW_DTYPE_NONE;
}

int64_t kw_kernel_trial_numel(const kw_tensor_ref *tensor) {
  int64_t numel = 1;
  for (uint32_t d = 0; d < tensor->rank; d++) numel *= tensor->shape[d];
  return numel;
}

uint64_t kw_kernel_trial_bytes(const kw_tensor_ref *tensor) {
  return (uint64_t)kw_kernel_trial_numel(tensor) * kw_dtype_size(tensor->dtype);
}

kw_tensor_ref kw_kernel_trial_place(kw_tensor_ref tensor, kw_mem mem, uint32_t alignment) {
  tensor.struct_size = sizeof tensor;
  tensor.mem = mem;
  tensor.numel = kw_kernel_trial_numel(&tensor);
  tensor.alignment = alignment;
  return tensor;
}

static bool has_tensor(const kw_kernel_trial *t) {
  for (uint32_t i = 0; i < t->call.info.arg_count; i++) {
    const kw_tag tag = t->call.args[i].value.tag;
    if (tag == KW_TAG_META || tag == KW_TAG_META_LIST) return true;
  }
  return false;
}

bool kw_kernel_trial_describe(kw_kernel_trial *t, const kw_op *op, kw_dtype dtype, int64_t edge, uint32_t number) {
  if (!kw_test_call_describe(op, dtype, edge, number, t->forms, &t->call, t->results)) return false;
  t->has_generator = kw_test_call_random(&t->call);
  for (uint32_t i = t->kernel->known_args; i < t->call.info.arg_count; i++) {
    const kw_arg_info *arg = &t->call.args[i].info;
    if (memcmp(&t->call.args[i].value, &arg->default_value, sizeof arg->default_value) != 0) return false;
  }
  /* Without tensors to say it the op has chosen its key dtype itself. */
  return has_tensor(t) || kw_dtype_mask_has(t->kernel->dtypes, t->results[0].dtype);
}

kw_tensor_ref kw_kernel_trial_tensor(const kw_kernel_trial *t, uint32_t i, uint32_t k) {
  kw_tensor_ref tensor = t->forms[i].refs[k];
  if (t->call.info.pointwise && tensor.rank == 0) {
    tensor.rank = t->results[0].rank;
    memcpy(tensor.shape, t->results[0].shape, sizeof tensor.shape);
  }
  return tensor;
}
