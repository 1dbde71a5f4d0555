/* SPDX-License-Identifier: Apache-2.0
 *
 * From a program's two runs to an outcome. Runs in the coordinator, where no plugin is loaded.
 */
#include "judge/program_judge.h"

#include "base/need.h"
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
  const size_t item = kw_element_size(s->dtype), count = seen->free.size / item;
  const bool at_end = seen->act == KW_SEEN_AT_END;
  const size_t before = at_end ? 0 : (size_t)program->acts[seen->act].first;
  const char *got = seen->free.data, *want = seen->waited.data;
  size_t first = count, wrong = 0;
  for (size_t i = 0; i < count; i++) {
    if (memcmp(got + i * item, want + i * item, item) == 0) continue;
    if (wrong++ == 0) first = i;
  }
  char where[64] = "at the end", maker[320], got_text[80], want_text[80];
  if (!at_end) snprintf(where, sizeof where, "at act %u", program->acts[seen->act].number);
  name_maker(program, seen->storage, seen->act, maker, sizeof maker);
  kw_compare_print_element(got_text, sizeof got_text, s->dtype, got + first * item);
  kw_compare_print_element(want_text, sizeof want_text, s->dtype, want + first * item);
  snprintf(text, size,
           "t%u, changed last by %s, read %s: element %zu is %s, and %s where the device is waited for after each act; "
           "%zu of %zu elements differ",
           seen->storage, maker, where, before + first, got_text, want_text, wrong, count);
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

/* ---- Calls one by one -------------------------------------------------------------------------------------------- */

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
  const double most = largest(t->domain), least = 0x1p-20;
  for (size_t i = 0; i < count && kw_element_is_float(part); i++) {
    const double value = fabs(kw_element_load(part, (const char *)dense + i * item));
    if (!(value <= most) || (value < least && value != 0)) return false;
    if (t->domain == KW_DOMAIN_NONZERO && value == 0) return false;
    if (t->domain == KW_DOMAIN_FACTOR && value < 0.5) return false;
  }
  return true;
}

/* Whether the input is what the case says: no call and no graph has changed it. One that reads a part of a larger
 * storage may lie beyond what the case itself has. */
static bool is_own(const kw_program_call *call, uint32_t tensor, const void *dense) {
  kw_case_tensor t = call->c.tensors[tensor];
  const size_t item = kw_element_size(t.dtype);
  if (t.output) return !call->certain; /* where it lies is the result's affair; no graph has what is not certain */
  char *storage = malloc(t.extent * item + 1);
  if (!storage) kw_out_of_memory();
  kw_case_fill(&call->c, tensor, call->seed, 0, true, storage);
  bool same = true;
  kw_case_walk walk = kw_case_walk_start(&t);
  for (int64_t i = 0; i < t.numel && same; i++, kw_case_walk_next(&walk))
    same = (uint64_t)walk.at < t.extent &&
           memcmp((const char *)dense + (size_t)i * item, storage + (size_t)walk.at * item, item) == 0;
  free(storage);
  return same;
}

/* The call's case on dense tensors, and its inputs as they were recorded: *out_own tells whether they are what the case
 * says. False where the oracle has nothing to say: they are neither that nor in the range that its bound is for. */
static bool dense_case(const kw_program_call *call, const kw_program_judged *one, kw_case *c, const void **inputs,
                       bool *out_own) {
  *c = call->c;
  bool own = !call->chained, usual = true;
  for (uint32_t i = 0; i < KW_CASE_TENSORS; i++) {
    inputs[i] = one->inputs[i].data;
    if (!c->tensors[i].given) continue;
    own = own && (inputs[i] == NULL || is_own(call, i, inputs[i]));
    usual = usual && (inputs[i] == NULL || is_usual(&c->tensors[i], inputs[i]));
    kw_case_layout_dense(&c->tensors[i]);
  }
  c->exact &= own;
  *out_own = own;
  if (!own && !usual) return false;
  for (uint32_t r = 0; r < c->result_count; r++) {
    if (c->outs[r].given) kw_case_layout_dense(&c->outs[r]);
  }
  return true;
}

/* Whether the message has what the call needs, in the right sizes. */
static bool is_complete(const kw_program_call *call, const kw_program_judged *one) {
  for (uint32_t i = 0; i < KW_CASE_TENSORS; i++) {
    const kw_case_tensor *t = &call->c.tensors[i];
    const bool needed = t->given && (!t->output || t->read);
    if (needed != (one->inputs[i].data != NULL)) return false;
    if (needed && one->inputs[i].size != (size_t)t->numel * kw_element_size(t->dtype)) return false;
  }
  for (uint32_t r = 0; r < call->c.result_count; r++) {
    const size_t size = (size_t)call->c.outs[r].numel * kw_element_size(call->c.outs[r].dtype);
    if (call->outs[r] < 0) continue;
    if (call->leaf && (!one->free[r].data || one->free[r].size != size)) return false;
    if (!one->waited[r].data || one->waited[r].size != size) return false;
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

/* What autocast makes of the call: its f32 operands in the smaller dtype. These are the caller's to free. */
static void lower(const kw_program_call *call, kw_case *c, const void **io_inputs, void *out_lowered[KW_CASE_TENSORS]) {
  memset(out_lowered, 0, KW_CASE_TENSORS * sizeof *out_lowered);
  if (call->autocast == KW_DTYPE_NONE) return;
  const size_t size = kw_element_size(call->autocast);
  c->key = call->autocast;
  c->exact = false;
  for (uint32_t i = 0; i < KW_CASE_TENSORS; i++) {
    kw_case_tensor *t = &c->tensors[i];
    if (!io_inputs[i] || t->dtype != KW_F32) continue;
    out_lowered[i] = malloc((size_t)t->numel * size + 1);
    if (!out_lowered[i]) kw_out_of_memory();
    for (size_t e = 0; e < (size_t)t->numel; e++) {
      kw_element_convert(call->autocast, (char *)out_lowered[i] + e * size, KW_F32,
                         (const char *)io_inputs[i] + e * sizeof(float));
    }
    t->dtype = call->autocast;
    io_inputs[i] = out_lowered[i];
  }
}

/* Whether something has no value: a row of equal numbers that is divided by its deviation. What rounding leaves of such
 * a row is any number, however small the errors. */
static bool is_singular(const kw_oracle_result *result) {
  if (result->dtype != KW_DTYPE_WIDE) return false;
  const kw_wide *values = result->values;
  for (int64_t i = 0; i < result->count; i++) {
    if (isnan(values[i].hi)) return true;
  }
  return false;
}

static bool judge_call(const kw_program_call *call, const kw_program_judged *one, uint64_t flush,
                       kw_case_result *result) {
  kw_case *c = malloc(sizeof *c);
  const void *inputs[KW_CASE_TENSORS];
  void *lowered[KW_CASE_TENSORS];
  kw_oracle_results oracle = {0};
  bool pass = true;
  if (!c) kw_out_of_memory();
  bool own = false;
  const bool good = dense_case(call, one, c, inputs, &own);
  lower(call, c, inputs, lowered);
  if (good && kw_oracle_run_on(c, call->seed, 0, flush, inputs, &oracle) == KW_OK) {
    for (uint32_t r = 0; r < c->result_count && pass; r++) {
      if (call->outs[r] < 0 || (!own && is_singular(&oracle.results[r]))) continue;
      pass = (!call->leaf || judge_result(c, r, &oracle.results[r], flush, one->free[r].data, "free", result)) &&
             judge_result(c, r, &oracle.results[r], flush, one->waited[r].data, "waited", result);
    }
  }
  kw_oracle_free(&oracle);
  for (uint32_t i = 0; i < KW_CASE_TENSORS; i++) free(lowered[i]);
  free(c);
  return pass;
}

/* ---- All --------------------------------------------------------------------------------------------------------- */

static bool is_good(const kw_program *program, const kw_program_run *run) {
  for (uint32_t i = 0; i < run->seen_count; i++) {
    const kw_program_seen *seen = &run->seen[i];
    if (seen->storage >= program->storage_count) return false;
    if (seen->act != KW_SEEN_AT_END && seen->act >= program->act_count) return false;
    const kw_program_storage *s = &program->storages[seen->storage];
    const bool at_end = seen->act == KW_SEEN_AT_END;
    const uint64_t size = at_end ? s->size : program->acts[seen->act].count * kw_element_size(s->dtype);
    if (!seen->free.data || seen->free.size != size || !seen->waited.data || seen->waited.size != size) return false;
  }
  for (uint32_t i = 0; i < run->judged_count; i++) {
    if (run->judged[i].call >= program->call_count) return false;
    if (!is_complete(&program->calls[run->judged[i].call], &run->judged[i])) return false;
  }
  return true;
}

bool kw_judge_program(const kw_device_facts *facts, const kw_program_run *run, uint64_t seed,
                      kw_case_result *io_result) {
  kw_program *program = malloc(sizeof *program);
  if (!program) kw_out_of_memory();
  bool good = kw_program_make(run->id, seed, facts, program);
  if (good) {
    good = is_good(program, run);
    if (program->call_count == 0) {
      kw_case_result_mark(io_result, KW_OUTCOME_SKIP, "", "the device claims no op of this program");
    } else if (*run->untried) {
      kw_case_result_mark(io_result, KW_OUTCOME_NOT_TRIED, "", run->untried);
    } else if (*run->failure) {
      kw_case_result_mark(io_result, KW_OUTCOME_FAIL, "unexpected error", run->failure);
    } else if (good && judge_seen(program, run, io_result)) {
      bool pass = true;
      for (uint32_t i = 0; i < run->judged_count && pass; i++)
        pass = judge_call(&program->calls[run->judged[i].call], &run->judged[i], facts->flush, io_result);
      if (pass) kw_case_result_mark(io_result, KW_OUTCOME_PASS, "", "");
    }
    kw_program_free(program);
  }
  free(program);
  return good;
}
