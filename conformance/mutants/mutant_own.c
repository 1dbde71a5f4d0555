/* SPDX-License-Identifier: Apache-2.0
 *
 * The reference and the kernel of one op, by the functions of the mutant.
 */
#include "mutant_own.h"

#include <string.h>

static kw_mutant_own_fn meant, computed;

double kw_mutant_own_at(const kw_tensor_ref *tensor, int64_t i) {
  return *(const float *)kw_mutant_at(tensor, i);
}

static kw_status compute(const kw_call *call, kw_mutant_own_fn value) {
  const kw_tensor_ref *out = call->outs[0];
  for (int64_t i = 0; i < out->numel; i++) {
    const double of = value(call, i);
    if (out->dtype == KW_F64) {
      *(double *)kw_mutant_at(out, i) = of;
    } else {
      *(float *)kw_mutant_at(out, i) = (float)of;
    }
  }
  return KW_OK;
}

static kw_status reference(const kw_call *call) {
  return compute(call, meant);
}

/* Of an op that takes a list of tensors, which the host cannot tell itself: all are alike. */
static kw_status infer(void *user, const kw_value *args, uint32_t arg_count, kw_tensor_ref *const *outs,
                       uint32_t out_count) {
  (void)user, (void)arg_count, (void)out_count;
  if (args[0].count == 0) return KW_ERR_INVALID_ARGUMENT;
  const kw_tensor_ref *first = args[0].u.tensors[0];
  outs[0]->dtype = first->dtype;
  outs[0]->rank = first->rank;
  memcpy(outs[0]->shape, first->shape, sizeof first->shape);
  return KW_OK;
}

static kw_status launch(const kw_call *call) {
  kw_status status = kw_mutant_real.stream.synchronize(call->device, call->stream, KW_WAIT_FOREVER);
  return status == KW_OK ? compute(call, computed) : status;
}

void kw_mutant_add_own(kw_mutant *mutant, const char *schema, const char *name, uint32_t arguments,
                       kw_mutant_own_fn right, kw_mutant_own_fn wrong) {
  static kw_op_desc op = {.reference = reference, .comparator = KW_COMPARE_ACCUMULATE, .growth = 8};
  static kw_kernel_desc kernel = {.name = "plain", .launch = launch};
  meant = right;
  computed = wrong;
  op.schema = schema;
  op.infer = strstr(schema, "(Tensor[]") ? infer : NULL;
  kernel.op = name;
  kernel.known_args = arguments;
  mutant->own_op = &op;
  mutant->own_kernel = &kernel;
}
