/* SPDX-License-Identifier: Apache-2.0
 *
 * Reading a trace, and judging it.
 */
#include "trace_file.h"
#include "base/need.h"
#include "file_bytes.h"
#include "trace_perfetto.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NUMBER_MOST 1e14 /* three years in microseconds: no time, stream or call is larger */

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

static const char *text_of(const cJSON *object, const char *name) {
  const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);
  return cJSON_IsString(item) ? item->valuestring : "";
}

/* 0 when there is none that can be one of a trace. */
static double number_of(const cJSON *object, const char *name) {
  const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);
  return cJSON_IsNumber(item) && item->valuedouble >= 0 && item->valuedouble <= NUMBER_MOST ? item->valuedouble : 0;
}

static bool kind_of(const char *category, kw_span_kind *out_kind) {
  static const char *const names[KW_SPAN_KINDS] = {"launch", "copy", "device", "sync", "build", "op"};
  for (int i = 0; i < KW_SPAN_KINDS; ++i) {
    if (strcmp(category, names[i]) != 0) continue;
    *out_kind = (kw_span_kind)i;
    return true;
  }
  return false;
}

static void take_event(kw_trace_file *trace, const cJSON *event) {
  const cJSON *args = cJSON_GetObjectItemCaseSensitive(event, "args");
  const char *name = text_of(event, "name");
  const double tid = number_of(event, "tid");
  kw_span span = {.stream = (uint64_t)number_of(args, "stream"), .call = (uint64_t)number_of(args, "call")};
  if (strcmp(text_of(event, "ph"), "M") == 0) {
    if (strcmp(name, "thread_name") != 0 || tid <= (double)KW_TRACE_ROW_BASE) return;
    kw_trace_row *row = &trace->rows[trace->row_count++];
    row->stream = (uint64_t)tid - KW_TRACE_ROW_BASE;
    snprintf(row->name, sizeof row->name, "%s", text_of(args, "name"));
  } else if (kind_of(text_of(event, "cat"), &span.kind)) {
    span.begin = llround(number_of(event, "ts") * 1000);
    span.end = span.begin + llround(number_of(event, "dur") * 1000);
    span.moves = span.kind == KW_SPAN_DEVICE && (strcmp(name, "copy") == 0 || strcmp(name, "fill") == 0);
    trace->spans[trace->span_count++] = span;
  }
}

/* Spans of one stream and kind stand together: launches by call, others by beginning. */
static int by_place(const void *left, const void *right) {
  const kw_span *a = left, *b = right;
  if (a->stream != b->stream) return a->stream < b->stream ? -1 : 1;
  if (a->kind != b->kind) return a->kind < b->kind ? -1 : 1;
  if (a->kind == KW_SPAN_LAUNCH) return (a->call > b->call) - (a->call < b->call);
  return (a->begin > b->begin) - (a->begin < b->begin);
}

static int by_stream(const void *left, const void *right) {
  const kw_trace_row *a = left, *b = right;
  return (a->stream > b->stream) - (a->stream < b->stream);
}

const cJSON *kw_trace_events_read(const char *path, cJSON **out_document, char *message, size_t size) {
  uint8_t *data = NULL;
  size_t length = 0;
  *out_document = NULL;
  if (!kw_file_bytes_read(path, &data, &length)) {
    snprintf(message, size, "%s cannot be read: %s", path, strerror(errno));
    return NULL;
  }
  *out_document = cJSON_ParseWithLength((const char *)data, length);
  if (!*out_document) *out_document = kw_trace_perfetto_events(data, length);
  free(data);
  if (cJSON_IsArray(*out_document)) return *out_document;
  const cJSON *events = cJSON_GetObjectItemCaseSensitive(*out_document, "traceEvents");
  if (cJSON_IsArray(events)) return events;
  snprintf(message, size,
           "%s is no trace: it has no list of traceEvents, and no packets of Perfetto's. Run a program with "
           "KEYWAY_TRACE=FILE, and let it end",
           path);
  return NULL;
}

bool kw_trace_file_read(const char *path, kw_trace_file *out_trace, char *message, size_t size) {
  cJSON *document;
  const cJSON *events = kw_trace_events_read(path, &document, message, size), *event;
  *out_trace = (kw_trace_file){0};
  if (events) {
    const size_t count = (size_t)cJSON_GetArraySize(events) + 1;
    out_trace->spans = calloc(count, sizeof *out_trace->spans);
    out_trace->rows = calloc(count, sizeof *out_trace->rows);
    if (!out_trace->spans || !out_trace->rows) kw_out_of_memory();
    cJSON_ArrayForEach(event, events) take_event(out_trace, event);
    qsort(out_trace->spans, out_trace->span_count, sizeof *out_trace->spans, by_place);
    qsort(out_trace->rows, out_trace->row_count, sizeof *out_trace->rows, by_stream);
  }
  cJSON_Delete(document);
  return events != NULL;
}

void kw_trace_file_free(kw_trace_file *trace) {
  free(trace->spans);
  free(trace->rows);
  *trace = (kw_trace_file){0};
}

/* ---- Judging ----------------------------------------------------------------------------------------------------- */

/* Spans of one stream and kind. */
typedef struct run {
  kw_span *spans;
  size_t count;
} run;

/* The first span that is of this stream and kind, or stands behind those. */
static size_t first_from(const kw_trace_file *trace, uint64_t stream, kw_span_kind kind) {
  size_t low = 0, high = trace->span_count;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    const kw_span *span = &trace->spans[middle];
    if (span->stream > stream || (span->stream == stream && span->kind >= kind)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

static run run_of(const kw_trace_file *trace, uint64_t stream, kw_span_kind kind) {
  const size_t first = first_from(trace, stream, kind);
  return (run){trace->spans + first, first_from(trace, stream, kind + 1) - first};
}

static int compare_call(const void *key, const void *span) {
  const uint64_t call = *(const uint64_t *)key, other = ((const kw_span *)span)->call;
  return (call > other) - (call < other);
}

/* When the first wait returned that began after `enqueued` had ended. */
static int64_t waited_until(run waits, const kw_span *enqueued) {
  size_t low = 0, high = waits.count;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (waits.spans[middle].begin >= enqueued->end) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low < waits.count ? waits.spans[low].end : INT64_MAX;
}

static int64_t at_least_0(int64_t ns) {
  return ns > 0 ? ns : 0;
}

static int64_t most(int64_t a, int64_t b) {
  return a > b ? a : b;
}

static int64_t least(int64_t a, int64_t b) {
  return a < b ? a : b;
}

/* What the host did while it enqueued nothing, the most telling first; what none of them covers is idle. */
enum { BUILDING, WAITING, CALLING, DOINGS };
typedef struct host_time {
  run spans[DOINGS];
  size_t next[DOINGS]; /* the first that may not be over: asked for in the order of time */
  int64_t spent[DOINGS + 1];
} host_time;

static void spend(host_time *host, int doing, int64_t from, int64_t to) {
  if (from >= to) return;
  if (doing == DOINGS) {
    host->spent[DOINGS] += to - from;
    return;
  }
  const run *spans = &host->spans[doing];
  size_t *next = &host->next[doing];
  while (*next < spans->count && spans->spans[*next].end <= from) ++*next;
  for (size_t i = *next; i < spans->count && spans->spans[i].begin < to; ++i) {
    const int64_t begin = most(spans->spans[i].begin, from), end = least(spans->spans[i].end, to);
    if (begin >= end) continue;
    spend(host, doing + 1, from, begin);
    host->spent[doing] += end - begin;
    from = end;
  }
  spend(host, doing + 1, from, to);
}

/* The gap from `from` to the interval's beginning, by what the host did meanwhile. */
static void explain_gap(kw_trace_verdict *verdict, host_time *host, int64_t from, const kw_span *interval,
                        const kw_span *enqueued) {
  const int64_t to = interval->begin;
  if (from >= to) return;
  if (!enqueued) {
    verdict->unexplained += to - from;
    return;
  }
  const int64_t before = at_least_0(least(enqueued->begin, to) - from);
  const int64_t known = at_least_0(least(enqueued->end, to) - from);
  spend(host, 0, from, from + before);
  verdict->enqueueing += known - before;
  verdict->queued += to - from - known;
}

/* Of a launch. */
static void judge_interval(kw_trace_verdict *verdict, run waits, const kw_span *interval, kw_span *launch,
                           int64_t slack) {
  const int64_t early = launch->begin - interval->begin, late = interval->end - waited_until(waits, launch);
  const int64_t off = early > late ? early : late;
  if (off > slack) verdict->outside++;
  if (off > verdict->furthest) verdict->furthest = off;
  if (!launch->recorded) verdict->recorded++;
  launch->recorded = true;
}

static int64_t first_enqueued(const run spans[KW_SPAN_KINDS]) {
  int64_t first = INT64_MAX;
  for (int kind = KW_SPAN_LAUNCH; kind <= KW_SPAN_COPY; ++kind) {
    for (size_t i = 0; i < spans[kind].count; ++i) first = least(first, spans[kind].spans[i].begin);
  }
  return first;
}

/* The latest return of a wait, if behind `first`; otherwise `until`. */
static int64_t last_waited(run waits, int64_t first, int64_t until) {
  int64_t last = first;
  for (size_t i = 0; i < waits.count; ++i) last = most(last, waits.spans[i].end);
  return last > first ? last : until;
}

kw_trace_verdict kw_trace_judge(const kw_trace_file *trace, const kw_trace_row *row, int64_t slack) {
  run spans[KW_SPAN_KINDS];
  for (int kind = 0; kind < KW_SPAN_KINDS; ++kind)
    spans[kind] = run_of(trace, kind == KW_SPAN_BUILD || kind == KW_SPAN_CALL ? 0 : row->stream, (kw_span_kind)kind);
  const run launches = spans[KW_SPAN_LAUNCH], copies = spans[KW_SPAN_COPY], intervals = spans[KW_SPAN_DEVICE];
  host_time host = {.spans = {spans[KW_SPAN_BUILD], spans[KW_SPAN_WAIT], spans[KW_SPAN_CALL]}};
  kw_trace_verdict verdict = {.launches = launches.count, .intervals = intervals.count};
  int64_t until = 0; /* the end of what the device has done so far */
  size_t moves = 0;
  for (size_t i = 0; i < intervals.count; ++i) {
    const kw_span *interval = &intervals.spans[i];
    kw_span *enqueued = NULL; /* copies and fills, which have no call, by their order */
    if (interval->moves) {
      if (moves < copies.count) enqueued = &copies.spans[moves++];
    } else if (interval->call != 0) {
      enqueued = bsearch(&interval->call, launches.spans, launches.count, sizeof *launches.spans, compare_call);
      if (enqueued) judge_interval(&verdict, spans[KW_SPAN_WAIT], interval, enqueued, slack);
    }
    if (i == 0) until = enqueued ? least(enqueued->begin, interval->begin) : interval->begin;
    if (interval->begin < until) verdict.overlaps++;
    explain_gap(&verdict, &host, until, interval, enqueued);
    verdict.busy += interval->end - interval->begin;
    until = most(until, interval->end);
  }
  const int64_t first = first_enqueued(spans), last = last_waited(spans[KW_SPAN_WAIT], first, until);
  if (intervals.count > 0) spend(&host, 0, until, last);
  verdict.wall = at_least_0(last - first);
  verdict.building = host.spent[BUILDING];
  verdict.waiting = host.spent[WAITING];
  verdict.calling = host.spent[CALLING];
  verdict.idle = host.spent[DOINGS];
  return verdict;
}

void kw_trace_verdict_add(kw_trace_verdict *sum, const kw_trace_verdict *verdict) {
  sum->launches += verdict->launches;
  sum->recorded += verdict->recorded;
  sum->intervals += verdict->intervals;
  sum->outside += verdict->outside;
  sum->overlaps += verdict->overlaps;
  sum->wall += verdict->wall;
  sum->busy += verdict->busy;
  sum->building += verdict->building;
  sum->waiting += verdict->waiting;
  sum->calling += verdict->calling;
  sum->idle += verdict->idle;
  sum->enqueueing += verdict->enqueueing;
  sum->queued += verdict->queued;
  sum->unexplained += verdict->unexplained;
  if (verdict->furthest > sum->furthest) sum->furthest = verdict->furthest;
}

int64_t kw_trace_verdict_gaps(const kw_trace_verdict *verdict) {
  return verdict->building + verdict->waiting + verdict->calling + verdict->idle + verdict->enqueueing +
         verdict->queued + verdict->unexplained;
}

bool kw_trace_recorded_holds(const kw_trace_verdict *verdict) {
  return verdict->recorded * 100 >= verdict->launches * 99;
}

bool kw_trace_inside_holds(const kw_trace_verdict *verdict) {
  return verdict->outside == 0;
}

bool kw_trace_order_holds(const kw_trace_verdict *verdict) {
  return verdict->overlaps == 0;
}

bool kw_trace_accounted_holds(const kw_trace_verdict *verdict) {
  const int64_t gaps = kw_trace_verdict_gaps(verdict), off = verdict->busy + gaps - verdict->wall;
  return (off < 0 ? -off : off) * 10 <= verdict->wall && verdict->unexplained * 10 <= gaps;
}

bool kw_trace_verdict_holds(const kw_trace_verdict *verdict) {
  return kw_trace_recorded_holds(verdict) && kw_trace_inside_holds(verdict) && kw_trace_order_holds(verdict) &&
         kw_trace_accounted_holds(verdict);
}
