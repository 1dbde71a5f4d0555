/* SPDX-License-Identifier: Apache-2.0
 *
 * What upsampling by weights weighs, along one dimension.
 */
#ifndef KEYWAY_CPU_FAST_RESAMPLE_H
#define KEYWAY_CPU_FAST_RESAMPLE_H

#include "upsample.h"

/* For each place of the result `taps` elements, 2 of the linear kind and 4 of the cubic, and how much of each. */
void kw_resample_weigh(const kw_upsample_axis *axis, int64_t taps, int64_t *index, double *weight);

#endif /* KEYWAY_CPU_FAST_RESAMPLE_H */
