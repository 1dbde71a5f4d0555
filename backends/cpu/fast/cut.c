/* SPDX-License-Identifier: Apache-2.0
 *
 * How reductions are cut into tasks.
 */
#include "cut.h"

#include "isa/isa.h"

static int64_t divided_up(int64_t n, int64_t by) {
  return (n + by - 1) / by;
}

void kw_cut_make(kw_cut *cut, int64_t results, int64_t width, int64_t folded) {
  const int64_t strip = width < KW_CUT_COLUMNS ? width : KW_CUT_COLUMNS;
  const int64_t strips = results / width * divided_up(width, KW_CUT_COLUMNS);
  int64_t pieces = KW_CUT_PIECES / strips;
  if (pieces > folded * strip / KW_CUT_GRAIN) pieces = folded * strip / KW_CUT_GRAIN;
  if (pieces < 1) pieces = 1;
  cut->width = width;
  cut->folded = folded;
  cut->piece = divided_up(divided_up(folded, pieces), KW_FOLD_ROWS) * KW_FOLD_ROWS;
  cut->pieces = divided_up(folded, cut->piece);
  cut->tasks = strips * cut->pieces;
  cut->grain = 1 + KW_CUT_GRAIN / (cut->piece * strip);
}

kw_cut_task kw_cut_task_of(const kw_cut *cut, int64_t number) {
  const int64_t strips = divided_up(cut->width, KW_CUT_COLUMNS), strip = number / cut->pieces;
  const int64_t first = strip % strips * KW_CUT_COLUMNS;
  kw_cut_task task = {.result = strip / strips * cut->width + first, .piece = number % cut->pieces};
  task.width = cut->width - first < KW_CUT_COLUMNS ? cut->width - first : KW_CUT_COLUMNS;
  task.begin = task.piece * cut->piece;
  task.end = task.begin + cut->piece < cut->folded ? task.begin + cut->piece : cut->folded;
  return task;
}
