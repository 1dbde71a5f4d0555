/* SPDX-License-Identifier: Apache-2.0
 *
 * KEYWAY_TRACE: a Chrome trace of what core did. Costs one predictable branch when off.
 */
#ifndef KEYWAY_CORE_TRACE_H
#define KEYWAY_CORE_TRACE_H

#include <stdbool.h>
#include <stdint.h>

extern bool kw_trace_enabled; /* set once at start (kw_trace_start), never changed afterwards */

void kw_trace_start(void);                    /* reads KEYWAY_TRACE; the file is completed at exit */
uint64_t kw_trace_now(void);                  /* nanoseconds, CLOCK_MONOTONIC */
static inline uint64_t kw_trace_begin(void) { /* for kw_trace_span; 0 when tracing is off */
  return kw_trace_enabled ? kw_trace_now() : 0;
}
/* A finished span on the calling thread's row. category: "op", "copy", "alloc", "sync", "load", "build". detail may be
 * NULL. Does nothing when tracing is off. */
void kw_trace_span(const char *category, const char *name, const char *detail, uint64_t begin_ns);

/* A span that belongs to a stream: the host's that enqueued or waited for its work, or the device's that did it. */
typedef struct kw_trace_event {
  const char *category, *name;
  const char *detail; /* or NULL */
  uint64_t begin_ns, end_ns;
  uint64_t stream; /* token */
  uint64_t call;   /* running number of the launch; 0 = none */
  uint32_t node;   /* of a launch in a native graph */
  bool of_device;  /* on the stream's row, not the calling thread's */
} kw_trace_event;
void kw_trace_write(const kw_trace_event *event);
/* The same for what has just ended, on the calling thread's row. */
void kw_trace_stream_span(const char *category, const char *name, const char *detail, uint64_t begin_ns,
                          uint64_t stream, uint64_t call);
/* Names the row of a stream's device spans. */
void kw_trace_name_row(uint64_t stream, const char *name);

#endif /* KEYWAY_CORE_TRACE_H */
