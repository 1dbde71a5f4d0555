/* SPDX-License-Identifier: Apache-2.0
 *
 * What is said while a run goes on.
 */
#include "run/progress.h"

#include "base/need.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A contract suite or a family of ops. */
typedef struct group {
  const char *name; /* `length` bytes of it */
  int length;
  uint32_t cases, left;
  uint32_t counts[KW_OUTCOME_COUNT];
  double seconds;
} group;

struct kw_progress {
  const kw_run *run;
  bool terminal;
  uint32_t done;
  group *groups;
  uint32_t group_count;
  uint32_t *group_of; /* per case */
};

static uint32_t find_group(kw_progress *p, const kw_run_case *c) {
  const char *name = c->op ? kw_suite_op_family(&c->op->op) : c->id;
  const int length = (int)(c->op ? strlen(name) : strcspn(name, "/"));
  for (uint32_t g = p->group_count; g-- > 0;) { /* mostly the last one */
    if (p->groups[g].length == length && memcmp(p->groups[g].name, name, (size_t)length) == 0) return g;
  }
  p->groups[p->group_count] = (group){.name = name, .length = length};
  return p->group_count++;
}

kw_progress *kw_progress_make(const kw_run *run) {
  kw_progress *p = kw_need(sizeof *p);
  p->run = run;
  p->terminal = isatty(STDERR_FILENO);
  p->groups = kw_need((run->case_count + 1u) * sizeof *p->groups);
  p->group_of = kw_need((run->case_count + 1u) * sizeof *p->group_of);
  for (uint32_t i = 0; i < run->case_count; i++) {
    p->group_of[i] = find_group(p, &run->cases[i]);
    group *g = &p->groups[p->group_of[i]];
    const kw_run_case *c = &run->cases[i];
    g->cases++;
    if (c->result.outcome == KW_OUTCOME_NONE) {
      g->left++;
    } else { /* an earlier run has done it */
      g->counts[c->result.outcome]++;
      g->seconds += c->seconds;
      p->done++;
    }
  }
  return p;
}

/* "memory: 25 cases, 24 pass, 1 not applicable, 0.6 s". A run of one group has its report right behind this. */
static void say_group(const kw_progress *p, const group *g) {
  if (p->group_count < 2) return;
  fprintf(stderr, "%.*s: %u cases", g->length, g->name, g->cases);
  for (int o = 0; o < KW_OUTCOME_COUNT; o++) {
    if (g->counts[o]) fprintf(stderr, ", %u %s", g->counts[o], kw_outcome_name((kw_outcome)o));
  }
  fprintf(stderr, ", %.1f s\n", g->seconds);
}

void kw_progress_add(kw_progress *p, uint32_t first, uint32_t count) {
  for (uint32_t i = first; i < first + count; i++) {
    group *g = &p->groups[p->group_of[i]];
    g->counts[p->run->cases[i].result.outcome]++;
    g->seconds += p->run->cases[i].seconds;
    if (--g->left == 0 && !p->terminal) say_group(p, g);
  }
  p->done += count;
  if (!p->terminal) return;
  fprintf(stderr, "\r%u of %u cases", p->done, p->run->case_count);
  if (p->done == p->run->case_count) fprintf(stderr, "\r\033[K");
  fflush(stderr);
}

void kw_progress_free(kw_progress *p) {
  if (!p) return;
  free(p->groups);
  free(p->group_of);
  free(p);
}
