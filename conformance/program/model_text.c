/* SPDX-License-Identifier: Apache-2.0
 *
 * Reading the calls of models.
 */
#include "program/model_text.h"

#include "case/parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const kw_model models[] = {
#define KW_MODEL(name, text) {#name, text},
#include "program/models.def"
#undef KW_MODEL
};

const kw_model *kw_model_at(uint32_t index) {
  return index < COUNT(models) ? &models[index] : NULL;
}

void kw_model_read_from_start(kw_model_reader *reader) {
  reader->at = reader->model->text;
  reader->line = 0;
}

/* ---- Words ------------------------------------------------------------------------------------------------------- */

static _Noreturn void refuse(const kw_model_reader *r, const char *what) {
  fprintf(stderr, "models.def, %s, call %u: %s at \"%.40s\"\n", r->model->name, r->line, what, r->at);
  abort();
}

static void skip_spaces(kw_model_reader *r) {
  while (*r->at == ' ') r->at++;
}

static bool accept(kw_model_reader *r, char mark) {
  skip_spaces(r);
  if (*r->at != mark) return false;
  r->at++;
  return true;
}

static void expect(kw_model_reader *r, char mark) {
  char what[] = "no '?'";
  what[4] = mark;
  if (!accept(r, mark)) refuse(r, what);
}

/* Names of tensors and ops, numbers, and other words: "d.ln1", "keyway::rope", "-1", "1e-5", "none". */
static void read_word(kw_model_reader *r, char out_word[KW_MODEL_NAME]) {
  static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.:-";
  skip_spaces(r);
  const size_t length = strspn(r->at, letters);
  if (length == 0 || length >= KW_MODEL_NAME) refuse(r, "a word is missing, or too long");
  memcpy(out_word, r->at, length);
  out_word[length] = 0;
  r->at += length;
}

static int64_t read_int(kw_model_reader *r) {
  char *end;
  skip_spaces(r);
  const int64_t number = strtoll(r->at, &end, 10);
  if (end == r->at) refuse(r, "a number is missing");
  r->at = end;
  return number;
}

/* "[2, 3]", where there is one. */
static bool read_ints(kw_model_reader *r, kw_shape *out) {
  *out = (kw_shape){0};
  if (!accept(r, '[')) return false;
  if (accept(r, ']')) return true;
  do {
    if (out->rank == KW_MAX_RANK) refuse(r, "too many numbers");
    out->dims[out->rank++] = read_int(r);
  } while (accept(r, ','));
  expect(r, ']');
  return true;
}

/* ---- Tensors ----------------------------------------------------------------------------------------------------- */

/* The tensor of that name, a new one where there is none so far. */
static kw_model_tensor *find_tensor(kw_model_reader *r, const char *name) {
  for (uint32_t i = 0; i < r->tensor_count; i++) {
    if (strcmp(r->tensors[i].name, name) == 0) return &r->tensors[i];
  }
  if (r->tensor_count == KW_MODEL_TENSORS) refuse(r, "too many tensors");
  kw_model_tensor *added = &r->tensors[r->tensor_count++];
  *added = (kw_model_tensor){.dtype = KW_DTYPE_NONE, .storage = -1};
  strcpy(added->name, name);
  return added;
}

/* A tensor as it is written: which one, and how a call sees it. */
typedef struct operand {
  kw_model_tensor *tensor;
  kw_case_tensor seen;
} operand;

static void lay(kw_case_tensor *t, const kw_shape *strides, int64_t offset) {
  int64_t last = offset;
  memcpy(t->strides, strides->dims, sizeof t->strides);
  for (uint32_t d = 0; d < t->rank; d++) last += (t->shape[d] - 1) * t->strides[d];
  t->offset = offset;
  t->extent = (uint64_t)last + 1;
}

/* What its first place says about a tensor; in a second pass it says so again. */
static void read_remarks(kw_model_reader *r, kw_model_tensor *t) {
  skip_spaces(r);
  if (*r->at >= 'a' && *r->at <= 'z') {
    char dtype[KW_MODEL_NAME];
    read_word(r, dtype);
    t->dtype = kw_element_from_name(dtype, strlen(dtype));
  }
  if (accept(r, '<')) t->limit = read_int(r);
  t->positive |= accept(r, '>') && read_int(r) == 0;
}

static operand read_tensor(kw_model_reader *r) {
  char name[KW_MODEL_NAME];
  kw_shape shape, strides;
  read_word(r, name);
  operand found = {.tensor = find_tensor(r, name)};
  kw_model_tensor *t = found.tensor;
  const bool shaped = read_ints(r, &shape), strided = accept(r, '/') && read_ints(r, &strides);
  const int64_t offset = accept(r, '+') ? read_int(r) : 0;
  if (t->dtype == KW_DTYPE_NONE) {
    if (!shaped) refuse(r, "a tensor has no shape");
    t->shape = shape;
    t->dtype = KW_F32;
  }
  read_remarks(r, t);
  kw_case_layout(&found.seen, shaped ? &shape : &t->shape, KW_LAYOUT_DENSE);
  if (strided && strides.rank != found.seen.rank) refuse(r, "as many strides as sizes are wanted");
  if (strided) lay(&found.seen, &strides, offset);
  return found;
}

/* How numbers of the tensor look that no call has made. */
static void set_values(kw_case *c, uint32_t index, const kw_model_tensor *t) {
  kw_case_tensor *given = &c->tensors[index];
  if (given->domain == KW_DOMAIN_ANY) given->domain = KW_DOMAIN_UNIT;
  if (t->dtype == KW_BOOL) given->domain = KW_DOMAIN_BOOL;
  if (t->positive) given->domain = KW_DOMAIN_WEIGHT;
  if (t->limit > 0) kw_case_set_indices(c, index, t->limit, false, false, 1);
}

/* An argument that is a tensor, or an entry of one that is a list. */
static void give_tensor(kw_model_reader *r, kw_model_call *call, uint32_t arg, uint32_t index) {
  kw_case *c = &call->c;
  const operand given = read_tensor(r);
  const kw_shape shape = kw_case_shape_of(&given.seen);
  call->tensors[index] = (uint32_t)(given.tensor - r->tensors);
  if (c->op->args[arg].mutated) {
    kw_case_set_changed(c, arg, index, given.tensor->dtype, &shape, KW_LAYOUT_DENSE);
    call->outs[c->tensors[index].result] = call->tensors[index];
  } else if (index == arg) {
    kw_case_set_tensor(c, arg, given.tensor->dtype, &shape, KW_LAYOUT_DENSE);
  } else {
    kw_case_set_entry(c, arg, index, given.tensor->dtype, &shape, KW_LAYOUT_DENSE);
  }
  kw_case_tensor *t = &c->tensors[index];
  memcpy(t->strides, given.seen.strides, sizeof t->strides);
  t->offset = given.seen.offset;
  t->extent = given.seen.extent;
  set_values(c, index, given.tensor);
}

/* ---- Calls ------------------------------------------------------------------------------------------------------- */

static void give_list(kw_model_reader *r, kw_model_call *call, uint32_t arg) {
  uint32_t count = 0;
  expect(r, '{');
  for (const char *p = r->at; *p && *p != '}'; p++) /* commas between names, none of those in shapes */
    count += *p == ',' && p[1] == ' ';
  const uint32_t first = kw_case_set_list(&call->c, arg, count + 1);
  for (uint32_t i = 0; i <= count; i++) {
    if (i > 0) expect(r, ',');
    give_tensor(r, call, arg, first + i);
  }
  expect(r, '}');
}

/* An argument that is one word. */
static void give_word(kw_model_reader *r, kw_case *c, uint32_t arg) {
  static const char *const texts[] = {"none", "tanh"}; /* of gelu */
  char word[KW_MODEL_NAME];
  read_word(r, word);
  kw_value value = {.tag = c->op->args[arg].tag};
  if (strcmp(word, "none") == 0 && value.tag != KW_TAG_STRING) return;
  switch (value.tag) {
    case KW_TAG_INT:
      value.u.i = strtoll(word, NULL, 10);
      break;
    case KW_TAG_FLOAT:
      value.u.f = strtod(word, NULL);
      break;
    case KW_TAG_SCALAR:
      value.kind = KW_SCALAR_F64;
      value.u.f = strtod(word, NULL);
      break;
    case KW_TAG_BOOL:
      value.u.b = strcmp(word, "true") == 0;
      break;
    case KW_TAG_DTYPE:
      value.u.dtype = kw_element_from_name(word, strlen(word));
      break;
    case KW_TAG_STRING:
      for (uint32_t i = 0; i < COUNT(texts); i++) {
        if (strcmp(word, texts[i]) == 0) value.u.s = texts[i];
      }
      break;
    default:
      refuse(r, "an argument of this sort cannot be written");
  }
  kw_case_give(c, arg, value);
}

static void give(kw_model_reader *r, kw_model_call *call, uint32_t arg) {
  skip_spaces(r);
  const kw_tag tag = call->c.op->args[arg].tag;
  const bool absent = strncmp(r->at, "none", 4) == 0 && (r->at[4] == ',' || r->at[4] == ')');
  kw_shape ints;
  if (tag == KW_TAG_TENSOR && !absent) {
    give_tensor(r, call, arg, arg);
  } else if (tag == KW_TAG_TENSOR_LIST) {
    give_list(r, call, arg);
  } else if (tag == KW_TAG_INT_LIST && read_ints(r, &ints)) {
    kw_case_give_ints(&call->c, arg, ints.dims, ints.rank);
  } else {
    give_word(r, &call->c, arg);
  }
}

static int64_t product_of(const kw_case_tensor *t, uint32_t first) {
  int64_t product = 1;
  for (uint32_t d = first; d < t->rank; d++) product *= t->shape[d];
  return product;
}

/* How many terms make up a result: of an op whose bound is its own, one. */
static uint64_t count_terms(const kw_case *c) {
  const kw_op_row *row = &c->op->row;
  if (strchr(row->magnitude, '/')) return 1;
  switch (row->shape) {
    case KW_SHAPE_MM:
      return (uint64_t)c->tensors[0].shape[1];
    case KW_SHAPE_ADDMM:
      return (uint64_t)c->tensors[1].shape[1] + 2; /* two factors, and what is added */
    case KW_SHAPE_CONVOLUTION:
      return (uint64_t)product_of(&c->tensors[1], 1) + 1;
    case KW_SHAPE_REDUCE_DIMS:
      return (uint64_t)(c->tensors[0].numel / c->outs[0].numel);
    default:
      return 2;
  }
}

/* What stands in front of the op; a line without '=' has no results. */
static uint32_t read_results(kw_model_reader *r, operand results[KW_SUITE_RESULTS]) {
  const char *equals = strchr(r->at, '='), *end = strchr(r->at, '\n');
  uint32_t count = 0;
  if (!equals || !end || equals > end) return 0;
  do {
    if (count == KW_SUITE_RESULTS) refuse(r, "too many results");
    results[count] = (operand){0};
    if (!accept(r, '-')) results[count] = read_tensor(r);
    count++;
  } while (accept(r, ','));
  expect(r, '=');
  return count;
}

static void begin_case(const kw_op_facts *op, const kw_model_reader *r, kw_case *c) {
  memset(c, 0, sizeof *c);
  c->op = &op->op;
  c->key = KW_F32;
  c->class = KW_CLASS_PRIME;
  c->number = r->line;
  snprintf(c->id, sizeof c->id, "%s/%s/%s/%" PRIu32, op->op.name, kw_element_name(c->key), r->model->name, r->line);
  c->hash = kw_hash(KW_HASH_START, c->id);
  c->result_count = op->op.result_count;
  for (uint32_t i = 0; i < op->op.result_count; i++) c->bounds[i] = kw_op_row_bound(&op->op.row, i);
}

bool kw_model_read(kw_model_reader *r, kw_model_call *out_call) {
  operand results[KW_SUITE_RESULTS];
  char name[KW_MODEL_NAME];
  if (!*r->at) return false;
  const uint32_t count = read_results(r, results);
  read_word(r, name);
  const kw_op_facts *op = kw_device_facts_op(r->facts, name);
  if (!op) return false;
  kw_case *c = &out_call->c;
  begin_case(op, r, c);
  out_call->claimed = ((op->kernels | op->decomposed) & KW_DTYPE_BIT(c->key)) != 0;
  for (uint32_t i = 0; i < count; i++) {
    if (!results[i].tensor) continue;
    kw_case_set_result(c, i, results[i].tensor->dtype, &results[i].tensor->shape, KW_LAYOUT_DENSE);
    out_call->outs[i] = (uint32_t)(results[i].tensor - r->tensors);
  }
  expect(r, '(');
  for (uint32_t arg = 0; arg == 0 || accept(r, ','); arg++) {
    if (arg == op->op.arg_count) refuse(r, "more arguments than the op has");
    give(r, out_call, arg);
  }
  expect(r, ')');
  expect(r, '\n');
  kw_case_give_defaults(c);
  c->terms = count_terms(c);
  r->line++;
  return true;
}

bool kw_model_has_more(const kw_model_reader *r, const char *name) {
  const size_t length = strlen(name);
  for (const char *p = r->at; (p = strstr(p, name)) != NULL; p += length) {
    const bool begins = p == r->model->text || strchr(" (,{\n", p[-1]);
    if (begins && strchr("[,) }", p[length])) return true;
  }
  return false;
}
