/* SPDX-License-Identifier: Apache-2.0
 *
 * From raw outputs to an outcome. Runs in the coordinator, where no plugin is loaded.
 */
#include "judge/judge.h"

#include "base/need.h"
#include "case/make.h"
#include "judge/block.h"
#include "judge/operands.h"

#include <keyway/keyway.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* By which rules an output is judged: the device's, or milder ones by which a known cause shows. */
typedef struct manner {
  uint64_t flush;    /* dtypes whose subnormals may be zero */
  kw_math_mode mode; /* how exactly it has to be */
  bool narrow_sums;  /* sums may be as inexact as the 16-bit float that they are of */
} manner;

#define OPERANDS_TEXT 320
#define FAILURE_TEXT 1800

/* "run 1, kernel reference: ..." in front of what is wrong, or "kernel gemm in tf32: ...". */
static void fail(kw_case_result *result, const kw_case_run *ran, const kw_case_run_path *path, const char *defect,
                 const char *what) {
  char text[FAILURE_TEXT];
  if (*path->kernel) {
    const bool lower = path->math_mode != KW_MATH_HIGHEST;
    snprintf(text, sizeof text, "run %u, kernel %s%s%s: %s", ran->run, path->kernel, lower ? " in " : "",
             lower ? kw_math_mode_name(path->math_mode) : "", what);
  } else {
    snprintf(text, sizeof text, "run %u, kw_op_call: %s", ran->run, what);
  }
  if (result->outcome == KW_OUTCOME_FAIL) { /* the runs come in shuffled order; the report is about the lowest */
    if (ran->run >= result->failed_run) return;
    result->outcome = KW_OUTCOME_NONE;
  }
  result->failed_run = ran->run;
  kw_case_result_mark(result, KW_OUTCOME_FAIL, defect, text);
}

/* An absent result has to be absent. */
static bool right_shape(const kw_case_tensor *wanted, const kw_case_run_output *out) {
  if (!wanted->given || out->dtype == KW_DTYPE_NONE) return !wanted->given && out->dtype == KW_DTYPE_NONE;
  if (out->dtype != wanted->dtype || out->rank != wanted->rank) return false;
  return memcmp(out->shape, wanted->shape, wanted->rank * sizeof *out->shape) == 0;
}

/* "output 1: " in front of what is wrong with it, where the case has several. */
static void name_output(char *text, size_t size, const kw_case *c, const kw_case_run_path *path, uint32_t output) {
  char name[64];
  text[0] = 0;
  if (path->output_count == 1) return;
  kw_case_out_name(c, output, name, sizeof name);
  snprintf(text, size, "%s: ", name);
}

static void describe(bool there, kw_dtype dtype, uint32_t rank, const int64_t *shape, char *text, size_t size) {
  snprintf(text, size, "none");
  if (there) kw_case_print_shape(dtype, rank, shape, text, size);
}

/* What a run is held against. */
typedef struct expectation {
  uint64_t seed;
  kw_oracle_results oracle;
  kw_block_side sides[KW_CASE_RUN_PATHS]; /* of a block, in place of the oracle: judged already, path by path */
} expectation;

/* The operands of an element of a case whose tensors are dense: "0.5 (0x3800)". */
static void print_operands(const kw_case *c, uint64_t seed, uint32_t run, int64_t index, char *text, size_t size) {
  size_t used = 0;
  for (uint32_t i = 0; i < KW_MAX_ARGS && used < size; i++) {
    if (!c->tensors[i].given || c->tensors[i].output) continue;
    _Alignas(16) char element[16], operand[80];
    const kw_value_key key = kw_case_value_key(c, i, seed, run);
    kw_value_make(&key, c->tensors[i].dtype, c->tensors[i].rank == 0 ? 0 : (uint64_t)index, element);
    kw_compare_print_element(operand, sizeof operand, c->tensors[i].dtype, element);
    used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "", operand);
  }
}

/* "; operands: self = ...", of the element that a comparison is about, and of the worst one where that is another. */
static void add_operands(const kw_case *c, uint64_t seed, uint32_t run, int64_t parts, const kw_comparison *found,
                         char *text, size_t size) {
  if (!kw_operands_known(c)) return;
  char operands[OPERANDS_TEXT];
  const int64_t first = found->index / parts, worst = found->worst / parts;
  size_t used = strlen(text);
  kw_operands_print(c, seed, run, first, operands, sizeof operands);
  if (*operands) used += (size_t)snprintf(text + used, size - used, KW_OPERANDS_MARK "%s", operands);
  if (worst == first || found->error == 0 || used >= size) return;
  kw_operands_print(c, seed, run, worst, operands, sizeof operands);
  if (*operands) snprintf(text + used, size - used, "; of the worst, number %lld: %s", (long long)worst, operands);
}

static bool is_block(const kw_case *c) {
  return c->class >= KW_CLASS_COUNT;
}

static kw_rule rule_of(const manner *how, const kw_case *c, uint32_t result) {
  kw_rule rule = kw_rule_make(c, result, how->flush);
  kw_rule_allow(&rule, c, how->mode);
  if (how->narrow_sums) rule.compute = c->outs[result].dtype;
  return rule;
}

/* Paths of a block, which share the oracle's work: all, each by the rules of its math mode, or the one that `how` is
 * about. */
static bool judge_block(const kw_case *c, const kw_case_run *ran, uint64_t flush, const manner *how,
                        const kw_case_run_path *only, expectation *expected) {
  for (uint32_t i = 0; i < ran->path_count; i++) {
    const kw_case_run_path *path = &ran->paths[i];
    const manner own = {.flush = flush, .mode = path->math_mode};
    const bool there = path->status == KW_OK && path->output_count == 1 && right_shape(&c->outs[0], &path->outputs[0]);
    expected->sides[i].got = there && (!only || only == path) ? path->outputs[0].data : NULL;
    expected->sides[i].rule = rule_of(how ? how : &own, c, 0);
  }
  return kw_block_judge(c, expected->seed, ran->run, flush, expected->sides, ran->path_count);
}

/* What the run is held against: all its paths, by the device's rules, or `only` one of them by those of `how`, which
 * flush as `flush` says. An op of a vendor's brings its own. NULL when the suite's reference cannot run the case. */
static expectation *expect(const kw_case *c, const kw_case_run *ran, uint64_t seed, uint64_t flush, const manner *how,
                           const kw_case_run_path *only) {
  expectation *expected = calloc(1, sizeof *expected);
  if (!expected) kw_out_of_memory();
  expected->seed = seed;
  const bool known =
      c->op->vendor || (is_block(c) ? judge_block(c, ran, flush, how, only, expected)
                                    : kw_oracle_run(c, seed, ran->run, flush, &expected->oracle) == KW_OK);
  if (known) return expected;
  free(expected);
  return NULL;
}

static void forget(expectation *expected) {
  kw_oracle_free(&expected->oracle);
  free(expected);
}

/* One output of an op of the table. */
static bool judge_output(const manner *how, kw_case_result *result, const kw_case *c, const expectation *expected,
                         const kw_case_run *ran, const kw_case_run_path *path, uint32_t index) {
  const kw_case_run_output *out = &path->outputs[index];
  char name[72], text[FAILURE_TEXT - 200], got[320], want[320];
  name_output(name, sizeof name, c, path, index);
  if (!right_shape(&c->outs[index], out)) {
    describe(out->dtype != KW_DTYPE_NONE, out->dtype, out->rank, out->shape, got, sizeof got);
    const kw_case_tensor *wanted = &c->outs[index];
    describe(wanted->given, wanted->dtype, wanted->rank, wanted->shape, want, sizeof want);
    snprintf(text, sizeof text, "%sthe result is %s, expected %s", name, got, want);
    fail(result, ran, path, "wrong result shape", text);
    return false;
  }
  if (!c->outs[index].given) return true;
  const kw_rule rule = rule_of(how, c, index);
  kw_comparison found;
  const kw_block_side *side = is_block(c) ? &expected->sides[path - ran->paths] : NULL;
  if (side) {
    found = side->found;
  } else {
    kw_compare_result(c, index, &rule, &expected->oracle.results[index], out->data, kw_case_run_poison(ran->run),
                      &found);
  }
  kw_op_bound row = kw_rule_shown(c->op);
  double bound = kw_rule_bound(&c->bounds[index]), shown = kw_rule_bound(&row), error = found.error;
  if (bound > 0) error *= shown / bound; /* the same share of its bound */
  if (error > result->error) {
    result->error = error;
    if (side) memcpy(result->worst, side->worst, sizeof result->worst);
    if (c->class == KW_CLASS_EXHAUSTIVE)
      print_operands(c, expected->seed, ran->run, found.worst, result->worst, sizeof result->worst);
  }
  snprintf(text, sizeof text, "%s%s", name, found.text);
  if (found.pass) return true;
  const bool pairs =
      !side && expected->oracle.results[index].dtype == KW_DTYPE_WIDE && kw_element_is_complex(c->outs[index].dtype);
  if (!side) add_operands(c, expected->seed, ran->run, pairs ? 2 : 1, &found, text, sizeof text);
  fail(result, ran, path, found.defect, text);
  return false;
}

/* The outputs of an op of the table. */
static bool judge_table(const manner *how, kw_case_result *result, const kw_case *c, const expectation *expected,
                        const kw_case_run *ran, const kw_case_run_path *path) {
  if (path->output_count != c->result_count) {
    fail(result, ran, path, "wrong result count", "the worker did not send all results of the op");
    return false;
  }
  for (uint32_t o = 0; o < path->output_count; o++) {
    if (!judge_output(how, result, c, expected, ran, path, o)) return false;
  }
  return true;
}

/* The outputs of a vendor's op, against what its own reference gave in the worker. */
static bool judge_vendor(const manner *how, kw_case_result *result, const kw_case *c, const kw_case_run *ran,
                         const kw_case_run_path *path) {
  for (uint32_t o = 0; o < path->output_count; o++) {
    const kw_case_run_output *out = &path->outputs[o];
    if (out->dtype == KW_DTYPE_NONE) continue;
    if (out->expected_dtype == KW_DTYPE_NONE) {
      result->unreferenced = true;
      continue;
    }
    result->self_referenced = true;
    char name[72], text[1200];
    kw_comparison found;
    kw_compare_vendor(c, o, out, kw_case_run_poison(ran->run), how->flush, &found);
    if (found.error > result->error) result->error = found.error;
    if (!found.pass) {
      name_output(name, sizeof name, c, path, o);
      snprintf(text, sizeof text, "%s%s", name, found.text);
      fail(result, ran, path, found.defect, text);
      return false;
    }
  }
  return true;
}

/* ---- Known causes ------------------------------------------------------------------------------------------------ */

/* Whether the path is right by other rules. */
static bool right_in(const manner *how, const kw_case *c, const kw_case_run *ran, const kw_case_run_path *path,
                     uint64_t seed) {
  kw_case_result scratch = {0};
  expectation *expected = expect(c, ran, seed, how->flush, how, path);
  if (!expected) return false;
  const bool right =
      c->op->vendor ? judge_vendor(how, &scratch, c, ran, path) : judge_table(how, &scratch, c, expected, ran, path);
  forget(expected);
  kw_case_result_free(&scratch);
  return right;
}

/* Why a path is wrong, where milder rules show it: what to look into first. "" otherwise. */
static const char *cause_of(uint64_t flush, const kw_case *c, const kw_case_run *ran, const kw_case_run_path *path,
                            uint64_t seed) {
  const kw_dtype dtype = c->outs[0].dtype;
  const bool sums = !c->op->vendor && c->bounds[0].compare == KW_CMP_ACCUMULATE;
  const bool narrow = sums && (dtype == KW_F16 || dtype == KW_BF16);
  const struct {
    manner how;
    bool wanted;
    const char *text;
  } causes[] = {
      {{KW_DTYPES_FLOAT, path->math_mode, false},
       (flush & KW_DTYPES_FLOAT) != KW_DTYPES_FLOAT,
       "subnormals flushed: declare flush_subnormal"},
      {{flush, KW_MATH_TF32, false}, !c->op->vendor && dtype == KW_F32, "as inexact as tf32: declare math_needs"},
      {{flush, path->math_mode, true}, narrow, "as inexact as sums kept in 16 bits"}};
  for (size_t i = 0; i < sizeof causes / sizeof causes[0]; i++) {
    if (causes[i].wanted && right_in(&causes[i].how, c, ran, path, seed)) return causes[i].text;
  }
  return "";
}

/* ---- A run ------------------------------------------------------------------------------------------------------- */

/* False when the path says nothing about the case: a kernel that does not take this call. */
static bool judge_path(uint64_t seed, uint64_t flush, kw_case_result *result, const kw_case *c,
                       const expectation *expected, const kw_case_run *ran, const kw_case_run_path *path) {
  char text[1200];
  if (*path->defect) {
    snprintf(text, sizeof text, "%s: status %s: %s", path->defect, kw_status_name(path->status), path->message);
    fail(result, ran, path, path->defect, path->status == KW_OK ? path->defect : text);
    return true;
  }
  if (path->status == KW_ERR_NOT_IMPLEMENTED) {
    if (!*path->kernel) kw_case_result_mark(result, KW_OUTCOME_UNIMPLEMENTED, "", path->message);
    return !*path->kernel;
  }
  if (path->status != KW_OK) {
    bool refused = c->op->vendor && path->status == KW_ERR_INVALID_ARGUMENT; /* shapes that this op does not take */
    snprintf(text, sizeof text, "status %s: %s", kw_status_name(path->status), path->message);
    if (refused) {
      kw_case_result_mark(result, KW_OUTCOME_SKIP, "", path->message);
    } else {
      fail(result, ran, path, "unexpected error", text);
    }
    return true;
  }
  result->tf32 |= path->math_mode == KW_MATH_TF32;
  result->fast |= path->math_mode == KW_MATH_FAST;
  const manner how = {.flush = flush, .mode = path->math_mode};
  bool pass =
      c->op->vendor ? judge_vendor(&how, result, c, ran, path) : judge_table(&how, result, c, expected, ran, path);
  const bool mine = !pass && result->outcome == KW_OUTCOME_FAIL && result->failed_run == ran->run;
  if (mine && !*result->defect)
    snprintf(result->defect, sizeof result->defect, "%s", cause_of(flush, c, ran, path, seed));
  if (pass && result->outcome == KW_OUTCOME_NONE) result->outcome = KW_OUTCOME_PASS;
  return true;
}

uint32_t kw_judge_run(const kw_suite_op *op, const kw_case_run *ran, uint64_t seed, uint64_t flush,
                      kw_case_result *result) {
  kw_case c;
  if (!kw_case_from_id(ran->id, op, 1, &c)) {
    kw_case_result_mark(result, KW_OUTCOME_FAIL, "", "there is no such case");
    return 0;
  }
  expectation *expected = expect(&c, ran, seed, flush, NULL, NULL);
  if (!expected) {
    kw_case_result_mark(result, KW_OUTCOME_FAIL, "no expectation", "the suite's reference cannot run this case");
    return 0;
  }
  bool any = false;
  for (uint32_t i = 0; i < ran->path_count; i++) {
    any |= judge_path(seed, flush, result, &c, expected, ran, &ran->paths[i]);
  }
  if (!any) kw_case_result_mark(result, KW_OUTCOME_UNIMPLEMENTED, "", "no kernel of the device takes this call");
  const uint32_t checksum = op->vendor || is_block(&c) ? 0 : kw_oracle_checksum(&expected->oracle);
  forget(expected);
  return checksum;
}
