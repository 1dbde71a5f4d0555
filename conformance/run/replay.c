/* SPDX-License-Identifier: Apache-2.0
 *
 * The search for the calls after which a case fails that passes alone.
 */
#include "run/replay.h"

#include "base/need.h"
#include "run/alone.h"
#include "run/stop.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRIES 60

typedef struct search {
  const kw_run *run;
  const kw_run_case *failed;
  kw_run_ref *refs; /* of the calls after which it fails */
  const kw_run_case *cases;
  uint32_t count;
  uint32_t tries;
} search;

static bool is_failure(kw_outcome outcome) {
  return outcome != KW_OUTCOME_NONE && !kw_outcome_is_good(outcome);
}

/* Whether the case fails after these calls, in the way in which it did. */
static bool fails_after(search *s, const kw_run_ref *refs, uint32_t count) {
  if (s->tries == TRIES) return false;
  s->tries++;
  const kw_calls before = {s->cases, refs, count};
  kw_attempt attempt;
  kw_attempt_make(s->run, s->failed, &before, &attempt);
  bool same = attempt.ready && attempt.probe.result.outcome == s->failed->result.outcome;
  kw_attempt_free(&attempt);
  return same;
}

/* The shortest end of the calls that will do, as far as doubling and bisection can tell: mostly it was one of the last
 * that left something behind. */
static void cut_beginning(search *s) {
  uint32_t passes = 0, fails = s->count;
  for (uint32_t length = 1; length < fails; length *= 2) {
    if (!fails_after(s, s->refs + s->count - length, length)) {
      passes = length;
    } else {
      fails = length;
    }
  }
  while (fails - passes > 1 && s->tries < TRIES) {
    uint32_t middle = passes + (fails - passes) / 2;
    *(fails_after(s, s->refs + s->count - middle, middle) ? &fails : &passes) = middle;
  }
  memmove(s->refs, s->refs + s->count - fails, fails * sizeof *s->refs);
  s->count = fails;
}

/* Drops parts that are not needed, halves first, then smaller ones (delta debugging, Zeller and Hildebrandt 2002). */
static void drop_parts(search *s) {
  kw_run_ref *rest = malloc((s->count + 1u) * sizeof *rest);
  if (!rest) kw_out_of_memory();
  for (uint32_t part = s->count / 2; part > 0 && s->tries < TRIES; part /= 2) {
    for (uint32_t at = 0; at < s->count && s->count > 1;) {
      uint32_t length = at + part < s->count ? part : s->count - at, left = s->count - length;
      memcpy(rest, s->refs, at * sizeof *rest);
      memcpy(rest + at, s->refs + at + length, (left - at) * sizeof *rest);
      if (fails_after(s, rest, left)) {
        memcpy(s->refs, rest, left * sizeof *rest);
        s->count = left;
      } else {
        at += length;
      }
    }
  }
  free(rest);
}

/* "ID#RUN,ID#RUN" */
static char *print_calls(const search *s) {
  char *text;
  size_t size;
  FILE *out = open_memstream(&text, &size);
  if (!out) kw_out_of_memory();
  for (uint32_t i = 0; i < s->count; i++) {
    fprintf(out, "%s%s#%u", i ? "," : "", s->cases[s->refs[i].index].id, s->refs[i].run);
  }
  fclose(out);
  return text;
}

void kw_replay_case(const kw_run *run, kw_run_case *failed, const kw_calls *before) {
  kw_attempt attempt;
  kw_attempt_make(run, failed, &(kw_calls){0}, &attempt);
  failed->passes_alone = attempt.ready && !is_failure(attempt.probe.result.outcome);
  kw_attempt_free(&attempt);
  if (!failed->passes_alone) return;
  search s = {.run = run,
              .failed = failed,
              .refs = malloc((before->count + 1u) * sizeof *s.refs),
              .cases = before->cases,
              .count = before->count};
  if (!s.refs) kw_out_of_memory();
  if (s.count) memcpy(s.refs, before->refs, s.count * sizeof *s.refs);
  if (s.count > 0 && fails_after(&s, s.refs, s.count)) {
    cut_beginning(&s);
    drop_parts(&s);
    failed->after = print_calls(&s);
  }
  free(s.refs);
}

void kw_replay_run(kw_run *run) {
  const kw_calls before = {run->before, run->before_refs, run->before_count};
  kw_attempt attempt;
  kw_attempt_make(run, &run->cases[0], &before, &attempt);
  if (attempt.ready) {
    kw_case_result swap = run->cases[0].result;
    run->cases[0].result = attempt.probe.result;
    attempt.probe.result = swap;
  } else if (!kw_stop_signal()) {
    kw_case_result_mark(&run->cases[0].result, KW_OUTCOME_CRASH, "crash",
                        "the worker did not start, or did not come through the calls of --after");
  }
  run->cases[0].seconds = attempt.probe.seconds;
  kw_attempt_free(&attempt);
}
