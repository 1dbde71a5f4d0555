/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs a call on copies of its f32 operands with fewer bits of mantissa, and registers kernels for lower math modes.
 */
#include "mutant_product.h"

#include <stdlib.h>
#include <string.h>

/* Makes an f32 tensor a dense one of the same elements, cut to `bits` of mantissa, in new memory, which the caller
 * frees as its mem. False when there is no memory. */
static bool cut(kw_tensor_ref *tensor, int bits) {
  const kw_tensor_ref from = *tensor;
  uint32_t *elements = malloc((size_t)from.numel * sizeof *elements + 1);
  if (!elements) return false;
  for (int64_t i = 0; i < from.numel; i++) {
    memcpy(&elements[i], kw_mutant_at(&from, i), sizeof *elements);
    elements[i] &= UINT32_MAX << (23 - bits);
  }
  tensor->mem = elements;
  tensor->offset = 0;
  int64_t stride = 1;
  for (int d = tensor->rank; d-- > 0; stride *= tensor->shape[d]) tensor->strides[d] = stride;
  return true;
}

kw_status kw_mutant_run_cut(const kw_call *call, int bits) {
  kw_mutant_copy copy;
  kw_mutant_copy_call(call, &copy);
  void *made[2] = {NULL};
  kw_status status = kw_mutant_real.stream.synchronize(call->device, call->stream, KW_WAIT_FOREVER);
  for (uint32_t i = 0; i < 2 && status == KW_OK; i++) {
    kw_tensor_ref *operand = &copy.arg_tensors[i];
    if (operand->dtype != KW_F32) continue;
    status = cut(operand, bits) ? KW_OK : KW_ERR_OUT_OF_MEMORY;
    if (status == KW_OK) made[i] = operand->mem;
  }
  if (status == KW_OK) status = kw_mutant_run_real(&copy.call);
  for (uint32_t i = 0; i < 2; i++) free(made[i]);
  return status;
}

void kw_mutant_add_kernel(const kw_kernel_desc *kernel, const char *name, kw_math_mode needs,
                          kw_status (*launch)(const kw_call *call)) {
  const uint64_t f32 = KW_DTYPE_BIT(KW_F32);
  if (!(kernel->dtypes.bits[0] & f32)) return;
  kw_kernel_desc added = *kernel;
  added.dtypes.bits[0] = f32;
  added.name = name;
  added.math_needs = needs;
  added.priority++;
  added.launch = launch;
  kw_mutant_host->register_kernel(kw_mutant_host->ctx, &added);
}
