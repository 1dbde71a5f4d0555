/* SPDX-License-Identifier: Apache-2.0
 *
 * Cases run once more in processes of their own.
 */
#include "run/alone.h"

#include "run/stop.h"
#include "run/worker_client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct loner {
  kw_run run;
  kw_process process;
  kw_message message;
} loner;

static kw_read run_once(loner *l, kw_run_case *c, uint32_t case_run) {
  kw_worker_client_send(&l->run, &l->process, c, case_run, &l->message);
  return kw_worker_client_receive(&l->run, &l->process, c, case_run, &l->message);
}

/* The calls before: what comes of them is not looked at, as long as the worker lives. */
static bool run_before(loner *l, const kw_calls *before) {
  bool alive = true;
  for (uint32_t i = 0; i < before->count && alive; i++) {
    const kw_run_case *c = &before->cases[before->refs[i].index];
    kw_run_case scratch = {.id = c->id, .op = c->op, .program = c->program, .dtype = c->dtype, .block = c->block};
    alive = run_once(l, &scratch, before->refs[i].run) == KW_READ_OK;
    kw_case_result_free(&scratch.result);
  }
  if (!alive) kw_process_kill(&l->process);
  return alive;
}

void kw_attempt_make(const kw_run *run, const kw_run_case *c, const kw_calls *before, kw_attempt *out_attempt) {
  loner l = {.run = {.options = run->options, .facts = run->facts, .second_try = run->second_try}};
  char text[512] = "";
  *out_attempt =
      (kw_attempt){.probe = {.id = c->id, .op = c->op, .program = c->program, .dtype = c->dtype, .block = c->block}};
  kw_run_case *probe = &out_attempt->probe;
  out_attempt->ready = kw_worker_client_start(&l.run, &l.process, text, sizeof text) && run_before(&l, before);
  kw_run_ref refs[] = {{0, 0}, {0, 1}};
  const uint32_t count = kw_run_count(c);
  kw_run_shuffle(run->options->seed, 0, refs, count);
  for (uint32_t i = 0; i < count && out_attempt->ready && l.process.pid; i++) {
    kw_read read = run_once(&l, probe, refs[i].run);
    if (read == KW_READ_OK) continue;
    out_attempt->wait_end = l.process.wait_end;
    kw_worker_client_blame(&l.run, &l.process, probe, read);
  }
  out_attempt->ready = out_attempt->ready && !kw_stop_signal();
  kw_process_stop(&l.process);
  kw_message_free(&l.message);
}

void kw_attempt_free(kw_attempt *attempt) {
  kw_case_result_free(&attempt->probe.result);
}

/* ---- Second tries ------------------------------------------------------------------------------------------------ */

/* Replaces the case's result, whatever it was. */
static void take_result(kw_run_case *c, kw_case_result *from) {
  kw_case_result_free(&c->result);
  c->result = *from;
  *from = (kw_case_result){0};
}

static void make_inconclusive(kw_run_case *c, const char *why, const char *first) {
  char text[1500];
  kw_case_result result = {0};
  snprintf(text, sizeof text, "%s; %s", first, why);
  kw_case_result_mark(&result, KW_OUTCOME_INCONCLUSIVE, "", text);
  take_result(c, &result);
}

void kw_alone_second_try(const kw_run *run, kw_run_case *c) {
  kw_run patient = {.options = run->options, .facts = run->facts, .second_try = true};
  kw_attempt attempt;
  char first[1300];
  snprintf(first, sizeof first, "%s", c->result.text ? c->result.text : "no answer");
  kw_attempt_make(&patient, c, &(kw_calls){0}, &attempt);
  kw_outcome outcome = attempt.probe.result.outcome;
  bool passed = kw_outcome_is_good(outcome);
  bool starved = outcome == KW_OUTCOME_TIMEOUT && attempt.wait_end.starved && !attempt.wait_end.asleep;
  if (kw_stop_signal()) {
    kw_attempt_free(&attempt);
    return;
  }
  if (!attempt.ready) {
    make_inconclusive(c, "and no worker could be started to run it again alone", first);
  } else if (passed && !c->given_up) {
    make_inconclusive(c, "run again alone with ten times the limit it passed", first);
  } else if (starved) {
    make_inconclusive(
        c,
        "so it was when run again alone with ten times the limit, but the machine was starved of processor "
        "time, so that this tells nothing; run it when the machine is quiet",
        first);
  } else {
    take_result(c, &attempt.probe.result);
  }
  c->given_up = false;
  kw_attempt_free(&attempt);
}
