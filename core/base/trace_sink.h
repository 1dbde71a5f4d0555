/* SPDX-License-Identifier: Apache-2.0
 *
 * The file of a trace: takes whole records up to a limit, and never keeps the application waiting for a reader. One in
 * a process, used under the trace's mutex.
 */
#ifndef KEYWAY_CORE_TRACE_SINK_H
#define KEYWAY_CORE_TRACE_SINK_H

#include "base/bytes.h"

#include <stdbool.h>
#include <stdint.h>

/* False: errno says why. A FIFO that nobody reads is refused (ENXIO). */
bool kw_trace_sink_open(const char *path, uint64_t limit);
bool kw_trace_sink_is_open(void);

typedef enum kw_trace_taken {
  KW_TRACE_TAKEN,
  KW_TRACE_DROPPED, /* the reader takes too little, or a write failed */
  KW_TRACE_FULL     /* it would go past the limit, less what the end may take */
} kw_trace_taken;
#define KW_TRACE_END 1024 /* bytes of the limit that are kept for the end */
/* A record, all of it or nothing. Clears it. */
kw_trace_taken kw_trace_sink_add(kw_bytes *record);
/* The last one. Closes the file, and logs what it lacks. */
void kw_trace_sink_close(kw_bytes *last);
/* In a forked child: the file is the parent's. */
void kw_trace_sink_forget(void);

#endif /* KEYWAY_CORE_TRACE_SINK_H */
