/* SPDX-License-Identifier: Apache-2.0
 *
 * Windows as the pools and their gradients walk them, whatever the number of dimensions.
 */
#ifndef KEYWAY_CPU_FAST_POOL_H
#define KEYWAY_CPU_FAST_POOL_H

#include "pooling.h"

/* The same windows along three dimensions: those that are missing are in front, of size 1. */
kw_pooling kw_pool_in_three(const kw_pooling *pooling);

#endif /* KEYWAY_CPU_FAST_POOL_H */
