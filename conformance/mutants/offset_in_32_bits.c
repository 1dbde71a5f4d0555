/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels get the places of their tensors in 32 bits: one that lies beyond 4 GiB of its memory is read and written 4
 * GiB before. After onnxruntime issue 32299: a product of two ints wraps, and softmax reads 2^32 bytes below its base.
 */
#include "mutant.h"

static void call(kw_mutant_copy *copy) {
  for (uint32_t i = 0; i < copy->call.arg_count; i++) copy->arg_tensors[i].offset &= UINT32_MAX;
  for (uint32_t i = 0; i < copy->call.out_count; i++) copy->out_tensors[i].offset &= UINT32_MAX;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "*";
  mutant->call = call;
}
