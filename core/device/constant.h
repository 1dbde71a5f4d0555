/* SPDX-License-Identifier: Apache-2.0
 *
 * Constant buffers: whose numbers stay as they are until something writes to them, and the packed forms that kernels
 * have of them meanwhile.
 *
 * A constant buffer is in no stream's order, as far as the fast path of calls can see: so those look at it that take
 * the general one, and a write finds it there at no cost to others.
 */
#ifndef KEYWAY_CORE_CONSTANT_H
#define KEYWAY_CORE_CONSTANT_H

#include "base/fingerprint.h"
#include "device/allocator.h"

/* What a packed form is one of: a kernel's layout of the tensor that lies at `offset` and has this fingerprint. */
typedef struct kw_pack_key {
  const void *kernel;
  uint32_t arg;
  uint64_t format, size;
  uint64_t offset;
  kw_fingerprint fingerprint;
} kw_pack_key;

/* From now on it is constant; fine if it is. KW_ERR_BUSY: a graph writes to it. No call may write to it meanwhile;
 * other threads may do the same, or end it. */
kw_status kw_buffer_set_constant(kw_buffer *buffer);
/* It is no longer; fine if it is not. Its packed forms go, each once the streams that use it have passed. */
void kw_buffer_end_constant(kw_buffer *buffer);

/* kw_buffer_use of a buffer that is written to: from here on it is not constant. One that is constant is in no stream's
 * order, so the usual case costs what kw_buffer_use does. */
void kw_buffer_change_elsewhere(kw_buffer *buffer, kw_stream *stream);
static inline void kw_buffer_change(kw_buffer *buffer, kw_stream *stream) {
  if (atomic_load_explicit(&stream->recorder, memory_order_relaxed) == 0) {
    if (atomic_load_explicit(&buffer->stream, memory_order_relaxed) == stream) return;
    if (atomic_load_explicit(&buffer->noted, memory_order_relaxed) == stream->token &&
        atomic_load_explicit(&buffer->constant, memory_order_relaxed) == 0) {
      return;
    }
  }
  kw_buffer_change_elsewhere(buffer, stream);
}

/* A number that no other spell of being constant has, of any buffer; 0: it is not. */
static inline uint64_t kw_buffer_constant_spell(const kw_buffer *buffer) {
  return atomic_load_explicit(&buffer->constant, memory_order_acquire);
}

/* The packed form of this spell that this key has, with a reference; *out_known without one: there is none and will not
 * be. Nothing once the spell is over. Any thread. */
kw_buffer *kw_packed_find(uint64_t spell, const kw_pack_key *key, bool *out_known);
/* Keeps a packed form for as long as this spell of the buffer's lasts, NULL for one that cannot be made. The first
 * wins; takes a reference of its own. Any thread. */
void kw_buffer_keep_packed(const kw_buffer *buffer, uint64_t spell, const kw_pack_key *key, kw_buffer *packed);

#endif /* KEYWAY_CORE_CONSTANT_H */
