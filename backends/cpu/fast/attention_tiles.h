/* SPDX-License-Identifier: Apache-2.0
 *
 * Attention in tiles of many rows by many keys.
 */
#ifndef KEYWAY_CPU_FAST_ATTENTION_TILES_H
#define KEYWAY_CPU_FAST_ATTENTION_TILES_H

#include "attention_part.h"

/* Computes parts [begin, end) of a kw_attention_run, for parallel_for. */
void kw_attention_run_tiles(void *run, int64_t begin, int64_t end);

#endif /* KEYWAY_CPU_FAST_ATTENTION_TILES_H */
