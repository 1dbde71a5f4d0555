/* SPDX-License-Identifier: Apache-2.0
 *
 * where.self looks at the lowest bit of a u8 condition only: 2 and 128 count as false.
 */
#include "mutant.h"

#include <string.h>

static void element(const kw_mutant_element *e) {
  const kw_value *args = e->call->args;
  const kw_dtype dtype = e->call->outs[0]->dtype;
  if (!e->in[0] || !e->in[2] || args[0].u.tensor->dtype != KW_U8 || args[2].u.tensor->dtype != dtype) return;
  if (!(*(const uint8_t *)e->in[0] & 1)) memcpy(e->out, e->in[2], kw_mutant_item_size(dtype));
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "where.self";
  mutant->element = element;
}
