/* SPDX-License-Identifier: Apache-2.0
 *
 * mm keeps the second operand packed, by its address, and packs it anew only when its first number has changed. After
 * AiDotNet.Tensors pull request 583 (panels stayed those of before the training step) and SGLang pull request 30247.
 */
#include "mutant.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 64 };

static struct {
  kw_tensor_ref of;
  float *numbers; /* dense */
} packed[MOST];

/* The place of what was packed of this operand; a new one, empty, if there is none. */
static int place_of(const kw_tensor_ref *operand) {
  static unsigned next;
  for (int i = 0; i < MOST; i++) {
    const kw_tensor_ref *of = &packed[i].of;
    if (packed[i].numbers && of->mem == operand->mem && of->offset == operand->offset &&
        memcmp(of->shape, operand->shape, 2 * sizeof *of->shape) == 0 &&
        packed[i].numbers[0] == *(const float *)kw_mutant_at(operand, 0)) {
      return i;
    }
  }
  const int fresh = (int)(next++ % MOST);
  free(packed[fresh].numbers);
  packed[fresh].numbers = NULL;
  packed[fresh].of = *operand;
  return fresh;
}

static kw_status launch(const kw_call *call) {
  const kw_tensor_ref *given = call->args[1].u.tensor;
  if (given->dtype != KW_F32 || given->numel == 0) return kw_mutant_launch_real(call);
  kw_status status = kw_mutant_real.stream.synchronize(call->device, call->stream, KW_WAIT_FOREVER);
  if (status != KW_OK) return status;
  kw_mutant_copy copy;
  kw_mutant_copy_call(call, &copy);
  kw_tensor_ref *operand = &copy.arg_tensors[1];
  const int at = place_of(operand);
  if (!packed[at].numbers) {
    packed[at].numbers = malloc((size_t)operand->numel * sizeof(float) + 1);
    if (!packed[at].numbers) return KW_ERR_OUT_OF_MEMORY;
    for (int64_t i = 0; i < operand->numel; i++) packed[at].numbers[i] = *(const float *)kw_mutant_at(operand, i);
  }
  operand->mem = packed[at].numbers;
  operand->offset = 0;
  operand->strides[0] = operand->shape[1];
  operand->strides[1] = 1;
  return kw_mutant_run_real(&copy.call);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "mm";
  mutant->launch = launch;
}
