/* SPDX-License-Identifier: Apache-2.0
 *
 * The page of an op in the op reference, docs/ops.
 */
#include "op_page.h"

#include "op_table.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

static const struct {
  const char *base, *heading, *text;
} notes[] = {
#define KW_NOTE(base, heading, text) {base, heading, text},
#include "op_notes.def"
};
enum { NOTE_COUNT = sizeof notes / sizeof notes[0] };

/* ---- What the columns of the table mean -------------------------------------------------------------------------- */

static const char *const shape_texts[] = {
#define KW_SHAPE_RULE(name, infer, cases, text) [KW_SHAPE_##name] = text,
#include "shape_rules.def"
};

static const char *const result_texts[] = {
#define KW_RESULT_RULE(name, key, dtype, casts, text) [KW_RESULT_##name] = text,
#include "result_rules.def"
};

static const char *special_text(kw_special special) {
  static const char *const texts[] = {"exact", "either", "unspecified"};
  return texts[special];
}

static const char *level_text(kw_level level) {
  static const char *const texts[] = {"Core", "Inference", "Training"};
  return level <= KW_LEVEL_TRAINING ? texts[level] : "vendor";
}

static const char *cast_text(kw_cast_policy policy) {
  static const char *const texts[] = {"", "computes in the lower precision that is set", "computes in f32",
                                      "computes in the widest of its float arguments"};
  return texts[policy];
}

static void print_bound(FILE *out, const kw_op_bound *bound) {
  switch (bound->compare) {
    case KW_CMP_ULP:
      if (bound->ulp == 0 && bound->abs == 0) {
        fputs("correctly rounded", out);
      } else {
        fprintf(out, "%g ULP of the compute type", bound->ulp);
      }
      if (bound->abs > 0) fprintf(out, ", plus %g eps absolute", bound->abs);
      break;
    case KW_CMP_ACCUMULATE:
      fputs(strchr(bound->magnitude, '/')
                ? "its own, stated below"
                : "growth(n) eps times the same on absolute values, n terms: min(n, 4 + 2 sqrt(n))",
            out);
      break;
    case KW_CMP_INDEX:
      fputs("the index must lead to an equal value, the first such", out);
      break;
    case KW_CMP_QUANTUM:
      fputs("an integer that a value within the bound stated below rounds to", out);
      break;
    case KW_CMP_WRITTEN:
      fputs("the same bits; of several values written to one place any", out);
      break;
    default:
      fputs("the same bits", out);
  }
}

/* ---- Pages ------------------------------------------------------------------------------------------------------- */

char *kw_op_page_base(const char *name, char text[64]) {
  snprintf(text, 64, "%.*s", (int)strcspn(name, ".("), name);
  return text;
}

const char *kw_op_page_bound(const char *base) {
  for (size_t i = 0; i < NOTE_COUNT; ++i) {
    if (strcmp(notes[i].base, base) == 0 && strcmp(notes[i].heading, "Bound") == 0) return notes[i].text;
  }
  return "";
}

/* The name of a base's page without ".md": a namespace is set off by a dot, as file names go everywhere. */
static const char *page_name(const char *base, char text[64]) {
  const char *colons = strstr(base, "::");
  if (!colons) return base;
  snprintf(text, 64, "%.*s.%s", (int)(colons - base), base, colons + 2);
  return text;
}

static bool row_has_base(const kw_op_row *row, const char *base) {
  char text[64];
  return strcmp(kw_op_page_base(row->schema, text), base) == 0;
}

static void print_dtypes(FILE *out, uint64_t dtypes) {
  const char *comma = "";
  for (kw_dtype d = 0; d < KW_DTYPE_COUNT; ++d) {
    if (!(dtypes & KW_DTYPE_BIT(d))) continue;
    fprintf(out, "%s%s", comma, kw_dtype_name(d));
    comma = ", ";
  }
}

/* Of arguments that the op changes and does not return. */
static void print_changed(FILE *out, const kw_op *op, const kw_op_row *row, uint32_t arg_count, uint32_t results) {
  for (uint32_t i = 0; i < arg_count; ++i) {
    kw_arg_info info = {.struct_size = sizeof info};
    const uint32_t kind = KW_ARG_MUTATED | KW_ARG_RETURNED;
    if (kw_op_get_arg(op, i, &info) != KW_OK || (info.flags & kind) != KW_ARG_MUTATED) continue;
    const kw_op_bound bound = kw_op_row_bound(row, results++);
    fprintf(out, "| Bound of `%s` | ", info.name);
    print_bound(out, &bound);
    fputs(" |\n", out);
  }
}

/* "amax add.Tensor/i64": what a device without a kernel runs the op by. */
static void print_decomposition(FILE *out, const char *needs) {
  fputs("| Without a kernel | runs by", out);
  for (const char *separator = " "; *needs; separator = ", ") {
    char name[64], base[64], page[64];
    const size_t length = strcspn(needs, " "), bare = strcspn(needs, " /");
    snprintf(name, sizeof name, "%.*s", (int)bare, needs);
    fprintf(out, "%s[%s](%s.md)", separator, name, page_name(kw_op_page_base(name, base), page));
    if (bare < length) fprintf(out, " in %.*s", (int)(length - bare - 1), needs + bare + 1);
    needs += length + (needs[length] == ' ');
  }
  fputs(" |\n", out);
}

static void print_overload(FILE *out, const kw_op_row *row) {
  char name[64];
  snprintf(name, sizeof name, "%.*s", (int)strcspn(row->schema, "("), row->schema);
  kw_op_info info = {.struct_size = sizeof info, .decomposition = ""};
  const kw_op *op = kw_op_find(name);
  if (op) kw_op_get_info(op, &info);
  fprintf(out, "## %s\n\n    %s\n\n| | |\n|---|---|\n", name, row->schema);
  fprintf(out, "| Level | %s |\n| Dtypes | ", level_text(row->level));
  print_dtypes(out, row->dtypes);
  fprintf(out, " |\n| Result shape | %s |\n| Result dtype | %s |\n", shape_texts[row->shape],
          result_texts[row->result]);
  const uint32_t results = info.result_count - info.counted;
  for (uint32_t r = 0; r < results; ++r) {
    const kw_op_bound bound = kw_op_row_bound(row, r);
    if (results == 1) {
      fputs("| Bound | ", out);
    } else {
      fprintf(out, "| Bound of result %u | ", r);
    }
    print_bound(out, &bound);
    fputs(" |\n", out);
  }
  print_changed(out, op, row, info.arg_count, results);
  fprintf(out, "| NaN, infinity, signed zero, subnormal | %s, %s, %s, %s |\n", special_text(row->nan),
          special_text(row->inf), special_text(row->zero), special_text(row->subnormal));
  if (info.counted) fputs("| Counted | the data say how many entries there are: [result sizes](README.md) |\n", out);
  kw_cast_policy cast = kw_op_cast_policy(op);
  if (cast != KW_CAST_NONE) fprintf(out, "| Autocast | %s |\n", cast_text(cast));
  if (*info.decomposition) print_decomposition(out, info.decomposition);
  fputc('\n', out);
}

bool kw_op_page_print(FILE *out, const char *base) {
  bool found = false;
  for (uint32_t i = 0; i < kw_op_table_count && !found; ++i) found = row_has_base(&kw_op_table[i], base);
  if (!found) return false;
  fprintf(out, "# %s\n\n", base);
  for (size_t i = 0; i < NOTE_COUNT; ++i) {
    if (strcmp(notes[i].base, base) == 0 && strcmp(notes[i].heading, "Definition") == 0)
      fprintf(out, "%s\n\n", notes[i].text);
  }
  for (uint32_t i = 0; i < kw_op_table_count; ++i) {
    if (row_has_base(&kw_op_table[i], base)) print_overload(out, &kw_op_table[i]);
  }
  bool first = true;
  for (size_t i = 0; i < NOTE_COUNT; ++i) {
    if (strcmp(notes[i].base, base) != 0 || strcmp(notes[i].heading, "Definition") == 0) continue;
    if (first) fputs("## Semantics\n\n", out);
    first = false;
    fprintf(out, "- **%s.** %s\n", notes[i].heading, notes[i].text);
  }
  if (!first) fputc('\n', out);
  fputs("How to read this: [the op reference](README.md).\n", out);
  return true;
}

static const struct {
  const char *section, *heading, *text;
} semantics[] = {
#define KW_SEMANTICS(section, heading, text) {section, heading, text},
#include "op_semantics.def"
};

static const char *const introduction =
    "# Op reference\n\n"
    "Generated from `abi/*.def` by `keyway ops --pages docs/ops`; a test fails when it is out of date. `keyway ops "
    "NAME`\n"
    "prints a page. Names, argument order and meaning are ATen's; these pages say what ATen leaves open.\n";

static void print_semantics(FILE *out) {
  const char *section = "";
  for (size_t i = 0; i < sizeof semantics / sizeof semantics[0]; ++i) {
    if (strcmp(section, semantics[i].section) != 0) fprintf(out, "\n## %s\n\n", semantics[i].section);
    section = semantics[i].section;
    if (*semantics[i].heading) {
      fprintf(out, "- **%s** %s\n", semantics[i].heading, semantics[i].text);
    } else {
      fprintf(out, "- %s\n", semantics[i].text);
    }
  }
  fputs("\n## Ops\n\n", out);
}

static void print_index(FILE *out) {
  char base[64], previous[64] = "", page[64];
  fputs(introduction, out);
  print_semantics(out);
  fputs("| Op | Overloads | Definition |\n|---|---|---|\n", out);
  for (uint32_t i = 0; i < kw_op_table_count; ++i) {
    kw_op_page_base(kw_op_table[i].schema, base);
    if (strcmp(base, previous) == 0) continue;
    memcpy(previous, base, sizeof previous);
    bool before = false; /* a base whose rows are not side by side */
    for (uint32_t k = 0; k < i && !before; ++k) before = row_has_base(&kw_op_table[k], base);
    if (before) continue;
    uint32_t overloads = 0;
    for (uint32_t k = 0; k < kw_op_table_count; ++k) overloads += row_has_base(&kw_op_table[k], base);
    const char *definition = "";
    for (size_t k = 0; k < NOTE_COUNT && !*definition; ++k) {
      if (strcmp(notes[k].base, base) == 0 && strcmp(notes[k].heading, "Definition") == 0) definition = notes[k].text;
    }
    fprintf(out, "| [%s](%s.md) | %u | %s |\n", base, page_name(base, page), overloads, definition);
  }
}

/* Opens DIRECTORY/NAME.md for writing. */
static FILE *open_page(const char *directory, const char *name) {
  char path[4096];
  if (snprintf(path, sizeof path, "%s/%s.md", directory, name) >= (int)sizeof path) {
    errno = ENAMETOOLONG;
    return NULL;
  }
  return fopen(path, "w");
}

bool kw_op_pages_write(const char *directory) {
  if (mkdir(directory, 0777) != 0 && errno != EEXIST) return false;
  FILE *out = open_page(directory, "README");
  if (!out) return false;
  print_index(out);
  bool fine = fclose(out) == 0;
  for (uint32_t i = 0; i < kw_op_table_count && fine; ++i) {
    char base[64], page[64];
    out = open_page(directory, page_name(kw_op_page_base(kw_op_table[i].schema, base), page));
    if (!out) return false;
    kw_op_page_print(out, base);
    fine = fclose(out) == 0;
  }
  return fine;
}
