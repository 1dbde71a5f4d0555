/* SPDX-License-Identifier: Apache-2.0
 *
 * Who wants the trace, and in which format the file has it: by its name.
 */
#include "base/trace.h"

#include "base/byte_count.h"
#include "base/log.h"
#include "base/trace_sink.h"
#include "base/trace_format.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

atomic_bool kw_trace_wanted = false;
const char *kw_trace_default_file;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static bool perfetto; /* the file's format */
static uint64_t limit;
static kw_trace_function function; /* or NULL; under the mutex, also while it runs */
static void *function_user;

/* ---- The file ---------------------------------------------------------------------------------------------------- */

/* Completes it. Under the mutex. reached: the limit, where that is why. */
static void end_file(uint64_t reached) {
  kw_bytes end = {0};
  if (perfetto) {
    kw_perfetto_end(&end, reached);
  } else {
    kw_chrome_end(&end, reached);
  }
  kw_trace_sink_close(&end);
  atomic_store(&kw_trace_wanted, function != NULL);
}

/* At exit. Threads that still run find no file any more. */
static void finish(void) {
  pthread_mutex_lock(&mutex);
  if (kw_trace_sink_is_open()) end_file(0);
  pthread_mutex_unlock(&mutex);
}

/* Under the mutex. */
static void check_taken(kw_trace_taken taken) {
  if (taken != KW_TRACE_FULL) return;
  kw_log(KW_LOG_WARN,
         "the trace ends here: it has reached its limit of %" PRIu64
         " bytes. KEYWAY_TRACE_LIMIT=4GiB, for instance, sets another.",
         limit);
  end_file(limit);
}

/* In a forked child the file is the parent's: what is gathered here must not be written twice. */
static void forget_in_child(void) {
  atomic_store(&kw_trace_wanted, false);
  pthread_mutex_init(&mutex, NULL);
  function = NULL;
  if (perfetto) kw_perfetto_forget();
  kw_trace_sink_forget();
}

static void register_forks(void) {
  pthread_atfork(NULL, NULL, forget_in_child);
}

static void watch_forks(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, register_forks);
}

static bool ends_with(const char *path, const char *end) {
  const size_t length = strlen(path), part = strlen(end);
  return length >= part && strcmp(path + length - part, end) == 0;
}

void kw_trace_start(void) {
  const char *path = secure_getenv("KEYWAY_TRACE");
  if (path == NULL || path[0] == 0) path = kw_trace_default_file;
  if (path == NULL || kw_trace_sink_is_open()) return;
  limit = kw_byte_count_from_environment("KEYWAY_TRACE_LIMIT", 64 * KW_TRACE_END, UINT64_C(1) << 30);
  if (!kw_trace_sink_open(path, limit)) {
    kw_log(KW_LOG_WARN, "no trace is written: KEYWAY_TRACE names %s, which cannot be opened (%s). %s", path,
           strerror(errno), errno == ENXIO ? "Start the FIFO's reader first." : "Name a writable file.");
    return;
  }
  perfetto = ends_with(path, ".pftrace") || ends_with(path, ".perfetto-trace");
  if (perfetto) {
    kw_perfetto_begin();
  } else {
    kw_chrome_begin();
  }
  atomic_store(&kw_trace_wanted, true);
  atexit(finish);
  watch_forks();
}

/* ---- Events ------------------------------------------------------------------------------------------------------ */

void kw_trace_write(const kw_trace_event *event) {
  if (!kw_trace_on()) return;
  pthread_mutex_lock(&mutex);
  if (kw_trace_sink_is_open()) check_taken(perfetto ? kw_perfetto_event(event) : kw_chrome_event(event));
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
                                   .end_ns = kw_trace_later(),
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
    atomic_store(&kw_trace_wanted, function != NULL || kw_trace_sink_is_open());
  }
  pthread_mutex_unlock(&mutex);
  return done;
}

void kw_trace_name_row(uint64_t stream, const char *device, const char *name) {
  pthread_mutex_lock(&mutex);
  if (kw_trace_sink_is_open())
    check_taken(perfetto ? kw_perfetto_stream(stream, device, name) : kw_chrome_stream(stream, device, name));
  pthread_mutex_unlock(&mutex);
}

void kw_trace_memory(const char *device, uint64_t in_use, uint64_t reserved) {
  pthread_mutex_lock(&mutex);
  if (kw_trace_sink_is_open())
    check_taken(perfetto ? kw_perfetto_memory(device, in_use, reserved) : kw_chrome_memory(device, in_use, reserved));
  pthread_mutex_unlock(&mutex);
}
