/* SPDX-License-Identifier: Apache-2.0
 *
 * A trace (KEYWAY_TRACE, in Chrome's or Perfetto's format) as `keyway trace` reads it, and what it proves about where
 * device time went.
 */
#ifndef KEYWAY_CLI_TRACE_FILE_H
#define KEYWAY_CLI_TRACE_FILE_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the host enqueued, what the device did, which waits returned, and what else the host was busy with: compiling
 * kernels, and in calls of ops. Times are nanoseconds on the host's clock. */
typedef enum kw_span_kind {
  KW_SPAN_LAUNCH,
  KW_SPAN_COPY,
  KW_SPAN_DEVICE,
  KW_SPAN_WAIT,
  KW_SPAN_BUILD,
  KW_SPAN_CALL,
  KW_SPAN_KINDS
} kw_span_kind;

typedef struct kw_span {
  kw_span_kind kind;
  bool moves;    /* of a device: a copy or a fill */
  bool recorded; /* of a launch: an interval of it was seen */
  int64_t begin, end;
  uint64_t stream, call; /* 0: none */
} kw_span;

typedef struct kw_trace_row {
  uint64_t stream;
  char name[128];
} kw_trace_row;

typedef struct kw_trace_file {
  kw_span *spans; /* by stream and kind */
  size_t span_count;
  kw_trace_row *rows; /* streams whose device tells what it does; by stream */
  size_t row_count;
} kw_trace_file;

/* The events of a trace, a list in *out_document, which the caller deletes either way. NULL when the file is no trace;
 * `message` says why. */
const cJSON *kw_trace_events_read(const char *path, cJSON **out_document, char *message, size_t size);

/* False when the file is no trace; `message` says why. */
bool kw_trace_file_read(const char *path, kw_trace_file *out_trace, char *message, size_t size);
void kw_trace_file_free(kw_trace_file *trace);

/* One stream, or all. Durations are nanoseconds. From the first enqueueing to the return of the last wait, by the
 * host's clock, a stream's time is `wall`. In that the device was busy, and beside that lie gaps, by what the host did
 * meanwhile. Before it enqueued what came next: it compiled kernels, waited for the stream, was in a call of an op, or
 * did nothing that concerns Keyway (`idle`). Then it enqueued, and after that the work was `queued`. What is behind the
 * last work is waiting. What nothing enqueued explains is `unexplained`. */
typedef struct kw_trace_verdict {
  uint64_t launches, recorded; /* of the host; those that the device has an interval of */
  uint64_t intervals;          /* of the device, copies and fills included */
  uint64_t outside;            /* intervals of launches not between enqueueing and the return of the wait, by more than
                                  the slack */
  int64_t furthest;            /* the most that any is outside */
  uint64_t overlaps;           /* intervals that begin before the one ahead has ended */
  int64_t wall;
  int64_t busy; /* all intervals, also where they overlap */
  int64_t building, waiting, calling, idle, enqueueing, queued, unexplained;
} kw_trace_verdict;

/* Judges the stream of a row. */
kw_trace_verdict kw_trace_judge(const kw_trace_file *trace, const kw_trace_row *row, int64_t slack);
void kw_trace_verdict_add(kw_trace_verdict *sum, const kw_trace_verdict *verdict);
int64_t kw_trace_verdict_gaps(const kw_trace_verdict *verdict);
/* What a verdict has to say. */
bool kw_trace_recorded_holds(const kw_trace_verdict *verdict);  /* at least 99 % of launches have an interval */
bool kw_trace_inside_holds(const kw_trace_verdict *verdict);    /* none lies outside */
bool kw_trace_order_holds(const kw_trace_verdict *verdict);     /* none overlap */
bool kw_trace_accounted_holds(const kw_trace_verdict *verdict); /* busy and gaps are wall to 10 %, and 90 % of the gaps
                                                                   are explained */
bool kw_trace_verdict_holds(const kw_trace_verdict *verdict);   /* all four */

#endif /* KEYWAY_CLI_TRACE_FILE_H */
