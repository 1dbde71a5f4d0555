/* SPDX-License-Identifier: Apache-2.0
 *
 * For tests of inference. Calls are written as text: "add.Tensor f32[2,3] i32[3] i:2", and so is what they infer:
 * "f32: f32[2,3] cast 1 expand" (key dtype, results, - for absent ones, arguments to cast, whether to expand), or a
 * part of the refusal. f32[2,3] tensor   i:5 int   f:1.5 float   b:1 bool   c:2 complex Scalar   s:trunc str   d:f32
 * ScalarType l:0,1 int list    t:f32[2],-,i64[3] list of tensors, one absent           - none
 */
#ifndef KEYWAY_CORE_TEST_INFER_H
#define KEYWAY_CORE_TEST_INFER_H

#include "op/infer/infer.h"
#include "op/normalize.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

typedef struct test_infer_call {
  char text[256]; /* cut into tokens */
  const kw_op *op;
  uint32_t arg_count;
  kw_value args[KW_MAX_ARGS];
  kw_tensor_ref tensors[KW_MAX_ARGS];
  int64_t lists[KW_MAX_ARGS][8];
  kw_tensor_ref entries[16]; /* of all lists of tensors */
  const kw_tensor_ref *pointers[16];
  uint32_t entry_count;
} test_infer_call;

static inline uint32_t test_infer_read_ints(char *text, int64_t *out) {
  uint32_t count = 0;
  while (*text && *text != ']') {
    out[count++] = strtoll(text, &text, 10);
    if (*text == ',') ++text;
  }
  return count;
}

static inline kw_value test_infer_read_tensor(char *token, kw_tensor_ref *ref) {
  char *bracket = strchr(token, '[');
  assert_non_null(bracket);
  *bracket = '\0';
  *ref = (kw_tensor_ref){.struct_size = sizeof *ref, .dtype = kw_dtype_from_name(token), .numel = 1};
  assert_int_not_equal(ref->dtype, KW_DTYPE_NONE);
  ref->rank = (uint8_t)test_infer_read_ints(bracket + 1, ref->shape);
  for (uint32_t i = ref->rank; i-- > 0; ref->numel *= ref->shape[i]) ref->strides[i] = ref->numel;
  return (kw_value){.tag = KW_TAG_TENSOR, .u.tensor = ref};
}

/* Commas separate entries where they are not inside brackets. */
static inline kw_value test_infer_read_tensors(char *body, test_infer_call *c) {
  const uint32_t first = c->entry_count;
  bool more = *body != '\0';
  while (more) {
    const uint32_t count = c->entry_count++;
    assert_in_range(count, 0, 15);
    char *end = body + strcspn(body, ",[");
    if (*end == '[') end += strcspn(end, "]") + 1;
    more = *end == ',';
    *end = '\0';
    c->pointers[count] = NULL;
    if (strcmp(body, "-") != 0) c->pointers[count] = test_infer_read_tensor(body, &c->entries[count]).u.tensor;
    body = end + 1;
  }
  return (kw_value){.tag = KW_TAG_TENSOR_LIST, .count = c->entry_count - first, .u.tensors = &c->pointers[first]};
}

static inline kw_value test_infer_read_value(char *token, test_infer_call *c, uint32_t index) {
  char *body = token + 2;
  if (strcmp(token, "-") == 0) return kw_arg_none();
  if (token[1] != ':') return test_infer_read_tensor(token, &c->tensors[index]);
  switch (token[0]) {
    case 'i':
      return kw_arg_int(atoll(body));
    case 'f':
      return kw_arg_float(atof(body));
    case 'b':
      return kw_arg_bool(*body == '1');
    case 's':
      return kw_arg_string(body);
    case 'd':
      return kw_arg_dtype(kw_dtype_from_name(body));
    case 'c':
      return (kw_value){.tag = KW_TAG_SCALAR, .kind = KW_SCALAR_C128, .u.c = {atof(body), 1}};
    case 't':
      return test_infer_read_tensors(body, c);
    default:
      assert_int_equal(token[0], 'l');
      return kw_arg_int_list(c->lists[index], test_infer_read_ints(body, c->lists[index]));
  }
}

static inline void test_infer_read_call(const char *text, test_infer_call *c) {
  memset(c, 0, sizeof *c);
  const size_t length = strlen(text);
  assert_in_range(length, 0, sizeof c->text - 1);
  memcpy(c->text, text, length + 1);
  char *rest = NULL;
  c->op = kw_op_find(strtok_r(c->text, " ", &rest));
  assert_non_null(c->op);
  for (char *token; (token = strtok_r(NULL, " ", &rest));) {
    c->args[c->arg_count] = test_infer_read_value(token, c, c->arg_count);
    ++c->arg_count;
  }
}

static inline size_t test_infer_write_tensor(const kw_tensor_ref *ref, char *out) {
  size_t n = (size_t)sprintf(out, "%s[", kw_dtype_name(ref->dtype));
  for (uint32_t i = 0; i < ref->rank; ++i) n += (size_t)sprintf(out + n, i ? ",%" PRId64 : "%" PRId64, ref->shape[i]);
  return n + (size_t)sprintf(out + n, "]");
}

static inline void test_infer_write_inference(const kw_inference *inference, char *out) {
  size_t n = (size_t)sprintf(out, "%s:", kw_dtype_name(inference->key));
  for (uint32_t i = 0; i < inference->result_count; ++i) {
    out[n++] = ' ';
    if (inference->absent >> i & 1) {
      n += (size_t)sprintf(out + n, "-");
    } else {
      n += test_infer_write_tensor(&inference->results[i], out + n);
    }
  }
  if (inference->cast) n += (size_t)sprintf(out + n, " cast");
  for (uint32_t i = 0; i < KW_MAX_ARGS; ++i) {
    if (inference->cast >> i & 1) n += (size_t)sprintf(out + n, " %u", i);
  }
  if (inference->broadcast) sprintf(out + n, " expand");
}

static inline kw_status test_infer_run(const char *text, char *out) {
  test_infer_call c;
  kw_value normal[KW_MAX_ARGS];
  int64_t scratch[KW_MAX_ARGS];
  kw_inference inference;
  test_infer_read_call(text, &c);
  kw_error_clear();
  kw_status status = kw_op_normalize(c.op, c.args, c.arg_count, normal, scratch);
  if (status == KW_OK) status = kw_infer(c.op, normal, &inference);
  if (status == KW_OK) {
    test_infer_write_inference(&inference, out);
  } else {
    snprintf(out, 1024, "%s", kw_error_message());
  }
  return status;
}

typedef struct test_infer_row {
  const char *call, *result;
} test_infer_row;

static inline void test_infer_check(const test_infer_row *rows, size_t count, kw_status status) {
  char text[1024];
  for (size_t i = 0; i < count; ++i) {
    kw_status got = test_infer_run(rows[i].call, text);
    bool same = status == KW_OK ? strcmp(text, rows[i].result) == 0 : strstr(text, rows[i].result) != NULL;
    if (got != status || !same) fail_msg("%s\n  gives  %s\n  wanted %s", rows[i].call, text, rows[i].result);
  }
}

typedef struct test_infer_table {
  const test_infer_row *rows;
  size_t count;
} test_infer_table;

static inline void accepted_calls_infer(void **state) {
  const test_infer_table *table = *state;
  test_infer_check(table->rows, table->count, KW_OK);
}

static inline void refused_calls_say_why(void **state) {
  const test_infer_table *table = *state;
  test_infer_check(table->rows, table->count, KW_ERR_INVALID_ARGUMENT);
}

/* A test for each of two arrays of rows: calls that infer, and calls that are refused. */
#define TEST_INFER_TABLE(rows) (&(test_infer_table){rows, sizeof(rows) / sizeof(rows)[0]})
#define TEST_INFER_TABLES(accepted, refused)                                   \
  cmocka_unit_test_prestate(accepted_calls_infer, TEST_INFER_TABLE(accepted)), \
      cmocka_unit_test_prestate(refused_calls_say_why, TEST_INFER_TABLE(refused))

#endif /* KEYWAY_CORE_TEST_INFER_H */
