/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory over a driver: allocation, copies, fills.
 */
#ifndef KEYWAY_GPU_KIT_MEMORY_H
#define KEYWAY_GPU_KIT_MEMORY_H

#include <keyway/gpu.h>

/* The memory group over a driver: without the slots that it lacks. */
kw_memory_api kw_gpu_memory_slots(const kw_gpu_driver *driver);
/* Forgets what is known of memory that the driver failed to free; when the device closes. */
void kw_gpu_memory_finish(kw_gpu_device *device);

#endif /* KEYWAY_GPU_KIT_MEMORY_H */
