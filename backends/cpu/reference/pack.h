/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels that put weights into smaller forms: the same for every compute type.
 */
#ifndef KEYWAY_REFERENCE_PACK_H
#define KEYWAY_REFERENCE_PACK_H

#include "reference.h"

kw_status kw_pack_int4(const kw_call *call);     /* two nibbles a byte, the low one first */
kw_status kw_pack_sparse24(const kw_call *call); /* the two largest of every four, and where they were */

#endif /* KEYWAY_REFERENCE_PACK_H */
