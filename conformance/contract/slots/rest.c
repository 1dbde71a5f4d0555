/* SPDX-License-Identifier: Apache-2.0
 *
 * Threads that wait inside of a slot: how a test knows that they do, without waiting for a time.
 */
#include "bench.h"

#include "base/clock.h"
#include "base/process_clock.h"
#include "contract/hold.h"

#include <dirent.h>
#include <sched.h>
#include <stdio.h>
#include <unistd.h>

/* How often in a row a thread is seen asleep before it waits for something that does not come by itself: who asks for a
 * wait of no time at all is asleep too, until its timer has rung (70 to 300 us were seen, some 20 looks). */
enum { LOOKS = 3000, IN_A_ROW = 100 };

/* R, S, D, ... of a thread; 0: it has ended. */
static char state_of(const char *thread) {
  char path[64], line[256];
  snprintf(path, sizeof path, "/proc/self/task/%s/stat", thread);
  FILE *file = fopen(path, "r");
  if (!file) return 0;
  const bool read = fgets(line, sizeof line, file) != NULL;
  fclose(file);
  const char *end = read ? strrchr(line, ')') : NULL; /* of the name, which may hold anything */
  return end && end[1] == ' ' ? end[2] : 0;
}

static bool sleeps(const char *thread) {
  const char state = state_of(thread);
  return state == 'S' || state == 0;
}

/* Whether all threads but this one do. */
static bool others_sleep(const char *own) {
  DIR *tasks = opendir("/proc/self/task");
  if (!tasks) return false;
  bool asleep = true;
  for (struct dirent *task; (task = readdir(tasks)) != NULL;) {
    if (task->d_name[0] != '.' && strcmp(task->d_name, own) != 0) asleep &= sleeps(task->d_name);
  }
  closedir(tasks);
  return asleep;
}

/* Looks until it is so several times in a row: for a while or, given a flag, until that is set. */
static bool comes_to_rest(bool (*rests)(const char *thread), const char *thread, atomic_int *flag) {
  int row = 0;
  for (int look = 0; row < IN_A_ROW && (flag ? !atomic_load(flag) : look < LOOKS); look++) {
    row = rests(thread) ? row + 1 : 0;
    sched_yield();
  }
  return row == IN_A_ROW;
}

bool kw_bench_others_rest(void) {
  char own[16];
  snprintf(own, sizeof own, "%d", (int)gettid());
  return comes_to_rest(others_sleep, own, NULL);
}

/* ---- A thread that calls ----------------------------------------------------------------------------------------- */

static void *call_main(void *user) {
  kw_bench_caller *self = user;
  atomic_store(&self->begun, 1);
  self->status = self->call(self->user);
  atomic_store(&self->done, 1);
  return NULL;
}

void kw_bench_start(kw_bench_caller *caller) {
  KW_NEED(pthread_create(&caller->thread, NULL, call_main, caller) == 0, "threads");
}

bool kw_bench_is_stuck(kw_bench_caller *caller) {
  while (!atomic_load(&caller->begun)) sched_yield();
  return kw_bench_others_rest() && !atomic_load(&caller->done);
}

kw_status kw_bench_join(kw_bench_caller *caller) {
  pthread_join(caller->thread, NULL);
  return caller->status;
}

/* ---- Asking ------------------------------------------------------------------------------------------------------ */

kw_status kw_bench_ask(kw_status (*ask)(void *object), void *object, const char *what) {
  enum { STEP = 64 };
  const double limit = 5 * kw_contract.patience;
  kw_process_clock clock;
  kw_status status = KW_ERR_NOT_READY;
  char text[256];
  kw_test_waits(what);
  kw_process_clock_begin(&clock, NULL, getpid(), 0, kw_clock_seconds());
  for (int i = 1; status == KW_ERR_NOT_READY && clock.passed < limit; i++) {
    status = ask(object);
    sched_yield();
    if (i % STEP == 0) kw_process_clock_step(&clock, kw_clock_seconds());
  }
  kw_process_clock_free(&clock);
  if (status != KW_ERR_NOT_READY) return status;
  snprintf(text, sizeof text, "%s: it did not come about (%g s)", what, limit);
  kw_contract_time_out(text);
}

static kw_status ask_flag(void *flag) {
  return atomic_load((atomic_int *)flag) ? KW_OK : KW_ERR_NOT_READY;
}

void kw_bench_await(atomic_int *flag, const char *what) {
  (void)kw_bench_ask(ask_flag, flag, what);
}

/* ---- A thread that opens a gate ---------------------------------------------------------------------------------- */

typedef struct opener {
  kw_gate *gate;
  atomic_int *flag; /* NULL: it opens after a while */
  char thread[16];  /* who is to be stuck */
} opener;

static void *opener_main(void *user) {
  opener *self = user;
  (void)comes_to_rest(sleeps, self->thread, self->flag);
  kw_gate_let_go(self->gate);
  free(self);
  return NULL;
}

void kw_bench_open_when_stuck_or(kw_gate *gate, atomic_int *flag) {
  pthread_t thread;
  opener *self = kw_test_memory(sizeof *self);
  self->gate = gate;
  self->flag = flag;
  snprintf(self->thread, sizeof self->thread, "%d", (int)gettid());
  KW_NEED(pthread_create(&thread, NULL, opener_main, self) == 0, "threads");
  pthread_detach(thread);
}

void kw_bench_open_when_stuck(kw_gate *gate) {
  kw_bench_open_when_stuck_or(gate, NULL);
}
