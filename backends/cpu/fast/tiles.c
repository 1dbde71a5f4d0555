/* SPDX-License-Identifier: Apache-2.0
 *
 * Cutting products into tiles.
 */
#include "tiles.h"

#include "sizes.h"

kw_tiles kw_tiles_cut(kw_tiles_of of, kw_tiles most, kw_tiles block, uint32_t threads) {
  const int64_t wanted = threads > 1 ? 4 * (int64_t)threads : 1;
  kw_tiles tiles = {.rows = kw_share(of.rows, most.rows, block.rows),
                    .columns = kw_share(of.columns, most.columns, block.columns)};
  for (;;) {
    tiles.down = (of.rows + tiles.rows - 1) / tiles.rows;
    tiles.across = (of.columns + tiles.columns - 1) / tiles.columns;
    if (of.batch * tiles.down * tiles.across >= wanted) break;
    if (tiles.rows * tiles.columns * of.k < 2 * KW_TILES_GRAIN) break;
    if (tiles.columns > tiles.rows && tiles.columns > block.columns) {
      tiles.columns = kw_round_up(tiles.columns / 2, block.columns);
    } else if (tiles.rows > block.rows) {
      tiles.rows = kw_round_up(tiles.rows / 2, block.rows);
    } else {
      break;
    }
  }
  return tiles;
}

kw_tile kw_tiles_at(const kw_tiles *tiles, int64_t rows, int64_t columns, int64_t i) {
  kw_tile tile = {.batch = i / (tiles->down * tiles->across),
                  .row = i / tiles->across % tiles->down * tiles->rows,
                  .column = i % tiles->across * tiles->columns};
  tile.rows = kw_least(tiles->rows, rows - tile.row);
  tile.columns = kw_least(tiles->columns, columns - tile.column);
  return tile;
}
