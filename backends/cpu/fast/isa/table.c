/* SPDX-License-Identifier: Apache-2.0
 *
 * One instruction set's table, put together from the other files.
 */
#include "level.h"

void KW_ISA_NAME(kw_isa_fill)(kw_isa *isa) {
  KW_ISA_NAME(kw_add_pointwise)(isa);
  KW_ISA_NAME(kw_add_narrow)(isa);
  KW_ISA_NAME(kw_add_conversions)(isa);
  KW_ISA_NAME(kw_add_scans)(isa);
  KW_ISA_NAME(kw_add_rows)(isa);
  KW_ISA_NAME(kw_add_folds)(isa); /* and the squares of rows */
  KW_ISA_NAME(kw_add_products)(isa);
  KW_ISA_NAME(kw_add_byte_products)(isa);
  KW_ISA_NAME(kw_add_attention)(isa);
  KW_ISA_NAME(kw_add_pools)(isa);
  KW_ISA_NAME(kw_add_steps)(isa);
  KW_ISA_NAME(kw_add_transforms)(isa);
  KW_ISA_NAME(kw_add_moves)(isa);
  KW_ISA_NAME(kw_add_random)(isa);
  KW_ISA_NAME(kw_add_search)(isa);
}
