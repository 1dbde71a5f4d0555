/* SPDX-License-Identifier: Apache-2.0
 *
 * The reference of a vendor's op (kw_op_desc.reference), which computes on host memory, in the plugin's process.
 */
#ifndef KEYWAY_CORE_REFERENCE_H
#define KEYWAY_CORE_REFERENCE_H

#include "isolate/link.h"

/* Carries all tensors of the call over in one block, and the results back. */
kw_status kw_reference_run(kw_link *link, uint32_t op, const kw_call *call);

#endif /* KEYWAY_CORE_REFERENCE_H */
