/* SPDX-License-Identifier: Apache-2.0
 *
 * Elements that indices choose from a table, read or written by several threads. What is chosen is the reference's
 * (selection.h); here its positions are taken apart into those with indices of their own and the rest, a block.
 */
#ifndef KEYWAY_CPU_FAST_CHOICE_H
#define KEYWAY_CPU_FAST_CHOICE_H

#include "fast.h"
#include "loop.h"
#include "selection.h"

#define KW_CHOICE_INDICES (KW_LOOP_OPERANDS - 2) /* that choose together, at most */

/* From an element of a row, and its index, to the next: bytes. An index moves what is written by to_by of them and what
 * is read by from_by. */
typedef struct kw_choice_steps {
  int64_t index, to, from, to_by, from_by;
} kw_choice_steps;

static inline bool kw_choice_steps_are(const kw_choice_steps *a, const kw_choice_steps *b) {
  return a->index == b->index && a->to == b->to && a->from == b->from && a->to_by == b->to_by &&
         a->from_by == b->from_by;
}

/* Elements in a row with an index each. */
typedef struct kw_choice_row {
  char *to;
  const char *from, *index;
  kw_choice_steps step;
  int64_t size; /* of the table, along its dimension: indices are below that, */
  int64_t lift; /* and this is added to negative ones: size, or 0 */
} kw_choice_row;

/* Whether all n indices are in range; the elements of others are left out. */
typedef bool (*kw_choice_row_fn)(const kw_choice_row *row, int64_t n);

/* A function of that kind, which does `move` for each element of a type T: `from` and `to` are where it is read and
 * written. Rows that lie dense, and are read from a dense line or written to one, have code with their steps in it. An
 * index in range, as most are, is used as it was read: a lift that is chosen takes twice as long. */
#define KW_CHOICE_ROW(name, index_type, T, move)                                                                    \
  static inline __attribute__((always_inline)) bool name##_by(kw_choice_row row, kw_choice_steps step, int64_t n) { \
    bool all = true;                                                                                                \
    for (int64_t i = 0; i < n; i++) {                                                                               \
      int64_t index = *(const index_type *)(const void *)(row.index + i * step.index);                              \
      if ((uint64_t)index >= (uint64_t)row.size) {                                                                  \
        index += index < 0 ? row.lift : 0;                                                                          \
        if (index < 0 || index >= row.size) {                                                                       \
          all = false;                                                                                              \
          continue;                                                                                                 \
        }                                                                                                           \
      }                                                                                                             \
      const void *from = row.from + i * step.from + index * step.from_by;                                           \
      void *to = row.to + i * step.to + index * step.to_by;                                                         \
      move;                                                                                                         \
    }                                                                                                               \
    return all;                                                                                                     \
  }                                                                                                                 \
  static bool name(const kw_choice_row *row, int64_t n) {                                                           \
    const kw_choice_steps reads = {.index = sizeof(index_type), .to = sizeof(T), .from_by = sizeof(T)};             \
    const kw_choice_steps writes = {.index = sizeof(index_type), .from = sizeof(T), .to_by = sizeof(T)};            \
    if (kw_choice_steps_are(&row->step, &reads)) return name##_by(*row, reads, n);                                  \
    if (kw_choice_steps_are(&row->step, &writes)) return name##_by(*row, writes, n);                                \
    return name##_by(*row, row->step, n);                                                                           \
  }

/* By the type of the indices. */
typedef struct kw_choice_rows {
  kw_choice_row_fn i64, i32;
} kw_choice_rows;

typedef struct kw_choice {
  /* What is done with elements of one index, n of them, and with those in a row that have an index each. */
  void (*block)(const struct kw_choice *choice, char *to, int64_t to_step, const char *from, int64_t from_step,
                int64_t n);
  kw_choice_rows rows;
  const void *user; /* for `block` */
  int64_t moved;    /* bytes of an element where `block` moves elements as they are; otherwise 0 */
  int64_t skipped;  /* an index that is left out, though it is no error; -1: none */

  /* The rest is kw_choice_make's. Operands of loops: what is written, what is read, and the indices. */
  const kw_call *call;
  uint32_t arg; /* with the indices, who is to blame for a bad one */
  uint32_t count;
  bool writes_table, by_element; /* by_element: within a block indices differ, too */
  kw_loop positions, block_loop;
  struct {
    bool is_i64;
    int64_t size, lift, to_by, from_by;
  } by[KW_CHOICE_INDICES];
  char *base[KW_LOOP_OPERANDS];
} kw_choice;

/* Whether a choice by so many indices, given by argument `arg`, a tensor or a list of them, is served here. */
bool kw_choice_serves(const kw_call *call, uint32_t arg);

/* From a selection to whose table one tensor has been added. With `writes_table` the table is written: several indices
 * may name one place there, which are then taken in row-major order by one thread. */
void kw_choice_make(kw_choice *choice, const kw_selection *s, bool writes_table);

kw_status kw_choice_run(const kw_host_api *host, const kw_choice *choice);

/* The choice that moves elements of a dtype as they are, before kw_choice_make. */
kw_choice kw_choice_moving(kw_dtype dtype);

#endif /* KEYWAY_CPU_FAST_CHOICE_H */
