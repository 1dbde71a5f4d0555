/* SPDX-License-Identifier: Apache-2.0
 *
 * Of the names that there are, the one that somebody may have meant.
 */
#ifndef KEYWAY_CORE_NEAREST_H
#define KEYWAY_CORE_NEAREST_H

#include <stdint.h>

typedef struct kw_nearest {
  const char *name; /* that was not found */
  const char *best; /* the nearest so far; NULL: none is near */
  uint32_t limit;   /* further away than this, in edits, is not near */
} kw_nearest;

void kw_nearest_begin(kw_nearest *nearest, const char *name);
/* Looks at one of the names that there are; it stays where it is until `best` has been read. */
void kw_nearest_try(kw_nearest *nearest, const char *candidate);

#endif /* KEYWAY_CORE_NEAREST_H */
