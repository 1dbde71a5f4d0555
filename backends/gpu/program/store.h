/* SPDX-License-Identifier: Apache-2.0
 *
 * Built modules on disk, for runtimes that keep none themselves: in $KEYWAY_MODULE_CACHE, else in
 * $XDG_CACHE_HOME/keyway/modules or ~/.cache/keyway/modules; and, to be read only, those that came with the plugin
 * NAME.so, in NAME.modules beside it. KEYWAY_MODULE_CACHE=off keeps none, and reads none. The directories may be
 * deleted at any time. A file is trusted only when it is the user's own, or with the plugin its owner's, whole, and for
 * this very key: a driver never sees other bytes. What cannot be read or written is as if it were not there.
 */
#ifndef KEYWAY_GPU_STORE_H
#define KEYWAY_GPU_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* SHA-256 of everything that a module depends on. */
typedef struct kw_gpu_store_key {
  uint8_t digest[32];
} kw_gpu_store_key;

void kw_gpu_store_key_make(kw_gpu_store_key *out_key, const char *identity, const char *const *sources,
                           uint32_t source_count);

/* False when there is none. The caller frees *out_bytes. Thread-safe, as kw_gpu_store_write is. */
bool kw_gpu_store_read(const kw_gpu_store_key *key, void **out_bytes, size_t *out_size);

/* Replaces what is there, whole or not at all. */
void kw_gpu_store_write(const kw_gpu_store_key *key, const void *bytes, size_t size);

#endif /* KEYWAY_GPU_STORE_H */
