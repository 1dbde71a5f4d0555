/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs the cases: a thread per worker process takes batches of cases, sends both runs of each in shuffled order, judges
 * what comes back, and goes on with a new process when one crashes or hangs.
 */
#include "base/clock.h"
#include "run/worker_client.h"
#include "run/shrink.h"
#include "case/value.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BATCH 16 /* cases in a batch of op cases: 32 runs in one process, in mixed order */
#define SHRUNK_PROGRAMS 2
#define HANGS_PER_OP 3 /* after so many, the op's other cases are not waited for */

typedef struct batch {
  uint32_t first, count; /* cases */
} batch;

typedef struct coordinator {
  kw_run *run;
  batch *batches;
  uint32_t batch_count;
  atomic_uint next_batch;
  atomic_uint done;   /* cases */
  atomic_uint *hangs; /* per op of facts.ops */
  uint32_t *shrinks;  /* cases of which a smaller variant is looked for */
  uint32_t shrink_count;
  atomic_uint next_shrink;
  bool progress;
  double start;
  pthread_mutex_t print;
} coordinator;

typedef struct run_ref {
  uint32_t index; /* of the case */
  uint32_t run;
} run_ref;

/* ---- Batches ----------------------------------------------------------------------------------------------------- */

static size_t suite_length(const char *id) {
  return strcspn(id, "/");
}

/* Contract tests: a batch per suite. Ops: BATCH cases, which may be of different ops. */
static void make_batches(coordinator *co) {
  const kw_run *run = co->run;
  co->batches = calloc(run->case_count + 1u, sizeof *co->batches);
  if (!co->batches) abort();
  for (uint32_t i = 0; i < run->case_count;) {
    uint32_t end = i + 1;
    const kw_run_case *first = &run->cases[i];
    while (end < run->case_count) {
      const kw_run_case *next = &run->cases[end];
      if ((first->op == NULL) != (next->op == NULL)) break;
      if ((first->op || first->program) && end - i == BATCH) break;
      size_t length = suite_length(first->id);
      if (!first->op && (suite_length(next->id) != length || memcmp(first->id, next->id, length) != 0)) break;
      end++;
    }
    co->batches[co->batch_count++] = (batch){i, end - i};
    i = end;
  }
}

/* Both runs of every case, in an order that depends on the seed only (Fisher-Yates). */
static uint32_t make_runs(const coordinator *co, const batch *b, run_ref *runs) {
  uint32_t count = 0;
  for (uint32_t i = b->first; i < b->first + b->count; i++) {
    runs[count++] = (run_ref){i, 0};
    runs[count++] = (run_ref){i, 1};
  }
  uint64_t seed = co->run->options->seed;
  for (uint32_t i = count; i > 1; i--) {
    uint32_t counter[4] = {i, b->first, 0, 0x5bf}, key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)}, random[4];
    kw_philox(counter, key, random);
    uint32_t other = random[0] % i;
    run_ref swap = runs[i - 1];
    runs[i - 1] = runs[other];
    runs[other] = swap;
  }
  return count;
}

static void show_progress(coordinator *co) {
  if (!co->progress) return;
  pthread_mutex_lock(&co->print);
  fprintf(stderr, "\r%u of %u cases", (unsigned)co->done, co->run->case_count);
  if (co->done == co->run->case_count) fprintf(stderr, "\r\033[K");
  fflush(stderr);
  pthread_mutex_unlock(&co->print);
}

/* ---- One worker -------------------------------------------------------------------------------------------------- */

/* The worker is gone in the middle of a case. */
static void blame(coordinator *co, kw_process *process, kw_run_case *result, kw_read why) {
  kw_worker_client_blame(co->run, process, result, why);
  if (why == KW_READ_TIMEOUT && result->op) co->hangs[result->op - co->run->facts.ops]++;
}

static bool given_up(coordinator *co, const kw_run_case *result) {
  return result->op && co->hangs[result->op - co->run->facts.ops] >= HANGS_PER_OP;
}

static bool is_dead(const kw_run_case *result) {
  return result->result.outcome == KW_OUTCOME_CRASH || result->result.outcome == KW_OUTCOME_TIMEOUT;
}

/* Drops the runs whose case is settled already: it crashed, or its op hangs. */
static uint32_t drop_settled(coordinator *co, run_ref *runs, uint32_t count) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < count; i++) {
    kw_run_case *c = &co->run->cases[runs[i].index];
    if (given_up(co, c) && !is_dead(c)) {
      kw_case_result_mark(&c->result, KW_OUTCOME_TIMEOUT, "timeout",
                          "not run: several cases of this op gave no answer");
    }
    if (!is_dead(c)) runs[kept++] = runs[i];
  }
  return kept;
}

static void run_ops_batch(coordinator *co, kw_process *process, const batch *b, kw_message *message) {
  run_ref runs[2 * BATCH];
  uint32_t count = make_runs(co, b, runs);
  while ((count = drop_settled(co, runs, count)) > 0) {
    char text[512] = "";
    if (!kw_worker_client_start(co->run, process, text, sizeof text)) {
      for (uint32_t i = 0; i < count; i++)
        kw_case_result_mark(&co->run->cases[runs[i].index].result, KW_OUTCOME_CRASH, "crash", text);
      return;
    }
    for (uint32_t i = 0; i < count; i++) {
      kw_worker_client_send(process, &co->run->cases[runs[i].index], runs[i].run, message);
    }
    uint32_t at = 0;
    kw_read read = KW_READ_OK;
    while (at < count && read == KW_READ_OK) {
      read = kw_worker_client_receive(co->run, process, &co->run->cases[runs[at].index], runs[at].run, message);
      at += read == KW_READ_OK;
    }
    if (read != KW_READ_OK) {
      blame(co, process, &co->run->cases[runs[at].index], read);
      at++;
      if (co->run->options->fail_fast) return;
    }
    count -= at;
    memmove(runs, runs + at, count * sizeof *runs);
  }
}

/* Whether no more programs are to be begun. */
static bool out_of_time(const coordinator *co, double now) {
  const double limit = co->run->options->program_seconds;
  return limit > 0 && now - co->start > limit;
}

/* Contract tests and programs go one by one: after a failure the next one gets a fresh process. */
static void run_contract_batch(coordinator *co, kw_process *process, const batch *b, kw_message *message) {
  kw_process_stop(process);
  for (uint32_t i = b->first; i < b->first + b->count; i++) {
    kw_run_case *result = &co->run->cases[i];
    char text[512] = "";
    if (result->program && out_of_time(co, kw_clock_seconds())) break;
    if (!kw_worker_client_start(co->run, process, text, sizeof text)) {
      kw_case_result_mark(&result->result, KW_OUTCOME_CRASH, "crash", text);
      continue;
    }
    double start = kw_clock_seconds();
    kw_worker_client_send(process, result, 0, message);
    kw_read read = kw_worker_client_receive(co->run, process, result, 0, message);
    result->seconds = kw_clock_seconds() - start;
    if (read != KW_READ_OK) blame(co, process, result, read);
    if (result->result.outcome != KW_OUTCOME_PASS && result->result.outcome != KW_OUTCOME_SKIP)
      kw_process_stop(process);
  }
  kw_process_stop(process);
}

static bool has_failure(const coordinator *co, const batch *b) {
  for (uint32_t i = b->first; i < b->first + b->count; i++) {
    kw_outcome outcome = co->run->cases[i].result.outcome;
    if (outcome != KW_OUTCOME_PASS && outcome != KW_OUTCOME_SKIP) return true;
  }
  return false;
}

static void *run_batches(void *argument) {
  coordinator *co = argument;
  kw_process process = {0};
  kw_message message = {0};
  for (uint32_t i = atomic_fetch_add(&co->next_batch, 1); i < co->batch_count;
       i = atomic_fetch_add(&co->next_batch, 1)) {
    const batch *b = &co->batches[i];
    if (co->run->cases[b->first].op) {
      run_ops_batch(co, &process, b, &message);
    } else {
      run_contract_batch(co, &process, b, &message);
    }
    co->done += b->count;
    show_progress(co);
    if (co->run->options->fail_fast && has_failure(co, b)) atomic_store(&co->next_batch, co->batch_count);
  }
  kw_process_stop(&process);
  kw_message_free(&message);
  return NULL;
}

/* ---- Smaller variants -------------------------------------------------------------------------------------------- */

/* The first failure of every op and dtype: cases come in the order of their classes, simple ones first. */
static void choose_shrinks(coordinator *co) {
  const kw_run *run = co->run;
  co->shrinks = calloc(run->case_count + 1u, sizeof *co->shrinks);
  if (!co->shrinks) abort();
  const kw_run_case *last = NULL;
  uint32_t programs = 0;
  for (uint32_t i = 0; i < run->case_count && !run->options->no_shrink; i++) {
    const kw_run_case *c = &run->cases[i];
    bool failed = c->result.outcome == KW_OUTCOME_FAIL || c->result.outcome == KW_OUTCOME_CRASH;
    if (failed && c->program && programs++ < SHRUNK_PROGRAMS) co->shrinks[co->shrink_count++] = i;
    if (!c->op || !failed || (last && last->op == c->op && last->dtype == c->dtype)) continue;
    last = c;
    co->shrinks[co->shrink_count++] = i;
  }
}

static void *run_shrinks(void *argument) {
  coordinator *co = argument;
  for (uint32_t i = atomic_fetch_add(&co->next_shrink, 1); i < co->shrink_count;
       i = atomic_fetch_add(&co->next_shrink, 1)) {
    kw_run_case *c = &co->run->cases[co->shrinks[i]];
    if (c->program) {
      kw_shrink_program(co->run, c);
    } else {
      kw_shrink_case(co->run, c);
    }
  }
  return NULL;
}

/* ---- All --------------------------------------------------------------------------------------------------------- */

/* On as many threads as there are jobs, this one among them, but not more than there are things to do. */
static void run_threads(coordinator *co, void *(*body)(void *), uint32_t things) {
  uint32_t jobs = co->run->options->jobs < things ? co->run->options->jobs : things, started = 0;
  pthread_t threads[64];
  while (started + 1 < jobs && started < 63 && pthread_create(&threads[started], NULL, body, co) == 0) started++;
  body(co);
  for (uint32_t i = 0; i < started; i++) pthread_join(threads[i], NULL);
}

void kw_run_cases(kw_run *run) {
  double start = kw_clock_seconds();
  coordinator co = {.run = run, .progress = isatty(STDERR_FILENO), .start = start};
  pthread_mutex_init(&co.print, NULL);
  co.hangs = calloc(run->facts.op_count + 1u, sizeof *co.hangs);
  if (!co.hangs) abort();
  make_batches(&co);
  run_threads(&co, run_batches, co.batch_count);
  choose_shrinks(&co);
  run_threads(&co, run_shrinks, co.shrink_count);
  pthread_mutex_destroy(&co.print);
  free(co.shrinks);
  free(co.hangs);
  free(co.batches);
  if (run->options->program_seconds > 0) kw_run_drop_untried(run);
  run->seconds = kw_clock_seconds() - start;
}
