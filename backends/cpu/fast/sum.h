/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums of what indices send to one place.
 */
#ifndef KEYWAY_CPU_FAST_SUM_H
#define KEYWAY_CPU_FAST_SUM_H

#include "fast.h"

/* index_put where it accumulates, which is one op with that where it does not. */
kw_status kw_sum_plan_index_put(const kw_call *call);
kw_status kw_sum_index_put(const kw_host_api *host, const kw_call *call);

#endif /* KEYWAY_CPU_FAST_SUM_H */
