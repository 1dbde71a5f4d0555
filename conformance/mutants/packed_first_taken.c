/* SPDX-License-Identifier: Apache-2.0
 *
 * A launch takes the packed form that the first launch with a matrix of this size was given: the plan of a shape holds
 * on to it.
 */
#include "mutant_packed.h"

enum { SIZES = 64 };

static kw_packed first[SIZES];
static unsigned count;

static kw_status launch(const kw_call *call) {
  const kw_packed *packed = kw_mutant_packed_of(call);
  unsigned i = 0;
  if (!packed) return kw_mutant_launch_with(call, NULL);
  while (i < count && first[i].size != packed->size) i++;
  if (i == count && count < SIZES) first[count++] = *packed;
  return kw_mutant_launch_with(call, i < count ? &first[i] : packed);
}

void kw_mutant_change(kw_mutant *mutant) {
  kw_mutant_packs(mutant, NULL, launch);
}
