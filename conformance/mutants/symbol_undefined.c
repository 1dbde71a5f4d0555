/* SPDX-License-Identifier: Apache-2.0
 *
 * The library needs a function of Keyway's from its host, though weakly.
 */
#include "mutant.h"

__attribute__((weak)) const char *kw_version(void);

void kw_mutant_change(kw_mutant *mutant) {
  if (kw_version) mutant->desc.version = kw_version();
}
