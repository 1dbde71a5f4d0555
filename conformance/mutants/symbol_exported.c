/* SPDX-License-Identifier: Apache-2.0 */
#include "mutant.h"

/* The library exports a second symbol. (See symbol_exported.map.) */
KW_PLUGIN_EXPORT int keyway_mutant_symbol;

void kw_mutant_change(kw_mutant *mutant) {
  (void)mutant;
}
