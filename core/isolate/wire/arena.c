/* SPDX-License-Identifier: Apache-2.0
 *
 * An arena: a list of chunks, each at least twice as large as the one before.
 */
#include "isolate/wire/arena.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_CHUNK UINT64_C(16384) /* bytes */

typedef struct kw_arena_chunk {
  struct kw_arena_chunk *next;
  uint64_t size;
  _Alignas(16) unsigned char bytes[];
} kw_arena_chunk;

void *kw_arena_take(kw_arena *arena, uint64_t size) {
  if (size > PTRDIFF_MAX / 4) return NULL;
  size = (size + 15) & ~UINT64_C(15);
  if (arena->chunks == NULL || arena->left < size) {
    uint64_t room = arena->chunks != NULL ? 2 * arena->chunks->size : FIRST_CHUNK;
    if (room < size) room = size;
    kw_arena_chunk *chunk = malloc(sizeof *chunk + room);
    if (chunk == NULL) return NULL;
    *chunk = (kw_arena_chunk){.next = arena->chunks, .size = room};
    arena->chunks = chunk;
    arena->left = room;
  }
  unsigned char *piece = arena->chunks->bytes + (arena->chunks->size - arena->left);
  arena->left -= size;
  return memset(piece, 0, size);
}

void kw_arena_reset(kw_arena *arena) {
  if (arena->chunks == NULL) return;
  for (kw_arena_chunk *chunk = arena->chunks->next, *next; chunk != NULL; chunk = next) {
    next = chunk->next;
    free(chunk);
  }
  arena->chunks->next = NULL;
  arena->left = arena->chunks->size;
}

void kw_arena_free(kw_arena *arena) {
  kw_arena_reset(arena);
  free(arena->chunks);
  *arena = (kw_arena){0};
}
