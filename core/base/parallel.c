/* SPDX-License-Identifier: Apache-2.0
 *
 * Loops in pieces, which worker threads and the caller take in turn.
 */
#include "base/parallel.h"

#include "base/fork.h"
#include "base/log.h"

#include <fenv.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define PIECES_PER_THREAD 4 /* so that a slow thread delays the end by a quarter of its share */
#define THREAD_LIMIT 1024

/* One loop; lives on its caller's stack while it is in the list or a worker is inside. */
typedef struct loop {
  kw_range_fn body;
  void *user;
  int64_t n;
  int64_t piece;
  atomic_llong next; /* first index that no thread has taken */
  uint32_t workers;  /* inside run_pieces, without the caller; under the lock */
  struct loop *later;
} loop;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work = PTHREAD_COND_INITIALIZER; /* the list is no longer empty */
static pthread_cond_t done = PTHREAD_COND_INITIALIZER; /* a worker has left a loop */
static loop *loops;                                    /* that may have pieces left */
static uint32_t workers_started;
static _Thread_local bool inside;

static uint32_t thread_count = 1;
static pthread_once_t thread_count_once = PTHREAD_ONCE_INIT;

static void read_thread_count(void) {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) thread_count = (uint32_t)CPU_COUNT(&set);
  const char *text = secure_getenv("KEYWAY_THREADS");
  if (text != NULL && text[0] != '\0') {
    char *end;
    long value = strtol(text, &end, 10);
    if (*end == '\0' && value >= 1 && value <= THREAD_LIMIT) {
      thread_count = (uint32_t)value;
    } else {
      kw_log(KW_LOG_WARN, "KEYWAY_THREADS=%s is ignored: a number from 1 to %d is expected", text, THREAD_LIMIT);
    }
  }
  if (thread_count == 0) thread_count = 1;
}

uint32_t kw_parallel_threads(void) {
  pthread_once(&thread_count_once, read_thread_count);
  return thread_count;
}

static void run_pieces(loop *l) {
  inside = true;
  for (;;) {
    int64_t begin = atomic_fetch_add_explicit(&l->next, l->piece, memory_order_relaxed);
    if (begin >= l->n) break;
    l->body(l->user, begin, l->n - begin < l->piece ? l->n : begin + l->piece);
  }
  inside = false;
}

static void *work_on(void *unused) {
  (void)unused;
  fesetenv(FE_DFL_ENV); /* not what the thread that came first has set */
  pthread_mutex_lock(&lock);
  for (;;) {
    loop *l = loops;
    while (l != NULL && atomic_load_explicit(&l->next, memory_order_relaxed) >= l->n) l = l->later;
    if (l == NULL) {
      pthread_cond_wait(&work, &lock);
      continue;
    }
    l->workers++;
    pthread_mutex_unlock(&lock);
    run_pieces(l);
    pthread_mutex_lock(&lock);
    if (--l->workers == 0) pthread_cond_broadcast(&done);
  }
  return NULL;
}

/* Under the lock. Workers take no signals: those are the application's. A thread that cannot be had is done without. */
static void start_workers(void) {
  if (workers_started + 1 >= thread_count) return;
  sigset_t all, old;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &old);
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) == 0) {
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_t thread;
    while (workers_started + 1 < thread_count && pthread_create(&thread, &attributes, work_on, NULL) == 0) {
      pthread_setname_np(thread, "keyway-loop");
      workers_started++;
    }
    pthread_attr_destroy(&attributes);
  }
  pthread_sigmask(SIG_SETMASK, &old, NULL);
}

void kw_parallel_for(int64_t n, int64_t grain, kw_range_fn body, void *user) {
  if (n <= 0) return;
  if (grain < 1) grain = 1;
  uint32_t threads = kw_parallel_threads();
  if (threads == 1 || n <= grain || inside || kw_fork_happened()) {
    body(user, 0, n);
    return;
  }
  int64_t pieces = (int64_t)threads * PIECES_PER_THREAD;
  int64_t piece = n / pieces + (n % pieces != 0);
  loop l = {.body = body, .user = user, .n = n, .piece = piece > grain ? piece : grain};

  pthread_mutex_lock(&lock);
  start_workers();
  loop **end = &loops;
  while (*end != NULL) end = &(*end)->later;
  *end = &l;
  pthread_cond_broadcast(&work);
  pthread_mutex_unlock(&lock);

  run_pieces(&l);

  pthread_mutex_lock(&lock);
  loop **link = &loops;
  while (*link != &l) link = &(*link)->later;
  *link = l.later;
  while (l.workers > 0) pthread_cond_wait(&done, &lock);
  pthread_mutex_unlock(&lock);
}
