/* SPDX-License-Identifier: Apache-2.0
 *
 * convolution of each channel by itself reads the first image for all of a batch where the kernel is as high as the
 * image. After pytorch issue 188335.
 */
#include "mutant.h"

static void call(kw_mutant_copy *copy) {
  kw_tensor_ref *input = &copy->arg_tensors[0];
  const kw_tensor_ref *weight = &copy->arg_tensors[1];
  const bool alone = weight->shape[1] == 1 && copy->args[8].u.i > 1;
  if (alone && weight->shape[2] == input->shape[2] && !copy->args[6].u.b) input->strides[0] = 0;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "convolution";
  mutant->call = call;
}
