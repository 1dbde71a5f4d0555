/* SPDX-License-Identifier: Apache-2.0
 *
 * What the engine's files use of each other.
 */
#ifndef KEYWAY_GPU_ENGINE_INTERNAL_H
#define KEYWAY_GPU_ENGINE_INTERNAL_H

#include "engine.h"

/* The text for kw_engine_message; gives back `status`. */
kw_engine_status kw_engine_fail(kw_engine_status status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Counts a loss of the device. The caller wakes the threads that wait for its queues and events. */
void kw_engine_device_lose(kw_engine_device *device);

/* Whether the device memory or the launch that is at hand is the one that was ordered to meet this. */
bool kw_engine_order_is_due(kw_engine_device *device, kw_engine_order order);
/* Before each task of the device, which `works` when it is a launch, a copy or a fill: returns when no order holds it.
 */
void kw_engine_order_pass(kw_engine_device *device, bool works);

/* Threads that run the groups of one launch at a time, the caller among them. The others start when first needed. */
typedef struct kw_engine_team kw_engine_team;
kw_engine_team *kw_engine_team_create(void); /* NULL: no host memory */
void kw_engine_team_destroy(kw_engine_team *team);
/* FAILED: the kernel broke a rule of barriers; the message says which. Always called by the same thread. */
kw_engine_status kw_engine_team_run(kw_engine_team *team, const kw_engine_launch *launch);

#endif /* KEYWAY_GPU_ENGINE_INTERNAL_H */
