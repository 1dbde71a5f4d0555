/* SPDX-License-Identifier: Apache-2.0
 *
 * What a worker is doing, in memory that it shares with the coordinator: read when an answer fails to come. Nobody
 * waits for it and nothing is judged by it but how long to wait, so a plugin that overwrites it gains no verdict.
 */
#ifndef KEYWAY_CONFORMANCE_WORKER_NOTE_H
#define KEYWAY_CONFORMANCE_WORKER_NOTE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

typedef enum kw_worker_state {
  KW_WORKER_IDLE,  /* between cases, or not known */
  KW_WORKER_CALLS, /* in a call that may compile kernels: a busy processor means work */
  KW_WORKER_WAITS  /* in a call that waits: a busy processor means nothing */
} kw_worker_state;

typedef struct kw_worker_note {
  atomic_uint state;
  atomic_uint count;  /* of the times that it was set */
  atomic_uint steps;  /* of a long test: each has all of the time limit */
  atomic_ullong said; /* bytes on its stderr when it began with what it does now */
  char text[252];     /* the call, for people: "kw_stream_synchronize(stream) [stream.c:24]"; "" */
} kw_worker_note;

/* ---- The worker's side. From the thread that runs cases only. ---- */

/* Makes the memory behind the descriptor the note of this process, and closes the descriptor. Without this, or where
 * that fails, the note is nobody's to read. */
void kw_worker_note_open(int fd);
/* `text` is copied. */
void kw_worker_note_set(kw_worker_state state, const char *text);
/* A long test has come a step further, and its time limit begins anew. For what has steps without end there is none. */
void kw_worker_note_step(void);
/* The worker begins with something that it was asked for: what it says on stderr from here on belongs to that. */
void kw_worker_note_begin(void);
/* The last one. Valid until the next is set. */
const char *kw_worker_note_text(void);

/* ---- The coordinator's side ---- */

/* Memory for a note, its descriptor in *out_fd; NULL, and -1, where there is none. */
kw_worker_note *kw_worker_note_make(int *out_fd);
void kw_worker_note_unmap(kw_worker_note *note);
/* What it says now, whatever may have been written there. `note` may be NULL. */
kw_worker_state kw_worker_note_read(const kw_worker_note *note, char *out_text, size_t size);
/* How far its stderr had come when it began with what it does; whatever may have been written there. */
unsigned long long kw_worker_note_said(const kw_worker_note *note);
/* How often it was set; another number means that the worker has got on. */
unsigned kw_worker_note_count(const kw_worker_note *note);
/* How many steps it has come. */
unsigned kw_worker_note_steps(const kw_worker_note *note);

#endif /* KEYWAY_CONFORMANCE_WORKER_NOTE_H */
