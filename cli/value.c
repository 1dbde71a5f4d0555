/* SPDX-License-Identifier: Apache-2.0
 *
 * Values of op arguments, read from the text of a command line.
 */
#include "value.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool parse_int(const char *text, int64_t *out, const char **out_end) {
  char *end;
  errno = 0;
  *out = strtoll(text, &end, 10);
  *out_end = end;
  return end != text && errno == 0;
}

static bool parse_whole_int(const char *text, int64_t *out) {
  const char *end;
  return parse_int(text, out, &end) && *end == '\0';
}

static bool parse_float(const char *text, double *out) {
  char *end;
  *out = strtod(text, &end);
  return end != text && *end == '\0';
}

static bool parse_bool(const char *text, bool *out) {
  *out = strcasecmp(text, "true") == 0;
  return *out || strcasecmp(text, "false") == 0;
}

/* "2j", "1+2j" */
static bool parse_complex(const char *text, double out[2]) {
  char *end;
  double first = strtod(text, &end);
  if (end == text) return false;
  out[0] = 0;
  out[1] = first;
  if (*end == '+' || *end == '-') {
    const char *second = end;
    out[0] = first;
    out[1] = strtod(second, &end);
    if (end == second) return false;
  }
  return strcmp(end, "j") == 0;
}

static bool parse_int_value(const char *text, kw_cli_storage *storage, kw_value *out) {
  (void)storage;
  out->tag = KW_TAG_INT;
  return parse_whole_int(text, &out->u.i);
}

static bool parse_float_value(const char *text, kw_cli_storage *storage, kw_value *out) {
  (void)storage;
  out->tag = KW_TAG_FLOAT;
  return parse_float(text, &out->u.f);
}

static bool parse_bool_value(const char *text, kw_cli_storage *storage, kw_value *out) {
  (void)storage;
  out->tag = KW_TAG_BOOL;
  return parse_bool(text, &out->u.b);
}

static bool parse_scalar_value(const char *text, kw_cli_storage *storage, kw_value *out) {
  (void)storage;
  out->tag = KW_TAG_SCALAR;
  out->kind = KW_SCALAR_BOOL;
  if (parse_bool(text, &out->u.b)) return true;
  out->kind = KW_SCALAR_I64;
  if (parse_whole_int(text, &out->u.i)) return true;
  out->kind = KW_SCALAR_F64;
  if (parse_float(text, &out->u.f)) return true;
  out->kind = KW_SCALAR_C128;
  return parse_complex(text, out->u.c);
}

static bool parse_dtype_value(const char *text, kw_cli_storage *storage, kw_value *out) {
  (void)storage;
  *out = kw_arg_dtype(kw_dtype_from_name(text));
  return out->u.dtype != KW_DTYPE_NONE;
}

/* "0,1", "[0, 1]", "3", "[]" */
static bool parse_ints_value(const char *text, kw_cli_storage *storage, kw_value *out) {
  bool bracket = *text == '[';
  uint32_t count = 0;
  text += bracket;
  while (*text && *text != ']') {
    if (count == KW_CLI_MAX_INTS || !parse_int(text, &storage->ints[count++], &text)) return false;
    text += strspn(text, " ");
    if (*text == ',') ++text;
    text += strspn(text, " ");
  }
  *out = kw_arg_int_list(storage->ints, count);
  return strcmp(text, bracket ? "]" : "") == 0;
}

static bool parse_text_value(const char *text, kw_cli_storage *storage, kw_value *out) {
  size_t size = strlen(text) + 1;
  if (size > sizeof storage->text) return false;
  memcpy(storage->text, text, size);
  *out = kw_arg_string(storage->text);
  return true;
}

typedef struct value_type {
  const char *expects;
  bool (*parse)(const char *text, kw_cli_storage *storage, kw_value *out);
} value_type;

/* By tag; no entry for tensors; a generator has no text of its own. */
static const value_type value_types[] = {
    [KW_TAG_INT] = {"an integer", parse_int_value},
    [KW_TAG_INT_LIST] = {"integers such as 0,1", parse_ints_value},
    [KW_TAG_FLOAT] = {"a number", parse_float_value},
    [KW_TAG_BOOL] = {"true or false", parse_bool_value},
    [KW_TAG_STRING] = {"a text of at most 255 bytes", parse_text_value},
    [KW_TAG_SCALAR] = {"a number, true or false", parse_scalar_value},
    [KW_TAG_DTYPE] = {"a dtype such as f32 or i64", parse_dtype_value},
    [KW_TAG_GENERATOR] = {"none", NULL},
};

bool kw_cli_value_parse(const kw_arg_info *arg, const char *text, kw_cli_storage *storage, kw_value *out_value) {
  memset(out_value, 0, sizeof *out_value);
  if ((arg->flags & KW_ARG_OPTIONAL) && strcasecmp(text, "none") == 0) return true;
  const value_type *type = &value_types[arg->tag];
  return type->parse && type->parse(text, storage, out_value);
}

const char *kw_cli_value_expects(const kw_arg_info *arg) {
  const value_type *type = &value_types[arg->tag];
  return type->expects ? type->expects : "a tensor";
}
