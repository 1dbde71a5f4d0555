/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls on images of one to three dimensions, seen as images of three.
 */
#ifndef KEYWAY_GPU_FRAME_H
#define KEYWAY_GPU_FRAME_H

#include "lower/plan.h"

#include "kernels/frame_args.kw"

/* The tensor's last `dims` dimensions are an image's, before them come channels, and batches or not. */
kw_frame kw_gpu_frame(const kw_gpu_tensor *tensor, uint32_t dims);

/* A list argument with a number for each of `dims` dimensions, or one for all; `otherwise` for those that an image of
 * three has beside them. An empty list leaves `out` as it is. */
void kw_gpu_frame_list(const kw_gpu_plan *plan, uint32_t index, uint32_t dims, int64_t otherwise, kw_i64 out[3]);

#endif /* KEYWAY_GPU_FRAME_H */
