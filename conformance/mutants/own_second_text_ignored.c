/* SPDX-License-Identifier: Apache-2.0
 *
 * A vendor's op has texts for two arguments and gives NaN for any that mean nothing; its kernel always does what the
 * second one's default says.
 */
#include "mutant_own.h"

#include <math.h>
#include <string.h>

/* 1 or 2; NaN where the text is neither. */
static double factor(const kw_value *text, const char *once, const char *twice) {
  return strcmp(text->u.s, once) == 0 ? 1 : strcmp(text->u.s, twice) == 0 ? 2 : (double)NAN;
}

static double wrong(const kw_call *call, int64_t i) {
  return factor(&call->args[1], "plain", "doubled") * kw_mutant_own_at(call->args[0].u.tensor, i);
}

static double right(const kw_call *call, int64_t i) {
  return factor(&call->args[2], "single", "paired") * wrong(call, i);
}

void kw_mutant_change(kw_mutant *mutant) {
  kw_mutant_add_own(mutant, "mutant::rescaled(Tensor self, str how=\"plain\", str times=\"single\") -> Tensor",
                    "mutant::rescaled", 3, right, wrong);
}
