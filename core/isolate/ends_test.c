/* SPDX-License-Identifier: Apache-2.0
 *
 * Random work on a plugin whose process ends in the midst of it, by a signal from outside or in one of its slots, or
 * stops, or writes anything into what it shares with this one: every call has a status that is documented, and after
 * all rounds no process, memory or descriptor is left. `ends_test ROUNDS SEED` for more of them.
 */
#include "testing/test_processes.h"

#include <keyway/keyway.h>

#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define DEVICE "unsteady:0"
#define STEPS 60 /* of work in a round, on each thread */
#define THREADS 2
#define NUMBERS 500

static int failures;
static bool anything_goes; /* the process writes what it likes: a call may say anything that is documented */
static atomic_ulong calls, lost;

static uint32_t draw(uint64_t *seed) {
  *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (uint32_t)(*seed >> 33);
}

static void wrong(const char *what, kw_status status) {
  fprintf(stderr, "%s: status %d: %s\n", what, status, kw_error_message());
  failures++;
}

/* What a call may say: that it went well, that the device is lost, and why. Nothing else fails in this work. */
static bool went_well(const char *what, kw_status status) {
  atomic_fetch_add(&calls, 1);
  if (status == KW_OK) return true;
  if (anything_goes && status > KW_OK && status <= KW_ERR_INTERNAL) return false;
  if (status != KW_ERR_DEVICE_LOST || kw_error_message()[0] == '\0') wrong(what, status);
  atomic_fetch_add(&lost, 1);
  return false;
}

/* ---- The work ---------------------------------------------------------------------------------------------------- */

typedef struct worker {
  kw_device *device;
  uint64_t seed;
  kw_stream *stream;
  kw_event *event;
  kw_graph *graph;
  kw_tensor *tensors[4];
  float host[2][NUMBERS];
  atomic_int begun, run; /* host functions */
} worker;

static void host_function(void *user) {
  atomic_fetch_add(&((worker *)user)->run, 1);
}

static void compute(worker *w) {
  const kw_value args[] = {kw_arg_tensor(w->tensors[0]), kw_arg_tensor(w->tensors[1])};
  went_well("kw_op_call", kw_op_call(kw_op_find("mul.Tensor"), w->stream, args, 2, &w->tensors[2], 1));
}

static void record_graph(worker *w) {
  kw_graph_destroy(w->graph);
  w->graph = NULL;
  if (!went_well("kw_graph_begin", kw_graph_begin(w->stream))) return;
  compute(w);
  went_well("kw_graph_end", kw_graph_end(w->stream, &w->graph));
}

static void call_host(worker *w) {
  atomic_fetch_add(&w->begun, 1);
  if (!went_well("kw_stream_call_host", kw_stream_call_host(w->stream, host_function, w))) {
    atomic_fetch_sub(&w->begun, 1);
  }
}

static void make_tensor(worker *w) {
  const int64_t shape[] = {NUMBERS};
  kw_tensor *made = NULL;
  if (!went_well("kw_tensor_create", kw_tensor_create(w->device, KW_F32, 1, shape, &made))) return;
  kw_tensor_release(w->tensors[3]);
  w->tensors[3] = made;
}

static void query(worker *w) {
  const kw_status status = kw_stream_query(w->stream);
  if (status != KW_ERR_NOT_READY) went_well("kw_stream_query", status);
}

static void step(worker *w) {
  uint64_t total, left;
  switch (draw(&w->seed) % 12) {
    case 0:
      went_well("kw_tensor_write", kw_tensor_write(w->tensors[0], w->host[0]));
      break;
    case 1:
      went_well("kw_tensor_read", kw_tensor_read(w->tensors[2], w->host[1]));
      break;
    case 2:
      went_well("kw_tensor_write_async", kw_tensor_write_async(w->tensors[1], w->host[0], w->stream));
      break;
    case 3:
      went_well("kw_tensor_read_async", kw_tensor_read_async(w->tensors[2], w->host[1], w->stream));
      break;
    case 4:
      make_tensor(w);
      break;
    case 5:
      call_host(w);
      break;
    case 6:
      went_well("kw_stream_synchronize", kw_stream_synchronize(w->stream));
      break;
    case 7:
      went_well("kw_event_record", kw_event_record(w->event, w->stream));
      went_well("kw_event_synchronize", kw_event_synchronize(w->event));
      break;
    case 8:
      record_graph(w);
      break;
    case 9:
      if (w->graph != NULL) went_well("kw_graph_launch", kw_graph_launch(w->graph, w->stream));
      break;
    case 10:
      query(w);
      went_well("kw_memory_get_usage", kw_memory_get_usage(w->device, &left, &total));
      break;
    default:
      compute(w);
  }
}

static void *work(void *user) {
  worker *w = user;
  const int64_t shape[] = {NUMBERS};
  bool good = went_well("kw_stream_create", kw_stream_create(w->device, &w->stream));
  good = good && went_well("kw_event_create", kw_event_create(w->device, &w->event));
  for (int i = 0; i < 4 && good; i++) {
    good = went_well("kw_tensor_create", kw_tensor_create(w->device, KW_F32, 1, shape, &w->tensors[i])) &&
           went_well("kw_tensor_write", kw_tensor_write(w->tensors[i], w->host[0]));
  }
  for (int i = 0; i < STEPS && good; i++) step(w);
  kw_graph_destroy(w->graph);
  for (int i = 0; i < 4; i++) kw_tensor_release(w->tensors[i]);
  kw_event_destroy(w->event);
  if (w->stream != NULL) kw_stream_destroy(w->stream);
  if (atomic_load(&w->begun) != atomic_load(&w->run) && !anything_goes)
    wrong("a host function has not run, or too often", KW_OK);
  return NULL;
}

/* ---- Ends -------------------------------------------------------------------------------------------------------- */

static int descriptors(void) {
  DIR *names = opendir("/proc/self/fd");
  int count = 0;
  for (struct dirent *entry; names != NULL && (entry = readdir(names)) != NULL;) count += entry->d_name[0] != '.';
  if (names != NULL) closedir(names);
  return count;
}

/* Opens the device, in a new process if the one before has ended. NULL: that has ended, too. */
static kw_device *open_once(const char *end) {
  const kw_option option = {"end", end};
  kw_device *device = NULL;
  const kw_status status = kw_device_open_with(DEVICE, &option, end[0] != '\0' ? 1 : 0, &device);
  return went_well("kw_device_open_with", status) ? device : NULL;
}

/* The same without an end, as often as it takes where the one before is on its way out. */
static kw_device *open_well(void) {
  kw_device *device = NULL;
  for (int i = 0; i < 100 && device == NULL && failures == 0; i++) device = open_once("");
  if (device == NULL) wrong("opening the device again", KW_ERR_DEVICE_LOST);
  return device;
}

static void play_round(uint64_t *seed) {
  static const char *const ends[] = {"crash", "exit", "wild", "thread", "kill", "kill", "hang", "scribble"};
  worker workers[THREADS] = {0};
  pthread_t threads[THREADS];
  char end[32] = "";
  const char *way = ends[draw(seed) % (sizeof ends / sizeof ends[0])];
  const uint32_t when = draw(seed) % 300;
  const bool kills = strcmp(way, "kill") == 0;
  anything_goes = strcmp(way, "scribble") == 0;
  if (!kills) snprintf(end, sizeof end, "%s@%u", way, when);
  kw_device *device = open_once(end);
  if (device == NULL) return;
  const pid_t victim = kw_test_child();
  for (int i = 0; i < THREADS; i++) {
    workers[i].device = device;
    workers[i].seed = draw(seed);
    pthread_create(&threads[i], NULL, work, &workers[i]);
  }
  for (uint32_t i = 0; i < when * 100 && kills; i++) sched_yield();
  if (kills && victim > 0) kill(victim, SIGKILL);
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  went_well("kw_device_close", kw_device_close(device));
  if (anything_goes && kw_test_child() != 0) kill(kw_test_child(), SIGKILL); /* it may have got over it */
  anything_goes = false;
}

/* A device of a process that is well computes. */
static void end_well(void) {
  uint64_t none = 0;
  worker w = {.device = open_well(), .seed = none};
  if (w.device == NULL) return;
  work(&w);
  kw_device_close(w.device);
}

static void forget_process(void) {
  kw_device *device = open_well();
  if (device == NULL) return;
  kill(kw_test_child(), SIGKILL);
  while (kw_device_synchronize(device) == KW_OK) continue;
  kw_device_close(device);
}

int main(int argc, char **argv) {
  const long rounds = argc > 1 ? atol(argv[1]) : 25;
  uint64_t seed = argc > 2 ? (uint64_t)atoll(argv[2]) : 1;
  setenv("KEYWAY_ISOLATE", "unsteady", 1);
  setenv("KEYWAY_ISOLATE_TIMEOUT_MS", "200", 1);
  setenv("TSAN_OPTIONS", "report_bugs=0", 1); /* of the plugin's process, which races where it scribbles */
  const kw_init_options options = {.struct_size = sizeof options, .flags = KW_INIT_NO_DISCOVERY};
  if (kw_init(&options) != KW_OK || kw_plugin_load(UNSTEADY_PLUGIN) != KW_OK) {
    wrong("loading the plugin", KW_OK);
    return 1;
  }
  forget_process();
  const int before = descriptors();
  for (long i = 0; i < rounds && failures == 0; i++) play_round(&seed);
  end_well();
  forget_process();
  /* The last one is being collected: who waits here for ever has found something that is left. */
  while (kw_test_child() != 0 || kw_test_shared_mappings() > 0 || descriptors() > before) sched_yield();
  printf("%ld rounds: %lu calls, %lu of them said that the device is lost; %d descriptors\n", rounds,
         atomic_load(&calls), atomic_load(&lost), descriptors());
  return failures == 0 ? 0 : 1;
}
