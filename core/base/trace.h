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

#endif /* KEYWAY_CORE_TRACE_H */
