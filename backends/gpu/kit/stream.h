/* SPDX-License-Identifier: Apache-2.0
 *
 * Streams over a driver.
 */
#ifndef KEYWAY_GPU_KIT_STREAM_H
#define KEYWAY_GPU_KIT_STREAM_H

#include <keyway/gpu.h>

/* The stream group over a driver: without the slots that it lacks. */
kw_stream_api kw_gpu_stream_slots(const kw_gpu_driver *driver);

#endif /* KEYWAY_GPU_KIT_STREAM_H */
