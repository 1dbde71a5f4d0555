/* SPDX-License-Identifier: Apache-2.0
 *
 * The elements that indices choose from a tensor, called the table here: a walk over a space of positions, each of
 * which stands for one element of the table. In some of the table's dimensions the element is given by the position
 * itself, in the others by indices, which also depend on the position.
 */
#ifndef KEYWAY_REFERENCE_SELECTION_H
#define KEYWAY_REFERENCE_SELECTION_H

#include "walk.h"

typedef struct kw_selection {
  const kw_call *call;
  uint32_t arg;  /* the argument with the indices: who is to blame for a bad one */
  bool from_end; /* a negative index counts from the end */
  kw_walk walk;  /* tensor 0: the table at index 0 of the indexed dimensions; then what the user added */
  uint32_t count;
  struct {
    kw_walk walk; /* tensor 0: the indices */
    kw_dtype dtype;
    int64_t size; /* of the indexed dimension */
    int64_t step; /* bytes in the table */
  } by[KW_MAX_RANK];
} kw_selection;

/* A walk over `shape`. Next: kw_selection_index once for each indexed dimension, kw_walk_add to s->walk. */
void kw_selection_start(kw_selection *s, const kw_call *call, uint32_t arg, bool from_end, uint32_t rank,
                        const int64_t *shape);
/* Dimension `dim` of the table is indexed by `indices`, which broadcast to the shape; they are i64 or i32. */
void kw_selection_index(kw_selection *s, const kw_tensor_ref *indices, const kw_tensor_ref *table, uint32_t dim);

/* gather and scatter: the shape is that of `index` (argument `arg`); all dimensions of the table but `dim` are given by
 * the position. */
void kw_selection_lines(kw_selection *s, const kw_call *call, uint32_t arg, const kw_tensor_ref *table, int64_t dim);
/* index and index_put: argument 1 is the list of indices, and the shape is that of table[indices]. */
void kw_selection_advanced(kw_selection *s, const kw_call *call, const kw_tensor_ref *table);

/* Turns the walk round, as kw_walk_reverse. */
void kw_selection_reverse(kw_selection *s);

/* Notes in the call's error word, if there is one, that argument `arg` holds an index out of range. The first error
 * wins. */
void kw_selection_blame(const kw_call *call, uint32_t arg);

/* The element of the table at this position. NULL where an index is out of range; that is noted in the call's error
 * word. */
char *kw_selection_at(const kw_selection *s);
/* Goes to the next position, as kw_walk_next: the loop runs while s->walk.left > 0. */
void kw_selection_next(kw_selection *s);

#endif /* KEYWAY_REFERENCE_SELECTION_H */
