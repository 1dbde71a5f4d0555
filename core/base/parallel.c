/* SPDX-License-Identifier: Apache-2.0
 *
 * Loops in pieces, which workers and the caller take in turn, without locks: a loop is a slot of a table, and one word
 * of the slot says whether it is open and how many workers are inside. A thread that has nothing to do looks at a word
 * for some microseconds and then sleeps on it (futex).
 *
 * Threads are not bound to CPUs. Two processes that bind threads within one mask choose the same CPUs, and the kernel
 * cannot repair that: both run at half speed beside idle cores, and neither can find out. The caller is the
 * application's thread and stays unbound, so that it would come to lie on a worker's CPU, and the loop would wait for a
 * worker that may not move away. The gain would be small: pieces go to the threads that are free, so no worker has data
 * of its own in its cache, and the kernel already wakes a thread on an idle physical core before it uses the second
 * thread of a busy one. To give a process a part of a machine, narrow its mask (taskset, numactl), which workers
 * inherit. So the machine's topology, and hwloc, is not asked.
 */
#include "base/parallel.h"

#include "base/cpus.h"
#include "base/log.h"
#include "base/thread.h"

#include <keyway/keyway.h>

#include <fenv.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PIECES_PER_THREAD 4 /* so that a slow thread delays the end by a quarter of its share */
#define THREAD_LIMIT 1024
#define LOOPS 32 /* at once; further ones run on their callers alone, which are enough to fill the CPUs */
#define CACHE_LINE 64
#define WATCHED_GRAINS 64 /* of a piece, where somebody may cancel: some 640 us */
#define SPIN_NS 20000     /* about what it costs to sleep and be woken: spinning costs twice the best choice at most */
#define SPIN_PAUSES 32    /* between two looks at the clock */

/* loop.state */
#define INSIDE UINT32_C(0xffff) /* workers that run pieces */
#define MOST_SHIFT 16           /* how many may */
#define MOST UINT32_C(0x3fff)
#define CALLER_SLEEPS (UINT32_C(1) << 30)
#define OPEN (UINT32_C(1) << 31) /* there may be pieces that nobody has taken */

typedef struct task {
  kw_range_fn body;
  void *user;
  int64_t n;
  int64_t piece; /* indices */
  uint32_t pieces;
  const volatile int *cancel; /* not 0 there: no more of it; or NULL */
} task;

/* `task` is written before `state` says OPEN, and again only after it has said that nobody is inside. */
typedef struct loop {
  alignas(CACHE_LINE) atomic_uint state;
  task task;
  atomic_bool taken;                    /* by a caller */
  atomic_bool cut;                      /* it was cancelled */
  alignas(CACHE_LINE) atomic_uint next; /* first piece that no thread has taken */
} loop;

static loop loops[LOOPS];

/* The bell rings when a loop opens: idle workers look at it, then sleep on it. */
static alignas(CACHE_LINE) atomic_uint bell;
static atomic_int wanted; /* workers, when it rang last */
/* Workers in no loop, awake and not. Either may be less than 0 for a moment, when two threads count one worker. */
static alignas(CACHE_LINE) atomic_int looking, sleeping;
static atomic_uint workers; /* that were started */
static atomic_flag starting = ATOMIC_FLAG_INIT;
static _Thread_local bool inside; /* a body */
static _Thread_local const volatile int *watched;

/* ---- How many threads -------------------------------------------------------------------------------------------- */

static uint32_t thread_count = 1, cpu_count = 1;
static pthread_once_t count_once = PTHREAD_ONCE_INIT;

/* In the child of a fork, where no thread is left but the one that forked. */
static void begin_anew(void) {
  for (int i = 0; i < LOOPS; i++) {
    atomic_store(&loops[i].state, 0);
    atomic_store(&loops[i].taken, false);
  }
  atomic_store(&looking, 0);
  atomic_store(&sleeping, 0);
  atomic_store(&workers, 0);
  atomic_flag_clear(&starting);
}

/* What KEYWAY_THREADS says; 0: nothing that can be understood, which is in *out_wrong unless that is NULL. */
static uint32_t read_wish(const char **out_wrong) {
  const char *text = secure_getenv("KEYWAY_THREADS");
  if (text == NULL || text[0] == '\0') return 0;
  char *end;
  const long value = strtol(text, &end, 10);
  if (*end == '\0' && value >= 1 && value <= THREAD_LIMIT) return (uint32_t)value;
  if (out_wrong != NULL) *out_wrong = text;
  return 0;
}

void kw_parallel_start(void) {
  const char *wrong = NULL;
  char use[48];
  read_wish(&wrong);
  if (wrong == NULL) return;
  snprintf(use, sizeof use, "a number from 1 to %d", THREAD_LIMIT);
  kw_log_misset("KEYWAY_THREADS", wrong, "the number of CPUs that this process may use", use);
}

static void read_counts(void) {
  cpu_count = thread_count = kw_cpus_count();
  const uint32_t wish = read_wish(NULL);
  if (wish > 0) thread_count = wish;
  if (thread_count > THREAD_LIMIT) thread_count = THREAD_LIMIT;
  if (thread_count > 1 && pthread_atfork(NULL, NULL, begin_anew) != 0) thread_count = 1; /* no memory */
}

uint32_t kw_parallel_threads(void) {
  pthread_once(&count_once, read_counts);
  return thread_count;
}

/* ---- Waiting ----------------------------------------------------------------------------------------------------- */

/* Until the word is woken, which gives true; false: it is not `value` any more, or a signal came. */
static bool sleep_on(atomic_uint *word, uint32_t value) {
  return syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0) == 0;
}

/* How many threads were asleep, of `count` at most. */
static int wake(atomic_uint *word, int count) {
  const long woken = syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, count, NULL, NULL, 0);
  return woken > 0 ? (int)woken : 0;
}

/* Leaves the core to its other hardware thread, and the word's cache line to the thread that writes it. */
static inline void relax(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("isb"); /* yield takes no time at all on most cores */
#endif
}

/* Whether the word becomes another one before SPIN_NS are over. *end: when they are; 0 when they begin now. */
static bool changes_soon(atomic_uint *word, uint32_t value, uint64_t *end) {
  for (;;) {
    for (int i = 0; i < SPIN_PAUSES; i++) {
      if (atomic_load_explicit(word, memory_order_relaxed) != value) return true;
      relax();
    }
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    const uint64_t now = (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
    if (*end == 0) *end = now + SPIN_NS;
    if (now >= *end) return false;
  }
}

/* ---- Workers ----------------------------------------------------------------------------------------------------- */

/* Wakes as many as are wanted beyond those that look for work already. One of those may go to another loop: whoever
 * joins a loop calls again for what is left. A woken worker is counted as awake here and not when it runs, which may be
 * many loops later: none of those has to wake it again. */
static void call_workers(int count) {
  count -= atomic_load(&looking);
  int asleep = atomic_load(&sleeping);
  if (count > asleep) count = asleep;
  if (count <= 0) return;
  atomic_fetch_sub(&sleeping, count);
  atomic_fetch_add(&looking, count);
  const int woken = wake(&bell, count);
  atomic_fetch_add(&sleeping, count - woken);
  atomic_fetch_sub(&looking, count - woken);
}

typedef struct choice {
  loop *loop; /* the one with the fewest workers; NULL: all are closed or full */
  uint32_t state;
  uint32_t room; /* for workers in all loops together */
} choice;

/* Of equals the next one after `last` is taken, so that all have their turn. */
static choice choose(const loop *last) {
  choice best = {0};
  for (ptrdiff_t i = 1; i <= LOOPS; i++) {
    loop *l = &loops[(last - loops + i) % LOOPS];
    const uint32_t state = atomic_load(&l->state), most = state >> MOST_SHIFT & MOST;
    if ((state & OPEN) == 0 || (state & INSIDE) >= most) continue;
    best.room += most - (state & INSIDE);
    if (best.loop != NULL && (state & INSIDE) >= (best.state & INSIDE)) continue;
    best.loop = l;
    best.state = state;
  }
  return best;
}

static loop *join(const loop *last) {
  for (;;) {
    choice c = choose(last);
    if (c.loop == NULL) return NULL;
    if (!atomic_compare_exchange_strong(&c.loop->state, &c.state, c.state + 1)) continue;
    atomic_fetch_sub(&looking, 1);
    call_workers((int)c.room - 1);
    return c.loop;
  }
}

/* Counts as looking before it leaves: the caller may begin its next loop at once, and need not wake another one for it.
 */
static void leave(loop *l) {
  atomic_fetch_add(&looking, 1);
  const uint32_t before = atomic_fetch_sub(&l->state, 1);
  if ((before & INSIDE) == 1 && (before & CALLER_SLEEPS) != 0) wake(&l->state, 1);
}

static bool is_cancelled(const task *t) {
  return t->cancel != NULL && __atomic_load_n(t->cancel, __ATOMIC_RELAXED) != 0;
}

static void run_body(const task *t, uint32_t piece) {
  const int64_t begin = piece * t->piece;
  t->body(t->user, begin, piece + 1 == t->pieces ? t->n : begin + t->piece);
}

static bool run_piece(loop *l) {
  const task *t = &l->task;
  const uint32_t piece = atomic_fetch_add_explicit(&l->next, 1, memory_order_relaxed);
  if (piece >= t->pieces) return false;
  if (is_cancelled(t)) {
    atomic_store_explicit(&l->cut, true, memory_order_relaxed);
    return false;
  }
  run_body(t, piece);
  return true;
}

/* Until all pieces are taken, or a loop that came later has fewer workers. `rung`: the bell when this one was chosen.
 */
static void help(loop *l, uint32_t rung) {
  while (run_piece(l)) {
    const uint32_t now = atomic_load_explicit(&bell, memory_order_relaxed);
    if (now == rung) continue;
    rung = now;
    const choice other = choose(l);
    if (other.loop == NULL || (other.state & INSIDE) + 1 >= (atomic_load(&l->state) & INSIDE)) continue;
    leave(l);
    return;
  }
  if ((atomic_load(&l->state) & OPEN) != 0) atomic_fetch_and(&l->state, ~OPEN);
  leave(l);
}

/* Not with more threads than CPUs: one that spins may keep the CPU from the one it waits for. */
static bool may_spin(uint32_t other_callers) {
  return thread_count + other_callers <= cpu_count;
}

/* Until the bell is not as it was when there was no work. A worker that comes too late for loops which want it spins
 * on, as the next one may last longer; a worker more than they want goes to sleep at *end. */
static void await_loop(uint32_t rung, uint64_t *end) {
  if (may_spin(0) && changes_soon(&bell, rung, end)) {
    if (atomic_load(&looking) <= atomic_load_explicit(&wanted, memory_order_relaxed)) *end = 0;
    return;
  }
  atomic_fetch_sub(&looking, 1);
  atomic_fetch_add(&sleeping, 1); /* before the kernel looks at the bell, which callers ring before they look here */
  if (!sleep_on(&bell, rung)) {
    atomic_fetch_sub(&sleeping, 1);
    atomic_fetch_add(&looking, 1);
  }
  *end = 0;
}

static void *work(void *unused) {
  (void)unused;
  fesetenv(FE_DFL_ENV); /* not what the thread that came first has set */
  inside = true;
  atomic_fetch_add(&looking, 1);
  const loop *last = loops;
  uint64_t end = 0;
  for (;;) {
    const uint32_t rung = atomic_load(&bell);
    loop *l = join(last);
    if (l == NULL) {
      await_loop(rung, &end);
      continue;
    }
    help(l, rung);
    last = l;
    end = 0;
  }
  return NULL;
}

/* A thread that cannot be had is done without. */
static void start_workers(void) {
  if (atomic_load_explicit(&workers, memory_order_relaxed) + 1 >= thread_count) return;
  if (atomic_flag_test_and_set(&starting)) return; /* another caller is at it */
  while (atomic_load(&workers) + 1 < thread_count && kw_thread_start(work, NULL, "keyway-loop") == 0) {
    atomic_fetch_add(&workers, 1);
  }
  atomic_flag_clear(&starting);
}

/* ---- Callers ----------------------------------------------------------------------------------------------------- */

static loop *take_slot(void) {
  for (int i = 0; i < LOOPS; i++) {
    if (!atomic_load_explicit(&loops[i].taken, memory_order_relaxed) && !atomic_exchange(&loops[i].taken, true)) {
      return &loops[i];
    }
  }
  return NULL;
}

/* Multiples of the grain: at least one, and as many more as leave each thread PIECES_PER_THREAD pieces; no long ones
 * where somebody may cancel, unless there were too many to count. */
static task divide(int64_t n, int64_t grain, kw_range_fn body, void *user) {
  const int64_t share = n / ((int64_t)thread_count * PIECES_PER_THREAD);
  int64_t piece = share > grain ? share - share % grain : grain;
  if (watched != NULL && piece / grain > WATCHED_GRAINS && n / (grain * WATCHED_GRAINS) < UINT32_MAX) {
    piece = grain * WATCHED_GRAINS;
  }
  const uint32_t pieces = (uint32_t)(n / piece + (n % piece != 0));
  return (task){.body = body, .user = user, .n = n, .piece = piece, .pieces = pieces, .cancel = watched};
}

static void open_loop(loop *l) {
  const uint32_t threads = l->task.pieces < thread_count ? l->task.pieces : thread_count;
  const int helpers = (int)threads - 1;
  atomic_store_explicit(&l->next, 0, memory_order_relaxed);
  atomic_store(&l->state, OPEN | (uint32_t)helpers << MOST_SHIFT);
  start_workers();
  atomic_store_explicit(&wanted, helpers, memory_order_relaxed);
  atomic_fetch_add(&bell, 1);
  call_workers(helpers);
}

/* Whether it was cancelled. */
static bool close_loop(loop *l) {
  /* Slots are taken from the first on: the number of this one says how many other loops there were when it began. */
  const bool spin = may_spin((uint32_t)(l - loops));
  uint64_t end = 0;
  uint32_t state = atomic_fetch_and(&l->state, ~OPEN) & ~OPEN;
  while ((state & INSIDE) != 0) {
    if (!spin || !changes_soon(&l->state, state, &end)) {
      atomic_compare_exchange_strong(&l->state, &state, state | CALLER_SLEEPS);
      sleep_on(&l->state, state | CALLER_SLEEPS);
    }
    state = atomic_load(&l->state);
  }
  const bool cut = atomic_load_explicit(&l->cut, memory_order_relaxed);
  atomic_store_explicit(&l->taken, false, memory_order_release);
  return cut;
}

void kw_cancel_watch(const volatile int *flag) {
  watched = flag;
}

/* On this thread alone; in one piece, unless somebody may cancel. */
static kw_status run_alone(int64_t n, int64_t grain, kw_range_fn body, void *user) {
  if (watched == NULL || n <= grain || inside) {
    body(user, 0, n);
    return KW_OK;
  }
  const task t = divide(n, grain, body, user);
  for (uint32_t piece = 0; piece < t.pieces; piece++) {
    if (is_cancelled(&t)) return KW_ERR_CANCELLED;
    run_body(&t, piece);
  }
  return KW_OK;
}

kw_status kw_parallel_for(int64_t n, int64_t grain, kw_range_fn body, void *user) {
  if (n <= 0) return KW_OK;
  if (grain < 1) grain = 1;
  loop *l = n <= grain || inside || kw_parallel_threads() == 1 ? NULL : take_slot();
  if (l == NULL) return run_alone(n, grain, body, user);
  l->task = divide(n, grain, body, user);
  atomic_store_explicit(&l->cut, false, memory_order_relaxed);
  open_loop(l);
  inside = true;
  while (run_piece(l)) {
  }
  inside = false;
  return close_loop(l) ? KW_ERR_CANCELLED : KW_OK;
}
