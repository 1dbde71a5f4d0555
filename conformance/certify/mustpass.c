/* SPDX-License-Identifier: Apache-2.0
 *
 * Must-pass lists: reading them, and the ids that a level asks for. A list is lines of words:
 *
 *   suite VERSION, op_set VERSION, list NAME, tolerances SHA256    what it belongs to
 *   ids COUNT SHA256                  of all ids in it
 *   contents SHA256                   of what the cases are made of
 *   op NAME [EXTENSION]               an op, of a family that the extension names; below it, indented:
 *     DTYPE NEEDS CLASS:NUMBERS...    cases in this key dtype, asked for where NEEDS holds: "-", or alternatives,
 *                                     "f64|complex+fp8", of extensions and "half", which is the dtype where a level
 *                                     is judged in it
 *   test ID, range SUITE FIRST-LAST   contract tests: one, numbered ones
 *   each SUITE/TEST, one SUITE/TEST OP     one of every op that the level has, one of an op where the level has it;
 *                                     any of these four with "thorough " before: of a thorough run alone
 */
#include "certify/mustpass.h"

#include "base/suite_version.h"
#include "base/text.h"
#include "case/element.h"
#include "run/installed.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WORD 160 /* bytes of the longest word, with its end */

const char *kw_mustpass_name(uint32_t file) {
  static const char *const names[KW_MUSTPASS_FILES] = {"contract.txt", "core.txt", "inference.txt", "training.txt"};
  return names[file];
}

uint32_t kw_mustpass_file_count(const kw_level_claim *claim) {
  return 2 + (claim->level >= KW_LEVEL_INFERENCE) + (claim->level >= KW_LEVEL_TRAINING);
}

bool kw_mustpass_folder(char *out_path, size_t size) {
  return kw_installed_find("mustpass/" KW_SUITE_VERSION, R_OK | X_OK, out_path, size);
}

/* ---- Lines ------------------------------------------------------------------------------------------------------- */

/* Whether the claim names all of "f64+fft". */
static bool names_all(const kw_level_claim *claim, const char *extensions, size_t length) {
  char text[WORD];
  kw_level_claim needed;
  snprintf(text, sizeof text, "core+%.*s", (int)length, extensions);
  return kw_level_parse(text, &needed) && !(needed.extensions & ~claim->extensions) &&
         !(needed.families & ~claim->families);
}

/* No level: everything is asked for. */
static bool holds(const kw_mustpass_level *level, const char *dtype, const char *needs) {
  if (!level || strcmp(needs, "-") == 0) return true;
  for (const char *p = needs; *p;) {
    size_t length = strcspn(p, "|");
    const bool half = length >= 4 && strncmp(p, "half", 4) == 0;
    const bool more = !half || length > 5;
    const char *extensions = half ? p + 5 : p; /* behind "half+" */
    const size_t rest = half ? length - 5 : length;
    if ((!half || strcmp(dtype, kw_element_name(level->half)) == 0) &&
        (!more || names_all(level->claim, extensions, rest))) {
      return true;
    }
    p += length + (p[length] != 0);
  }
  return false;
}

/* "0-3,5" behind a prefix: prefix/0 ... */
static void add_numbers(const char *prefix, const char *numbers, kw_id_list *ids) {
  for (const char *p = numbers; *p;) {
    char *end;
    unsigned long first = strtoul(p, &end, 10), last = *end == '-' ? strtoul(end + 1, &end, 10) : first;
    if (end == p || last - first > 1000000) return; /* the hash of the ids tells */
    for (unsigned long n = first; n <= last; n++) kw_id_list_add(ids, "%s/%lu", prefix, n);
    p = end + (*end != 0);
  }
}

/* The classes of a row: "scalar:0-1 empty:0-3". */
static void add_classes(const char *op, const char *dtype, const char *classes, kw_id_list *ids) {
  char class[WORD], numbers[WORD], prefix[3 * WORD];
  int used;
  for (; sscanf(classes, " %159[^: ]:%159s%n", class, numbers, &used) == 2; classes += used) {
    snprintf(prefix, sizeof prefix, "%s/%s/%s", op, dtype, class);
    add_numbers(prefix, numbers, ids);
  }
}

/* Calls back for every line but comments, without its end. */
static void for_each_line(const char *text, void (*take)(const char *line, void *context), void *context) {
  char line[4096];
  for (const char *p = text; *p;) {
    size_t length = strcspn(p, "\n");
    snprintf(line, sizeof line, "%.*s", (int)(length < sizeof line ? length : sizeof line - 1), p);
    if (*line && *line != '#') take(line, context);
    p += length + (p[length] != 0);
  }
}

/* ---- Ids --------------------------------------------------------------------------------------------------------- */

typedef struct expansion {
  const kw_mustpass_level *level; /* NULL: everything */
  const kw_mustpass *lists;       /* in which `each` finds the ops */
  const char *each;               /* ops alone are looked for, of this SUITE/TEST; NULL: cases */
  const char *one;                /* with `each`: this op alone; NULL: all */
  char op[WORD];
  bool has_op;
  kw_id_list *ids;
} expansion;

static void take_line(const char *line, void *context);

/* `one`: NULL for all ops. */
static void add_each(const expansion *e, const char *test, const char *one) {
  if (!e->level) {
    kw_id_list_add(e->ids, "%s/%s", test, one ? one : "*");
    return;
  }
  for (uint32_t f = 1; f < kw_mustpass_file_count(e->level->claim); f++) {
    expansion ops = {.level = e->level, .each = test, .one = one, .ids = e->ids};
    for_each_line(e->lists->files[f].text, take_line, &ops);
  }
}

static void take_line(const char *line, void *context) {
  static const char thorough[] = "thorough ";
  expansion *e = context;
  if (strncmp(line, thorough, sizeof thorough - 1) == 0) {
    if (e->level && e->level->effort < KW_EFFORT_THOROUGH) return;
    line += sizeof thorough - 1;
  }
  char first[WORD], second[WORD], third[WORD];
  int used = 0;
  int words = sscanf(line, " %159s %159s %n%159s", first, second, &used, third);
  if (words < 2) return;
  if (*line == ' ') {
    if (e->has_op && !e->each && words == 3 && holds(e->level, first, second)) {
      add_classes(e->op, first, line + used, e->ids);
    }
  } else if (strcmp(first, "op") == 0) {
    memcpy(e->op, second, sizeof e->op);
    e->has_op = words < 3 || holds(e->level, "", third);
    const bool wanted = e->each && (!e->one || strcmp(e->one, second) == 0);
    if (e->has_op && wanted) kw_id_list_add(e->ids, "%s/%s", e->each, e->op);
  } else if (strcmp(first, "test") == 0 && !e->each) {
    kw_id_list_add(e->ids, "%s", second);
  } else if (strcmp(first, "each") == 0) {
    add_each(e, second, NULL);
  } else if (strcmp(first, "one") == 0 && words == 3) {
    add_each(e, second, third);
  } else if (strcmp(first, "range") == 0 && words == 3) {
    add_numbers(second, third, e->ids);
  }
}

void kw_mustpass_all(const char *text, kw_id_list *io_ids) {
  expansion e = {.ids = io_ids};
  for_each_line(text, take_line, &e);
}

void kw_mustpass_ids(const kw_mustpass *lists, const kw_mustpass_level *level, kw_id_list *io_ids) {
  for (uint32_t f = 0; f < kw_mustpass_file_count(level->claim); f++) {
    expansion e = {.level = level, .lists = lists, .ids = io_ids};
    for_each_line(lists->files[f].text, take_line, &e);
  }
}

bool kw_mustpass_check(const kw_mustpass *lists, const kw_mustpass_level *level, kw_id_list *ids, char *out_message,
                       size_t size) {
  const char *name = level->claim->text;
  kw_id_list list = {0};
  uint32_t count;
  kw_mustpass_ids(lists, level, &list);
  kw_id_list_sort(&list);
  kw_id_list_sort(ids);
  const char *missing = kw_id_list_missing(&list, ids, &count);
  const char *added = missing ? NULL : kw_id_list_missing(ids, &list, &count);
  if (missing) {
    snprintf(out_message, size,
             "the case %s is missing (%u of %u are), which %s of suite " KW_SUITE_VERSION " has to pass", missing,
             count, list.count, name);
  } else if (added) {
    snprintf(out_message, size, "the case %s was added (%u were): %s of suite " KW_SUITE_VERSION " has no such case",
             added, count, name);
  }
  kw_id_list_free(&list);
  return !missing && !added;
}

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

/* What stands behind the first word of a line, "" where there is no such line. */
static void find_word(const char *text, const char *name, char out_word[WORD]) {
  const size_t length = strlen(name);
  *out_word = 0;
  for (const char *p = text; p && *p; p = strchr(p, '\n') ? strchr(p, '\n') + 1 : NULL) {
    if (strncmp(p, name, length) == 0 && p[length] == ' ') {
      snprintf(out_word, WORD, "%.*s", (int)strcspn(p + length + 1, "\n"), p + length + 1);
      return;
    }
  }
}

/* What is wrong with a list; NULL when it is good. */
static const char *judge(const kw_mustpass_file *file, const char *tolerance_hash) {
  char suite[WORD], ids_line[WORD], tolerances[WORD], expected[WORD], hash[KW_DIGEST_SIZE];
  find_word(file->text, "suite", suite);
  find_word(file->text, "ids", ids_line);
  find_word(file->text, "tolerances", tolerances);
  if (strcmp(suite, KW_SUITE_VERSION) != 0) return "it is no list of suite " KW_SUITE_VERSION;
  kw_id_list ids = {0};
  kw_mustpass_all(file->text, &ids);
  kw_id_list_digest(&ids, hash);
  snprintf(expected, sizeof expected, "%u %s", ids.count, hash);
  kw_id_list_free(&ids);
  if (strcmp(ids_line, expected) != 0) return "its cases are not those that it names by hash: it was changed";
  if (*tolerance_hash && strcmp(tolerances, tolerance_hash) != 0) return "it names other tolerances than the first";
  return NULL;
}

static bool read_file(const char *folder, uint32_t f, kw_mustpass *lists, char *message, size_t size) {
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s/%s", folder, kw_mustpass_name(f));
  kw_mustpass_file *file = &lists->files[f];
  if (!kw_text_read_file(path, &file->text) || !kw_digest_file(path, file->hash)) {
    snprintf(message, size, "the must-pass list %s cannot be read: %s", path, strerror(errno));
    return false;
  }
  const char *wrong = judge(file, lists->tolerance_hash);
  if (wrong) {
    snprintf(message, size, "the must-pass list %s is unusable: %s; install Keyway again", path, wrong);
    return false;
  }
  char tolerances[WORD];
  find_word(file->text, "tolerances", tolerances);
  snprintf(lists->tolerance_hash, sizeof lists->tolerance_hash, "%.*s", KW_DIGEST_SIZE - 1, tolerances);
  return true;
}

bool kw_mustpass_read(const char *folder, kw_mustpass *out_lists, char *out_message, size_t size) {
  *out_lists = (kw_mustpass){0};
  for (uint32_t f = 0; f < KW_MUSTPASS_FILES; f++) {
    if (read_file(folder, f, out_lists, out_message, size)) continue;
    kw_mustpass_free(out_lists);
    return false;
  }
  return true;
}

void kw_mustpass_free(kw_mustpass *lists) {
  for (uint32_t f = 0; f < KW_MUSTPASS_FILES; f++) free(lists->files[f].text);
  *lists = (kw_mustpass){0};
}
