/* SPDX-License-Identifier: Apache-2.0
 *
 * Events are written one a line, so that a file cut short by a crash can be mended by hand: viewers accept a missing
 * end. Format: "Trace Event Format", complete events (ph "X"), times in microseconds.
 */
#include "base/trace.h"

#include "base/log.h"

#include <cJSON.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

atomic_bool kw_trace_wanted = false;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static FILE *file; /* NULL when off or already completed */
static bool first = true;
static kw_trace_function function; /* or NULL; under the mutex, also while it runs */
static void *function_user;

uint64_t kw_trace_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

static void write_string(const char *text) {
  const cJSON string = {.type = cJSON_String | cJSON_IsReference, .valuestring = (char *)(uintptr_t)text};
  char *quoted = cJSON_PrintUnformatted(&string);
  fputs(quoted != NULL ? quoted : "\"\"", file);
  cJSON_free(quoted);
}

/* Not by %f: an application's locale may write a comma. */
static void write_microseconds(const char *label, uint64_t ns) {
  fprintf(file, "%s%" PRIu64 ".%03" PRIu64, label, ns / 1000, ns % 1000);
}

/* At exit: completes the file. Threads that still run find no file any more. */
static void finish(void) {
  pthread_mutex_lock(&mutex);
  if (file != NULL) {
    fputs("\n]}\n", file);
    bool failed = ferror(file) != 0;
    failed = fclose(file) != 0 || failed;
    if (failed) kw_log(KW_LOG_WARN, "the trace is incomplete: writing it failed (%s)", strerror(errno));
    file = NULL;
  }
  pthread_mutex_unlock(&mutex);
}

/* In a forked child the file is the parent's: what is buffered here must not be written twice. */
static void forget_in_child(void) {
  atomic_store(&kw_trace_wanted, false);
  pthread_mutex_init(&mutex, NULL);
  function = NULL;
  if (file == NULL) return;
  __fpurge(file);
  fclose(file);
  file = NULL;
}

static void register_forks(void) {
  pthread_atfork(NULL, NULL, forget_in_child);
}

static void watch_forks(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, register_forks);
}

void kw_trace_start(void) {
  const char *path = secure_getenv("KEYWAY_TRACE");
  if (path == NULL || path[0] == 0 || file != NULL) return;
  file = fopen(path, "we");
  if (file == NULL) {
    kw_log(KW_LOG_WARN,
           "no trace is written: KEYWAY_TRACE names %s, which cannot be opened (%s). Name a writable file.", path,
           strerror(errno));
    return;
  }
  fputs("{\"displayTimeUnit\": \"ns\", \"traceEvents\": [", file);
  atomic_store(&kw_trace_wanted, true);
  atexit(finish);
  watch_forks();
}

/* Rows of streams are numbered beyond the largest thread id that Linux gives (2^22). */
static uint64_t row_of(uint64_t stream) {
  return (UINT64_C(1) << 23) + stream;
}

static uint64_t row_of_thread(void) {
  static _Thread_local int thread; /* asked for once: gettid is a system call */
  if (thread == 0) thread = gettid();
  return (uint64_t)thread;
}

/* Under the mutex, with a file. */
static void begin_event(const char *phase, const char *name, uint64_t row) {
  fputs(first ? "\n" : ",\n", file);
  first = false;
  fprintf(file, "{\"ph\": \"%s\", \"name\": ", phase);
  write_string(name);
  fprintf(file, ", \"pid\": %d, \"tid\": %" PRIu64, getpid(), row);
}

static void write_args(const kw_trace_event *event) {
  const char *separator = "";
  fputs(", \"args\": {", file);
  if (event->detail != NULL) {
    fputs("\"detail\": ", file);
    write_string(event->detail);
    separator = ", ";
  }
  if (event->stream != 0) {
    fprintf(file, "%s\"stream\": %" PRIu64, separator, event->stream);
    if (event->call != 0) fprintf(file, ", \"call\": %" PRIu64, event->call);
    if (event->node != 0) fprintf(file, ", \"node\": %" PRIu32, event->node);
  }
  fputc('}', file);
}

/* Under the mutex, with a file. */
static void write_event(const kw_trace_event *event) {
  begin_event("X", event->name, event->device != NULL ? row_of(event->stream) : row_of_thread());
  fputs(", \"cat\": ", file);
  write_string(event->category);
  write_microseconds(", \"ts\": ", event->begin_ns);
  write_microseconds(", \"dur\": ", event->end_ns - event->begin_ns);
  if (event->detail != NULL || event->stream != 0) write_args(event);
  fputc('}', file);
}

void kw_trace_write(const kw_trace_event *event) {
  if (!kw_trace_on()) return;
  pthread_mutex_lock(&mutex);
  if (file != NULL) write_event(event);
  if (function != NULL) function(event, function_user);
  pthread_mutex_unlock(&mutex);
}

void kw_trace_stream_span(const char *category, const char *name, const char *detail, uint64_t begin_ns,
                          uint64_t stream, uint64_t call) {
  if (begin_ns == 0 || !kw_trace_on()) return;
  kw_trace_write(&(kw_trace_event){.struct_size = sizeof(kw_trace_event),
                                   .category = category,
                                   .name = name,
                                   .detail = detail,
                                   .begin_ns = begin_ns,
                                   .end_ns = kw_trace_now(),
                                   .stream = stream,
                                   .call = call});
}

void kw_trace_span(const char *category, const char *name, const char *detail, uint64_t begin_ns) {
  kw_trace_stream_span(category, name, detail, begin_ns, 0, 0);
}

bool kw_trace_set_function(kw_trace_function new_function, void *user) {
  watch_forks();
  pthread_mutex_lock(&mutex);
  const bool done = new_function == NULL || function == NULL;
  if (done) {
    function = new_function;
    function_user = user;
    atomic_store(&kw_trace_wanted, function != NULL || file != NULL);
  }
  pthread_mutex_unlock(&mutex);
  return done;
}

void kw_trace_name_row(uint64_t stream, const char *name) {
  pthread_mutex_lock(&mutex);
  if (file != NULL) {
    begin_event("M", "thread_name", row_of(stream));
    fputs(", \"args\": {\"name\": ", file);
    write_string(name);
    fputs("}}", file);
  }
  pthread_mutex_unlock(&mutex);
}
