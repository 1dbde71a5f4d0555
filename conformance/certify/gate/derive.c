/* SPDX-License-Identifier: Apache-2.0
 *
 * Makes must-pass lists (certify/mustpass.c has the format) out of the op table and the generators of cases.
 */
#include "certify/gate/derive.h"

#include "base/suite_version.h"
#include "case/element.h"
#include "case/make.h"
#include "certify/mustpass.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- What a case is made of -------------------------------------------------------------------------------------- */

static void add_tensor(kw_digest *digest, const kw_case_tensor *t) {
  char text[512];
  if (!t->given) {
    kw_digest_add(digest, "-");
    return;
  }
  snprintf(text, sizeof text, "%d %d %u %" PRId64 " %d %" PRId64 " %" PRIu64 " %d %d %d %u", (int)t->dtype,
           (int)t->domain, t->value_stride, t->limit, t->from_end, t->offset, t->extent, t->share, t->output, t->read,
           t->result);
  kw_digest_add(digest, text);
  for (uint32_t d = 0; d < t->rank; d++) {
    snprintf(text, sizeof text, "%" PRId64 ":%" PRId64, t->shape[d], t->strides[d]);
    kw_digest_add(digest, text);
  }
}

/* Its first values in both runs. */
static void add_values(kw_digest *digest, const kw_case *c, uint32_t tensor) {
  enum { MOST = 64, LARGEST = 16 };
  static unsigned char bytes[MOST * LARGEST];
  const kw_case_tensor *t = &c->tensors[tensor];
  const size_t size = kw_element_size(t->dtype);
  if (!t->given || (t->output && !t->read)) return;
  for (uint32_t run = 0; run < 2; run++) {
    const kw_value_key key = kw_case_value_key(c, tensor, 1, run);
    const uint64_t count = t->extent < MOST ? t->extent : MOST;
    kw_values_make(&key, t->dtype, count, bytes);
    SHA256Update(&digest->state, bytes, count * size);
  }
}

static void add_argument(kw_digest *digest, const kw_case_arg *arg) {
  const kw_value *v = &arg->value;
  char text[160];
  snprintf(text, sizeof text, "%d %d %u %u", (int)v->tag, (int)v->kind, v->count, arg->first);
  kw_digest_add(digest, text);
  *text = 0;
  switch (v->tag) {
    case KW_TAG_SCALAR:
      if (v->kind == KW_SCALAR_BOOL) {
        snprintf(text, sizeof text, "%d", v->u.b);
      } else if (v->kind == KW_SCALAR_I64) {
        snprintf(text, sizeof text, "%" PRId64, v->u.i);
      } else if (v->kind == KW_SCALAR_F64) {
        snprintf(text, sizeof text, "%a", v->u.f);
      } else {
        snprintf(text, sizeof text, "%a %a", v->u.c[0], v->u.c[1]);
      }
      break;
    case KW_TAG_BOOL:
      snprintf(text, sizeof text, "%d", v->u.b);
      break;
    case KW_TAG_INT:
      snprintf(text, sizeof text, "%" PRId64, v->u.i);
      break;
    case KW_TAG_FLOAT:
      snprintf(text, sizeof text, "%a", v->u.f);
      break;
    case KW_TAG_DTYPE:
      snprintf(text, sizeof text, "%d", (int)v->u.dtype);
      break;
    case KW_TAG_STRING:
      snprintf(text, sizeof text, "%s", v->u.s ? v->u.s : "");
      break;
    case KW_TAG_INT_LIST:
      for (uint32_t i = 0; i < v->count; i++) {
        snprintf(text, sizeof text, "%" PRId64, arg->ints[i]);
        kw_digest_add(digest, text);
      }
      return;
    default:
      break; /* tensors stand for themselves */
  }
  kw_digest_add(digest, text);
}

static void add_contents(kw_digest *digest, const kw_case *c) {
  char text[256];
  kw_digest_add(digest, c->id);
  snprintf(text, sizeof text, "%" PRIu64 " %" PRIu64 " %" PRId64 " %d", c->promoted, c->terms, c->scan_step, c->exact);
  kw_digest_add(digest, text);
  for (uint32_t a = 0; a < c->arg_count; a++) add_argument(digest, &c->args[a]);
  for (uint32_t t = 0; t < KW_CASE_TENSORS; t++) {
    add_tensor(digest, &c->tensors[t]);
    add_values(digest, c, t);
  }
  for (uint32_t r = 0; r < c->result_count; r++) {
    add_tensor(digest, &c->outs[r]);
    snprintf(text, sizeof text, "%d %a %a", (int)c->bounds[r].compare, c->bounds[r].ulp, c->bounds[r].abs);
    kw_digest_add(digest, text);
    kw_digest_add(digest, c->bounds[r].magnitude ? c->bounds[r].magnitude : "");
  }
}

/* ---- When a case is asked for ------------------------------------------------------------------------------------ */

/* Extensions of dtypes; a set of them is a mask. */
static const char *const names[] = {"f64", "complex", "fp8"};
enum { NAMES = sizeof names / sizeof names[0], SETS = 1 << NAMES };

static const char *family_name(kw_op_extension extension) {
  static const char *const families[] = {[KW_EXTENSION_INT4] = "int4",
                                         [KW_EXTENSION_SPARSE] = "sparse",
                                         [KW_EXTENSION_FFT] = "fft",
                                         [KW_EXTENSION_DETECTION] = "detection",
                                         [KW_EXTENSION_PAGED] = "paged"};
  return extension == KW_EXTENSION_NONE ? "" : families[extension];
}

static void print_set(int set, char text[64]) {
  *text = 0;
  for (int n = 0; n < NAMES; n++) {
    if (set & 1 << n) snprintf(text + strlen(text), 64 - strlen(text), "%s%s", *text ? "+" : "", names[n]);
  }
}

/* The claims of the highest level with each set of extensions. */
static const kw_level_claim *claims(kw_op_extension family) {
  static kw_level_claim made[KW_EXTENSION_PAGED + 1][SETS];
  kw_level_claim *of_family = made[family];
  for (int set = 0; set < SETS && !of_family[0].text; set++) {
    char extensions[64], text[96];
    print_set(set, extensions);
    const char *own = family_name(family);
    snprintf(text, sizeof text, "training%s%s%s%s", *own ? "+" : "", own, *extensions ? "+" : "", extensions);
    if (!kw_level_parse(text, &of_family[set])) abort();
    of_family[set].text = NULL; /* it goes */
  }
  of_family[0].text = "training";
  return of_family;
}

/* The smallest sets of extensions with which a level that is judged in `half` asks for a case: "-", "f64|complex"; ""
 * where none does. */
static void print_sets(const kw_suite_op *op, const kw_case *c, kw_dtype half, char text[128]) {
  const kw_level_claim *with = claims(op->extension);
  const uint64_t extensions = kw_level_extensions(c);
  bool asked[SETS];
  *text = 0;
  for (int set = 0; set < SETS; set++) {
    const uint64_t own = with[set].extensions | KW_DTYPE_BIT(c->key);
    bool smallest = true;
    asked[set] = kw_level_keys(&with[set], op, half) & KW_DTYPE_BIT(c->key) && !(extensions & ~own);
    for (int smaller = 0; smaller < set; smaller++) smallest &= !asked[smaller] || (smaller & set) != smaller;
    if (!asked[set] || !smallest) continue;
    char one[64];
    print_set(set, one);
    snprintf(text + strlen(text), 128 - strlen(text), "%s%s", *text ? "|" : "", *one ? one : "-");
  }
}

/* Puts "half" before each alternative. */
static void require_half(const char *sets, char needs[256]) {
  *needs = 0;
  for (const char *p = sets; *p;) {
    const int length = (int)strcspn(p, "|");
    const bool alone = *p == '-';
    snprintf(needs + strlen(needs), 256 - strlen(needs), "%shalf%s%.*s", *needs ? "|" : "", alone ? "" : "+",
             alone ? 0 : length, p);
    p += length + (p[length] != 0);
  }
}

/* The third word of a row; "" where no level asks for the case. */
static void print_needs(const kw_suite_op *op, const kw_case *c, char needs[256]) {
  char in_f16[128], in_bf16[128];
  print_sets(op, c, KW_F16, in_f16);
  print_sets(op, c, KW_BF16, in_bf16);
  if (strcmp(in_f16, in_bf16) == 0) {
    snprintf(needs, 256, "%s", in_f16);
    return;
  }
  if (*in_f16 && *in_bf16) { /* no op so far: the format has no word for it */
    fprintf(stderr, "%s is asked for with %s in f16, with %s in bf16\n", c->id, in_f16, in_bf16);
    abort();
  }
  require_half(*in_f16 ? in_f16 : in_bf16, needs);
}

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

/* The cases of an op in a dtype that have the same needs. */
typedef struct row {
  char needs[256], classes[3500];
  kw_case_class class;
  uint32_t last; /* number */
  bool open;     /* "4-" stands at the end: the last number is still to come */
} row;

static void close_range(row *r) {
  const size_t used = strlen(r->classes);
  if (r->open) snprintf(r->classes + used, sizeof r->classes - used, "-%u", r->last);
  r->open = false;
}

static void add_number(row *r, const kw_case *c) {
  const bool first = !*r->classes;
  if (!first && r->class == c->class && r->last + 1 == c->number) {
    r->open = true;
  } else {
    close_range(r);
    const size_t used = strlen(r->classes);
    if (!first && r->class == c->class) {
      snprintf(r->classes + used, sizeof r->classes - used, ",%u", c->number);
    } else {
      snprintf(r->classes + used, sizeof r->classes - used, " %s:%u", kw_case_class_name(c->class), c->number);
    }
  }
  r->class = c->class;
  r->last = c->number;
}

static row *find_row(row *rows, uint32_t *count, uint32_t most, const char *needs) {
  for (uint32_t i = 0; i < *count; i++) {
    if (strcmp(rows[i].needs, needs) == 0) return &rows[i];
  }
  if (*count == most) abort();
  row *added = &rows[(*count)++];
  *added = (row){0};
  snprintf(added->needs, sizeof added->needs, "%s", needs);
  return added;
}

static void put_rows(const kw_suite_op *op, kw_dtype dtype, kw_digest *contents, FILE *out) {
  enum { MOST = 8 };
  static row rows[MOST];
  static kw_case c;
  uint32_t count = 0;
  for (int class = 0; class < KW_CLASS_COUNT; class ++) {
    for (uint32_t n = 0; kw_case_make(op, dtype, (kw_case_class) class, n, &c); n++) {
      char needs[256];
      print_needs(op, &c, needs);
      if (!*needs) continue;
      add_number(find_row(rows, &count, MOST, needs), &c);
      add_contents(contents, &c);
    }
  }
  for (uint32_t i = 0; i < count; i++) {
    close_range(&rows[i]);
    fprintf(out, "  %s %s%s\n", kw_element_name(dtype), rows[i].needs, rows[i].classes);
  }
}

/* ---- Lists ------------------------------------------------------------------------------------------------------- */

/* The head of a list, and its rows, which are freed. */
static void put_list(const char *name, const char *contents, char *rows, FILE *out) {
  char tolerances[KW_DIGEST_SIZE], hash[KW_DIGEST_SIZE];
  kw_id_list ids = {0};
  kw_mustpass_all(rows, &ids);
  kw_id_list_digest(&ids, hash);
  kw_digest_tolerances(tolerances);
  fprintf(out,
          "# What has to pass, frozen: docs/certification.md says how, conformance/certify/mustpass.c in which form.\n"
          "suite %s\nop_set %s\nlist %s\ntolerances %s\nids %u %s\n",
          KW_SUITE_VERSION, KW_OP_SET_VERSION, name, tolerances, ids.count, hash);
  if (*contents) fprintf(out, "contents %s\n", contents);
  fputs(rows, out);
  kw_id_list_free(&ids);
  free(rows);
}

void kw_derive_ops(const kw_run *run, kw_level level, FILE *out) {
  static const char *const names_of[] = {
      [KW_LEVEL_CORE] = "core", [KW_LEVEL_INFERENCE] = "inference", [KW_LEVEL_TRAINING] = "training"};
  char *rows = NULL, contents[KW_DIGEST_SIZE];
  size_t size;
  uint32_t count;
  kw_digest digest;
  FILE *text = open_memstream(&rows, &size);
  if (!text) abort();
  kw_digest_begin(&digest);
  const kw_suite_op *ops = kw_suite_ops(&count);
  for (uint32_t i = 0; i < count; i++) {
    const char *family = family_name(ops[i].extension);
    if (ops[i].row.level != level) continue;
    fprintf(text, "op %s%s%s\n", ops[i].name, *family ? " " : "", family);
    for (kw_dtype d = 0; d < KW_KEY_DTYPE_COUNT; d++) {
      if (kw_suite_op_keys(&ops[i]) & KW_DTYPE_BIT(d)) put_rows(&ops[i], d, &digest, text);
    }
  }
  kw_digest_end(&digest, contents);
  for (uint32_t i = 0; level != KW_LEVEL_CORE && i < run->facts.contract_count; i++) {
    const char *id = run->facts.contracts[i];
    if (kw_level_of_test(id) == level) fprintf(text, "test %s\n", id);
  }
  if (fclose(text) != 0) abort();
  put_list(names_of[level], contents, rows, out);
}

/* Whether what stands behind the last '/' is an op of the table, or a number. */
static bool ends_in_op(const kw_run *run, const char *name) {
  return kw_device_facts_op(&run->facts, name) != NULL;
}

static bool ends_in_number(const char *name) {
  return *name && strspn(name, "0123456789") == strlen(name);
}

/* Whether there is a test SUITE/TEST/OP, whose name without the op has this length, for every op of the level. */
static bool is_for_each(const kw_run *run, const char *id, size_t length) {
  uint32_t tests = 0, ops = 0;
  for (uint32_t i = 0; i < run->case_count; i++) tests += strncmp(run->cases[i].id, id, length + 1) == 0;
  for (uint32_t i = 0; i < run->facts.op_count; i++) {
    ops += kw_level_has(&run->options->level, &run->facts.ops[i].op);
  }
  return tests == ops;
}

/* The rows of all contract tests of a run but those that are `known`. */
static void put_contract(const kw_run *run, const kw_id_list *known, const char *before, FILE *out) {
  kw_id_list done = {0}; /* tests that there are for each op */
  for (uint32_t i = 0; i < run->case_count; i++) {
    const char *id = run->cases[i].id, *last = strrchr(id, '/');
    const int length = (int)(last - id);
    uint32_t end = i + 1;
    if (run->cases[i].op || kw_id_list_has(known, id, strlen(id))) continue;
    if (kw_level_of_test(id) != KW_LEVEL_CORE) continue; /* in the list of its level */
    if (ends_in_number(last + 1)) {
      while (end < run->case_count && strncmp(run->cases[end].id, id, (size_t)length + 1) == 0 &&
             ends_in_number(run->cases[end].id + length + 1))
        end++;
      fprintf(out, "%srange %.*s %s-%s\n", before, length, id, last + 1, strrchr(run->cases[end - 1].id, '/') + 1);
      i = end - 1;
    } else if (!ends_in_op(run, last + 1)) {
      fprintf(out, "%stest %s\n", before, id);
    } else if (!is_for_each(run, id, (size_t)length)) {
      fprintf(out, "%sone %.*s %s\n", before, length, id, last + 1);
    } else if (!kw_id_list_has(&done, id, (size_t)length)) {
      kw_id_list_add(&done, "%.*s", length, id);
      fprintf(out, "%seach %.*s\n", before, length, id);
    }
  }
  kw_id_list_free(&done);
}

void kw_derive_contract(const kw_run *normal, const kw_run *thorough, FILE *out) {
  char *rows = NULL;
  size_t size;
  kw_id_list known = {0};
  FILE *text = open_memstream(&rows, &size);
  if (!text) abort();
  put_contract(normal, &known, "", text);
  for (uint32_t i = 0; i < normal->case_count; i++) {
    if (!normal->cases[i].op) kw_id_list_add(&known, "%s", normal->cases[i].id);
  }
  put_contract(thorough, &known, "thorough ", text);
  kw_id_list_free(&known);
  if (fclose(text) != 0) abort();
  put_list("contract", "", rows, out);
}
