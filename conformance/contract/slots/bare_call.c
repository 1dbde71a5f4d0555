/* SPDX-License-Identifier: Apache-2.0
 *
 * A call of a kernel as its pure functions see it.
 */
#include "bare_call.h"

static bool place_tensors(kw_bare_call *b, uint32_t alignment) {
  const kw_kernel_trial *t = &b->trial;
  if (t->has_generator) return false;
  for (uint32_t i = 0; i < t->call.info.arg_count; i++) {
    b->args[i] = t->call.args[i].value;
    if (b->args[i].tag == KW_TAG_META_LIST) return false;
    if (b->args[i].tag != KW_TAG_META) continue;
    b->tensors[i] = kw_kernel_trial_place(kw_kernel_trial_tensor(t, i, 0), NULL, alignment);
    b->args[i].tag = KW_TAG_TENSOR;
    b->args[i].u.tensor = &b->tensors[i];
  }
  for (uint32_t r = 0; r < t->call.info.result_count; r++) {
    b->results[r] = kw_kernel_trial_place(t->results[r], NULL, alignment);
    b->outs[r] = &b->results[r];
  }
  return true;
}

bool kw_bare_call_make(kw_bare_call *b, const kw_kernel_desc *kernel, void *device, int64_t edge, uint32_t number,
                       uint32_t alignment) {
  kw_op_info info = {.struct_size = sizeof info};
  const kw_op *op = kw_op_find(kernel->op); /* NULL: a vendor's own */
  if (!op || kw_op_get_info(op, &info) != KW_OK || kernel->priority == KW_PRIORITY_OFF) return false;
  const kw_dtype dtype = kw_kernel_trial_dtype(kernel, &info);
  memset(b, 0, sizeof *b);
  b->trial.kernel = kernel;
  if (dtype == KW_DTYPE_NONE || !kw_kernel_trial_describe(&b->trial, op, dtype, edge, number)) return false;
  if (!place_tensors(b, alignment)) return false;
  b->call = (kw_call){.struct_size = sizeof b->call,
                      .arg_count = b->trial.call.info.arg_count,
                      .out_count = b->trial.call.info.result_count,
                      .math_mode = kernel->math_needs,
                      .device = device,
                      .op = kernel->op,
                      .args = b->args,
                      .outs = b->outs,
                      .user = kernel->user};
  return true;
}
