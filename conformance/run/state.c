/* SPDX-License-Identifier: Apache-2.0
 *
 * The file of a run that can be interrupted. Lines are appended whole, by one write each, so that shards on one machine
 * may share it and a line that was cut off can be told.
 */
#include "run/state.h"

#include "base/need.h"
#include "base/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a run has to have in common with the one that the file is of. */
static void print_head(const kw_run *run, char *text, size_t size) {
  char tolerances[KW_DIGEST_SIZE];
  kw_digest_tolerances(tolerances);
  snprintf(text, size, "keyway state 1: device %s, plugin %s, tolerances %s, seed %" PRIu64 "\n", run->facts.device,
           run->plugin_hash, tolerances, run->options->seed);
}

static int by_id(const void *a, const void *b) {
  const kw_run_case *const *left = a, *const *right = b;
  return strcmp((*left)->id, (*right)->id);
}

/* "ID ERROR OPERANDS": what kw_state_note writes, without the end of the line. */
static void take_line(char *line, kw_run_case *const *sorted, uint32_t count) {
  char *error = strchr(line, ' '), *operands;
  if (!error) return;
  *error++ = 0;
  const double value = strtod(error, &operands);
  if (*operands != ' ') return;
  const kw_run_case key = {.id = line}, *wanted = &key;
  kw_run_case *const *found = bsearch(&wanted, sorted, count, sizeof(kw_run_case *), by_id);
  if (!found || !(*found)->block) return;
  (*found)->result.outcome = KW_OUTCOME_PASS;
  (*found)->result.error = value;
  snprintf((*found)->result.worst, sizeof(*found)->result.worst, "%s", operands + 1);
}

static void take_lines(kw_run *run, char *text) {
  kw_run_case **sorted = calloc(run->case_count + 1u, sizeof(kw_run_case *));
  if (!sorted) kw_out_of_memory();
  for (uint32_t i = 0; i < run->case_count; i++) sorted[i] = &run->cases[i];
  qsort(sorted, run->case_count, sizeof(kw_run_case *), by_id);
  for (char *end; (end = strchr(text, '\n')) != NULL; text = end + 1) { /* what was cut off has no end */
    *end = 0;
    take_line(text, sorted, run->case_count);
  }
  free(sorted);
}

bool kw_state_open(kw_run *run, const char *path, char *out_text, size_t size) {
  char head[512], *text = NULL;
  print_head(run, head, sizeof head);
  const size_t length = strlen(head);
  const bool there = kw_text_read_file(path, &text) && *text;
  if (there && strncmp(text, head, length) != 0) {
    const int own = (int)strcspn(text, "\n");
    snprintf(out_text, size,
             "%s is the state of another run: it begins with '%.*s', and this one with '%.*s'; name another file, or "
             "remove it",
             path, own < 300 ? own : 300, text, (int)length - 1, head);
    free(text);
    return false;
  }
  const bool cut_off = there && text[strlen(text) - 1] != '\n';
  if (there) take_lines(run, text + length);
  free(text);
  run->state = fopen(path, "ae");
  bool good = run->state && (there || fputs(head, run->state) >= 0);
  if (good && cut_off) good = fputc('\n', run->state) >= 0;
  if (good) good = fflush(run->state) == 0;
  if (!good) snprintf(out_text, size, "%s cannot be written: %s", path, strerror(errno));
  return good;
}

void kw_state_note(kw_run *run, const kw_run_case *c) {
  if (!run->state || c->result.outcome != KW_OUTCOME_PASS) return;
  const int length = fprintf(run->state, "%s %.17g %s\n", c->id, c->result.error, c->result.worst);
  if (length < 0 || fflush(run->state) != 0) run->state_lost = true;
}

bool kw_state_close(kw_run *run) {
  if (!run->state) return true;
  const bool closed = fclose(run->state) == 0;
  run->state = NULL;
  return closed && !run->state_lost;
}
