/* SPDX-License-Identifier: Apache-2.0
 *
 * Errors that only the data show: a kernel leaves them in a word in device memory, and each wait for the stream
 * looks there.
 */
#ifndef KEYWAY_CORE_ERROR_WORD_H
#define KEYWAY_CORE_ERROR_WORD_H

#include "op/op.h"

#include <pthread.h>
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
  /* Under the stream's mutex. */
  struct kw_word_use *others;   /* words of graphs that were launched since then */
  struct kw_word_check *checks; /* in hand */
  uint64_t begun, given_back;   /* checks so far: that had something to look at; that ended without a look */
  pthread_cond_t ended;         /* one of them */
} kw_error_words;

/* What one wait looks at: words on their way to the host. */
typedef struct kw_word_check {
  uint64_t number;               /* kw_error_words.begun, this one counted */
  uint64_t given_back;           /* as kw_error_words had it, this one counted */
  bool own;                      /* entry 0 is the stream's own word */
  bool incomplete;               /* a copy could not be enqueued */
  struct kw_word_use *uses;      /* entries behind that */
  uint32_t count;                /* of entries; 0: nothing to look at */
  struct kw_host_memory *memory; /* of entries */
  struct kw_word_entry {
    kw_error_word *word;
    uint32_t value;
  } * entries;
  struct kw_word_check *next; /* in hand */
} kw_word_check;

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
/* Before waiting for the stream: takes the words in use in hand and enqueues copies of them to the host. *out_check
 * stays where it is until its end. */
void kw_error_words_begin_check(kw_stream *stream, kw_word_check *out_check);
/* After it, waited: it went well. What words that are not 0 say becomes late errors of the stream, and they are
 * cleared, in stream order. Nothing for a check of zeros, which was not begun. */
void kw_error_words_end_check(kw_stream *stream, kw_word_check *check, bool waited);
/* After that, for who wants to know all errors: waits, for timeout_ns at most, until what other threads had in hand
 * when `check` began has ended; false: it has not. *out_again: some of it ended without a look, so look again. */
bool kw_error_words_let_end(kw_stream *stream, const kw_word_check *check, uint64_t timeout_ns, bool *out_again);

void kw_error_words_init(kw_stream *stream);
/* The plugin's stream has been destroyed: frees all. */
void kw_error_words_free(kw_stream *stream);

#endif /* KEYWAY_CORE_ERROR_WORD_H */
