/* SPDX-License-Identifier: Apache-2.0
 *
 * Giving arguments that are no tensors.
 */
#include "case/argument.h"

#include <string.h>

void kw_case_give(kw_case *c, uint32_t arg, kw_value value) {
  c->args[arg].value = value;
  if (c->arg_count <= arg) c->arg_count = arg + 1;
}

void kw_case_give_ints(kw_case *c, uint32_t arg, const int64_t *ints, uint32_t count) {
  memcpy(c->args[arg].ints, ints, count * sizeof *ints);
  kw_case_give(c, arg, (kw_value){.tag = KW_TAG_INT_LIST, .count = count});
}

void kw_case_give_defaults(kw_case *c) {
  for (uint32_t i = 0; i < c->arg_count; i++) {
    if (c->args[i].value.tag != KW_TAG_NONE) continue;
    c->args[i].value = kw_suite_arg_default(&c->op->args[i]);
    memcpy(c->args[i].ints, c->op->args[i].default_ints, sizeof c->op->args[i].default_ints);
  }
}
