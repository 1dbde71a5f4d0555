/* SPDX-License-Identifier: Apache-2.0
 *
 * Streams as the rest of the library finds them: what one is, the list of all, who may use one that somebody else
 * destroys, and who may wait.
 */
#ifndef KEYWAY_CORE_STREAM_H
#define KEYWAY_CORE_STREAM_H

#include "device/device.h"
#include "device/error_word.h"
#include "device/recording.h"

#include <pthread.h>

struct kw_stream {
  void *handle; /* the plugin's stream */
  kw_device *device;
  uint64_t token; /* names the stream in report_async_error */
  bool is_default;
  pthread_mutex_t mutex;         /* guards the late error, lists in words, and what is held */
  atomic_ullong last_call;       /* the call id of the last launch; 0 = none */
  _Atomic kw_status late_status; /* the first late error that the stream's own wait has not returned, as the plugin gave
                                    it; KW_OK when none */
  atomic_ullong late_errors;     /* so far */
  bool late_told;                /* a wait for the device has returned it */
  kw_status later_status;        /* the first one after that, which only the next such wait returns; KW_OK when none */
  char late_text[1024], later_text[1024];
  kw_error_words words;
  struct kw_host_memory *held; /* host memory that a wait which failed has left: host_memory.h */
  uint64_t waits;              /* begun so far */
  kw_pool pool;
  /* While a graph is recorded. */
  atomic_uintptr_t recorder;     /* names the thread that records; 0 = none */
  kw_recording *recording;       /* the recorder's only */
  atomic_ullong recording_graph; /* id of the graph that is recorded; 0 = none */
  /* In the list of all streams of the process, under the list's lock (stream.c). */
  struct kw_stream *next, *prev;
  uint32_t pins; /* those who use it without owning it; destroy waits for them */
  bool closing;  /* being destroyed; its work may still run */
  bool idle;     /* being destroyed, and its work has ended */
  bool marked;   /* pinned while closing: something may have been enqueued */
};

/* ---- The list of all ----------------------------------------------------------------------------------------------
 */

/* A token that no stream had before. */
uint64_t kw_stream_new_token(void);
void kw_stream_add(kw_stream *stream);

/* The stream with this token, its plugin's stream kept from being destroyed until unpin; also while kw_stream_destroy
 * waits for its work. NULL only when that work has ended. */
kw_stream *kw_stream_pin(uint64_t token);
/* The same, also when the work has ended: for late errors, which a plugin may still report. */
kw_stream *kw_stream_pin_until_removed(uint64_t token);
void kw_stream_unpin(kw_stream *stream);
/* From one stream of the device to the next: pins the one after `previous` (NULL: the first one) whose work may still
 * run, and unpins `previous`. NULL after the last one. */
kw_stream *kw_stream_pin_next(const kw_device *device, kw_stream *previous);

/* The three steps of a stream's end, each of which waits for pins: before its work is waited for, after that (true: it
 * has to be waited for once more), and after the plugin's stream is gone. */
void kw_stream_begin_closing(kw_stream *stream);
bool kw_stream_set_idle(kw_stream *stream);
/* Back from before the third: the wait has ended at its limit, and the stream lives on. */
void kw_stream_stop_closing(kw_stream *stream);
void kw_stream_remove(kw_stream *stream);

/* `stream`, or the device's default stream for NULL. KW_ERR_INVALID_ARGUMENT when it is another device's. */
kw_status kw_stream_resolve(const char *function, kw_device *device, kw_stream *stream, kw_stream **out_stream);

/* ---- Who may wait -------------------------------------------------------------------------------------------------
 */

/* Whether the calling thread runs a function given to kw_stream_call_host: then waiting may never end. */
bool kw_stream_in_callback(void);
/* Around each such function. */
void kw_stream_enter_callback(void);
void kw_stream_leave_callback(void);
/* KW_OK; inside a callback KW_ERR_BUSY; in a forked process KW_ERR_UNSUPPORTED. At the beginning of every public
 * function that waits. */
kw_status kw_stream_may_wait(const char *function);

/* ---- Recording ----------------------------------------------------------------------------------------------------
 */

/* Names the calling thread in kw_stream.recorder. */
uintptr_t kw_stream_this_thread(void);
/* What the calling thread records on the stream; NULL when it does not. */
static inline kw_recording *kw_stream_recording(kw_stream *stream) {
  uintptr_t recorder = atomic_load_explicit(&stream->recorder, memory_order_relaxed);
  return recorder != 0 && recorder == kw_stream_this_thread() ? stream->recording : NULL;
}
/* KW_OK, or KW_ERR_BUSY when the stream records: for what has no place in a graph. */
kw_status kw_stream_may_not_record(const char *function, kw_stream *stream);

#endif /* KEYWAY_CORE_STREAM_H */
