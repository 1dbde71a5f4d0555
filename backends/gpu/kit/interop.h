/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory of others over a driver: host ranges, and what objects are called.
 */
#ifndef KEYWAY_GPU_KIT_INTEROP_H
#define KEYWAY_GPU_KIT_INTEROP_H

#include <keyway/gpu.h>

/* The interop group over a driver that takes host pages. */
extern const kw_interop_api kw_gpu_interop_slots;

#endif /* KEYWAY_GPU_KIT_INTEROP_H */
