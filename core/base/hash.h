/* SPDX-License-Identifier: Apache-2.0
 *
 * Hashes of names, for tables in memory.
 */
#ifndef KEYWAY_CORE_HASH_H
#define KEYWAY_CORE_HASH_H

#include <stdint.h>

#define KW_HASH_INIT 2166136261u

/* FNV-1a (G. Fowler, L. C. Noll, K.-P. Vo), 32 bits. Goes on from `hash`: KW_HASH_INIT, or the hash of what comes
 * before. */
static inline uint32_t kw_hash_text(uint32_t hash, const char *text) {
  for (; *text != '\0'; ++text) hash = (hash ^ (unsigned char)*text) * 16777619u;
  return hash;
}

#endif /* KEYWAY_CORE_HASH_H */
