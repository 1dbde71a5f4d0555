/* SPDX-License-Identifier: Apache-2.0
 *
 * rms_norm of bf16 rounds the normalised values to bf16 before it multiplies them by weight.
 */
#include "mutant.h"

#include <string.h>

static float load(const void *at) {
  uint32_t bits = (uint32_t) * (const uint16_t *)at << 16;
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static void store(void *at, float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  if (value == value) bits += 0x7fff + (bits >> 16 & 1);
  *(uint16_t *)at = (uint16_t)(bits >> 16);
}

static kw_status launch(const kw_call *call) {
  const kw_tensor_ref *out = call->outs[0],
                      *weight = call->args[2].tag == KW_TAG_TENSOR ? call->args[2].u.tensor : NULL;
  if (!weight || weight->dtype != KW_BF16 || out->dtype != KW_BF16) return kw_mutant_launch_real(call);
  kw_mutant_copy copy;
  kw_mutant_copy_call(call, &copy);
  copy.args[2] = (kw_value){.tag = KW_TAG_NONE};
  kw_status status = kw_mutant_run_real(&copy.call);
  for (int64_t i = 0; i < out->numel && status == KW_OK; i++) {
    void *at = kw_mutant_at(out, i);
    store(at, load(at) * load(kw_mutant_at(weight, i % weight->numel)));
  }
  return status;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "rms_norm";
  mutant->launch = launch;
}
