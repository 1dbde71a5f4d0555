/* SPDX-License-Identifier: Apache-2.0
 *
 * Failures that are alike, by what is said about them without its numbers.
 */
#include "report/alike.h"

#include "base/need.h"
#include "case/value.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN_PLACES 4 /* ops, dtypes, classes, or tests */

/* What a failure is like, as text; its hash makes most comparisons short. */
typedef struct likeness {
  char *text;
  uint64_t hash;
} likeness;

static bool is_word(char c) {
  return isalnum((unsigned char)c) || c == '_' || c == '.' || c == '+' || c == '-';
}

static bool has_digit(const char *word, size_t length) {
  for (size_t i = 0; i < length; i++) {
    if (isdigit((unsigned char)word[i])) return true;
  }
  return false;
}

static bool is_number(const char *word, size_t length) {
  static const char *const names[] = {"nan", "inf", "-nan", "-inf", "none"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    if (strlen(names[i]) == length && memcmp(names[i], word, length) == 0) return true;
  }
  return has_digit(word, length);
}

/* The text with '#' for each number, '@' for the op's name, and one '#' for a whole index or shape; without operands,
 * whose names are an op's own. */
static void put_without_numbers(FILE *out, const char *text, const char *op) {
  const size_t op_length = strlen(op);
  const char *operands = strstr(text, KW_OPERANDS_MARK);
  while (*text && text != operands) {
    size_t length = 0;
    while (is_word(text[length])) length++;
    if (op_length > 0 && strncmp(text, op, op_length) == 0) {
      fputc('@', out);
      text += op_length;
    } else if (*text == '[' && strcspn(text, "]") == strspn(text, "[0123456789, -")) {
      fputc('#', out);
      text += strcspn(text, "]");
    } else if (length == 0) {
      fputc(*text++, out);
    } else {
      if (is_number(text, length)) {
        fputc('#', out);
      } else {
        fwrite(text, 1, length, out);
      }
      text += length;
    }
  }
}

static likeness like(const kw_report *report, const kw_report_case *c) {
  likeness l = {NULL, 0};
  size_t size = 0;
  const char *op = c->op < 0 ? "" : report->ops[c->op].name;
  FILE *out = open_memstream(&l.text, &size);
  if (!out) kw_out_of_memory();
  fprintf(out, "%s/%s/%s/%d/", kw_report_case_name(c), c->defect, c->expected ? c->expected : "", c->passes_alone);
  if (c->error != 0 || c->outcome == KW_OUTCOME_TIMEOUT) fprintf(out, "%s/", op); /* each op is wrong in its own way */
  if (c->outcome == KW_OUTCOME_CRASH) {
    fputs(c->text, out); /* addresses tell places apart */
  } else {
    put_without_numbers(out, c->text, op);
  }
  if (fclose(out) != 0) kw_out_of_memory();
  l.hash = kw_hash(KW_HASH_START, l.text);
  return l;
}

kw_report_group *kw_report_groups(const kw_report *report, uint32_t *out_count) {
  kw_report_group *groups = calloc(report->case_count + 1u, sizeof *groups);
  likeness *likes = calloc(report->case_count + 1u, sizeof *likes);
  if (!groups || !likes) kw_out_of_memory();
  uint32_t count = 0;
  for (uint32_t i = 0; i < report->case_count; i++) {
    const kw_report_case *c = &report->cases[i];
    if (!kw_report_case_has_failed(c)) continue;
    likeness mine = like(report, c);
    uint32_t g = 0;
    while (g < count && (likes[g].hash != mine.hash || strcmp(likes[g].text, mine.text) != 0)) g++;
    if (g == count) {
      likes[count++] = mine;
    } else {
      free(mine.text);
    }
    groups[g].cases = realloc(groups[g].cases, (groups[g].count + 1u) * sizeof *groups[g].cases);
    if (!groups[g].cases) kw_out_of_memory();
    groups[g].cases[groups[g].count++] = c;
  }
  for (uint32_t g = 0; g < count; g++) free(likes[g].text);
  free(likes);
  *out_count = count;
  return groups;
}

void kw_report_groups_free(kw_report_group *groups, uint32_t count) {
  for (uint32_t g = 0; g < count; g++) free(groups[g].cases);
  free(groups);
}

/* ---- Places ------------------------------------------------------------------------------------------------------ */

/* Different names, in the order in which they came. */
typedef struct names {
  const char *items[SHOWN_PLACES];
  int lengths[SHOWN_PLACES];
  uint32_t count, more;
} names;

static void add_name(names *to, const char *name, int length) {
  for (uint32_t i = 0; i < to->count; i++) {
    if (to->lengths[i] == length && memcmp(to->items[i], name, (size_t)length) == 0) return;
  }
  if (to->count == SHOWN_PLACES) {
    to->more = 1;
    return;
  }
  to->items[to->count] = name;
  to->lengths[to->count++] = length;
}

static void put_names(FILE *out, const names *from) {
  for (uint32_t i = 0; i < from->count; i++) {
    fprintf(out, "%s%.*s", i ? ", " : "", from->lengths[i], from->items[i]);
  }
  if (from->more) fputs(", ...", out);
}

char *kw_report_group_where(const kw_report *report, const kw_report_group *group) {
  names ops = {.count = 0}, dtypes = {.count = 0}, classes = {.count = 0};
  char *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);
  if (!out) kw_out_of_memory();
  for (uint32_t i = 0; i < group->count; i++) {
    const kw_report_case *c = group->cases[i];
    int length;
    const char *class = kw_report_case_class(c, &length);
    add_name(&ops, c->op < 0 ? c->id : report->ops[c->op].name,
             (int)strlen(c->op < 0 ? c->id : report->ops[c->op].name));
    if (c->op < 0) continue;
    add_name(&dtypes, report->ops[c->op].dtype, (int)strlen(report->ops[c->op].dtype));
    add_name(&classes, class, length);
  }
  put_names(out, &ops);
  if (dtypes.count) {
    fputs(" in ", out);
    put_names(out, &dtypes);
    fputs(" (", out);
    put_names(out, &classes);
    fputc(')', out);
  }
  if (fclose(out) != 0) kw_out_of_memory();
  return text;
}
