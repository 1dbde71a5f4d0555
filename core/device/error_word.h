/* SPDX-License-Identifier: Apache-2.0
 *
 * Errors that only the data show: a kernel leaves them in a word in device memory, and each wait for the stream
 * looks there.
 */
#ifndef KEYWAY_CORE_ERROR_WORD_H
#define KEYWAY_CORE_ERROR_WORD_H

#include "op/op.h"

#include <stdatomic.h>

/* Four bytes of device memory, beside the allocator's: they are no tensor's. */
typedef struct kw_error_word {
  kw_device *device; /* no reference: the holder of the word has one */
  kw_mem mem;
  atomic_uint refs;
  _Atomic(struct kw_error_word *) duplicates; /* made by threads that came second; freed with this one */
} kw_error_word;

/* A stream's words. */
typedef struct kw_error_words {
  _Atomic(kw_error_word *) own; /* made for the first kernel that wants one */
  atomic_bool own_used;         /* since somebody last waited for the stream */
  struct kw_word_use *others;   /* words of graphs that were launched since then, under the stream's mutex */
} kw_error_words;

/* A word that is 0 once `stream` has come so far. One reference. The last unref frees it: streams that used it have
 * passed by then. */
kw_status kw_error_word_create(kw_stream *stream, kw_error_word **out_word);
void kw_error_word_unref(kw_error_word *word);

/* kw_call_extra.error_code of a kernel of `op`, when the application called `called`. */
uint32_t kw_error_word_code(const kw_op *called, const kw_op *op);

/* The stream's own word, made if there is none. */
kw_status kw_error_words_own(kw_stream *stream, kw_error_word **out_word);
/* A kernel that may store to the stream's own word has been enqueued. */
void kw_error_words_use_own(kw_stream *stream);

/* A native graph with this word is launched on the stream: create before that, where it may fail, then use. */
kw_status kw_word_use_create(kw_error_word *word, struct kw_word_use **out_use);
void kw_error_words_use(kw_stream *stream, struct kw_word_use *use);

/* Whether a check would look at any. */
bool kw_error_words_used(kw_stream *stream);
/* Before waiting for the stream: enqueues copies of the words in use to the host. NULL when there are none. */
struct kw_word_check *kw_error_words_begin_check(kw_stream *stream);
/* After it, waited: it went well. What words that are not 0 say becomes late errors of the stream, and they are
 * cleared, in stream order. `check` may be NULL and is used up. */
void kw_error_words_end_check(kw_stream *stream, struct kw_word_check *check, bool waited);

/* The plugin's stream has been destroyed: frees all. */
void kw_error_words_free(kw_stream *stream);

#endif /* KEYWAY_CORE_ERROR_WORD_H */
