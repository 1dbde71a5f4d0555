/* SPDX-License-Identifier: Apache-2.0
 *
 * Graphs over a driver.
 */
#ifndef KEYWAY_GPU_KIT_GRAPH_H
#define KEYWAY_GPU_KIT_GRAPH_H

#include <keyway/gpu.h>

/* The graph group over any driver: by the driver's own where it has one, otherwise command by command. */
extern const kw_graph_api kw_gpu_graph_slots;

#endif /* KEYWAY_GPU_KIT_GRAPH_H */
