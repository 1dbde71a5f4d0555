/* SPDX-License-Identifier: Apache-2.0
 *
 * For mutants of events: what each stream was given last, and each event with it.
 */
#ifndef KEYWAY_MUTANT_QUEUE_H
#define KEYWAY_MUTANT_QUEUE_H

#include "mutant.h"

#define KW_MUTANT_OBJECTS 512

/* By object, a stream or an event: a mark; false for one that is not known. The newest 512 are. */
typedef struct kw_mutant_marks {
  const void *objects[KW_MUTANT_OBJECTS];
  bool marks[KW_MUTANT_OBJECTS];
  uint32_t next;
} kw_mutant_marks;

static inline void kw_mutant_mark(kw_mutant_marks *all, const void *object, bool mark) {
  uint32_t at = 0;
  while (at < KW_MUTANT_OBJECTS && all->objects[at] != object) at++;
  if (at == KW_MUTANT_OBJECTS) at = all->next++ % KW_MUTANT_OBJECTS;
  all->objects[at] = object;
  all->marks[at] = mark;
}

static inline bool kw_mutant_marked(const kw_mutant_marks *all, const void *object) {
  for (uint32_t i = 0; i < KW_MUTANT_OBJECTS; i++) {
    if (all->objects[i] == object) return all->marks[i];
  }
  return false;
}

#endif /* KEYWAY_MUTANT_QUEUE_H */
