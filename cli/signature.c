/* SPDX-License-Identifier: Apache-2.0 */
#include "signature.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- The schema -------------------------------------------------------------------------------------------------- */

/* The end of the piece that starts at `at`: a comma or closing bracket outside of brackets and quotes. */
static const char *piece_end(const char *at) {
  int depth = 0;
  char quote = 0;
  for (; *at; ++at) {
    if (quote) {
      if (*at == quote) quote = 0;
    } else if (*at == '\'' || *at == '"') {
      quote = *at;
    } else if (*at == '(' || *at == '[') {
      ++depth;
    } else if ((*at == ')' || *at == ']') && depth-- == 0) {
      break;
    } else if (*at == ',' && depth == 0) {
      break;
    }
  }
  return at;
}

/* "Tensor(a!)? name=default" */
static void read_param(const char *text, kw_cli_param *out) {
  char type[32] = "", rest[128] = "";
  sscanf(text, "%15[A-Za-z]%31s %127[^\n]", out->type, type, rest);
  if (text[strlen(out->type)] == ' ') { /* no marks behind the type */
    type[0] = '\0';
    sscanf(text, "%*s %127[^\n]", rest);
  }
  out->list = strchr(type, '[') != NULL;
  const char *last = out->list ? strchr(type, ']') : type;
  out->optional = last && strchr(last, '?') != NULL;
  const char *mark = strchr(type, '!');
  out->alias = mark && mark > type ? mark[-1] : 0;
  sscanf(rest, "%31[A-Za-z0-9_] = %127[^\n]", out->name, out->default_text);
}

static int find_alias(const kw_cli_signature *signature, char alias) {
  for (uint32_t i = 0; alias && i < signature->param_count; ++i) {
    if (signature->params[i].alias == alias) return (int)i;
  }
  return -1;
}

/* The comma-separated piece at `at`; returns what follows it. */
static const char *next_piece(const char *at, char piece[256]) {
  while (*at == ' ' || *at == ',') ++at;
  const char *end = piece_end(at);
  snprintf(piece, 256, "%.*s", (int)(end - at), at);
  return end;
}

void kw_cli_signature_read(const char *schema, kw_cli_signature *out_signature) {
  kw_cli_signature *s = out_signature;
  memset(s, 0, sizeof *s);
  char piece[256];
  const char *at = strchr(schema, '(') + 1;
  while (*at && *at != ')') {
    at = next_piece(at, piece);
    if (*piece && *piece != '*' && s->param_count < KW_CLI_MAX_PARAMS) read_param(piece, &s->params[s->param_count++]);
  }
  at = strstr(at, "->");
  at = at ? at + 2 : "";
  while (*at == ' ') ++at;
  if (*at == '(') ++at;
  while (*at && *at != ')' && s->result_count < KW_CLI_MAX_RESULTS) {
    kw_cli_param result = {0};
    at = next_piece(at, piece);
    read_param(piece, &result);
    s->result_alias[s->result_count++] = find_alias(s, result.alias);
  }
}

int kw_cli_signature_find(const kw_cli_signature *signature, const char *name) {
  for (uint32_t i = 0; i < signature->param_count; ++i) {
    if (strcmp(signature->params[i].name, name) == 0) return (int)i;
  }
  return -1;
}

bool kw_cli_param_is_tensor(const kw_cli_param *param) {
  return strcmp(param->type, "Tensor") == 0;
}

/* ---- Values ------------------------------------------------------------------------------------------------------ */

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

/* A text, without the quotes of a schema's default. */
static bool parse_text_value(const char *text, kw_cli_storage *storage, kw_value *out) {
  size_t length = strlen(text);
  bool quoted = length >= 2 && (*text == '\'' || *text == '"') && text[length - 1] == *text;
  if (quoted) length -= 2;
  if (length >= sizeof storage->text) return false;
  memcpy(storage->text, text + quoted, length);
  storage->text[length] = '\0';
  *out = kw_arg_string(storage->text);
  return true;
}

typedef struct value_type {
  const char *type;
  bool list;
  const char *expects;
  bool (*parse)(const char *text, kw_cli_storage *storage, kw_value *out);
} value_type;

static const value_type value_types[] = {
    {"int", false, "an integer", parse_int_value},
    {"SymInt", false, "an integer", parse_int_value},
    {"int", true, "integers such as 0,1", parse_ints_value},
    {"SymInt", true, "integers such as 0,1", parse_ints_value},
    {"float", false, "a number", parse_float_value},
    {"bool", false, "true or false", parse_bool_value},
    {"str", false, "a text of at most 255 bytes", parse_text_value},
    {"Scalar", false, "a number, true or false", parse_scalar_value},
    {"ScalarType", false, "a dtype such as f32 or i64", parse_dtype_value},
};

/* NULL for a tensor. */
static const value_type *find_type(const kw_cli_param *param) {
  for (size_t i = 0; i < sizeof value_types / sizeof value_types[0]; ++i) {
    if (strcmp(value_types[i].type, param->type) == 0 && value_types[i].list == param->list) return &value_types[i];
  }
  return NULL;
}

bool kw_cli_param_parse(const kw_cli_param *param, const char *text, kw_cli_storage *storage, kw_value *out_value) {
  memset(out_value, 0, sizeof *out_value);
  if (param->optional && strcasecmp(text, "none") == 0) return true;
  const value_type *type = find_type(param);
  return type && type->parse(text, storage, out_value);
}

const char *kw_cli_param_expects(const kw_cli_param *param) {
  const value_type *type = find_type(param);
  return type ? type->expects : "a tensor";
}
