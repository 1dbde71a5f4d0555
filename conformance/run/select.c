/* SPDX-License-Identifier: Apache-2.0
 *
 * Which cases a run consists of.
 */
#include "base/need.h"
#include "case/make.h"
#include "core/base/array.h"
#include "judge/block.h"
#include "program/model_text.h"
#include "program/program.h"
#include "run/run.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool in_list(const char *list, const char *name, size_t length) {
  for (const char *p = list; p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL) {
    if (strcspn(p, ",") == length && memcmp(p, name, length) == 0) return true;
  }
  return false;
}

static bool suite_wanted(const kw_run_options *options, const char *name, size_t length) {
  if (options->suites) return in_list(options->suites, name, length);
  bool ops = length == 3 && memcmp(name, "ops", 3) == 0;
  return ops || !options->op_globs; /* --op asks for ops only */
}

/* The next of comma-separated globs, which is the caller's to free; NULL behind the last. */
static char *next_glob(const char **list) {
  if (!*list) return NULL;
  const size_t length = strcspn(*list, ",");
  char *glob = strndup(*list, length);
  if (!glob) kw_out_of_memory();
  *list = (*list)[length] ? *list + length + 1 : NULL;
  return glob;
}

static bool op_wanted(const kw_run_options *options, const char *name) {
  bool wanted = !options->op_globs;
  const char *list = options->op_globs;
  for (char *glob; !wanted && (glob = next_glob(&list)) != NULL; free(glob)) wanted = fnmatch(glob, name, 0) == 0;
  return wanted;
}

static kw_run_case *add_case(kw_run *run, const char *id, const kw_op_facts *op, kw_dtype dtype) {
  kw_run_case *cases = kw_array_grow(run->cases, run->case_count, sizeof *cases);
  if (!cases) kw_out_of_memory();
  run->cases = cases;
  kw_run_case *added = &cases[run->case_count++];
  *added = (kw_run_case){.id = strdup(id), .op = op, .dtype = dtype};
  return added;
}

static void add_unclaimed(kw_run *run, const kw_suite_op *op, kw_dtype dtype) {
  char text[96];
  snprintf(text, sizeof text, "%s/%s", op->name, kw_element_name(dtype));
  char **list = kw_array_grow(run->unclaimed, run->unclaimed_count, sizeof *list);
  if (!list) kw_out_of_memory();
  run->unclaimed = list;
  list[run->unclaimed_count++] = strdup(text);
}

/* A quick run has one case of each class, another one in each dtype, so that together the dtypes have tried most. */
static void thin_out(kw_run *run, uint32_t first, kw_dtype dtype) {
  const uint32_t count = run->case_count - first;
  if (run->options->effort != KW_EFFORT_QUICK || count == 0) return;
  const uint32_t kept = first + (uint32_t)dtype % count;
  for (uint32_t i = first; i < run->case_count; i++) {
    if (i != kept) free(run->cases[i].id);
  }
  run->cases[first] = run->cases[kept];
  run->case_count = first + 1;
}

/* A case that mixes dtypes is wanted when all of its extension's dtypes are. */
static void add_ops_cases(kw_run *run, const kw_op_facts *op, kw_dtype dtype, uint64_t extensions) {
  for (int class = 0; class < KW_CLASS_COUNT; class ++) {
    kw_case c;
    const uint32_t first = run->case_count;
    for (uint32_t n = 0; kw_case_make(&op->op, dtype, (kw_case_class) class, n, &c); n++) {
      if (!(kw_level_extensions(&c) & ~extensions)) add_case(run, c.id, op, dtype);
    }
    thin_out(run, first, dtype);
  }
}

/* A contract test of one op, "suite/test/op", is wanted where cases of the op are: at a level whatever the device
 * claims, so that all devices have the same tests. */
static bool contract_wanted(const kw_run *run, const char *id) {
  const char *test = strchr(id, '/'), *name = test ? strchr(test + 1, '/') : NULL;
  const kw_level_claim *level = &run->options->level;
  for (uint32_t i = 0; i < run->facts.op_count && name; i++) {
    const kw_op_facts *op = &run->facts.ops[i];
    if (strcmp(op->op.name, name + 1) != 0) continue;
    return level->text ? kw_level_has(level, &op->op) : (op->kernels | op->decomposed) != 0;
  }
  return !name || !level->text;
}

/* A level has the tests of its own ops and of those before it. A quick run has models in f32. */
static bool test_wanted(const kw_run_options *options, const char *id) {
  const kw_level level = kw_level_of_test(id);
  const bool half = level != KW_LEVEL_CORE && strstr(id, "f16") != NULL; /* or bf16 */
  return !(half && options->effort == KW_EFFORT_QUICK) && !(options->level.text && options->level.level < level);
}

static void select_contracts(kw_run *run) {
  for (uint32_t i = 0; i < run->facts.contract_count; i++) {
    const char *id = run->facts.contracts[i];
    bool wanted =
        suite_wanted(run->options, id, strcspn(id, "/")) && contract_wanted(run, id) && test_wanted(run->options, id);
    if (run->facts.contract_efforts[i] > run->options->effort) continue;
    if (wanted) add_case(run, id, NULL, KW_DTYPE_NONE);
  }
}

static void select_ops(kw_run *run) {
  const kw_run_options *options = run->options;
  kw_dtype half = kw_level_half(&options->level, &run->facts);
  run->without_cases = calloc(run->facts.op_count + 1u, sizeof *run->without_cases);
  if (!run->without_cases) kw_out_of_memory();
  for (uint32_t i = 0; i < run->facts.op_count; i++) {
    const kw_op_facts *op = &run->facts.ops[i];
    if (!op_wanted(options, op->op.name)) continue;
    const uint32_t before = run->case_count;
    uint64_t claimed = op->kernels | op->decomposed, keys = kw_suite_op_keys(&op->op);
    uint64_t wanted = options->level.text ? kw_level_keys(&options->level, &op->op, half) : claimed;
    for (kw_dtype d = 0; d < KW_KEY_DTYPE_COUNT; d++) {
      if (keys & wanted & KW_DTYPE_BIT(d)) {
        add_ops_cases(run, op, d, options->level.text ? options->level.extensions | KW_DTYPE_BIT(d) : claimed);
      } else if (keys & KW_DTYPE_BIT(d) && !options->level.text && !op->op.vendor) {
        add_unclaimed(run, &op->op, d);
      }
    }
    if (op->op.vendor && !options->level.text && claimed && run->case_count == before) {
      run->without_cases[i] = kw_case_vendor_gap(&op->op);
    }
  }
}

/* Of an op of one tensor all patterns of f32, or a share of them; of others a share only, which ends at 2^28 operands.
 */
static void add_blocks(kw_run *run, const kw_op_facts *op) {
  enum { DENSE_BLOCKS = 64 };
  const uint32_t share = run->options->share, part = share < KW_CASE_BLOCKS ? KW_CASE_BLOCKS / share : 1;
  kw_case c;
  double units;
  const bool one = kw_case_make(&op->op, KW_F32, KW_CLASS_PATTERNS, 0, &c);
  const kw_case_class class = one && share == 1 ? KW_CLASS_PATTERNS : KW_CLASS_DENSE;
  const uint32_t blocks = one || part < DENSE_BLOCKS ? part : DENSE_BLOCKS;
  if (!kw_block_bound(&op->op, &units)) return;
  for (uint32_t form = 0; kw_case_make(&op->op, KW_F32, class, form * KW_CASE_BLOCKS, &c); form++) {
    for (uint32_t block = 0; block < blocks; block++) {
      if (kw_case_make(&op->op, KW_F32, class, form * KW_CASE_BLOCKS + block, &c))
        add_case(run, c.id, op, KW_F32)->block = true;
    }
  }
}

/* All patterns of a narrow float are few: cases of their own have them. */
static void add_all_bits(kw_run *run, const kw_op_facts *op, kw_dtype dtype) {
  kw_case c;
  for (uint32_t n = 0; kw_case_make(&op->op, dtype, KW_CLASS_EXHAUSTIVE, n, &c); n++) add_case(run, c.id, op, dtype);
}

/* In place of all other cases. */
static void select_blocks(kw_run *run) {
  const kw_run_options *options = run->options;
  const kw_dtype half = kw_level_half(&options->level, &run->facts);
  for (uint32_t i = 0; i < run->facts.op_count; i++) {
    const kw_op_facts *op = &run->facts.ops[i];
    const uint64_t asked =
        options->level.text ? kw_level_keys(&options->level, &op->op, half) : op->kernels | op->decomposed;
    const uint64_t dtypes = op_wanted(options, op->op.name) ? asked & options->exhaustive : 0;
    if (dtypes & KW_DTYPE_BIT(KW_F16)) add_all_bits(run, op, KW_F16);
    if (dtypes & KW_DTYPE_BIT(KW_BF16)) add_all_bits(run, op, KW_BF16);
    if (dtypes & KW_DTYPE_BIT(KW_F32)) add_blocks(run, op);
  }
}

/* Whether a program of this id can be made of what the device claims. */
static bool program_exists(const kw_run *run, const char *id) {
  kw_program *program = malloc(sizeof *program);
  if (!program) kw_out_of_memory();
  const bool there = kw_program_make(id, run->options->seed, &run->facts, program);
  if (there) kw_program_free(program);
  free(program);
  return there;
}

static void add_program(kw_run *run, const char *id) {
  add_case(run, id, NULL, KW_DTYPE_NONE)->program = true;
}

/* Those that together call each op. They come first: what a device prepares for a shape is new to it then, in a replay
 * too. */
static void select_each(kw_run *run) {
  char id[KW_PROGRAM_BASE];
  for (uint32_t i = 0; i < KW_PROGRAM_EACH && run->options->effort > KW_EFFORT_QUICK; i++) {
    snprintf(id, sizeof id, "programs/each/%u", i);
    add_program(run, id);
  }
}

/* Programs around the calls of each model; a quick run has the first. */
static void select_models(kw_run *run) {
  static const uint32_t usual[] = {[KW_EFFORT_QUICK] = 1, [KW_EFFORT_NORMAL] = 4, [KW_EFFORT_THOROUGH] = 40};
  char id[KW_PROGRAM_BASE];
  for (uint32_t m = 0; kw_model_at(m); m++) {
    if (m > 0 && run->options->effort == KW_EFFORT_QUICK) break;
    for (uint32_t i = 0; i < usual[run->options->effort]; i++) {
      snprintf(id, sizeof id, "programs/%s/%u", kw_model_at(m)->name, i);
      add_program(run, id);
    }
  }
}

/* Of a device that claims nothing there are none. */
static void select_programs(kw_run *run) {
  enum { MOST = 100000 }; /* that a time limit is given for */
  static const uint32_t usual[] = {[KW_EFFORT_QUICK] = 12, [KW_EFFORT_NORMAL] = 300, [KW_EFFORT_THOROUGH] = 3000};
  const kw_run_options *options = run->options;
  const uint32_t wanted = options->programs > 0 ? options->programs : usual[options->effort];
  const uint32_t count = options->program_seconds > 0 ? MOST : wanted;
  char id[32];
  if (count > 0 && !program_exists(run, "programs/0")) return;
  const bool all = options->programs == 0 && options->program_seconds == 0;
  if (all) select_each(run);
  for (uint32_t i = 0; i < count; i++) {
    snprintf(id, sizeof id, "programs/%u", i);
    add_program(run, id);
  }
  if (all) select_models(run);
}

bool kw_run_find_case(const kw_run *run, const char *id, kw_run_case *out_case) {
  *out_case = (kw_run_case){.id = (char *)id, .dtype = KW_DTYPE_NONE};
  if (program_exists(run, id)) return out_case->program = true;
  for (uint32_t i = 0; i < run->facts.contract_count; i++) {
    if (strcmp(run->facts.contracts[i], id) == 0) return true;
  }
  for (uint32_t i = 0; i < run->facts.op_count; i++) {
    kw_case c;
    if (!kw_case_from_id(id, &run->facts.ops[i].op, 1, &c)) continue;
    out_case->op = &run->facts.ops[i];
    out_case->dtype = c.key;
    out_case->block = c.class >= KW_CLASS_COUNT;
    return true;
  }
  return false;
}

static bool select_one(kw_run *run) {
  kw_run_case found;
  if (!kw_run_find_case(run, run->options->case_id, &found)) return false;
  kw_run_case *added = add_case(run, found.id, found.op, found.dtype);
  added->program = found.program;
  added->block = found.block;
  return true;
}

/* "ID#RUN,ID#RUN": what comes before the one case. False at the first that is nothing of the kind; it is in *out_bad,
 * the caller's to free. */
static bool select_before(kw_run *run, char **out_bad) {
  const char *list = run->options->after;
  for (char *entry; (entry = next_glob(&list)) != NULL; free(entry)) {
    char *mark = strrchr(entry, '#');
    bool good = mark && (strcmp(mark, "#0") == 0 || strcmp(mark, "#1") == 0);
    kw_run_case found;
    if (good) *mark = 0;
    if (!good || !kw_run_find_case(run, entry, &found)) {
      *out_bad = entry;
      return false;
    }
    run->before = realloc(run->before, (run->before_count + 1u) * sizeof *run->before);
    run->before_refs = realloc(run->before_refs, (run->before_count + 1u) * sizeof *run->before_refs);
    if (!run->before || !run->before_refs) kw_out_of_memory();
    found.id = strdup(found.id);
    run->before[run->before_count] = found;
    run->before_refs[run->before_count] = (kw_run_ref){run->before_count, (uint32_t)(mark[1] - '0')};
    run->before_count++;
  }
  return true;
}

static bool op_exists(const kw_run *run, const char *glob) {
  for (uint32_t i = 0; i < run->facts.op_count; i++) {
    if (fnmatch(glob, run->facts.ops[i].op.name, 0) == 0) return true;
  }
  return false;
}

/* Overloads have names of their own: who writes the op's alone may mean all of them. */
static void say_no_op(const kw_run *run, const char *glob, char *out_message, size_t size) {
  char overloads[128];
  const bool cut = snprintf(overloads, sizeof overloads, "%s.*", glob) >= (int)sizeof overloads;
  const bool near = !cut && op_exists(run, overloads);
  snprintf(out_message, size, "no op matches '%s'%s%s%s; `keyway ops` lists all ops", glob,
           near ? "; did you mean '" : "", near ? overloads : "", near ? "'?" : "");
}

static void hash_cases(kw_run *run) {
  kw_digest digest;
  kw_digest_begin(&digest);
  for (uint32_t i = 0; i < run->case_count; i++) kw_digest_add(&digest, run->cases[i].id);
  kw_digest_end(&digest, run->case_hash);
}

static bool matches(const kw_run *run, uint32_t index) {
  return fnmatch(run->options->case_id, run->cases[index].id, 0) == 0;
}

static bool is_in_shard(const kw_run *run, uint32_t index) {
  return index % run->options->shards == run->options->shard - 1;
}

/* Drops the other cases. */
static void keep(kw_run *run, bool (*wanted)(const kw_run *, uint32_t)) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < run->case_count; i++) {
    if (wanted(run, i)) {
      run->cases[kept++] = run->cases[i];
    } else {
      free(run->cases[i].id);
    }
  }
  run->case_count = kept;
}

static bool was_begun(const kw_run *run, uint32_t index) {
  return !run->cases[index].program || run->cases[index].result.outcome != KW_OUTCOME_NONE;
}

void kw_run_drop_untried(kw_run *run) {
  keep(run, was_begun);
}

bool kw_run_select(kw_run *run, char *out_message, size_t size) {
  const kw_run_options *options = run->options;
  const bool glob = options->case_id && strpbrk(options->case_id, "*?");
  char *bad;
  if (options->after && (glob || !options->case_id)) {
    snprintf(out_message, size, "--after goes with --case and the id of one case");
    return false;
  }
  if (options->after && !select_before(run, &bad)) {
    snprintf(out_message, size, "--after has '%s', which is no run of a case, such as 'add.Tensor/f32/prime/0#1'", bad);
    free(bad);
    return false;
  }
  if (options->case_id && !glob) {
    if (select_one(run)) {
      hash_cases(run);
      return true;
    }
    snprintf(out_message, size, "there is no case '%s'; `keyway conform --device %s --list` prints all ids",
             options->case_id, options->device);
    return false;
  }
  const char *list = options->op_globs;
  for (char *op_glob; (op_glob = next_glob(&list)) != NULL; free(op_glob)) {
    if (op_exists(run, op_glob)) continue;
    say_no_op(run, op_glob, out_message, size);
    free(op_glob);
    return false;
  }
  if (options->exhaustive) select_blocks(run);
  if (!options->exhaustive) select_contracts(run);
  if (!options->exhaustive && suite_wanted(options, "ops", 3)) select_ops(run);
  const bool timed = options->program_seconds > 0; /* how many there will be is not known: they are in no hash */
  const bool programs = !options->exhaustive && suite_wanted(options, "programs", 8);
  if (programs && !timed) select_programs(run);
  if (glob) keep(run, matches);
  hash_cases(run);
  if (programs && timed) select_programs(run);
  keep(run, is_in_shard);
  if (run->case_count > 0) return true;
  snprintf(
      out_message, size,
      "no case is left to run on %s: the device claims none of the chosen ops, or the suite, --case or shard is empty",
      options->device);
  return false;
}
