/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels that select elements by what a tensor holds: the same for every compute type. Those of counted ops fill the
 * leading entries of the first output and store how many in the last.
 */
#ifndef KEYWAY_REFERENCE_MASK_H
#define KEYWAY_REFERENCE_MASK_H

#include "reference.h"

kw_status kw_mask_nonzero(const kw_call *call);
kw_status kw_mask_select(const kw_call *call);
kw_status kw_mask_scatter(const kw_call *call);

#endif /* KEYWAY_REFERENCE_MASK_H */
