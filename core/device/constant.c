/* SPDX-License-Identifier: Apache-2.0
 *
 * The packed forms of all constant buffers, in one list: weights are few, and a form is looked for only by calls that
 * are worth packing for.
 */
#include "device/constant.h"

#include "base/error.h"
#include "base/log.h"
#include "device/device.h"

#include <stdlib.h>

typedef struct form {
  kw_pack_key key;
  uint64_t spell;
  kw_buffer *packed; /* NULL: there is none */
  struct form *next;
} form;

#define LISTS 256 /* by spell */
#define LAYOUTS 8 /* of a tensor for a kernel, at most */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static form *forms[LISTS];
static uint64_t last_spell;

static form **list_of(uint64_t spell) {
  return &forms[spell % LISTS];
}

static bool same_tensor(const kw_pack_key *a, const kw_pack_key *b) {
  return a->kernel == b->kernel && a->arg == b->arg && a->offset == b->offset &&
         kw_fingerprint_equal(a->fingerprint, b->fingerprint);
}

static bool same_key(const kw_pack_key *a, const kw_pack_key *b) {
  return same_tensor(a, b) && a->format == b->format && a->size == b->size;
}

/* Under the lock. */
static form *find(uint64_t spell, const kw_pack_key *key) {
  form *f = *list_of(spell);
  while (f && !(f->spell == spell && same_key(&f->key, key))) f = f->next;
  return f;
}

/* Whether a kernel has as many layouts of a tensor as are kept: where they follow other arguments, such as an image's
 * size, there is no end of them, and each takes the tensor's memory again. Under the lock. */
static bool has_enough(uint64_t spell, const kw_pack_key *key) {
  uint32_t layouts = 0;
  for (const form *f = *list_of(spell); f; f = f->next) layouts += f->spell == spell && same_tensor(&f->key, key);
  return layouts >= LAYOUTS;
}

/* Its release is one with care, and its block's next buffer a fresh one. */
static void leave_cache(kw_buffer *buffer) {
  buffer->cached = false;
}

/* Under the lock: who ends it finds it begun as a whole, or not at all. */
static void begin_constant(kw_buffer *buffer) {
  kw_buffer_set_apart(buffer, true);
  leave_cache(buffer);
  atomic_store(&buffer->constant, ++last_spell);
  kw_device_tell_news(buffer->device); /* calls that were made ready for it look again */
}

kw_status kw_buffer_set_constant(kw_buffer *buffer) {
  if (buffer->graph != 0 || atomic_load(&buffer->graph_writes)) {
    return kw_fail(KW_ERR_BUSY, "kw_tensor_set_constant: %s; make the tensor constant that its result is copied to",
                   buffer->graph != 0 ? "the tensor lies in a graph's own memory, which each launch writes"
                                      : "a graph has been recorded that writes to the tensor's memory");
  }
  pthread_mutex_lock(&lock);
  if (kw_buffer_constant_spell(buffer) == 0) begin_constant(buffer);
  pthread_mutex_unlock(&lock);
  return KW_OK;
}

/* Takes a spell's forms out of their list. Under the lock. */
static form *take_forms(uint64_t spell) {
  form *taken = NULL;
  for (form **link = list_of(spell); *link;) {
    form *f = *link;
    if (f->spell != spell) {
      link = &f->next;
      continue;
    }
    *link = f->next;
    f->next = taken;
    taken = f;
  }
  return taken;
}

void kw_buffer_end_constant(kw_buffer *buffer) {
  if (kw_buffer_constant_spell(buffer) == 0) return;
  form *taken = NULL;
  pthread_mutex_lock(&lock);
  const uint64_t spell = atomic_exchange(&buffer->constant, 0);
  if (spell != 0) {
    kw_buffer_set_apart(buffer, false);
    taken = take_forms(spell);
  }
  pthread_mutex_unlock(&lock);
  for (form *f = taken, *next; f; f = next) {
    next = f->next;
    kw_buffer_release(f->packed);
    free(f);
  }
}

void kw_buffer_change_elsewhere(kw_buffer *buffer, kw_stream *stream) {
  kw_buffer_use(buffer, stream);
  if (kw_stream_recording(stream) != NULL) {
    atomic_store(&buffer->graph_writes, true);
    leave_cache(buffer);
  }
  kw_buffer_end_constant(buffer);
}

kw_buffer *kw_packed_find(uint64_t spell, const kw_pack_key *key, bool *out_known) {
  pthread_mutex_lock(&lock);
  const form *found = find(spell, key);
  kw_buffer *packed = found ? found->packed : NULL;
  if (packed) kw_buffer_retain(packed);
  *out_known = found != NULL || has_enough(spell, key);
  pthread_mutex_unlock(&lock);
  return packed;
}

void kw_buffer_keep_packed(const kw_buffer *buffer, uint64_t spell, const kw_pack_key *key, kw_buffer *packed) {
  form *fresh = malloc(sizeof *fresh);
  if (!fresh) return; /* it is packed anew the next time */
  *fresh = (form){.key = *key, .spell = spell, .packed = packed};
  pthread_mutex_lock(&lock);
  const bool keeps = kw_buffer_constant_spell(buffer) == spell && !find(spell, key);
  if (keeps) {
    if (packed) kw_buffer_retain(packed);
    fresh->next = *list_of(spell);
    *list_of(spell) = fresh;
  }
  pthread_mutex_unlock(&lock);
  if (!keeps) free(fresh);
}
