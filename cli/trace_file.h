/* SPDX-License-Identifier: Apache-2.0
 *
 * A trace (KEYWAY_TRACE) as `keyway trace` reads it, and what it proves about where device time went.
 */
#ifndef KEYWAY_CLI_TRACE_FILE_H
#define KEYWAY_CLI_TRACE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the host enqueued, what the device did, and which waits returned. Times are nanoseconds on the host's clock. */
typedef enum kw_span_kind { KW_SPAN_LAUNCH, KW_SPAN_COPY, KW_SPAN_DEVICE, KW_SPAN_WAIT } kw_span_kind;

typedef struct kw_span {
  kw_span_kind kind;
  bool moves;    /* of a device: a copy or a fill */
  bool recorded; /* of a launch: an interval of it was seen */
  int64_t begin, end;
  uint64_t stream, call; /* call 0: none */
} kw_span;

typedef struct kw_trace_row {
  uint64_t stream;
  char name[128];
} kw_trace_row;

typedef struct kw_trace_file {
  kw_span *spans; /* that belong to a stream, by stream and kind */
  size_t span_count;
  kw_trace_row *rows; /* streams whose device tells what it does; by stream */
  size_t row_count;
} kw_trace_file;

/* False when the file is no trace; `message` says why. */
bool kw_trace_file_read(const char *path, kw_trace_file *out_trace, char *message, size_t size);
void kw_trace_file_free(kw_trace_file *trace);

/* One stream, or all. Durations are nanoseconds. The time between the first enqueueing and the end of the device's last
 * work is what the device was busy, and gaps: before the host enqueued what came next, while it did, and after that,
 * and those that nothing enqueued explains. */
typedef struct kw_trace_verdict {
  uint64_t launches, recorded; /* of the host; those that the device has an interval of */
  uint64_t intervals;          /* of the device, copies and fills included */
  uint64_t outside;            /* intervals of launches not between enqueueing and the return of the wait, by more than
                                  the slack */
  int64_t furthest;            /* the most that any is outside */
  uint64_t overlaps;           /* intervals that begin before the one ahead has ended */
  int64_t busy, idle, enqueueing, queued, unexplained;
} kw_trace_verdict;

/* Judges the stream of a row. */
kw_trace_verdict kw_trace_judge(const kw_trace_file *trace, const kw_trace_row *row, int64_t slack);
void kw_trace_verdict_add(kw_trace_verdict *sum, const kw_trace_verdict *verdict);
/* At least 99 % of launches recorded, none outside, no overlaps, 90 % of the gaps explained. */
bool kw_trace_verdict_holds(const kw_trace_verdict *verdict);

#endif /* KEYWAY_CLI_TRACE_FILE_H */
