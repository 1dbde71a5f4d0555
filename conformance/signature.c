/* SPDX-License-Identifier: Apache-2.0 */
#include "signature.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const struct {
  const char *text;
  kw_tag tag;
} types[] = {
    {"Tensor", KW_TAG_TENSOR},  {"Tensor[]", KW_TAG_TENSOR_LIST}, {"int", KW_TAG_INT},          {"SymInt", KW_TAG_INT},
    {"int[]", KW_TAG_INT_LIST}, {"SymInt[]", KW_TAG_INT_LIST},    {"float", KW_TAG_FLOAT},      {"bool", KW_TAG_BOOL},
    {"str", KW_TAG_STRING},     {"Scalar", KW_TAG_SCALAR},        {"ScalarType", KW_TAG_DTYPE},
};

/* "None", "True", "1", "0.5", "'none'", "[]". */
static bool parse_default(const char *text, size_t length, kw_suite_arg *out) {
  out->has_default = true;
  if (length + 1 > sizeof out->default_text) return false;
  kw_value *value = &out->default_value;
  char *copy = out->default_text;
  memcpy(copy, text, length);
  copy[length] = 0;
  if (strcmp(copy, "None") == 0) return true;
  value->tag = out->tag;
  switch (out->tag) {
    case KW_TAG_BOOL:
      value->u.b = strcmp(copy, "True") == 0;
      return true;
    case KW_TAG_INT:
      value->u.i = strtoll(copy, NULL, 10);
      return true;
    case KW_TAG_FLOAT:
      value->u.f = strtod(copy, NULL);
      return true;
    case KW_TAG_SCALAR:
      value->kind = strpbrk(copy, ".e") ? KW_SCALAR_F64 : KW_SCALAR_I64;
      if (value->kind == KW_SCALAR_F64) {
        value->u.f = strtod(copy, NULL);
      } else {
        value->u.i = strtoll(copy, NULL, 10);
      }
      return true;
    case KW_TAG_STRING:
      if (length < 2 || copy[0] != '\'') return false;
      memmove(copy, copy + 1, length - 2);
      copy[length - 2] = 0; /* u.s is set where the op lies for good: see kw_suite_arg_default */
      return true;
    case KW_TAG_INT_LIST:
      return strcmp(copy, "[]") == 0;
    default:
      return false;
  }
}

kw_value kw_suite_arg_default(const kw_suite_arg *arg) {
  kw_value value = arg->default_value;
  if (value.tag == KW_TAG_STRING) value.u.s = arg->default_text;
  return value;
}

/* "int[1]? dim=[]": type, name, default. The text ends at `end`. */
static bool parse_arg(const char *text, const char *end, kw_suite_arg *out) {
  memset(out, 0, sizeof *out);
  char type[32];
  size_t length = 0;
  int depth = 0;
  const char *p = text;
  for (; p < end && (*p != ' ' || depth > 0); p++) {
    if (*p == '(') {
      depth++;
    } else if (*p == ')') {
      depth--;
    } else if (depth > 0) {
      out->mutated |= *p == '!';
    } else if (*p == '?') {
      out->optional = true;
    } else if (!isdigit((unsigned char)*p) && length + 1 < sizeof type) {
      type[length++] = *p; /* int[1] is int[] here */
    }
  }
  type[length] = 0;
  for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
    if (strcmp(types[i].text, type) == 0) out->tag = types[i].tag;
  }
  while (p < end && *p == ' ') p++;
  length = 0;
  for (; p < end && *p != '='; p++) {
    if (length + 1 < sizeof out->name) out->name[length++] = *p;
  }
  if (p < end && !parse_default(p + 1, (size_t)(end - p - 1), out)) return false;
  return out->tag != KW_TAG_NONE && length > 0;
}

/* The end of the argument that starts at p: a comma or the closing parenthesis at depth 0, strings skipped. */
static const char *arg_end(const char *p) {
  int depth = 0;
  bool quoted = false;
  for (; *p; p++) {
    if (*p == '\'') quoted = !quoted;
    if (quoted) continue;
    if (depth == 0 && (*p == ',' || *p == ')')) break;
    if (*p == '(' || *p == '[') depth++;
    if (*p == ')' || *p == ']') depth--;
  }
  return p;
}

static uint32_t count_results(const char *text) {
  uint32_t count = 0;
  for (const char *p = text; (p = strstr(p, "Tensor")); p += 6) count++;
  return count;
}

bool kw_suite_op_parse(const char *schema, kw_suite_op *out_op) {
  memset(out_op, 0, sizeof *out_op);
  const char *open = strchr(schema, '(');
  if (!open || (size_t)(open - schema) >= sizeof out_op->name || open == schema) return false;
  memcpy(out_op->name, schema, (size_t)(open - schema));
  size_t base = strcspn(out_op->name, ".");
  memcpy(out_op->base, out_op->name, base);

  const char *p = open + 1;
  while (*p && *p != ')') {
    const char *end = arg_end(p);
    if (!*end) return false;
    if (!(end - p == 1 && *p == '*')) {
      if (out_op->arg_count == KW_SUITE_ARGS) return false;
      if (!parse_arg(p, end, &out_op->args[out_op->arg_count++])) return false;
    }
    p = *end == ',' ? end + 1 : end;
    while (*p == ' ') p++;
  }
  const char *arrow = strstr(p, "->");
  if (*p != ')' || !arrow) return false;
  out_op->result_count = count_results(arrow);
  out_op->in_place = strchr(arrow, '!') != NULL && out_op->arg_count > 0 && out_op->args[0].mutated;
  return out_op->result_count > 0 && out_op->result_count <= KW_SUITE_RESULTS;
}

const kw_suite_op *kw_suite_ops(uint32_t *out_count) {
  static kw_suite_op *ops;
  if (!ops) {
    ops = calloc(kw_op_table_count, sizeof *ops);
    if (!ops) abort();
    for (uint32_t i = 0; i < kw_op_table_count; i++) {
      if (!kw_suite_op_parse(kw_op_table[i].schema, &ops[i])) abort(); /* our own table: signature_test reads it all */
      ops[i].row = kw_op_table[i];
    }
  }
  *out_count = kw_op_table_count;
  return ops;
}

uint64_t kw_suite_op_keys(const kw_suite_op *op) {
  switch (op->row.result) {
    case KW_RESULT_FLOAT:
      return op->row.dtypes & KW_DTYPES_FLOAT;
    case KW_RESULT_SUM:
      return op->row.dtypes & KW_DTYPES_NUM;
    default:
      return op->row.dtypes;
  }
}

const char *kw_suite_op_family(const kw_suite_op *op) {
  if (op->vendor) return "vendor";
  if (op->row.result == KW_RESULT_SELF) return "moves";
  if (op->row.shape == KW_SHAPE_MM) return "matrix products";
  if (op->row.shape != KW_SHAPE_BROADCAST) return "reductions";
  if (op->row.result == KW_RESULT_BOOL || op->row.compare == KW_CMP_BITS) return "comparison and logic";
  bool unary = op->arg_count < 2 || op->args[1].tag == KW_TAG_STRING;
  return unary && op->row.ulp > 0 ? "elementary" : "arithmetic";
}

int kw_suite_op_find_arg(const kw_suite_op *op, const char *name) {
  for (uint32_t i = 0; i < op->arg_count; i++) {
    if (strcmp(op->args[i].name, name) == 0) return (int)i;
  }
  return -1;
}
