/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory for one message that was read: structs with pointers to each other, all freed at once.
 */
#ifndef KEYWAY_CORE_ARENA_H
#define KEYWAY_CORE_ARENA_H

#include <stddef.h>
#include <stdint.h>

typedef struct kw_arena {
  struct kw_arena_chunk *chunks; /* the newest first */
  uint64_t left;                 /* bytes in the newest one */
} kw_arena;

/* Zeroed, aligned to 16; NULL when there is no memory. */
void *kw_arena_take(kw_arena *arena, uint64_t size);
/* Forgets all; the largest piece stays for next time. */
void kw_arena_reset(kw_arena *arena);
void kw_arena_free(kw_arena *arena);

#endif /* KEYWAY_CORE_ARENA_H */
