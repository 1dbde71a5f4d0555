/* SPDX-License-Identifier: Apache-2.0
 *
 * Activity records over a driver whose commands have times.
 */
#ifndef KEYWAY_GPU_KIT_ACTIVITY_H
#define KEYWAY_GPU_KIT_ACTIVITY_H

#include <keyway/gpu.h>

/* The activity group over a driver that has marks. */
extern const kw_activity_api kw_gpu_activity_slots;

/* Where a driver has marks: what a device keeps of them, and its end, while the runtime's part of the device stands.
 * KW_ERR_OUT_OF_MEMORY without host memory. */
kw_status kw_gpu_activity_start(kw_gpu_device *device);
void kw_gpu_activity_finish(kw_gpu_device *device);

/* What the commands belong to that the calling thread marks: a launch of a graph that the kit runs. */
typedef struct kw_gpu_replay {
  uint64_t launch_id; /* the launch's; 0 for none */
  bool as_one;        /* commands do what several calls asked for: they are told of as the graph */
  uint32_t node;      /* otherwise: how many calls the graph has before the command's */
} kw_gpu_replay;
void kw_gpu_activity_replay(const kw_gpu_replay *of); /* NULL: to none */

#endif /* KEYWAY_GPU_KIT_ACTIVITY_H */
