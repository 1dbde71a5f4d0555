/* SPDX-License-Identifier: Apache-2.0
 *
 * Reading the expressions of mapping.def, once, and running them.
 */
#include "expression.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_ARGS 12

enum kind { CALL_OF, INPUT, NUMBER, TEXT, BOOLEAN, NONE };

struct expression {
  enum kind kind;
  bool optional;   /* INPUT: ?1 */
  unsigned input;  /* INPUT */
  bool whole;      /* NUMBER: without a point */
  double number;   /* NUMBER, BOOLEAN */
  char *text;      /* TEXT; CALL_OF: the op's name */
  char *attribute; /* NUMBER, TEXT, BOOLEAN: of the node, instead of this one; NULL: none */
  unsigned count;
  kw_tag tags[MAX_ARGS]; /* of the op's schema */
  expression *args[MAX_ARGS];
};

typedef struct reader {
  const char *at;
  const char *why;
} reader;

static expression *read_argument(reader *reader);

static void skip(reader *reader) {
  while (*reader->at == ' ' || *reader->at == '\n') ++reader->at;
}

static bool take(reader *reader, char c) {
  skip(reader);
  if (*reader->at != c) return false;
  ++reader->at;
  return true;
}

/* A name: of an op, an argument, an attribute. */
static char *read_name(reader *reader) {
  const char *start;
  skip(reader);
  start = reader->at;
  while (isalnum((unsigned char)*reader->at) || strchr("_.:", *reader->at)) {
    if (!*reader->at) break;
    ++reader->at;
  }
  return reader->at == start ? NULL : strndup(start, (size_t)(reader->at - start));
}

static expression *fail(reader *reader, expression *made, const char *why) {
  if (!reader->why) reader->why = why;
  expression_free(made);
  return NULL;
}

/* The place of an argument of this name in the op's schema, or MAX_ARGS. */
static unsigned place_of(const kw_op *op, const char *name) {
  for (unsigned i = 0; i < MAX_ARGS; ++i) {
    kw_arg_info info = {.struct_size = sizeof info};
    if (kw_op_get_arg(op, i, &info) != KW_OK) break;
    if (strcmp(info.name, name) == 0) return i;
  }
  return MAX_ARGS;
}

/* `NAME=` in front of an argument. */
static char *read_keyword(reader *reader) {
  const char *start;
  char *name;
  skip(reader);
  start = reader->at;
  if (!isalpha((unsigned char)*start) && *start != '_') return NULL;
  name = read_name(reader);
  if (take(reader, '=')) return name;
  free(name);
  reader->at = start;
  return NULL;
}

static expression *read_call(reader *reader, char *name) {
  expression *made = calloc(1, sizeof *made);
  const kw_op *op = kw_op_find(name);
  if (!made) return free(name), fail(reader, NULL, "no memory");
  made->text = name;
  if (!op) return fail(reader, made, "there is no such op");
  while (!take(reader, ')')) {
    char *keyword;
    unsigned place;
    if (made->count > 0 && !take(reader, ',')) return fail(reader, made, "a comma is missing");
    keyword = read_keyword(reader);
    place = keyword ? place_of(op, keyword) : made->count;
    free(keyword);
    if (place >= MAX_ARGS || place < made->count) return fail(reader, made, "an argument that the op does not have");
    made->args[place] = read_argument(reader);
    if (!made->args[place]) return fail(reader, made, "an argument");
    made->count = place + 1;
  }
  for (unsigned i = 0; i < made->count; ++i) {
    kw_arg_info info = {.struct_size = sizeof info};
    if (kw_op_get_arg(op, i, &info) != KW_OK) return fail(reader, made, "more arguments than the op has");
    made->tags[i] = info.tag;
  }
  return made;
}

static expression *read_word(reader *reader, expression *made) {
  char *name = read_name(reader);
  if (name && take(reader, '(')) return expression_free(made), read_call(reader, name);
  made->kind = name && (strcmp(name, "true") == 0 || strcmp(name, "false") == 0) ? BOOLEAN : NONE;
  made->number = name && strcmp(name, "true") == 0;
  if (!name || (made->kind == NONE && strcmp(name, "none") != 0))
    return free(name), fail(reader, made, "a word that means nothing");
  free(name);
  return made;
}

static expression *read_argument(reader *reader) {
  expression *made = calloc(1, sizeof *made);
  if (!made) return fail(reader, NULL, "no memory");
  if (take(reader, '@')) {
    made->attribute = read_name(reader);
    if (!made->attribute || !take(reader, '=')) return fail(reader, made, "an attribute without what it is by itself");
  }
  made->optional = take(reader, '?');
  skip(reader);
  if (*reader->at == '\'') {
    const char *end = strchr(++reader->at, '\'');
    if (!end) return fail(reader, made, "text without an end");
    made->kind = TEXT;
    made->text = strndup(reader->at, (size_t)(end - reader->at));
    reader->at = end + 1;
  } else if (isdigit((unsigned char)*reader->at) || *reader->at == '-') {
    char *end;
    made->number = strtod(reader->at, &end);
    made->whole = memchr(reader->at, '.', (size_t)(end - reader->at)) == NULL;
    made->kind = NUMBER;
    reader->at = end;
  } else {
    return read_word(reader, made);
  }
  return made;
}

/* Whole numbers in the place of a tensor are inputs. */
static bool find_inputs(expression *e) {
  for (unsigned i = 0; i < e->count; ++i) {
    expression *a = e->args[i];
    const bool tensor = e->tags[i] == KW_TAG_TENSOR || e->tags[i] == KW_TAG_TENSOR_LIST;
    if (!a) continue;
    if (tensor && a->kind == NUMBER && a->whole && !a->attribute) {
      a->kind = INPUT;
      a->input = (unsigned)a->number;
    }
    if (tensor && a->kind != INPUT && a->kind != CALL_OF && a->kind != NONE) return false;
    if (a->kind == CALL_OF && !find_inputs(a)) return false;
  }
  return true;
}

expression *expression_parse(const char *text, const char **out_why) {
  reader reader = {.at = text};
  expression *made = read_argument(&reader);
  skip(&reader);
  if (made && (made->kind != CALL_OF || *reader.at)) made = fail(&reader, made, "it is not one call");
  if (made && !find_inputs(made)) made = fail(&reader, made, "no tensor where the op wants one");
  *out_why = reader.why;
  return made;
}

void expression_free(expression *e) {
  if (!e) return;
  for (unsigned i = 0; i < MAX_ARGS; ++i) expression_free(e->args[i]);
  free(e->text);
  free(e->attribute);
  free(e);
}

/* ---- Running ----------------------------------------------------------------------------------------------------- */

static kw_value number_for(const expression *a, kw_tag tag, node *node) {
  const char *name = a->attribute;
  const double number = !name      ? a->number
                        : a->whole ? (double)node_int(node, name, (int64_t)a->number)
                                   : node_float(node, name, a->number);
  switch (tag) {
    case KW_TAG_INT:
      return kw_arg_int((int64_t)number);
    case KW_TAG_FLOAT:
      return kw_arg_float(number);
    case KW_TAG_BOOL:
      return kw_arg_bool(number != 0);
    default:
      return a->whole ? kw_arg_scalar_i64((int64_t)number) : kw_arg_scalar_f64(number);
  }
}

/* The arguments and the call itself; its result goes to output 0 where it is the `outermost`. */
static value *run_one(const expression *e, run *run, bool outermost) {
  kw_value args[MAX_ARGS];
  for (unsigned i = 0; i < e->count; ++i) {
    const expression *a = e->args[i];
    const value *tensor = NULL;
    if (!a || a->kind == NONE) {
      args[i] = kw_arg_none();
    } else if (a->kind == INPUT) {
      tensor = run_input(run, a->input);
      if (!tensor && !a->optional) return run_refuse(run, "input %u is missing", a->input), NULL;
      args[i] = arg(tensor);
    } else if (a->kind == CALL_OF) {
      tensor = run_one(a, run, false);
      if (!tensor) return NULL;
      args[i] = arg(tensor);
    } else if (a->kind == TEXT) {
      args[i] = kw_arg_string(a->attribute ? node_text(run->node, a->attribute, a->text) : a->text);
    } else {
      args[i] =
          a->kind == BOOLEAN && !a->attribute ? kw_arg_bool(a->number != 0) : number_for(a, e->tags[i], run->node);
    }
  }
  if (!outermost) return run_call(run, e->text, args, e->count);
  run_call_to(run, 0, e->text, args, e->count);
  return NULL;
}

bool expression_run(const expression *e, run *run) {
  run_one(e, run, true);
  return !run->failed;
}
