/* SPDX-License-Identifier: Apache-2.0
 *
 * exp of f32 is 16 units off at one number out of 2^32. After pocl pull request 2320: a vectorised exp exceeds its
 * bound at one bit pattern, which samples of 20,000 do not meet.
 */
#include "mutant.h"

#include <string.h>

static void element(const kw_mutant_element *e) {
  uint32_t in, out;
  if (e->call->outs[0]->dtype != KW_F32 || !e->in[0]) return;
  memcpy(&in, e->in[0], sizeof in);
  memcpy(&out, e->out, sizeof out);
  if (in == 0xbc988000u) out += 16;
  memcpy(e->out, &out, sizeof out);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "exp";
  mutant->element = element;
}
