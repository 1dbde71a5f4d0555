/* SPDX-License-Identifier: Apache-2.0
 *
 * Who holds plans: a device's table of those that calls made, and references.
 */
#ifndef KEYWAY_CORE_PLAN_CACHE_H
#define KEYWAY_CORE_PLAN_CACHE_H

#include "call/plan.h"

/* The plan for a request: from the device's table, or built and put there. One more reference. */
kw_status kw_plan_obtain(const kw_request *request, kw_plan **out_plan);
/* A plan of the caller's own: one reference, in no bucket of the table. */
kw_status kw_plan_own(const kw_request *request, kw_plan **out_plan);
/* From any thread, also at its end and in host callbacks: never waits. */
void kw_plan_unref(kw_plan *plan);
/* Launches by the calls that plans of the device have of their own (kw_plan.own_calls). */
uint64_t kw_plan_count_launches(const kw_device *device);
/* Frees retired plans of a device that the caller keeps open, after waiting for its streams. Nothing in a host
 * callback. */
void kw_plan_reap(kw_device *device);

#endif /* KEYWAY_CORE_PLAN_CACHE_H */
