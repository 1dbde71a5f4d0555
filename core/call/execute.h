/* SPDX-License-Identifier: Apache-2.0
 *
 * Running a plan.
 */
#ifndef KEYWAY_CORE_EXECUTE_H
#define KEYWAY_CORE_EXECUTE_H

#include "call/plan.h"

/* Runs a matching request. outs that are NULL are created. */
kw_status kw_plan_execute(const kw_plan *plan, const kw_request *request);
/* After a launch of a simple plan that did not go well: falls back if the kernel asked for that, or makes the error. */
kw_status kw_plan_handle_failure(const kw_plan *plan, const kw_request *request, kw_tensor *out, kw_status status);

#endif /* KEYWAY_CORE_EXECUTE_H */
