/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels that place the elements of a tensor elsewhere: the same for every compute type, and bits stay what they are.
 */
#ifndef KEYWAY_REFERENCE_PLACE_H
#define KEYWAY_REFERENCE_PLACE_H

#include "reference.h"

kw_status kw_place_repeat(const kw_call *call);
kw_status kw_place_flip(const kw_call *call);
kw_status kw_place_roll(const kw_call *call);
kw_status kw_place_triu(const kw_call *call);
kw_status kw_place_tril(const kw_call *call);
kw_status kw_place_select_scatter(const kw_call *call);
kw_status kw_place_slice_scatter(const kw_call *call);
kw_status kw_place_pad_constant(const kw_call *call);
kw_status kw_place_pad_reflect(const kw_call *call);
kw_status kw_place_pad_replicate(const kw_call *call);

#endif /* KEYWAY_REFERENCE_PLACE_H */
