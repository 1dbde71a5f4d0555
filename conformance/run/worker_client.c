/* SPDX-License-Identifier: Apache-2.0
 *
 * What a thread of the coordinator and its worker process say to each other about cases.
 */
#include "run/worker_client.h"

#include "base/clock.h"
#include "base/host_memory.h"
#include "judge/judge.h"
#include "judge/program_judge.h"
#include "run/stop.h"

#include <stdio.h>
#include <string.h>

#define CASE_LIMIT 20   /* seconds of the worker's own time */
#define TEST_LIMIT 60   /* of the contract: some call many ops; and of a block of patterns */
#define SCALE_LIMIT 600 /* of suite scale: what no other calls need */
#define START_TRIES 3

/* By what time limits are multiplied, those of building excepted: a second try does not begin a longer build. */
static double factor(const kw_run *run) {
  return run->options->timeout_scale * (run->second_try ? KW_SECOND_TRY : 1);
}

bool kw_worker_client_start(const kw_run *run, kw_process *process, char *out_text, size_t size) {
  for (int i = 0; process->pid == 0 && i < START_TRIES && !kw_stop_signal(); i++) {
    kw_device_facts facts;
    bool up = kw_process_start(run->options, process, &facts, out_text, size);
    kw_device_facts_free(&facts);
    if (up) return true;
    process->pid = 0;
  }
  return process->pid != 0;
}

void kw_worker_client_mark_unstarted(const kw_process *process, kw_run_case *c, const char *text) {
  kw_case_result_mark(&c->result, process->unborn ? KW_OUTCOME_INCONCLUSIVE : KW_OUTCOME_CRASH,
                      process->unborn ? "" : "crash", text);
}

static void describe_timeout(const kw_run *run, const kw_wait_end *end, char *text, size_t size) {
  const char *where = *end->text ? " in " : "";
  if (end->building) {
    snprintf(
        text, size,
        "no answer, and a busy processor for %.0f s%s%s: if kernels are built there, --timeout-scale gives more time",
        KW_BUILD_LIMIT * run->options->timeout_scale, where, end->text);
  } else {
    snprintf(text, size, "no answer within %g s%s%s; --timeout-scale gives more time", end->limit, where, end->text);
  }
}

static bool is_scale(const kw_run_case *c) {
  return !c->op && strncmp(c->id, "scale/", 6) == 0;
}

/* The kernel kills by SIGKILL when memory is short, and so do helpers that watch over it. Nothing is then known of the
 * case: elsewhere than in scale, which takes gigabytes, only where the kernel says that it has done so. */
static bool for_want_of_memory(const kw_process *process, const kw_run_case *c) {
  return process->killed && (is_scale(c) || kw_host_memory_kills() > process->kills);
}

void kw_worker_client_blame(const kw_run *run, kw_process *process, kw_run_case *c, kw_read why) {
  char end[1200], text[1300];
  if (why == KW_READ_STOPPED) {
    kw_process_kill(process);
  } else if (why == KW_READ_TIMEOUT) {
    kw_process_kill(process);
    describe_timeout(run, &process->wait_end, text, sizeof text);
    kw_case_result_mark(&c->result, KW_OUTCOME_TIMEOUT, "timeout", text);
  } else if (why == KW_READ_GARBAGE) {
    kw_process_kill(process);
    kw_case_result_mark(&c->result, KW_OUTCOME_CRASH, "crash",
                        "the worker sent what is no answer: its memory was overwritten");
  } else {
    kw_process_describe_end(process, end, sizeof end);
    const bool killed = for_want_of_memory(process, c);
    snprintf(text, sizeof text, "the worker ended with %s%s", end,
             killed ? ", by which a system short of memory ends processes; run it where more is free" : "");
    kw_case_result_mark(&c->result, killed ? KW_OUTCOME_INCONCLUSIVE : KW_OUTCOME_CRASH, killed ? "" : "crash", text);
  }
}

bool kw_worker_client_send(const kw_run *run, const kw_process *process, const kw_run_case *c, uint32_t case_run,
                           kw_message *message) {
  kw_message_clear(message);
  if (c->op) kw_message_put_u32(message, case_run);
  kw_message_put_string(message, c->id);
  if (!c->op && !c->program) {
    kw_message_put_f64(message, factor(run));
    kw_message_put_u32(message, run->options->effort);
  }
  return kw_frame_send(process->fd, c->op ? KW_FRAME_RUN : c->program ? KW_FRAME_PROGRAM : KW_FRAME_CONTRACT, message);
}

static void count(kw_run_counts *counts, const kw_case_run *ran) {
  counts->launches += ran->launches;
  counts->decomposed += ran->decomposed;
  counts->fallbacks += ran->fallbacks;
  counts->modules_built += ran->modules_built;
  counts->modules_cached += ran->modules_cached;
  counts->build_ns += ran->build_ns;
}

static kw_read take_program(kw_run *run, kw_run_case *c, kw_message *message) {
  kw_program_run answer;
  if (!kw_program_run_read(message, &answer)) return KW_READ_GARBAGE;
  const bool good =
      strcmp(answer.id, c->id) == 0 && kw_judge_program(&run->facts, &answer, run->options->seed, &c->result);
  kw_program_run_free(&answer);
  return good ? KW_READ_OK : KW_READ_GARBAGE;
}

static double limit_of(const kw_run_case *c) {
  return c->op && !c->block ? CASE_LIMIT : is_scale(c) ? SCALE_LIMIT : TEST_LIMIT;
}

kw_read kw_worker_client_receive(kw_run *run, kw_process *process, kw_run_case *c, uint32_t case_run,
                                 kw_message *message) {
  kw_frame type = 0;
  kw_read read = kw_process_receive(process, limit_of(c) * factor(run), KW_BUILD_LIMIT * run->options->timeout_scale,
                                    &type, message);
  if (read != KW_READ_OK) return read;
  if (type == KW_FRAME_RESULT && c->op) {
    kw_case_run answer;
    bool good = kw_case_run_read(message, &answer) && strcmp(answer.id, c->id) == 0 && answer.run == case_run;
    if (!good) return KW_READ_GARBAGE;
    double start = kw_clock_seconds();
    count(&c->counts, &answer);
    c->counts.expectations += kw_judge_run(&c->op->op, &answer, run->options->seed, run->facts.flush, &c->result);
    c->seconds += answer.seconds + kw_clock_seconds() - start;
    return KW_READ_OK;
  }
  if (type == KW_FRAME_PROGRAM_END && c->program) return take_program(run, c, message);
  if (type != KW_FRAME_CONTRACT_END || c->program || strcmp(kw_message_get_string(message), c->id) != 0)
    return KW_READ_GARBAGE;
  uint32_t outcome = kw_message_get_u32(message);
  const char *text = kw_message_get_string(message);
  if (message->bad) return KW_READ_GARBAGE;
  static const kw_outcome outcomes[] = {[KW_CONTRACT_PASS] = KW_OUTCOME_PASS,
                                        [KW_CONTRACT_FAIL] = KW_OUTCOME_FAIL,
                                        [KW_CONTRACT_SKIP] = KW_OUTCOME_SKIP,
                                        [KW_CONTRACT_TIMEOUT] = KW_OUTCOME_TIMEOUT,
                                        [KW_CONTRACT_NOT_TRIED] = KW_OUTCOME_NOT_TRIED};
  if (outcome > KW_CONTRACT_NOT_TRIED) return KW_READ_GARBAGE;
  kw_case_result_mark(&c->result, outcomes[outcome], outcome == KW_CONTRACT_TIMEOUT ? "timeout" : "", text);
  return KW_READ_OK;
}
