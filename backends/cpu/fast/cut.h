/* SPDX-License-Identifier: Apache-2.0
 *
 * How reductions are cut into tasks: into strips of results side by side, and where these are few also along what is
 * reduced. By shape alone, so that the number of threads changes no bits.
 */
#ifndef KEYWAY_CPU_FAST_CUT_H
#define KEYWAY_CPU_FAST_CUT_H

#include <stdint.h>

#define KW_CUT_COLUMNS 256 /* results that a task makes at most */
#define KW_CUT_PIECES 64   /* that a reduction to few results is cut into, at most */
#define KW_CUT_GRAIN 16384 /* elements: the fewest that a thread is woken for */

typedef struct kw_cut {
  int64_t width;  /* results side by side; 1 where each is made alone */
  int64_t folded; /* elements that a result is made of */
  int64_t pieces; /* of what is reduced, each a task */
  int64_t piece;  /* elements of one */
  int64_t tasks;  /* with the pieces */
  int64_t grain;  /* tasks that a thread is woken for */
} kw_cut;

/* `results` in rows of `width`, each made of `folded` elements. */
void kw_cut_make(kw_cut *cut, int64_t results, int64_t width, int64_t folded);

/* Which results a task makes, the first and how many, and of which of their elements. */
typedef struct kw_cut_task {
  int64_t result, width;
  int64_t piece, begin, end;
} kw_cut_task;

kw_cut_task kw_cut_task_of(const kw_cut *cut, int64_t number);

#endif /* KEYWAY_CPU_FAST_CUT_H */
