/* SPDX-License-Identifier: Apache-2.0
 *
 * Records go to a file under another name, which is renamed when it is whole: who finds a capture finds all of it.
 */
#include "layers/capture_file.h"

#include "base/byte_count.h"
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

#define END_SIZE (KW_CAPTURE_HEADER + 4u)

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static enum { NOT_YET, OPEN, CLOSED } state;
static FILE *file; /* while it is open */
static char *path, *part;
static uint64_t limit, written;

static void put(const void *data, size_t size) {
  if (size > 0) fwrite(data, 1, size, file);
  written += size;
}

static void put_record(kw_capture_type type, const kw_bytes *payload, const void *data, size_t size) {
  kw_bytes head = {0};
  kw_capture_record(&head, type, payload->size + size);
  put(head.data, head.size);
  put(payload->data, payload->size);
  put(data, size);
  kw_bytes_free(&head);
}

/* Under the mutex. */
static void complete(bool full) {
  kw_bytes end = {0};
  kw_capture_u32(&end, full);
  put_record(KW_CAPTURE_END, &end, NULL, 0);
  kw_bytes_free(&end);
  bool failed = ferror(file) != 0;
  failed = fclose(file) != 0 || failed;
  file = NULL;
  state = CLOSED;
  if (failed) {
    kw_log(KW_LOG_WARN, "the capture is incomplete: writing %s failed (%s)", part, strerror(errno));
  } else if (rename(part, path) != 0) {
    kw_log(KW_LOG_WARN, "the capture stays in %s: it cannot become %s (%s)", part, path, strerror(errno));
  }
}

/* At exit. */
static void finish(void) {
  pthread_mutex_lock(&mutex);
  if (file != NULL) complete(false);
  pthread_mutex_unlock(&mutex);
}

/* In a forked child the file is the parent's. */
static void forget_in_child(void) {
  pthread_mutex_init(&mutex, NULL);
  if (file == NULL) return;
  __fpurge(file);
  fclose(file);
  file = NULL;
  state = CLOSED;
}

/* path and part, for this process alone where another one writes that file. False: errno says why. */
static bool open_part(const char *name, bool alone) {
  const size_t size = strlen(name) + 32;
  free(path);
  free(part);
  path = malloc(size);
  part = malloc(size);
  if (path == NULL || part == NULL) return false;
  snprintf(path, size, alone ? "%s.%d" : "%s", name, getpid());
  snprintf(part, size, "%s.part", path);
  const int descriptor = open(part, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor < 0) return false;
  const bool mine = flock(descriptor, LOCK_EX | LOCK_NB) == 0 && ftruncate(descriptor, 0) == 0;
  file = mine ? fdopen(descriptor, "wb") : NULL;
  if (file != NULL) return true;
  close(descriptor);
  return false;
}

/* With the first record: of a process that calls nothing there is no file. Under the mutex. */
static void begin(void) {
  const char *name = secure_getenv("KEYWAY_CAPTURE");
  if (name == NULL || name[0] == 0) name = "keyway.kwcapture";
  state = CLOSED;
  if (!open_part(name, false) && (errno != EWOULDBLOCK || !open_part(name, true))) {
    kw_log(KW_LOG_WARN,
           "nothing is captured: %s cannot be opened (%s). Name a file in a folder that can be written to: "
           "KEYWAY_CAPTURE=FILE",
           part != NULL ? part : name, strerror(errno));
    return;
  }
  state = OPEN;
  limit = kw_byte_count_from_environment("KEYWAY_CAPTURE_LIMIT", 65536, UINT64_C(4) << 30);
  kw_bytes head = {0};
  kw_capture_header(&head);
  put(head.data, head.size);
  kw_bytes_free(&head);
  atexit(finish);
  pthread_atfork(NULL, NULL, forget_in_child);
}

bool kw_capture_file_takes(void) {
  pthread_mutex_lock(&mutex);
  const bool takes = state != CLOSED;
  pthread_mutex_unlock(&mutex);
  return takes;
}

void kw_capture_file_put(kw_capture_type type, kw_bytes *payload, const void *data, size_t size) {
  pthread_mutex_lock(&mutex);
  if (state == NOT_YET) begin();
  if (state == OPEN) {
    const bool starved = payload->failed;
    const bool full = written + KW_CAPTURE_HEADER + payload->size + size + END_SIZE > limit;
    if (starved || full || ferror(file)) {
      kw_log(KW_LOG_WARN, "the capture ends here: %s",
             starved ? "memory ran out"
             : full  ? "it has reached its limit; KEYWAY_CAPTURE_LIMIT=16GiB, for instance, sets another"
                     : "writing it failed");
      complete(true);
    } else {
      put_record(type, payload, data, size);
    }
  }
  pthread_mutex_unlock(&mutex);
  kw_bytes_free(payload);
}
