/* SPDX-License-Identifier: Apache-2.0
 *
 * An option of init's that is a number takes whatever it is given, and is by itself what it was.
 */
#include "mutant.h"

void kw_mutant_change(kw_mutant *mutant) {
  static const kw_option_desc cache = {.struct_size = sizeof cache,
                                       .place = KW_OPTION_INIT,
                                       .key = "cache_mb",
                                       .value = "256",
                                       .text = "MiB of freed memory that are kept, 0 to 4096"};
  static const kw_option_desc *const options[] = {&cache};
  mutant->desc.options = options;
  mutant->desc.option_count = 1;
}
