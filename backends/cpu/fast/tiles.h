/* SPDX-License-Identifier: Apache-2.0
 *
 * How the results of products are cut into tiles.
 */
#ifndef KEYWAY_CPU_FAST_TILES_H
#define KEYWAY_CPU_FAST_TILES_H

#include <stdint.h>

#define KW_TILES_GRAIN 65536 /* products that a thread is woken for */

/* Of `batch` products [rows, k] x [k, columns]. */
typedef struct kw_tiles_of {
  int64_t batch, rows, columns, k;
} kw_tiles_of;

typedef struct kw_tiles {
  int64_t rows, columns; /* of a tile; the last ones have what is left */
  int64_t down, across;  /* tiles of one product */
} kw_tiles;

/* As many tiles as keep the threads busy: multiples of a block, no larger than `most`. Both have no `down` and
 * `across`.
 */
kw_tiles kw_tiles_cut(kw_tiles_of of, kw_tiles most, kw_tiles block, uint32_t threads);

#endif /* KEYWAY_CPU_FAST_TILES_H */
