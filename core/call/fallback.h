/* SPDX-License-Identifier: Apache-2.0
 *
 * Running on cpu:0 what a device cannot.
 */
#ifndef KEYWAY_CORE_FALLBACK_H
#define KEYWAY_CORE_FALLBACK_H

#include "call/plan.h"

/* Runs a normalised call on cpu:0 and copies the results into outs (all given, NULL where absent). A random op takes
 * the numbers of `rng`, as it would on the device. Counts and warns. */
kw_status kw_fallback_run(const kw_op *op, kw_stream *stream, const kw_value *args, const kw_rng *rng,
                          kw_tensor *const *outs);
/* The failure to return where fallback is off: says what the device lacks for the call, and how to allow fallback. Of
 * the plan the inference is looked at, which has to be the request's. */
kw_status kw_fallback_refuse(const kw_plan *plan, const kw_request *request);

#endif /* KEYWAY_CORE_FALLBACK_H */
