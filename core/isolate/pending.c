/* SPDX-License-Identifier: Apache-2.0
 *
 * Tokens that are out, in an array.
 */
#include "isolate/pending.h"

#include "base/array.h"

#include <stdlib.h>

typedef struct pending_row {
  uint64_t token;
  unsigned char *host; /* NULL: a function */
  unsigned char *bytes;
  uint64_t size;
  uint64_t stream;   /* of a copy, as the plugin calls it */
  uint64_t enqueued; /* how many were enqueued with it; 0: it is not yet */
  bool out_of_block;
  bool running;
} pending_row;

struct kw_pending {
  pthread_mutex_t lock;
  pthread_cond_t idle;
  pending_row *rows;
  uint32_t count;
  uint64_t last_token;
  uint64_t enqueued; /* copies so far */
  uint32_t running;  /* copies */
  bool stopped;
};

struct kw_pending *kw_pending_make(void) {
  struct kw_pending *pending = calloc(1, sizeof *pending);
  if (pending == NULL) return NULL;
  pthread_mutex_init(&pending->lock, NULL);
  pthread_cond_init(&pending->idle, NULL);
  return pending;
}

void kw_pending_free(struct kw_pending *pending) {
  if (pending == NULL) return;
  free(pending->rows);
  pthread_mutex_destroy(&pending->lock);
  pthread_cond_destroy(&pending->idle);
  free(pending);
}

/* Under the lock. */
static bool add_locked(struct kw_pending *pending, const pending_row *row) {
  pending_row *rows = kw_array_grow(pending->rows, pending->count, sizeof *rows);
  if (rows == NULL) return false;
  pending->rows = rows;
  rows[pending->count++] = *row;
  return true;
}

/* Under the lock. */
static bool take_locked(struct kw_pending *pending, uint64_t token, pending_row *out_row) {
  for (uint32_t i = 0; i < pending->count; i++) {
    if (pending->rows[i].token != token) continue;
    *out_row = pending->rows[i];
    pending->rows[i] = pending->rows[--pending->count];
    return true;
  }
  return false;
}

bool kw_pending_add_function(struct kw_pending *pending, uint64_t token) {
  pthread_mutex_lock(&pending->lock);
  const bool added = add_locked(pending, &(pending_row){.token = token});
  pthread_mutex_unlock(&pending->lock);
  return added;
}

bool kw_pending_take_function(struct kw_pending *pending, uint64_t token) {
  pending_row row;
  pthread_mutex_lock(&pending->lock);
  const bool found = (token & KW_TOKEN_COPY) == 0 && take_locked(pending, token, &row);
  pthread_mutex_unlock(&pending->lock);
  return found;
}

uint64_t kw_pending_add_copy(struct kw_pending *pending, uint64_t stream, void *host, const kw_block_place *place,
                             uint64_t size, bool out_of_block) {
  pthread_mutex_lock(&pending->lock);
  const pending_row row = {.token = KW_TOKEN_COPY | ++pending->last_token,
                           .host = host,
                           .bytes = place->bytes,
                           .size = size,
                           .stream = stream,
                           .out_of_block = out_of_block};
  const bool added = add_locked(pending, &row);
  pthread_mutex_unlock(&pending->lock);
  return added ? row.token : 0;
}

/* Under the lock: a copy that may begin; NULL when the token is none. */
static pending_row *find_copy_locked(struct kw_pending *pending, uint64_t token) {
  for (uint32_t i = 0; i < pending->count && !pending->stopped; i++) {
    pending_row *row = &pending->rows[i];
    if (row->token == token && row->host != NULL && !row->running) return row;
  }
  return NULL;
}

/* Under the lock. */
static bool is_copying_locked(const struct kw_pending *pending, uint64_t stream) {
  for (uint32_t i = 0; i < pending->count; i++) {
    if (pending->rows[i].running && pending->rows[i].stream == stream) return true;
  }
  return false;
}

kw_status kw_pending_copy(struct kw_pending *pending, uint64_t token) {
  pending_row *found, row;
  pthread_mutex_lock(&pending->lock);
  /* A stream's copies may have the same bytes. A process in its right mind asks for the next when one is done. */
  while ((found = find_copy_locked(pending, token)) != NULL && is_copying_locked(pending, found->stream))
    pthread_cond_wait(&pending->idle, &pending->lock);
  if (found != NULL) {
    /* While a copy out runs, its row stays: who reads these bytes next has to see that they are still to come. */
    found->running = true;
    row = *found;
    pending->running++;
  }
  pthread_mutex_unlock(&pending->lock);
  if (found == NULL) return KW_ERR_NOT_FOUND;
  if (row.out_of_block) {
    memcpy(row.host, row.bytes, row.size);
  } else {
    memcpy(row.bytes, row.host, row.size);
  }
  pthread_mutex_lock(&pending->lock);
  pending_row gone;
  take_locked(pending, token, &gone);
  pending->running--;
  pthread_cond_broadcast(&pending->idle);
  pthread_mutex_unlock(&pending->lock);
  if (row.out_of_block) kw_staging_pass(row.bytes);
  return KW_OK;
}

void kw_pending_drop_copy(struct kw_pending *pending, uint64_t token) {
  pending_row row;
  pthread_mutex_lock(&pending->lock);
  take_locked(pending, token, &row);
  pthread_mutex_unlock(&pending->lock);
}

void kw_pending_enqueued(struct kw_pending *pending, uint64_t token) {
  pthread_mutex_lock(&pending->lock);
  pending->enqueued++;
  for (uint32_t i = 0; i < pending->count; i++) {
    if (pending->rows[i].token == token) pending->rows[i].enqueued = pending->enqueued;
  }
  pthread_mutex_unlock(&pending->lock);
}

uint64_t kw_pending_last(struct kw_pending *pending) {
  pthread_mutex_lock(&pending->lock);
  const uint64_t last = pending->enqueued;
  pthread_mutex_unlock(&pending->lock);
  return last;
}

void kw_pending_end_copies(struct kw_pending *pending, uint64_t stream, uint64_t last) {
  pthread_mutex_lock(&pending->lock);
  for (uint32_t i = 0; i < pending->count;) {
    const pending_row *row = &pending->rows[i];
    if (row->enqueued == 0 || row->enqueued > last || row->stream != stream) {
      i++;
    } else if (row->running) {
      pthread_cond_wait(&pending->idle, &pending->lock);
      i = 0;
    } else {
      pending->rows[i] = pending->rows[--pending->count];
    }
  }
  pthread_mutex_unlock(&pending->lock);
}

bool kw_pending_stores_to(struct kw_pending *pending, const void *bytes, uint64_t size) {
  const uintptr_t begin = (uintptr_t)bytes;
  bool found = false;
  pthread_mutex_lock(&pending->lock);
  for (uint32_t i = 0; i < pending->count && !found; i++) {
    const pending_row *row = &pending->rows[i];
    const uintptr_t other = (uintptr_t)row->host;
    found = row->host != NULL && row->out_of_block && begin < other + row->size && other < begin + size;
  }
  pthread_mutex_unlock(&pending->lock);
  return found;
}

void kw_pending_stop(struct kw_pending *pending) {
  pthread_mutex_lock(&pending->lock);
  pending->stopped = true;
  while (pending->running > 0) pthread_cond_wait(&pending->idle, &pending->lock);
  pthread_mutex_unlock(&pending->lock);
}
