/* SPDX-License-Identifier: Apache-2.0
 *
 * Streams and their late errors.
 */
#ifndef KEYWAY_CORE_STREAM_H
#define KEYWAY_CORE_STREAM_H

#include "device/device.h"
#include "device/error_word.h"
#include "device/pool.h"

#include <pthread.h>

struct kw_stream {
  void *handle; /* the plugin's stream */
  kw_device *device;
  uint64_t token; /* names the stream in report_async_error */
  bool is_default;
  _Atomic kw_status sticky; /* first late error not yet surfaced; KW_OK when none */
  pthread_mutex_t mutex;    /* guards error_text and lists in words */
  char error_text[1024];
  kw_error_words words;
  kw_pool pool;
  /* While a graph is recorded. */
  atomic_uintptr_t recorder; /* names the thread that records; 0 = none */
  kw_graph *graph;           /* the recorder's only */
  atomic_ullong recording;   /* its id */
  /* All streams of the process, under the registry's lock (stream.c). */
  struct kw_stream *next, *prev;
  uint32_t pins; /* those who use it without owning it; destroy waits for them */
  bool closing;  /* being destroyed; its work may still run */
  bool idle;     /* being destroyed, and its work has ended */
  bool marked;   /* pinned while closing: something may have been enqueued */
};

/* Creates the default stream of a device being opened; destroyed by kw_stream_destroy_default at its close. */
kw_status kw_stream_create_default(kw_device *device);
void kw_stream_destroy_default(kw_device *device);

/* A late error from a plugin, any thread; finds the stream by token. call_id is resolved to the op with kw_call_id_op.
 * Unknown tokens are logged. */
kw_status kw_stream_report_error(uint64_t token, uint64_t call_id, kw_status status, const char *message);

/* `text` is a late error of the stream, unless it has one already: then it goes to the log. */
void kw_stream_keep_error(kw_stream *stream, kw_status status, const char *text);

/* Waits for all streams of the device; returns the first late error, those of other streams stay for their own
 * synchronise. */
kw_status kw_stream_synchronize_all(kw_device *device);

/* Waits without surfacing anything: what fails stays on the stream as a late error. Does not wait on a lost device.
 * Not inside a callback. */
void kw_stream_drain(kw_stream *stream);
/* The same for all streams of a device. */
void kw_stream_drain_all(kw_device *device);

/* The stream with this token, its plugin's stream kept from being destroyed until unpin; also while kw_stream_destroy
 * waits for its work. NULL only when that work has ended. */
kw_stream *kw_stream_pin(uint64_t token);
void kw_stream_unpin(kw_stream *stream);

/* `stream`, or the device's default stream for NULL. KW_ERR_INVALID_ARGUMENT when it is another device's. */
kw_status kw_stream_resolve(const char *function, kw_device *device, kw_stream *stream, kw_stream **out_stream);

/* Whether the calling thread runs a function given to kw_stream_call_host: then waiting may never end. */
bool kw_stream_in_callback(void);
/* KW_OK; inside a callback KW_ERR_BUSY; in a forked process KW_ERR_UNSUPPORTED. At the beginning of every public
 * function that waits. */
kw_status kw_stream_may_wait(const char *function);

/* Names the calling thread in kw_stream.recorder. */
uintptr_t kw_stream_this_thread(void);
/* The graph that the calling thread records on the stream; NULL when it does not. */
static inline kw_graph *kw_stream_recorded(kw_stream *stream) {
  uintptr_t recorder = atomic_load_explicit(&stream->recorder, memory_order_relaxed);
  return recorder != 0 && recorder == kw_stream_this_thread() ? stream->graph : NULL;
}
/* KW_OK, or KW_ERR_BUSY when the stream records: for what has no place in a graph. */
kw_status kw_stream_may_not_record(const char *function, kw_stream *stream);

/* The callback behind a token, run exactly once. KW_ERR_NOT_FOUND for an unknown token. */
kw_status kw_stream_run_callback(uint64_t callback_token);

/* Call ids carry the op: op id << KW_CALL_ID_BITS | running number; op 0 = unknown. Inline so that a launch costs
 * nothing. */
#define KW_CALL_ID_BITS 48
static inline uint32_t kw_call_id_op(uint64_t call_id) {
  return (uint32_t)(call_id >> KW_CALL_ID_BITS);
}

#endif /* KEYWAY_CORE_STREAM_H */
