/* SPDX-License-Identifier: Apache-2.0
 *
 * Helpers of the mutants whose mm packs its second matrix when that is constant: its numbers, row by row.
 */
#ifndef KEYWAY_MUTANT_PACKED_H
#define KEYWAY_MUTANT_PACKED_H

#include "mutant.h"

/* Gives mm a packed form, made by kw_mutant_pack and read by kw_mutant_launch_packed where these are NULL. */
void kw_mutant_packs(kw_mutant *mutant,
                     kw_status (*pack)(const kw_call *call, uint32_t arg, kw_mem mem, uint64_t offset),
                     kw_status (*launch)(const kw_call *call));

/* Waits for the stream's work, and packs. */
kw_status kw_mutant_pack(const kw_call *call, uint32_t arg, kw_mem mem, uint64_t offset);
/* Packs what is there now. */
void kw_mutant_pack_now(const kw_tensor_ref *matrix, void *to);

/* Multiplies with the matrix that lies packed at `packed`, or as it lies where that is NULL. */
kw_status kw_mutant_launch_with(const kw_call *call, const kw_packed *packed);
/* The packed form that the call has, or NULL. */
const kw_packed *kw_mutant_packed_of(const kw_call *call);
kw_status kw_mutant_launch_packed(const kw_call *call);

#endif /* KEYWAY_MUTANT_PACKED_H */
