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

/* Launches, and returns when it is done, so that a defect shows however threads are scheduled; but not on a stream that
 * was given host functions, which may hold it up for this thread to go on. */
static inline kw_status kw_mutant_launch_at_once(const kw_call *call, const kw_mutant_marks *with_host_functions) {
  kw_status status = kw_mutant_launch_real(call);
  if (status != KW_OK || kw_mutant_marked(with_host_functions, call->stream)) return status;
  return kw_mutant_real.stream.synchronize(call->device, call->stream, KW_WAIT_FOREVER);
}

#endif /* KEYWAY_MUTANT_QUEUE_H */
