/* SPDX-License-Identifier: Apache-2.0
 *
 * From a program's two runs to an outcome. Runs in the coordinator, where no plugin is loaded.
 */
#include "judge/program_judge.h"

#include "case/layout.h"
#include "judge/compare.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Bits -------------------------------------------------------------------------------------------------------- */

/* "act 7, mm/f32/prime/4": the call that changed the storage last before act `before`. */
static void name_maker(const kw_program *program, uint32_t storage, uint32_t before, char *text, size_t size) {
  snprintf(text, size, "no call");
  for (uint32_t a = 0; a < program->act_count && a < before; a++) {
    const kw_program_act *act = &program->acts[a];
    if (act->kind != KW_ACT_CALL) continue;
    const kw_program_call *call = &program->calls[act->index];
    for (uint32_t r = 0; r < call->c.result_count; r++) {
      if (call->outs[r] == (int)storage) snprintf(text, size, "act %u, %s", act->number, call->c.id);
    }
  }
}

/* The first element that differs, and how many do. */
static void describe_bits(const kw_program *program, const kw_program_seen *seen, char *text, size_t size) {
  const kw_program_storage *s = &program->storages[seen->storage];
  const size_t item = kw_element_size(s->dtype), count = s->size / item;
  const char *got = seen->free.data, *want = seen->waited.data;
  size_t first = count, wrong = 0;
  for (size_t i = 0; i < count; i++) {
    if (memcmp(got + i * item, want + i * item, item) == 0) continue;
    if (wrong++ == 0) first = i;
  }
  char where[64] = "at the end", maker[320], got_text[80], want_text[80];
  const bool at_end = seen->act == KW_SEEN_AT_END;
  if (!at_end) snprintf(where, sizeof where, "at act %u", program->acts[seen->act].number);
  name_maker(program, seen->storage, seen->act, maker, sizeof maker);
  kw_compare_print_element(got_text, sizeof got_text, s->dtype, got + first * item);
  kw_compare_print_element(want_text, sizeof want_text, s->dtype, want + first * item);
  snprintf(text, size,
           "t%u, changed last by %s, read %s: element %zu is %s, and %s where the device is waited for after each act; "
           "%zu of %zu elements differ",
           seen->storage, maker, where, first, got_text, want_text, wrong, count);
}

static bool judge_seen(const kw_program *program, const kw_program_run *run, kw_case_result *result) {
  for (uint32_t i = 0; i < run->seen_count; i++) {
    const kw_program_seen *seen = &run->seen[i];
    if (memcmp(seen->free.data, seen->waited.data, seen->free.size) == 0) continue;
    char text[1200];
    describe_bits(program, seen, text, sizeof text);
    kw_case_result_mark(result, KW_OUTCOME_FAIL, "another result than one by one", text);
    return false;
  }
  return true;
}

/* ---- Calls whose bits are not defined ---------------------------------------------------------------------------- */

/* The largest magnitude that the op's bound is stated for: that of the case's own values. */
static double largest(kw_domain domain) {
  switch (domain) {
    case KW_DOMAIN_UNIT:
      return 1;
    case KW_DOMAIN_FACTOR:
    case KW_DOMAIN_SIXTEENTH:
      return 1.5;
    case KW_DOMAIN_NEAR:
    case KW_DOMAIN_HALVES:
    case KW_DOMAIN_SMALL:
    case KW_DOMAIN_FEW:
      return 8;
    case KW_DOMAIN_EXPONENT:
      return 20;
    case KW_DOMAIN_ANGLE:
      return 4096;
    default:
      return 64;
  }
}

/* Whether what was chained to the input is something that the case itself could have had there. */
static bool is_usual(const kw_case_tensor *t, const void *dense) {
  const kw_dtype part = kw_element_part(t->dtype);
  const size_t item = kw_element_size(part), count = kw_element_size(t->dtype) / item * (size_t)t->numel;
  const double most = largest(t->domain);
  for (size_t i = 0; i < count && kw_element_is_float(part); i++) {
    const char *element = (const char *)dense + i * item;
    const double value = fabs(kw_element_load(part, element));
    if (!(value <= most) || kw_element_is_subnormal(part, element)) return false;
    if (t->domain == KW_DOMAIN_NONZERO && value == 0) return false;
    if (t->domain == KW_DOMAIN_FACTOR && value < 0.5) return false;
  }
  return true;
}

static void make_dense(kw_case_tensor *t) {
  kw_shape shape = {.rank = t->rank};
  memcpy(shape.dims, t->shape, sizeof shape.dims);
  kw_case_layout(t, &shape, KW_LAYOUT_DENSE);
}

/* The call's case on dense tensors, and its inputs as they were recorded. False where the oracle has nothing to say:
 * what was chained to it is out of the range that its bound is for. */
static bool dense_case(const kw_program_call *call, const kw_program_leaf *leaf, kw_case *c, const void **inputs) {
  *c = call->c;
  if (call->chained) c->exact = false;
  for (uint32_t i = 0; i < KW_CASE_TENSORS; i++) {
    inputs[i] = leaf->inputs[i].data;
    if (!c->tensors[i].given) continue;
    make_dense(&c->tensors[i]);
    if (inputs[i] && call->chained && !is_usual(&c->tensors[i], inputs[i])) return false;
  }
  for (uint32_t r = 0; r < c->result_count; r++) {
    if (c->outs[r].given) make_dense(&c->outs[r]);
  }
  return true;
}

/* Whether the message has what the call needs, in the right sizes. */
static bool is_complete(const kw_program_call *call, const kw_program_leaf *leaf) {
  for (uint32_t i = 0; i < KW_CASE_TENSORS; i++) {
    const kw_case_tensor *t = &call->c.tensors[i];
    const bool needed = t->given && (!t->output || t->read);
    if (needed != (leaf->inputs[i].data != NULL)) return false;
    if (needed && leaf->inputs[i].size != (size_t)t->numel * kw_element_size(t->dtype)) return false;
  }
  for (uint32_t r = 0; r < call->c.result_count; r++) {
    const size_t size = (size_t)call->c.outs[r].numel * kw_element_size(call->c.outs[r].dtype);
    if (call->outs[r] >= 0 && (!leaf->free[r].data || leaf->free[r].size != size)) return false;
    if (call->outs[r] >= 0 && (!leaf->waited[r].data || leaf->waited[r].size != size)) return false;
  }
  return true;
}

/* One result of one run. */
static bool judge_result(const kw_case *c, uint32_t result, const kw_oracle_result *expected, uint64_t flush,
                         const void *got, const char *which, kw_case_result *io_result) {
  kw_rule rule = kw_rule_make(c, result, flush);
  kw_comparison found;
  char text[1000];
  rule.more = 1; /* twice the bound: the ops suite asks for once, of numbers that it knows */
  kw_compare_result(c, result, &rule, expected, got, KW_PROGRAM_POISON, &found);
  if (found.pass) return true;
  snprintf(text, sizeof text, "%s, output %u, %s run: %s", c->id, result, which, found.text);
  kw_case_result_mark(io_result, KW_OUTCOME_FAIL, found.defect, text);
  return false;
}

static bool judge_leaf(const kw_program_call *call, const kw_program_leaf *leaf, uint64_t flush,
                       kw_case_result *result) {
  kw_case *c = malloc(sizeof *c);
  const void *inputs[KW_CASE_TENSORS];
  kw_oracle_results oracle = {0};
  bool pass = true;
  if (!c) abort();
  if (dense_case(call, leaf, c, inputs) && kw_oracle_run_on(c, call->seed, 0, flush, inputs, &oracle) == KW_OK) {
    for (uint32_t r = 0; r < c->result_count && pass; r++) {
      if (call->outs[r] < 0) continue;
      pass = judge_result(c, r, &oracle.results[r], flush, leaf->free[r].data, "free", result) &&
             judge_result(c, r, &oracle.results[r], flush, leaf->waited[r].data, "waited", result);
    }
  }
  kw_oracle_free(&oracle);
  free(c);
  return pass;
}

/* ---- All --------------------------------------------------------------------------------------------------------- */

static bool is_good(const kw_program *program, const kw_program_run *run) {
  for (uint32_t i = 0; i < run->seen_count; i++) {
    const kw_program_seen *seen = &run->seen[i];
    if (seen->storage >= program->storage_count) return false;
    if (seen->act != KW_SEEN_AT_END && seen->act >= program->act_count) return false;
    const uint64_t size = program->storages[seen->storage].size;
    if (!seen->free.data || seen->free.size != size || !seen->waited.data || seen->waited.size != size) return false;
  }
  for (uint32_t i = 0; i < run->leaf_count; i++) {
    if (run->leaves[i].call >= program->call_count) return false;
    if (!is_complete(&program->calls[run->leaves[i].call], &run->leaves[i])) return false;
  }
  return true;
}

bool kw_judge_program(const kw_device_facts *facts, const kw_program_run *run, uint64_t seed,
                      kw_case_result *io_result) {
  kw_program *program = malloc(sizeof *program);
  if (!program) abort();
  bool good = kw_program_make(run->id, seed, facts, program);
  if (good) {
    good = is_good(program, run);
    if (*run->failure) {
      kw_case_result_mark(io_result, KW_OUTCOME_FAIL, "unexpected error", run->failure);
    } else if (good && judge_seen(program, run, io_result)) {
      bool pass = true;
      for (uint32_t i = 0; i < run->leaf_count && pass; i++)
        pass = judge_leaf(&program->calls[run->leaves[i].call], &run->leaves[i], facts->flush, io_result);
      if (pass) kw_case_result_mark(io_result, KW_OUTCOME_PASS, "", "");
    }
    kw_program_free(program);
  }
  free(program);
  return good;
}
