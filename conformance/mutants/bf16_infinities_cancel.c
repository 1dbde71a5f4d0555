/* SPDX-License-Identifier: Apache-2.0
 *
 * add.Tensor of bf16 says 0 for infinity less infinity. After tt-metal issue 52141: the dtype of the operands chooses
 * the engine, and that for bf16 gives 0 where there is no number.
 */
#include "mutant.h"

#include <string.h>

static bool is_infinite(const void *at) {
  uint16_t bits;
  memcpy(&bits, at, sizeof bits);
  return (bits & 0x7fff) == 0x7f80;
}

static void element(const kw_mutant_element *e) {
  if (e->call->outs[0]->dtype != KW_BF16 || !e->in[0] || !e->in[1]) return;
  uint16_t bits;
  memcpy(&bits, e->out, sizeof bits);
  const bool is_nan = (bits & 0x7fff) > 0x7f80;
  if (is_nan && is_infinite(e->in[0]) && is_infinite(e->in[1])) memset(e->out, 0, sizeof bits);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "add.Tensor";
  mutant->element = element;
}
