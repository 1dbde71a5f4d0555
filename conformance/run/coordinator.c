/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs the cases: a thread per worker process takes batches of cases, sends both runs of each in shuffled order, judges
 * what comes back, and goes on with a new process when one crashes or hangs. Then cases that gave no answer and first
 * failures are run again, alone.
 */
#include "base/clock.h"
#include "base/need.h"
#include "run/alone.h"
#include "run/progress.h"
#include "run/replay.h"
#include "run/shrink.h"
#include "run/state.h"
#include "run/stop.h"
#include "run/strays.h"
#include "run/worker_client.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BATCH 16       /* cases in a batch of op cases: 32 runs in one process, in mixed order */
#define HANGS_PER_OP 3 /* after so many, the op's other cases are not waited for */
#define HANGS_PROVEN 3 /* after so many that showed again alone, with a longer limit, no others are tried again */

typedef struct batch {
  uint32_t first, count; /* cases */
} batch;

/* All that one worker process was asked for, in order. */
typedef struct call_log {
  struct call_log *next;
  kw_run_ref *calls;
  uint32_t count, capacity;
} call_log;

/* Where a case failed: behind the first `count` calls of its process. */
typedef struct failure_place {
  const call_log *log; /* NULL: it did not */
  uint32_t count;
} failure_place;

typedef struct coordinator {
  kw_run *run;
  batch *batches;
  uint32_t batch_count;
  atomic_uint next_batch;
  atomic_uint *hangs; /* per op of facts.ops */
  uint32_t *firsts;   /* first failures: cases that are run again, and of which a smaller variant is looked for */
  uint32_t first_count;
  atomic_uint next_first;
  call_log *logs;
  failure_place *places; /* per case */
  kw_progress *progress;
  pthread_mutex_t lock; /* of `progress`, and of `logs` */
  double start;
} coordinator;

/* A thread of the coordinator, and its worker. */
typedef struct side {
  coordinator *co;
  kw_process process;
  kw_message message;
  call_log *log; /* of the process */
} side;

/* ---- Batches ----------------------------------------------------------------------------------------------------- */

static size_t suite_length(const char *id) {
  return strcspn(id, "/");
}

/* What the state or the report of an earlier run says. */
static bool is_done(const kw_run_case *c) {
  return c->result.outcome != KW_OUTCOME_NONE;
}

/* Contract tests: a batch per suite. Ops: BATCH cases, which may be of different ops. */
static void make_batches(coordinator *co) {
  const kw_run *run = co->run;
  co->batches = calloc(run->case_count + 1u, sizeof *co->batches);
  if (!co->batches) kw_out_of_memory();
  for (uint32_t i = 0; i < run->case_count;) {
    uint32_t end = i + 1;
    const kw_run_case *first = &run->cases[i];
    if (is_done(first)) {
      i = end;
      continue;
    }
    while (end < run->case_count) {
      const kw_run_case *next = &run->cases[end];
      if ((first->op == NULL) != (next->op == NULL) || is_done(next)) break;
      if ((first->op || first->program) && end - i == BATCH) break;
      size_t length = suite_length(first->id);
      if (!first->op && (suite_length(next->id) != length || memcmp(first->id, next->id, length) != 0)) break;
      end++;
    }
    co->batches[co->batch_count++] = (batch){i, end - i};
    i = end;
  }
}

/* Both runs of every case, shuffled. */
static uint32_t make_runs(const coordinator *co, const batch *b, kw_run_ref *runs) {
  uint32_t count = 0;
  for (uint32_t i = b->first; i < b->first + b->count; i++) {
    for (uint32_t run = 0; run < kw_run_count(&co->run->cases[i]); run++) runs[count++] = (kw_run_ref){i, run};
  }
  kw_run_shuffle(co->run->options->seed, b->first, runs, count);
  return count;
}

static void show_progress(coordinator *co, const batch *b) {
  pthread_mutex_lock(&co->lock);
  kw_progress_add(co->progress, b->first, b->count);
  pthread_mutex_unlock(&co->lock);
}

/* ---- One worker -------------------------------------------------------------------------------------------------- */

static bool start(side *me, char *text, size_t size) {
  if (me->process.pid == 0) {
    me->log = calloc(1, sizeof *me->log);
    if (!me->log) kw_out_of_memory();
    pthread_mutex_lock(&me->co->lock);
    me->log->next = me->co->logs;
    me->co->logs = me->log;
    pthread_mutex_unlock(&me->co->lock);
  }
  return kw_worker_client_start(me->co->run, &me->process, text, size);
}

static bool has_failed(const kw_run_case *c) {
  return c->result.outcome == KW_OUTCOME_FAIL || c->result.outcome == KW_OUTCOME_CRASH;
}

/* A call has been answered, or not: notes it, and whether the case failed by it. */
static void note_call(side *me, const kw_run_ref *call) {
  call_log *log = me->log;
  failure_place *place = &me->co->places[call->index];
  if (!place->log && has_failed(&me->co->run->cases[call->index])) *place = (failure_place){log, log->count};
  if (log->count == log->capacity) {
    log->capacity = log->capacity ? 2 * log->capacity : 64;
    log->calls = realloc(log->calls, log->capacity * sizeof *log->calls);
    if (!log->calls) kw_out_of_memory();
  }
  log->calls[log->count++] = *call;
}

/* The worker is gone in the middle of a case. A build that was cut off is not begun anew by other cases of the op. */
static void blame(side *me, kw_run_case *result, kw_read why) {
  kw_worker_client_blame(me->co->run, &me->process, result, why);
  if (why != KW_READ_TIMEOUT || !result->op) return;
  me->co->hangs[result->op - me->co->run->facts.ops] += me->process.wait_end.building ? HANGS_PER_OP : 1;
}

static bool given_up(coordinator *co, const kw_run_case *result) {
  return result->op && co->hangs[result->op - co->run->facts.ops] >= HANGS_PER_OP;
}

static bool is_dead(const kw_run_case *result) {
  return result->result.outcome == KW_OUTCOME_CRASH || result->result.outcome == KW_OUTCOME_TIMEOUT;
}

/* Drops the runs whose case is settled already: it crashed, or its op hangs. */
static uint32_t drop_settled(coordinator *co, kw_run_ref *runs, uint32_t count) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < count; i++) {
    kw_run_case *c = &co->run->cases[runs[i].index];
    if (given_up(co, c) && !is_dead(c)) {
      kw_case_result_mark(&c->result, KW_OUTCOME_TIMEOUT, "timeout",
                          "not run: several cases of this op gave no answer");
      c->given_up = true;
    }
    if (!is_dead(c)) runs[kept++] = runs[i];
  }
  return kept;
}

/* The run is asked to end before these had both of their answers. */
static void forget(coordinator *co, const kw_run_ref *runs, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    kw_run_case *c = &co->run->cases[runs[i].index];
    kw_case_result_free(&c->result);
    c->result = (kw_case_result){0};
    c->counts = (kw_run_counts){0};
    c->seconds = 0;
  }
}

/* The same where the run ends at a failure, which stands. */
static void forget_unfailed(coordinator *co, const kw_run_ref *runs, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    const kw_run_case *c = &co->run->cases[runs[i].index];
    if (!has_failed(c) && !is_dead(c)) forget(co, &runs[i], 1);
  }
}

static void run_ops_batch(side *me, const batch *b) {
  coordinator *co = me->co;
  kw_run_ref runs[2 * BATCH];
  uint32_t count = make_runs(co, b, runs);
  while ((count = drop_settled(co, runs, count)) > 0) {
    char text[512] = "";
    if (kw_stop_signal() || !start(me, text, sizeof text)) {
      if (kw_stop_signal()) {
        forget(co, runs, count);
        return;
      }
      for (uint32_t i = 0; i < count; i++)
        kw_worker_client_mark_unstarted(&me->process, &co->run->cases[runs[i].index], text);
      return;
    }
    for (uint32_t i = 0; i < count; i++) {
      kw_worker_client_send(co->run, &me->process, &co->run->cases[runs[i].index], runs[i].run, &me->message);
    }
    uint32_t at = 0;
    kw_read read = KW_READ_OK;
    while (at < count && read == KW_READ_OK) {
      kw_run_case *c = &co->run->cases[runs[at].index];
      read = kw_worker_client_receive(co->run, &me->process, c, runs[at].run, &me->message);
      if (read != KW_READ_OK) blame(me, c, read);
      if (read == KW_READ_STOPPED) {
        forget(co, runs + at, count - at);
        return;
      }
      if (c->block) kw_state_note(co->run, c);
      note_call(me, &runs[at++]);
    }
    if (read != KW_READ_OK && co->run->options->fail_fast) {
      forget_unfailed(co, runs + at, count - at);
      return;
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

/* Contract tests and programs go one by one: after a failure, and after one that was left halfway, the next one gets a
 * fresh process. */
static void run_contract_batch(side *me, const batch *b) {
  coordinator *co = me->co;
  kw_process_stop(&me->process);
  for (uint32_t i = b->first; i < b->first + b->count; i++) {
    kw_run_case *result = &co->run->cases[i];
    char text[512] = "";
    if (result->program && out_of_time(co, kw_clock_seconds())) break;
    if (kw_stop_signal()) break;
    if (!start(me, text, sizeof text)) {
      if (kw_stop_signal()) break;
      kw_worker_client_mark_unstarted(&me->process, result, text);
      continue;
    }
    double begin = kw_clock_seconds();
    kw_worker_client_send(co->run, &me->process, result, 0, &me->message);
    kw_read read = kw_worker_client_receive(co->run, &me->process, result, 0, &me->message);
    result->seconds = kw_clock_seconds() - begin;
    if (read != KW_READ_OK) blame(me, result, read);
    if (read == KW_READ_STOPPED) break;
    note_call(me, &(kw_run_ref){i, 0});
    const kw_outcome outcome = result->result.outcome;
    if (!kw_outcome_is_good(outcome) || outcome == KW_OUTCOME_NOT_TRIED) kw_process_stop(&me->process);
  }
  kw_process_stop(&me->process);
}

static bool has_failure(const coordinator *co, const batch *b) {
  for (uint32_t i = b->first; i < b->first + b->count; i++) {
    if (!kw_outcome_is_good(co->run->cases[i].result.outcome)) return true;
  }
  return false;
}

static void *run_batches(void *argument) {
  coordinator *co = argument;
  side me = {.co = co};
  for (uint32_t i = atomic_fetch_add(&co->next_batch, 1); i < co->batch_count;
       i = atomic_fetch_add(&co->next_batch, 1)) {
    const batch *b = &co->batches[i];
    if (co->run->cases[b->first].op) {
      run_ops_batch(&me, b);
    } else {
      run_contract_batch(&me, b);
    }
    show_progress(co, b);
    if (kw_stop_signal()) break;
    if (co->run->options->fail_fast && has_failure(co, b)) atomic_store(&co->next_batch, co->batch_count);
  }
  kw_process_stop(&me.process);
  kw_message_free(&me.message);
  return NULL;
}

/* ---- Again, alone ------------------------------------------------------------------------------------------------ */

/* Cases that gave no answer, one after the other while no other worker runs; those that were given up come last, and
 * only where no case of their op is proven to hang. */
static void try_again(coordinator *co) {
  kw_run *run = co->run;
  uint32_t proven = 0;
  bool *settled = calloc(run->facts.op_count + 1u, sizeof *settled); /* per op: proven to hang */
  if (!settled) kw_out_of_memory();
  for (int given_up_ones = 0; given_up_ones < 2; given_up_ones++) {
    for (uint32_t i = 0; i < run->case_count && proven < HANGS_PROVEN && !kw_stop_signal(); i++) {
      kw_run_case *c = &run->cases[i];
      bool *mine = c->op ? &settled[c->op - run->facts.ops] : NULL;
      if (c->result.outcome != KW_OUTCOME_TIMEOUT || c->given_up != given_up_ones || (mine && *mine)) continue;
      kw_alone_second_try(run, c);
      if (c->result.outcome != KW_OUTCOME_TIMEOUT) continue;
      proven++;
      if (mine) *mine = true;
    }
  }
  free(settled);
}

static bool same_group(const kw_run_case *a, const kw_run_case *b) {
  if (a->op || b->op) return a->op == b->op && a->dtype == b->dtype;
  size_t length = suite_length(a->id);
  return suite_length(b->id) == length && memcmp(a->id, b->id, length) == 0;
}

/* The first failure of every op and dtype, and of every contract suite: cases come in the order of their classes,
 * simple ones first. */
static void choose_firsts(coordinator *co) {
  const kw_run *run = co->run;
  co->firsts = calloc(run->case_count + 1u, sizeof *co->firsts);
  if (!co->firsts) kw_out_of_memory();
  const kw_run_case *last = NULL;
  for (uint32_t i = 0; i < run->case_count; i++) {
    const kw_run_case *c = &run->cases[i];
    if (!has_failed(c) || (last && same_group(last, c))) continue;
    last = c;
    if (c->smallest || c->passes_alone) continue; /* the earlier run has looked */
    co->firsts[co->first_count++] = i;
  }
}

static void *run_firsts(void *argument) {
  coordinator *co = argument;
  for (uint32_t i = atomic_fetch_add(&co->next_first, 1); i < co->first_count && !kw_stop_signal();
       i = atomic_fetch_add(&co->next_first, 1)) {
    kw_run_case *c = &co->run->cases[co->firsts[i]];
    const failure_place *place = &co->places[co->firsts[i]];
    /* The call by which it failed is among them: another run of the case may have to follow it to show that again. */
    const uint32_t itself = c->result.outcome == KW_OUTCOME_FAIL;
    const kw_calls before = {co->run->cases, place->log ? place->log->calls : NULL,
                             place->log ? place->count + itself : 0};
    kw_replay_case(co->run, c, &before);
    if (c->passes_alone || co->run->options->no_shrink) continue;
    if (c->op && !c->block) kw_shrink_case(co->run, c);
    if (c->program) kw_shrink_program(co->run, c);
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

static void free_logs(coordinator *co) {
  for (call_log *log = co->logs, *next; log; log = next) {
    next = log->next;
    free(log->calls);
    free(log);
  }
}

void kw_run_cases(kw_run *run) {
  const double begin = kw_clock_seconds();
  coordinator co = {.run = run, .start = begin};
  if (run->options->after) {
    kw_replay_run(run);
    kw_strays_end();
    run->seconds = kw_clock_seconds() - begin;
    run->stopped = kw_stop_signal();
    return;
  }
  pthread_mutex_init(&co.lock, NULL);
  co.hangs = calloc(run->facts.op_count + 1u, sizeof *co.hangs);
  co.places = calloc(run->case_count + 1u, sizeof *co.places);
  if (!co.hangs || !co.places) kw_out_of_memory();
  make_batches(&co);
  co.progress = kw_progress_make(run);
  run_threads(&co, run_batches, co.batch_count);
  try_again(&co);
  choose_firsts(&co);
  run_threads(&co, run_firsts, co.first_count);
  kw_strays_end();
  pthread_mutex_destroy(&co.lock);
  free_logs(&co);
  free(co.firsts);
  free(co.places);
  free(co.hangs);
  free(co.batches);
  kw_progress_free(co.progress);
  run->stopped = kw_stop_signal();
  if (run->options->program_seconds > 0) kw_run_drop_untried(run);
  run->seconds = run->before_seconds + kw_clock_seconds() - begin;
}
