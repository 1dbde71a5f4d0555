/* SPDX-License-Identifier: Apache-2.0
 *
 * Chrome's format ("Trace Event Format"): complete events (ph "X"), times in microseconds. One a line, so that a file
 * cut short by a crash can be mended by hand: viewers accept a missing end.
 */
#include "base/trace_format.h"

#include <cJSON.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static kw_bytes record;
static bool first;

static void put_string(kw_bytes *out, const char *text) {
  const cJSON string = {.type = cJSON_String | cJSON_IsReference, .valuestring = (char *)(uintptr_t)text};
  char *quoted = cJSON_PrintUnformatted(&string);
  kw_bytes_put_text(out, quoted != NULL ? quoted : "\"\"");
  cJSON_free(quoted);
}

/* Not by %f: an application's locale may write a comma. */
static void put_microseconds(kw_bytes *out, const char *label, uint64_t ns) {
  kw_bytes_print(out, "%s%" PRIu64 ".%03" PRIu64, label, ns / 1000, ns % 1000);
}

void kw_chrome_begin(void) {
  first = true;
  kw_bytes_put_text(&record, "{\"displayTimeUnit\": \"ns\", \"traceEvents\": [");
  kw_trace_sink_add(&record);
}

/* Rows of streams are numbered beyond the largest thread id that Linux gives (2^22). */
static uint64_t row_of(uint64_t stream) {
  return (UINT64_C(1) << 23) + stream;
}

static void begin_event(kw_bytes *out, const char *phase, const char *name, uint64_t row) {
  kw_bytes_put_text(out, first ? "\n" : ",\n");
  kw_bytes_print(out, "{\"ph\": \"%s\", \"name\": ", phase);
  put_string(out, name);
  kw_bytes_print(out, ", \"pid\": %d, \"tid\": %" PRIu64, getpid(), row);
}

static kw_trace_taken add(void) {
  const kw_trace_taken taken = kw_trace_sink_add(&record);
  if (taken == KW_TRACE_TAKEN) first = false;
  return taken;
}

static void put_args(const kw_trace_event *event) {
  const char *separator = "";
  kw_bytes_put_text(&record, ", \"args\": {");
  if (event->detail != NULL) {
    kw_bytes_put_text(&record, "\"detail\": ");
    put_string(&record, event->detail);
    separator = ", ";
  }
  if (event->stream != 0) {
    kw_bytes_print(&record, "%s\"stream\": %" PRIu64, separator, event->stream);
    if (event->call != 0) kw_bytes_print(&record, ", \"call\": %" PRIu64, event->call);
    if (event->node != 0) kw_bytes_print(&record, ", \"node\": %" PRIu32, event->node);
  }
  kw_bytes_put_text(&record, "}");
}

kw_trace_taken kw_chrome_event(const kw_trace_event *event) {
  const uint64_t row = event->device != NULL ? row_of(event->stream) : (uint64_t)kw_trace_thread();
  begin_event(&record, "X", event->name, row);
  kw_bytes_put_text(&record, ", \"cat\": ");
  put_string(&record, event->category);
  put_microseconds(&record, ", \"ts\": ", event->begin_ns);
  put_microseconds(&record, ", \"dur\": ", event->end_ns - event->begin_ns);
  if (event->detail != NULL || event->stream != 0) put_args(event);
  kw_bytes_put_text(&record, "}");
  return add();
}

kw_trace_taken kw_chrome_stream(uint64_t stream, const char *device, const char *name) {
  begin_event(&record, "M", "thread_name", row_of(stream));
  kw_bytes whole = {0};
  kw_bytes_put_text(&whole, device);
  kw_bytes_put_text(&whole, " ");
  kw_bytes_put(&whole, name, strlen(name) + 1);
  kw_bytes_put_text(&record, ", \"args\": {\"name\": ");
  put_string(&record, whole.failed ? name : whole.data);
  kw_bytes_put_text(&record, "}}");
  kw_bytes_free(&whole);
  return add();
}

kw_trace_taken kw_chrome_memory(const char *device, uint64_t in_use, uint64_t reserved) {
  kw_bytes name = {0};
  kw_bytes_put_text(&name, device);
  kw_bytes_put(&name, " memory", sizeof " memory");
  begin_event(&record, "C", name.failed ? "memory" : name.data, (uint64_t)kw_trace_thread());
  kw_bytes_free(&name);
  put_microseconds(&record, ", \"cat\": \"memory\", \"ts\": ", kw_trace_now());
  kw_bytes_print(&record, ", \"args\": {\"in use\": %" PRIu64 ", \"reserved\": %" PRIu64 "}}", in_use, reserved);
  return add();
}

void kw_chrome_end(kw_bytes *out, uint64_t limit) {
  if (limit != 0) {
    char text[96];
    snprintf(text, sizeof text, "the trace ends here: it has reached KEYWAY_TRACE_LIMIT (%" PRIu64 " bytes)", limit);
    begin_event(out, "i", text, (uint64_t)kw_trace_thread());
    put_microseconds(out, ", \"s\": \"g\", \"cat\": \"limit\", \"ts\": ", kw_trace_now());
    kw_bytes_put_text(out, "}");
  }
  kw_bytes_put_text(out, "\n]}\n");
  kw_bytes_free(&record);
}
