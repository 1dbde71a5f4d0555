/* SPDX-License-Identifier: Apache-2.0
 *
 * The search for the shortest program that fails as a longer one does.
 */
#include "base/need.h"
#include "run/shrink.h"

#include "program/program.h"
#include "run/worker_client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TRIES = 400, REPEATS = 2 /* of a part that passes */ };

typedef struct part {
  bool kept[KW_PROGRAM_ACTS]; /* by number */
  uint32_t streams;
} part;

typedef struct shrinker {
  kw_run run; /* counters of its own: a report's count the cases only */
  const kw_run_case *failed;
  char base[KW_PROGRAM_BASE];
  kw_process process;
  kw_message message;
  uint32_t tries;
  bool given_up; /* no more tries, or a hang */
} shrinker;

static kw_outcome outcome_of(shrinker *s, const char *id) {
  char text[512], copy[KW_PROGRAM_ID];
  strcpy(copy, id);
  kw_run_case probe = {.id = copy, .program = true};
  if (!kw_worker_client_start(&s->run, &s->process, text, sizeof text)) return KW_OUTCOME_NONE;
  kw_worker_client_send(&s->run, &s->process, &probe, 0, &s->message);
  const kw_read read = kw_worker_client_receive(&s->run, &s->process, &probe, 0, &s->message);
  if (read != KW_READ_OK) kw_worker_client_blame(&s->run, &s->process, &probe, read);
  const kw_outcome outcome = probe.result.outcome;
  kw_case_result_free(&probe.result);
  return outcome;
}

static bool fails(shrinker *s, const part *p) {
  char id[KW_PROGRAM_ID];
  if (!kw_program_id(s->base, p->kept, p->streams, id)) return false;
  for (int i = 0; i < REPEATS && !s->given_up; i++) {
    const kw_outcome outcome = outcome_of(s, id);
    s->given_up = ++s->tries == TRIES || outcome == KW_OUTCOME_TIMEOUT || outcome == KW_OUTCOME_NONE;
    if (outcome == s->failed->result.outcome) return true;
  }
  return false;
}

/* Leaves out acts first..last of the list, if what remains fails; true then. */
static bool leave_out(shrinker *s, part *io_part, const uint32_t *list, uint32_t first, uint32_t last) {
  part smaller = *io_part;
  for (uint32_t i = first; i < last; i++) smaller.kept[list[i]] = false;
  if (!fails(s, &smaller)) return false;
  *io_part = smaller;
  return true;
}

static uint32_t list_kept(const part *p, uint32_t *out_list) {
  uint32_t count = 0;
  for (uint32_t a = 0; a < KW_PROGRAM_ACTS; a++) {
    if (p->kept[a]) out_list[count++] = a;
  }
  return count;
}

/* Leaves out parts of half the acts, of a quarter and so on, the last ones first, for what comes behind the failure is
 * not needed; until no single act can be left out. */
static void shrink_acts(shrinker *s, part *io_part) {
  uint32_t list[KW_PROGRAM_ACTS];
  bool any = true;
  for (uint32_t size = (list_kept(io_part, list) + 1) / 2; size > 0 && !s->given_up; size = any ? size : size / 2) {
    any = false;
    for (uint32_t end = list_kept(io_part, list); end > 0 && !s->given_up; end = end > size ? end - size : 0) {
      any |= leave_out(s, io_part, list, end > size ? end - size : 0, end);
    }
    if (any && size > list_kept(io_part, list) / 2) size = (list_kept(io_part, list) + 1) / 2;
  }
}

/* The fewest streams that will do; true when they are fewer than before. */
static bool shrink_streams(shrinker *s, part *io_part) {
  const uint32_t before = io_part->streams;
  for (uint32_t streams = 1; streams < io_part->streams && !s->given_up; streams++) {
    part fewer = *io_part;
    fewer.streams = streams;
    if (fails(s, &fewer)) *io_part = fewer;
  }
  return io_part->streams < before;
}

static char *describe(const kw_program *program) {
  char text[64];
  uint32_t calls = 0;
  for (uint32_t a = 0; a < program->act_count; a++) calls += program->acts[a].kind == KW_ACT_CALL;
  snprintf(text, sizeof text, "%u calls, %u streams", calls, program->stream_count);
  return strdup(text);
}

void kw_shrink_program(const kw_run *run, kw_run_case *failed) {
  shrinker s = {.run = {.options = run->options, .facts = run->facts}, .failed = failed};
  kw_program *program = malloc(sizeof *program);
  if (!program) kw_out_of_memory();
  part p = {.streams = KW_PROGRAM_STREAMS};
  char id[KW_PROGRAM_ID];
  if (kw_program_make(failed->id, run->options->seed, &run->facts, program)) {
    strcpy(s.base, program->base);
    p.streams = program->stream_count;
    for (uint32_t a = 0; a < program->act_count; a++) p.kept[program->acts[a].number] = true;
    const uint32_t count = program->act_count;
    kw_program_free(program);
    shrink_streams(&s, &p);
    shrink_acts(&s, &p);
    if (shrink_streams(&s, &p)) shrink_acts(&s, &p);
    kw_process_stop(&s.process); /* the last word has a process that has seen nothing else */
    s.given_up = false;
    uint32_t list[KW_PROGRAM_ACTS];
    const bool found = list_kept(&p, list) < count && fails(&s, &p);
    if (found && kw_program_id(s.base, p.kept, p.streams, id) &&
        kw_program_make(id, run->options->seed, &run->facts, program)) {
      failed->smallest = strdup(id);
      failed->smallest_tensors = describe(program);
      kw_program_free(program);
    }
  }
  free(program);
  kw_process_stop(&s.process);
  kw_message_free(&s.message);
}
