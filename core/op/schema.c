/* SPDX-License-Identifier: Apache-2.0
 *
 * Recursive descent over ATen's schema grammar:
 *
 *   schema  = name "(" [ arg { "," arg } ] ")" "->" results          one of the args may be "*"
 *   name    = ident [ "::" ident ] [ "." ident ]
 *   arg     = type ident [ "=" default ]
 *   type    = base [ "(" letter "!" ")" ] [ "?" ] [ "[" [ number ] "]" [ "?" ] ]      bool only with a number; a marked
 *             list has no "?" in front, and is no result
 *   results = result | "(" [ result { "," result } ] ")"
 *   result  = "Tensor" [ "(" letter "!" ")" ] [ ident ]
 *
 * Every step returns false after the first error, which has then been reported with its column.
 */
#include "op/schema.h"

#include "base/error.h"

#include <ctype.h>
#include <errno.h>
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_LIST_SIZE 64 /* N of int[N] and bool[N] */

typedef struct parser {
  const char *text;
  const char *at;
  kw_schema *schema;
  kw_status status;
  char letters[KW_MAX_ARGS]; /* alias letter of each argument, 0 = none */
  uint32_t ints_used;
  uint32_t strings_used;
} parser;

static bool fail_at(parser *p, const char *where, const char *format, ...) __attribute__((format(printf, 3, 4)));
static bool fail_at(parser *p, const char *where, const char *format, ...) {
  char message[256];
  va_list list;
  va_start(list, format);
  vsnprintf(message, sizeof message, format, list);
  va_end(list);
  p->status = kw_fail(KW_ERR_INVALID_ARGUMENT, "schema \"%s\": column %zu: %s", p->text, (size_t)(where - p->text) + 1,
                      message);
  return false;
}

static bool fail_memory(parser *p) {
  p->status = kw_fail(KW_ERR_OUT_OF_MEMORY, "schema \"%s\": no memory to keep it", p->text);
  return false;
}

/* "expected X, found Y" at the cursor. */
static bool fail_expected(parser *p, const char *what) {
  if (*p->at == '\0') return fail_at(p, p->at, "expected %s, found the end", what);
  return fail_at(p, p->at, "expected %s, found '%.12s'", what, p->at);
}

static void skip_space(parser *p) {
  while (*p->at == ' ') ++p->at;
}

static bool accept(parser *p, const char *token) {
  skip_space(p);
  size_t length = strlen(token);
  if (strncmp(p->at, token, length) != 0) return false;
  p->at += length;
  return true;
}

static bool expect(parser *p, const char *token, const char *what) {
  return accept(p, token) || fail_expected(p, what);
}

static bool is_ident(char c) {
  return isalnum((unsigned char)c) || c == '_';
}

/* Length of the identifier at the cursor; 0 when there is none. */
static size_t ident_length(const char *at) {
  if (isdigit((unsigned char)*at)) return 0;
  size_t n = 0;
  while (is_ident(at[n])) ++n;
  return n;
}

/* Appends an identifier to `out`, which holds `used` characters of at most `size` with the NUL. */
static bool parse_ident(parser *p, const char *what, char *out, size_t size, size_t *used) {
  size_t n = ident_length(p->at);
  if (n == 0) return fail_expected(p, what);
  if (*used + n >= size) return fail_at(p, p->at, "%s is too long: at most %zu characters", what, size - 1);
  memcpy(out + *used, p->at, n);
  *used += n;
  out[*used] = '\0';
  p->at += n;
  return true;
}

/* Whether the word `word`, and not a longer one, is next; takes it. */
static bool accept_word(parser *p, const char *word) {
  skip_space(p);
  size_t n = ident_length(p->at);
  if (n != strlen(word) || strncmp(p->at, word, n) != 0) return false;
  p->at += n;
  return true;
}

static bool parse_name(parser *p) {
  char *name = p->schema->name;
  const size_t size = sizeof p->schema->name;
  size_t used = 0;
  skip_space(p);
  if (!parse_ident(p, "the op's name", name, size, &used)) return false;
  for (int part = 0; part < 2; ++part) {
    const char *separator = part == 0 ? "::" : ".";
    size_t length = strlen(separator);
    if (strncmp(p->at, separator, length) != 0) continue;
    if (used + length >= size) return fail_at(p, p->at, "the op's name is too long: at most %zu characters", size - 1);
    memcpy(name + used, separator, length);
    used += length;
    p->at += length;
    if (!parse_ident(p, part == 0 ? "a name after the namespace" : "the overload's name", name, size, &used)) {
      return false;
    }
  }
  return true;
}

/* ---- Types ------------------------------------------------------------------------------------------------------- */

static const struct {
  const char *name;
  kw_tag tag;
} base_types[] = {
    {"Tensor", KW_TAG_TENSOR}, {"int", KW_TAG_INT},          {"SymInt", KW_TAG_INT},
    {"float", KW_TAG_FLOAT},   {"bool", KW_TAG_BOOL},        {"str", KW_TAG_STRING},
    {"Scalar", KW_TAG_SCALAR}, {"ScalarType", KW_TAG_DTYPE}, {"Generator", KW_TAG_GENERATOR},
};

/* "(a!)" into *out_letter; 0 when there is none. */
static bool parse_alias(parser *p, char *out_letter) {
  *out_letter = 0;
  if (!accept(p, "(")) return true;
  skip_space(p);
  if (!islower((unsigned char)*p->at)) return fail_expected(p, "a lower-case letter that names the alias");
  *out_letter = *p->at++;
  return expect(p, "!", "'!' (an op that returns a view is not an op here)") && expect(p, ")", "')'");
}

static bool parse_list_suffix(parser *p, kw_schema_arg *arg, const char *type_start, char letter) {
  bool element_optional = arg->optional, bools = arg->tag == KW_TAG_BOOL && !element_optional;
  if (arg->tag == KW_TAG_TENSOR) {
    arg->tag = KW_TAG_TENSOR_LIST;
    arg->list_optional = element_optional;
  } else if ((arg->tag == KW_TAG_INT && !element_optional) || bools) {
    arg->tag = KW_TAG_INT_LIST;
  } else {
    return fail_at(p, type_start, "only Tensor, Tensor?, int and bool make lists");
  }
  if (letter && element_optional) return fail_at(p, type_start, "a list marked (%c!) has no absent entries", letter);
  skip_space(p);
  if (isdigit((unsigned char)*p->at)) {
    const char *start = p->at;
    char *end;
    errno = 0;
    long n = strtol(p->at, &end, 10);
    if (arg->tag != KW_TAG_INT_LIST) return fail_at(p, start, "only int lists have a size");
    if (errno || n < 1 || n > MAX_LIST_SIZE) return fail_at(p, start, "a list's size is 1 to %d", MAX_LIST_SIZE);
    *(bools ? &arg->bool_count : &arg->list_size) = (int32_t)n;
    p->at = end;
  } else if (bools) {
    return fail_expected(p, "the number of bools");
  }
  if (!expect(p, "]", "']'")) return false;
  arg->optional = accept(p, "?");
  return true;
}

static bool parse_type(parser *p, kw_schema_arg *arg, char *out_letter) {
  skip_space(p);
  const char *start = p->at;
  for (size_t i = 0; i < sizeof base_types / sizeof base_types[0] && !arg->tag; ++i) {
    if (accept_word(p, base_types[i].name)) arg->tag = base_types[i].tag;
  }
  if (!arg->tag) {
    return fail_expected(p, "a type (Tensor, int, SymInt, float, bool, str, Scalar, ScalarType or Generator)");
  }
  if (!parse_alias(p, out_letter)) return false;
  if (*out_letter && arg->tag != KW_TAG_TENSOR)
    return fail_at(p, start, "only a Tensor can be marked (%c!)", *out_letter);
  arg->mutated = *out_letter != 0;
  arg->optional = accept(p, "?");
  if (accept(p, "[")) return parse_list_suffix(p, arg, start, *out_letter);
  return true;
}

/* ---- Defaults ---------------------------------------------------------------------------------------------------- */

static bool parse_integer(parser *p, int64_t *out_value) {
  skip_space(p);
  const char *digits = p->at + (*p->at == '-');
  if (!isdigit((unsigned char)*digits)) return fail_expected(p, "an integer");
  char *end;
  errno = 0;
  long long value = strtoll(p->at, &end, 10);
  if (errno) return fail_at(p, p->at, "the integer does not fit in 64 bits");
  if (*end == '.' || is_ident(*end)) return fail_expected(p, "an integer");
  *out_value = value;
  p->at = end;
  return true;
}

static bool parse_number(parser *p, double *out_value) {
  skip_space(p);
  const char *digits = p->at + (*p->at == '-');
  if (!isdigit((unsigned char)*digits) && *digits != '.') return fail_expected(p, "a number");
  /* An application may have set a locale with a decimal comma. */
  locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  if (c_locale == (locale_t)0) return fail_memory(p);
  char *end;
  double value = strtod_l(p->at, &end, c_locale);
  freelocale(c_locale);
  if (end == p->at || is_ident(*end)) return fail_expected(p, "a number");
  *out_value = value;
  p->at = end;
  return true;
}

static bool parse_bool(parser *p, bool *out_value) {
  *out_value = accept_word(p, "True");
  return *out_value || accept_word(p, "False") || fail_expected(p, "True or False");
}

static bool parse_scalar(parser *p, kw_value *value) {
  skip_space(p);
  if (isalpha((unsigned char)*p->at)) {
    value->kind = KW_SCALAR_BOOL;
    return parse_bool(p, &value->u.b);
  }
  size_t integer = strspn(p->at, "-0123456789");
  if (p->at[integer] == '.' || p->at[integer] == 'e' || p->at[integer] == 'E') {
    value->kind = KW_SCALAR_F64;
    return parse_number(p, &value->u.f);
  }
  value->kind = KW_SCALAR_I64;
  return parse_integer(p, &value->u.i);
}

static bool parse_string(parser *p, kw_value *value) {
  skip_space(p);
  char quote = *p->at;
  if (quote != '\'' && quote != '"') return fail_expected(p, "a quoted text");
  const char *end = strchr(p->at + 1, quote);
  if (!end) return fail_at(p, p->at, "the text has no closing %c", quote);
  if (!p->schema->default_strings) p->schema->default_strings = malloc(strlen(p->text) + 1);
  if (!p->schema->default_strings) return fail_memory(p);
  char *copy = p->schema->default_strings + p->strings_used;
  size_t length = (size_t)(end - p->at) - 1;
  memcpy(copy, p->at + 1, length);
  copy[length] = '\0';
  p->strings_used += (uint32_t)length + 1;
  value->u.s = copy;
  p->at = end + 1;
  return true;
}

/* "[]", "[1, 2]", or for int[N] one integer that stands for N. */
static bool parse_int_list(parser *p, const kw_schema_arg *arg, kw_value *value) {
  if (!p->schema->default_ints) {
    /* No schema holds more integers than it has characters; an int[N]=1 adds MAX_LIST_SIZE at most. */
    p->schema->default_ints = calloc(strlen(p->text) + (size_t)KW_MAX_ARGS * MAX_LIST_SIZE, sizeof(int64_t));
  }
  if (!p->schema->default_ints) return fail_memory(p);
  int64_t *ints = p->schema->default_ints + p->ints_used;
  uint32_t count = 0;
  if (accept(p, "[")) {
    while (!accept(p, "]")) {
      if (count && !expect(p, ",", "',' or ']'")) return false;
      if (!parse_integer(p, &ints[count++])) return false;
    }
  } else {
    if (!arg->list_size) return fail_expected(p, "'['");
    if (!parse_integer(p, &ints[0])) return false;
    for (count = 1; count < (uint32_t)arg->list_size; ++count) ints[count] = ints[0];
  }
  p->ints_used += count;
  value->u.ints = ints;
  value->count = count;
  return true;
}

static bool parse_default(parser *p, kw_schema_arg *arg) {
  skip_space(p);
  const char *start = p->at;
  kw_value *value = &arg->default_value;
  arg->has_default = true;
  if (accept_word(p, "None")) {
    return arg->optional || fail_at(p, start, "None needs an optional argument: write '?' after the type");
  }
  value->tag = arg->tag;
  switch (arg->tag) {
    case KW_TAG_INT:
      return parse_integer(p, &value->u.i);
    case KW_TAG_FLOAT:
      return parse_number(p, &value->u.f);
    case KW_TAG_BOOL:
      return parse_bool(p, &value->u.b);
    case KW_TAG_STRING:
      return parse_string(p, value);
    case KW_TAG_SCALAR:
      return parse_scalar(p, value);
    case KW_TAG_INT_LIST:
      return parse_int_list(p, arg, value);
    default:
      return fail_at(p, start, "the only default of this type is None");
  }
}

/* ---- Arguments and results --------------------------------------------------------------------------------------- */

static bool parse_arg(parser *p, bool keyword_only) {
  kw_schema *schema = p->schema;
  skip_space(p);
  if (schema->arg_count == KW_MAX_ARGS) return fail_at(p, p->at, "more than %d arguments", KW_MAX_ARGS);
  kw_schema_arg *arg = &schema->args[schema->arg_count];
  char *letter = &p->letters[schema->arg_count];
  if (!parse_type(p, arg, letter)) return false;
  skip_space(p);
  const char *start = p->at;
  size_t used = 0;
  if (!parse_ident(p, "the argument's name", arg->name, sizeof arg->name, &used)) return false;
  for (uint32_t i = 0; i < schema->arg_count; ++i) {
    if (strcmp(schema->args[i].name, arg->name) == 0) return fail_at(p, start, "a second argument '%s'", arg->name);
    if (*letter && p->letters[i] == *letter) return fail_at(p, start, "a second argument marked (%c!)", *letter);
  }
  arg->keyword_only = keyword_only;
  if (accept(p, "=") && !parse_default(p, arg)) return false;
  /* Calls are positional: whatever stands before a required argument has to be given too. */
  bool after_default = schema->arg_count > schema->required_count;
  if (!arg->has_default && after_default && !keyword_only) {
    return fail_at(p, start, "'%s' has no default but an argument before it has", arg->name);
  }
  ++schema->arg_count;
  if (!arg->has_default) schema->required_count = schema->arg_count;
  return true;
}

static bool parse_args(parser *p) {
  if (!expect(p, "(", "'('")) return false;
  if (accept(p, ")")) return true;
  bool keyword_only = false;
  do {
    skip_space(p);
    if (*p->at == '*') {
      if (keyword_only) return fail_at(p, p->at, "a second '*'");
      keyword_only = true;
      ++p->at;
      if (!expect(p, ",", "',' and an argument after '*'")) return false;
    }
    if (!parse_arg(p, keyword_only)) return false;
  } while (accept(p, ","));
  return expect(p, ")", "',' or ')'");
}

static bool parse_result(parser *p) {
  kw_schema *schema = p->schema;
  skip_space(p);
  const char *start = p->at;
  if (schema->result_count == KW_MAX_RESULTS) return fail_at(p, start, "more than %d results", KW_MAX_RESULTS);
  if (!accept_word(p, "Tensor")) return fail_expected(p, "a result, Tensor or Tensor(a!)");
  char letter;
  if (!parse_alias(p, &letter)) return false;
  kw_schema_result *result = &schema->results[schema->result_count++];
  result->alias_of = -1;
  for (uint32_t i = 0; letter && i < schema->arg_count; ++i) {
    if (p->letters[i] == letter) result->alias_of = (int32_t)i;
  }
  if (letter && result->alias_of < 0) return fail_at(p, start, "no argument is marked (%c!)", letter);
  if (letter && schema->args[result->alias_of].tag == KW_TAG_TENSOR_LIST) {
    return fail_at(p, start, "the argument marked (%c!) is a list, which is no result", letter);
  }
  skip_space(p);
  p->at += ident_length(p->at); /* a result's name is for people */
  return true;
}

static bool parse_results(parser *p) {
  if (!expect(p, "->", "'->'")) return false;
  if (!accept(p, "(")) return parse_result(p);
  if (accept(p, ")")) return true;
  do {
    if (!parse_result(p)) return false;
  } while (accept(p, ","));
  return expect(p, ")", "',' or ')'");
}

static bool parse_end(parser *p) {
  skip_space(p);
  return *p->at == '\0' || fail_expected(p, "the end");
}

static bool find_output_mask(parser *p) {
  kw_schema *schema = p->schema;
  schema->output_mask = -1;
  for (uint32_t i = 0; i < schema->arg_count; ++i) {
    const kw_schema_arg *arg = &schema->args[i];
    if (!arg->bool_count || strcmp(arg->name, "output_mask") != 0) continue;
    if ((uint32_t)arg->bool_count != schema->result_count) {
      return fail_at(p, p->at, "'output_mask' has %d bools for %u results", arg->bool_count, schema->result_count);
    }
    schema->output_mask = (int32_t)i;
  }
  return true;
}

kw_status kw_schema_parse(const char *text, kw_schema *out_schema) {
  memset(out_schema, 0, sizeof *out_schema);
  if (!text) return kw_fail(KW_ERR_INVALID_ARGUMENT, "schema: the text is NULL");
  parser p = {.text = text, .at = text, .schema = out_schema};
  if (!(parse_name(&p) && parse_args(&p) && parse_results(&p) && parse_end(&p) && find_output_mask(&p))) {
    kw_schema_free(out_schema);
    return p.status;
  }
  out_schema->text = strdup(text);
  if (out_schema->text) return KW_OK;
  fail_memory(&p);
  kw_schema_free(out_schema);
  return p.status;
}

void kw_schema_free(kw_schema *schema) {
  free(schema->text);
  free(schema->default_ints);
  free(schema->default_strings);
  memset(schema, 0, sizeof *schema);
}
