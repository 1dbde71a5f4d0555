/* SPDX-License-Identifier: Apache-2.0
 *
 * Events over a driver.
 */
#ifndef KEYWAY_GPU_KIT_EVENT_H
#define KEYWAY_GPU_KIT_EVENT_H

#include <keyway/gpu.h>

/* The event group over a driver that has events. */
kw_event_api kw_gpu_event_slots(void);

#endif /* KEYWAY_GPU_KIT_EVENT_H */
