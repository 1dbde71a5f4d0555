/* SPDX-License-Identifier: Apache-2.0
 *
 * The trace of what core and devices did: to a file (KEYWAY_TRACE, in Chrome's or Perfetto's format), to a function of
 * the application's, or both. Costs one predictable branch when off.
 */
#ifndef KEYWAY_CORE_TRACE_H
#define KEYWAY_CORE_TRACE_H

#include <keyway/keyway.h>

#include <stdatomic.h>

extern atomic_bool kw_trace_wanted; /* read by kw_trace_on */
/* May change at any time: a span that began while it was off is never written. */
static inline bool kw_trace_on(void) {
  return atomic_load_explicit(&kw_trace_wanted, memory_order_relaxed);
}

void kw_trace_start(void);                    /* reads KEYWAY_TRACE; the file is completed at exit */
extern const char *kw_trace_default_file;     /* where KEYWAY_TRACE names none; NULL: then there is no trace */
uint64_t kw_trace_now(void);                  /* nanoseconds, CLOCK_MONOTONIC */
uint64_t kw_trace_later(void);                /* the same, later than what the thread was given before */
static inline uint64_t kw_trace_begin(void) { /* for kw_trace_span; 0 when tracing is off */
  return kw_trace_on() ? kw_trace_later() : 0;
}
/* A finished span on the calling thread's row. category: "op", "copy", "alloc", "sync", "load", "build". detail may be
 * NULL. Does nothing when tracing is off, or was at the beginning. */
void kw_trace_span(const char *category, const char *name, const char *detail, uint64_t begin_ns);

/* A device's on the row of its stream, the host's on the calling thread's. */
void kw_trace_write(const kw_trace_event *event);
/* The host's that has just enqueued a stream's work or waited for it. */
void kw_trace_stream_span(const char *category, const char *name, const char *detail, uint64_t begin_ns,
                          uint64_t stream, uint64_t call);
/* Names the row of a stream's device spans: "npu:0", "stream 7 (default)". */
void kw_trace_name_row(uint64_t stream, const char *device, const char *name);
/* A device's memory, in bytes: in live tensors, and obtained from the plugin. */
void kw_trace_memory(const char *device, uint64_t in_use, uint64_t reserved);

int kw_trace_thread(void); /* the calling thread's id, asked for once: gettid is a system call */

/* Or takes it away, by NULL: none runs any more at the return. False: there is one already. */
bool kw_trace_set_function(kw_trace_function function, void *user);

#endif /* KEYWAY_CORE_TRACE_H */
