/* SPDX-License-Identifier: Apache-2.0
 *
 * The thread that looks at all open devices, often for their being busy, seldom for their counters.
 */
#include "runtime/live.h"

#include "base/error.h"
#include "base/live_file.h"
#include "base/log.h"
#include "base/thread.h"
#include "call/launch.h"
#include "call/plan_cache.h"
#include "device/exit.h"
#include "device/open.h"
#include "device/stream.h"
#include "plugin/cache_folder.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define DEVICES 32 /* of a process that are told of */
#define LOOKS 25   /* at whether devices are busy, in a period */

/* What was seen of a device in the period that goes on. */
typedef struct seen {
  uint64_t id; /* kw_device.id; 0: none */
  uint64_t launches;
  uint32_t looks, busy;
} seen;

static struct {
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  bool stops;
} control = {.mutex = PTHREAD_MUTEX_INITIALIZER};
static pthread_t thread;
static int folder = -1;
static char file_name[16];

/* ---- Looking ----------------------------------------------------------------------------------------------------- */

/* Whether a stream has work that has not ended. Not one that records: its plugin may not be asked. */
static bool is_busy(kw_device *device) {
  bool busy = false;
  kw_stream *stream = NULL;
  if ((device->plugin->native & KW_NATIVE_QUERY) == 0 || kw_device_check(device) != KW_OK) return false;
  while (!busy && (stream = kw_stream_pin_next(device, stream)) != NULL) {
    if (atomic_load(&stream->recorder) != 0) continue;
    busy = KW_ASK(device->slots, stream.query, device->handle, stream->handle) == KW_ERR_NOT_READY;
  }
  if (stream != NULL) kw_stream_unpin(stream);
  return busy;
}

static uint64_t launches_of(const kw_device *device) {
  return kw_launch_count_all(device) + kw_plan_count_launches(device);
}

/* The device's place in `all`; NULL when there is none. */
static seen *find(seen all[DEVICES], const kw_device *device) {
  for (int i = 0; i < DEVICES; ++i) {
    if (all[i].id == device->id) return &all[i];
  }
  for (int i = 0; i < DEVICES; ++i) {
    if (all[i].id != 0) continue;
    all[i] = (seen){.id = device->id, .launches = launches_of(device)};
    return &all[i];
  }
  return NULL;
}

static void look(seen all[DEVICES]) {
  for (kw_device *device = NULL; (device = kw_device_next_open(device)) != NULL;) {
    seen *s = device->info.type != KW_DEVICE_CPU ? find(all, device) : NULL;
    if (s == NULL) continue;
    s->busy += is_busy(device);
    ++s->looks;
  }
  kw_error_clear();
}

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

/* Seconds of processors that the process has used. */
static double processor_seconds(void) {
  struct rusage used;
  getrusage(RUSAGE_SELF, &used);
  return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
         1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

/* A line, of the `seconds` since the last one, in which the process used so many processors. */
static void write_device(FILE *out, kw_device *device, seen *s, double seconds, double processors) {
  const kw_memory_stats memory = kw_memory_account_read(&device->memory);
  const uint64_t launches = launches_of(device);
  fprintf(out, KW_LIVE_PRINT, device->name, launches, (uint64_t)atomic_load(&device->decomposed),
          (uint64_t)atomic_load(&device->fallbacks), (uint64_t)atomic_load(&device->bytes_to_device),
          (uint64_t)atomic_load(&device->bytes_to_host), (uint64_t)memory.allocated, (uint64_t)memory.held,
          (uint64_t)device->info.total_memory, seconds > 0 ? (double)(launches - s->launches) / seconds : 0,
          device->info.type == KW_DEVICE_CPU ? processors
          : s->looks > 0                     ? (double)s->busy / s->looks
                                             : 0);
  s->launches = launches;
  s->looks = s->busy = 0;
}

/* The whole file, or none while no device is open. What closed since is forgotten. */
static void write_file(seen all[DEVICES], double seconds, double processors) {
  seen kept[DEVICES] = {{0}};
  char text[KW_LIVE_LIMIT], program[64] = "?";
  uint32_t count = 0;
  FILE *out = fmemopen(text, sizeof text, "w"), *name = fopen("/proc/self/comm", "re");
  if (name != NULL && fgets(program, sizeof program, name) != NULL) program[strcspn(program, "\n")] = '\0';
  if (name != NULL) fclose(name);
  if (out == NULL) return;
  fprintf(out, KW_LIVE_FIRST_LINE "\nprocess %d %" PRIu64 " %" PRIu64 " %s\n", (int)getpid(),
          kw_live_start_of((int)getpid()), kw_live_now(), program);
  for (kw_device *device = NULL; (device = kw_device_next_open(device)) != NULL;) {
    seen *s = find(all, device);
    if (s == NULL) continue;
    write_device(out, device, s, seconds, processors);
    kept[count++] = *s;
  }
  const bool whole = fclose(out) == 0;
  memcpy(all, kept, sizeof kept);
  if (count == 0) {
    unlinkat(folder, file_name, 0);
  } else if (whole && !kw_cache_file_write(folder, file_name, text)) {
    kw_log(KW_LOG_WARN, "keyway top is not told of this process any more: %s", strerror(errno));
  }
}

/* ---- The thread -------------------------------------------------------------------------------------------------- */

/* Sleeps until the next look. False: the thread has to end. */
static bool go_on(void) {
  struct timespec until;
  clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_nsec += 1000000L * KW_LIVE_PERIOD_MS / LOOKS;
  if (until.tv_nsec >= 1000000000L) until.tv_nsec -= 1000000000L, ++until.tv_sec;
  pthread_mutex_lock(&control.mutex);
  int error = 0;
  while (!control.stops && error == 0) error = pthread_cond_timedwait(&control.changed, &control.mutex, &until);
  const bool stops = control.stops;
  pthread_mutex_unlock(&control.mutex);
  return !stops;
}

static void *run(void *unused) {
  (void)unused;
  seen all[DEVICES] = {{0}};
  uint64_t begin = kw_live_now();
  double used = processor_seconds();
  for (uint32_t looks = 1; go_on(); ++looks) {
    look(all);
    if (looks % LOOKS != 0) continue;
    const uint64_t end = kw_live_now();
    const double seconds = (double)(end - begin) / 1e9, used_now = processor_seconds();
    write_file(all, seconds, (used_now - used) / seconds);
    begin = end;
    used = used_now;
  }
  unlinkat(folder, file_name, 0);
  return NULL;
}

/* Before the plugins are shut down. A plugin that does not answer any more keeps the process two seconds. */
static void stop(void) {
  struct timespec until;
  pthread_mutex_lock(&control.mutex);
  control.stops = true;
  pthread_cond_signal(&control.changed);
  pthread_mutex_unlock(&control.mutex);
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += 2;
  if (pthread_timedjoin_np(thread, NULL, &until) != 0) unlinkat(folder, file_name, 0);
}

static bool begin_thread(void) {
  kw_condition_init(&control.changed);
  return kw_thread_start_joined(&thread, run, NULL, "keyway-top") == 0;
}

void kw_live_start(void) {
  const char *wanted = secure_getenv("KEYWAY_TOP");
  if (wanted == NULL || wanted[0] == '\0' || strcmp(wanted, "0") == 0 || folder >= 0) return;
  if (strcmp(wanted, "1") != 0) {
    kw_log_misset("KEYWAY_TOP", wanted, "0", "0 or 1");
    return;
  }
  snprintf(file_name, sizeof file_name, "%d", (int)getpid());
  folder = kw_live_folder_open(true);
  if (folder < 0) {
    kw_log(KW_LOG_WARN,
           "keyway top is not told of this process: KEYWAY_TOP=1 wants a folder that others cannot write "
           "in; XDG_RUNTIME_DIR names one");
  } else if (!begin_thread()) {
    kw_log(KW_LOG_WARN, "keyway top is not told of this process: it has no room for a thread");
  } else {
    kw_exit_before(stop);
  }
}
