/* SPDX-License-Identifier: Apache-2.0
 *
 * Records are gathered and written many at a time. What a FIFO does not take stays gathered; what finds no place there
 * is dropped, and counted.
 */
#include "base/trace_sink.h"

#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define GATHERED ((size_t)1 << 18) /* at most: beyond what an event can be, but for a name that an application made */
#define WRITTEN_AT ((size_t)1 << 16)

static int file = -1;
static bool fifo;            /* whose reader may be slow, or gone */
static int failure;          /* of a write; nothing is written any more */
static uint64_t limit, size; /* bytes: given, taken */
static uint64_t dropped;     /* records */
static kw_bytes gathered;

bool kw_trace_sink_open(const char *path, uint64_t new_limit) {
  file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0666);
  if (file < 0) return false;
  struct stat facts;
  fifo = fstat(file, &facts) == 0 && !S_ISREG(facts.st_mode);
  limit = new_limit;
  size = dropped = 0;
  failure = 0;
  return true;
}

bool kw_trace_sink_is_open(void) {
  return file >= 0;
}

/* Writing to a FIFO whose reader has gone raises SIGPIPE, which must not end the application: it is held off meanwhile,
 * and taken away where it was not pending before. */
static ssize_t write_to_fifo(const char *data, size_t count) {
  sigset_t pipe, before, pending;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  sigpending(&pending);
  pthread_sigmask(SIG_BLOCK, &pipe, &before);
  const ssize_t written = write(file, data, count);
  const int error = errno;
  if (written < 0 && error == EPIPE && !sigismember(&pending, SIGPIPE)) {
    while (sigtimedwait(&pipe, NULL, &(struct timespec){0}) < 0 && errno == EINTR) {
    }
  }
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  errno = error;
  return written;
}

/* As much as is taken at once. */
static void write_gathered(void) {
  size_t done = 0;
  while (done < gathered.size && failure == 0) {
    const char *data = gathered.data + done;
    const size_t left = gathered.size - done;
    const ssize_t written = fifo ? write_to_fifo(data, left) : write(file, data, left);
    if (written >= 0) {
      done += (size_t)written;
    } else if (errno == EAGAIN) {
      break;
    } else if (errno != EINTR) {
      failure = errno;
    }
  }
  if (done > 0) memmove(gathered.data, gathered.data + done, gathered.size - done);
  gathered.size -= done;
}

static kw_trace_taken drop(kw_bytes *record) {
  ++dropped;
  kw_bytes_clear(record);
  return KW_TRACE_DROPPED;
}

kw_trace_taken kw_trace_sink_add(kw_bytes *record) {
  if (record->failed || failure != 0 || record->size > GATHERED) return drop(record);
  if (size + record->size + KW_TRACE_END > limit) {
    kw_bytes_clear(record);
    return KW_TRACE_FULL;
  }
  if (gathered.size + record->size > WRITTEN_AT) write_gathered();
  if (gathered.size + record->size > GATHERED) return drop(record);
  kw_bytes_put(&gathered, record->data, record->size);
  if (gathered.failed) {
    gathered.failed = false;
    return drop(record);
  }
  size += record->size;
  kw_bytes_clear(record);
  return KW_TRACE_TAKEN;
}

void kw_trace_sink_close(kw_bytes *last) {
  if (!last->failed) kw_bytes_put(&gathered, last->data, last->size);
  kw_bytes_free(last);
  write_gathered();
  if (close(file) != 0 && failure == 0) failure = errno;
  file = -1;
  if (failure != 0) {
    kw_log(KW_LOG_WARN, "the trace is incomplete: writing it failed (%s)", strerror(failure));
  } else if (dropped > 0 || gathered.size > 0) {
    kw_log(KW_LOG_WARN, "the trace lacks %" PRIu64 " records, and %zu bytes at its end, that nobody read in time",
           dropped, gathered.size);
  }
  kw_bytes_free(&gathered);
}

void kw_trace_sink_forget(void) {
  if (file >= 0) close(file);
  file = -1;
  kw_bytes_free(&gathered);
}
