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

/* Where a tile begins in which product, and its size. */
typedef struct kw_tile {
  int64_t batch, row, column, rows, columns;
} kw_tile;

/* As many tiles as keep the threads busy: multiples of a block, no larger than `most`. Both have no `down` and
 * `across`.
 */
kw_tiles kw_tiles_cut(kw_tiles_of of, kw_tiles most, kw_tiles block, uint32_t threads);

/* Tile i of products of `rows` and `columns`: product by product, row by row. */
kw_tile kw_tiles_at(const kw_tiles *tiles, int64_t rows, int64_t columns, int64_t i);

#endif /* KEYWAY_CPU_FAST_TILES_H */
