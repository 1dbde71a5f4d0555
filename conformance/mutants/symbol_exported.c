/* SPDX-License-Identifier: Apache-2.0
 *
 * The library exports a second symbol, which symbol_exported.map lets through.
 */
#include "mutant.h"

KW_PLUGIN_EXPORT int keyway_mutant_symbol;

void kw_mutant_change(kw_mutant *mutant) {
  (void)mutant;
}
