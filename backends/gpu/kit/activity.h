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

#endif /* KEYWAY_GPU_KIT_ACTIVITY_H */
