/* SPDX-License-Identifier: Apache-2.0
 *
 * What the generator promises of indices, counted on the cases themselves.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "case/make.h"
#include "selection.h"

#include <stdlib.h>
#include <string.h>

static const kw_suite_op *find_op(const char *name) {
  uint32_t count;
  const kw_suite_op *ops = kw_suite_ops(&count);
  for (uint32_t i = 0; i < count; i++) {
    if (strcmp(ops[i].name, name) == 0) return &ops[i];
  }
  fail_msg("no op %s", name);
  return NULL;
}

/* Tensor `index` of a case with the values of a run; `mem` is the caller's to free. */
static kw_tensor_ref make_indices(const kw_case *c, uint32_t index, uint32_t run) {
  const kw_case_tensor *tensor = &c->tensors[index];
  size_t size = kw_element_size(tensor->dtype);
  kw_value_key key = kw_case_value_key(c, index, 1, run);
  kw_tensor_ref ref = {.struct_size = sizeof ref, .dtype = tensor->dtype, .rank = (uint8_t)tensor->rank};
  ref.mem = malloc((size_t)tensor->extent * size + 1);
  assert_non_null(ref.mem);
  for (uint64_t i = 0; i < tensor->extent; i++) kw_value_make(&key, tensor->dtype, i, (char *)ref.mem + i * size);
  ref.offset = (uint64_t)tensor->offset * size;
  ref.numel = tensor->numel;
  memcpy(ref.shape, tensor->shape, sizeof ref.shape);
  memcpy(ref.strides, tensor->strides, sizeof ref.strides);
  return ref;
}

/* The most values that meet in one place. Every index is in range. */
static uint64_t most_writers(const kw_case *c, uint32_t run) {
  bool lines = c->op->row.shape == KW_SHAPE_SCATTER;
  kw_value args[KW_MAX_ARGS];
  kw_tensor_ref indices[KW_CASE_TENSORS];
  const kw_tensor_ref *entries[KW_CASE_TENSORS] = {NULL};
  for (uint32_t i = 0; i < KW_CASE_TENSORS; i++) {
    bool wanted = lines ? i == 2 : i >= KW_MAX_ARGS;
    if (!wanted || !c->tensors[i].given) continue;
    indices[i] = make_indices(c, i, run);
    entries[i] = &indices[i];
  }
  for (uint32_t i = 0; i < c->arg_count; i++) {
    args[i] = kw_case_arg_value(c, i);
    if (args[i].tag == KW_TAG_TENSOR) args[i].u.tensor = entries[i];
    if (args[i].tag == KW_TAG_TENSOR_LIST) args[i].u.tensors = &entries[c->args[i].first];
  }
  kw_tensor_ref table = {.dtype = KW_I64, .rank = (uint8_t)c->outs[0].rank, .numel = 1};
  for (uint32_t d = table.rank; d-- > 0; table.numel *= table.shape[d]) {
    table.shape[d] = c->outs[0].shape[d];
    table.strides[d] = table.numel;
  }
  table.mem = calloc((size_t)table.numel + 1, sizeof(int64_t));
  assert_non_null(table.mem);
  const kw_call call = {.struct_size = sizeof call, .arg_count = c->arg_count, .args = args};
  kw_selection s;
  if (lines) {
    kw_selection_lines(&s, &call, 2, &table, args[1].u.i);
  } else {
    kw_selection_advanced(&s, &call, &table);
  }
  uint64_t most = 0;
  for (; s.walk.left > 0; kw_selection_next(&s)) {
    uint64_t *count = (uint64_t *)(void *)kw_selection_at(&s);
    if (!count) fail_msg("%s: an index is out of range", c->id);
    if (++*count > most) most = *count;
  }
  for (uint32_t i = 0; i < KW_CASE_TENSORS; i++) {
    if (entries[i]) free(indices[i].mem);
  }
  free(table.mem);
  return most;
}

/* Where the last and the first writer are all that is expected, there are at most two, and sometimes two; sums have no
 * more terms than their bound counts. */
static void writers_are_few(void **state) {
  (void)state;
  static const char *const names[] = {"scatter.src", "index_put"};
  for (size_t o = 0; o < sizeof names / sizeof names[0]; o++) {
    const kw_suite_op *op = find_op(names[o]);
    uint32_t cases = 0, pairs = 0, sums = 0;
    for (int class = 0; class < KW_CLASS_COUNT; class ++) {
      kw_case c;
      for (uint32_t n = 0; kw_case_make(op, KW_F32, (kw_case_class) class, n, &c); n++) {
        for (uint32_t run = 0; run < 2; run++) {
          uint64_t most = most_writers(&c, run);
          bool written = c.bounds[0].compare == KW_CMP_WRITTEN;
          if (written && most > 2) fail_msg("%s: %llu values for one place", c.id, (unsigned long long)most);
          if (!written && most + 1 > c.terms) fail_msg("%s: more terms than %llu", c.id, (unsigned long long)c.terms);
          pairs += written && most == 2;
          sums += !written && most > 2;
        }
        cases++;
      }
    }
    assert_true(cases >= 20 && pairs >= 6);
    assert_true(sums > 0 || strcmp(names[o], "index_put") != 0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(writers_are_few)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
