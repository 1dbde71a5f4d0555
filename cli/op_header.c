/* SPDX-License-Identifier: Apache-2.0
 *
 * Typed calls: of each op a function that gives a status, one for expressions, and, where arguments have defaults or
 * are plain numbers in more than one way, the macros that take fewer arguments. What the header says at its top is the
 * rule for names and arguments.
 */
#include "op_header.h"

#include "op_table.h"

#include <keyway/keyway.h>

#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS 120

/* An op as C has it. */
typedef struct typed_op {
  const char *name; /* "sum.dim_IntList" */
  const char *schema;
  char c_name[96]; /* "sum_dim_intlist" */
  kw_arg_info args[KW_MAX_ARGS];
  uint32_t arg_count;
  uint32_t required;                /* the last ones have defaults from here on */
  uint32_t result_count;            /* of the schema */
  bool is_new[KW_MAX_RESULTS];      /* no argument of the call's */
  char results[KW_MAX_RESULTS][40]; /* the out-parameters' names */
  uint32_t new_count;
} typed_op;

/* ---- Text that fits the columns ---------------------------------------------------------------------------------- */

typedef struct line {
  char text[4096];
} line;

static void add(line *to, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(line *to, const char *format, ...) {
  const size_t used = strlen(to->text);
  va_list list;
  va_start(list, format);
  vsnprintf(to->text + used, sizeof to->text - used, format, list);
  va_end(list);
}

/* Where a line of at most `room` characters ends: at a space behind one of these characters, or at any. */
static size_t line_end(const char *text, size_t room, const char *behind) {
  size_t any = 0;
  for (size_t end = room; end > 0; --end) {
    if (text[end] != ' ' || text[end + 1] == '{') continue;
    if (strchr(behind, text[end - 1])) return end;
    if (any == 0) any = end;
  }
  return any;
}

/* Further lines begin with `indent`, lines but the last end with `end`. */
static void print_wrapped(FILE *out, const line *whole, const char *indent, const char *end, const char *behind) {
  const char *rest = whole->text, *before = "";
  while (strlen(before) + strlen(rest) > COLUMNS) {
    const size_t length = line_end(rest, COLUMNS - strlen(before) - strlen(end), behind);
    fprintf(out, "%s%.*s%s\n", before, (int)length, rest, end);
    rest += length + 1;
    before = indent;
  }
  fprintf(out, "%s%s\n", before, rest);
}

static void print_code(FILE *out, const line *whole, const char *indent, const char *end) {
  print_wrapped(out, whole, indent, end, ",)");
}

/* ---- Defaults beyond the schema's ---------------------------------------------------------------------------------
 *
 * Ops that stand behind a function of ATen's which people call, where that has defaults and they have none. */

static const struct {
  const char *op, *arg, *text;
} more_defaults[] = {
    {"_softmax", "half_to_float", "false"},  {"_log_softmax", "half_to_float", "false"},
    {"_cdist_forward", "p", "2.0"},          {"_cdist_forward", "compute_mode", "kw_arg_none()"},
    {"native_layer_norm", "weight", "NULL"}, {"native_layer_norm", "bias", "NULL"},
    {"native_layer_norm", "eps", "1e-05"},   {"nll_loss_forward", "weight", "NULL"},
    {"nll_loss_forward", "reduction", "1"},  {"nll_loss_forward", "ignore_index", "-100"},
};

/* Their names, where those are not the ops' but for the underscore. */
static const struct {
  const char *op, *name;
} other_names[] = {{"_cdist_forward", "cdist"}, {"_pdist_forward", "pdist"}};

static const char *more_default(const char *op, const char *arg) {
  for (size_t i = 0; i < sizeof more_defaults / sizeof more_defaults[0]; ++i) {
    if (strcmp(op, more_defaults[i].op) == 0 && strcmp(arg, more_defaults[i].arg) == 0) return more_defaults[i].text;
  }
  return NULL;
}

/* ---- From the schema --------------------------------------------------------------------------------------------- */

/* "sum.dim_IntList" is sum_dim_intlist, "_softmax" softmax, "fill_.Scalar" fill_scalar_, "keyway::rope" rope,
 * "torchvision::nms" torchvision_nms. */
static void name_in_c(const char *name, char *text, size_t size) {
  const char *colons = strstr(name, "::");
  const bool is_foreign = colons && strncmp(name, "keyway::", 8) != 0;
  const char *rest = colons ? colons + 2 : name, *dot = strchr(rest, '.');
  while (*rest == '_') ++rest;
  const size_t length = dot ? (size_t)(dot - rest) : strlen(rest);
  const bool inplace = length > 0 && rest[length - 1] == '_';
  snprintf(text, size, "%.*s%s%.*s%s%s%s", is_foreign ? (int)(colons - name) : 0, name, is_foreign ? "_" : "",
           (int)(length - inplace), rest, dot ? "_" : "", dot ? dot + 1 : "", inplace ? "_" : "");
  for (size_t i = 0; i < sizeof other_names / sizeof other_names[0]; ++i) {
    if (strcmp(name, other_names[i].op) == 0) snprintf(text, size, "%s", other_names[i].name);
  }
  for (; *text; ++text) {
    if (*text >= 'A' && *text <= 'Z') *text = (char)(*text - 'A' + 'a');
  }
}

/* "out", "out_values" where the schema names the results, "out_0" where it does not. */
static void name_results(typed_op *op) {
  const char *at = strstr(op->schema, "->");
  for (uint32_t r = 0; r < op->result_count; ++r) {
    at = strstr(at, "Tensor") + strlen("Tensor");
    if (*at == '(') at = strchr(at, ')') + 1;
    const char *word = *at == ' ' ? at + 1 : at;
    const size_t length = strspn(word, "abcdefghijklmnopqrstuvwxyz_0123456789");
    if (op->new_count == 1)
      snprintf(op->results[r], sizeof op->results[r], "out");
    else if (length > 0)
      snprintf(op->results[r], sizeof op->results[r], "out_%.*s", (int)length, word);
    else
      snprintf(op->results[r], sizeof op->results[r], "out_%u", r);
  }
}

static bool read_op(const kw_op *op, typed_op *out) {
  kw_op_info info = {.struct_size = sizeof info};
  if (kw_op_get_info(op, &info) != KW_OK || info.level == KW_LEVEL_VENDOR) return false;
  *out = (typed_op){.name = info.name,
                    .schema = info.schema,
                    .arg_count = info.arg_count,
                    .result_count = info.result_count - info.counted};
  name_in_c(info.name, out->c_name, sizeof out->c_name);
  for (uint32_t i = 0; i < out->arg_count; ++i) {
    out->args[i].struct_size = sizeof out->args[i];
    if (kw_op_get_arg(op, i, &out->args[i]) != KW_OK) return false;
    const bool has_default = (out->args[i].flags & KW_ARG_HAS_DEFAULT) || more_default(info.name, out->args[i].name);
    if (!has_default) out->required = i + 1;
  }
  for (uint32_t r = 0; r < out->result_count; ++r) {
    out->is_new[r] = kw_op_result_alias(op, r) < 0;
    out->new_count += out->is_new[r];
  }
  name_results(out);
  return true;
}

static bool is_optional(const kw_arg_info *arg) {
  return (arg->flags & KW_ARG_OPTIONAL) != 0;
}

/* How a plain number becomes the argument, or NULL where C does that by itself. */
static const char *conversion(const kw_arg_info *arg) {
  if (arg->tag == KW_TAG_SCALAR) return "KW_AS_SCALAR";
  if (!is_optional(arg)) return NULL;
  return arg->tag == KW_TAG_INT     ? "KW_AS_INT"
         : arg->tag == KW_TAG_FLOAT ? "KW_AS_FLOAT"
         : arg->tag == KW_TAG_BOOL  ? "KW_AS_BOOL"
                                    : NULL;
}

static bool has_macros(const typed_op *op) {
  bool converts = op->required < op->arg_count;
  for (uint32_t i = 0; i < op->arg_count; ++i) converts = converts || conversion(&op->args[i]) != NULL;
  return converts;
}

/* ---- Arguments in C ---------------------------------------------------------------------------------------------- */

static void add_parameter(line *to, const kw_arg_info *arg) {
  static const char *const types[] = {[KW_TAG_TENSOR] = "const kw_tensor *",
                                      [KW_TAG_TENSOR_LIST] = "kw_tensors ",
                                      [KW_TAG_INT] = "int64_t ",
                                      [KW_TAG_INT_LIST] = "kw_ints ",
                                      [KW_TAG_FLOAT] = "double ",
                                      [KW_TAG_BOOL] = "bool ",
                                      [KW_TAG_STRING] = "const char *",
                                      [KW_TAG_DTYPE] = "kw_dtype ",
                                      [KW_TAG_GENERATOR] = "kw_generator *"};
  const char *type = conversion(arg) ? "kw_value " : types[arg->tag];
  if (arg->tag == KW_TAG_TENSOR && (arg->flags & KW_ARG_MUTATED)) type = "kw_tensor *";
  add(to, "%s%s", type, arg->name);
}

static void add_value(line *to, const kw_arg_info *arg) {
  static const char *const makers[] = {[KW_TAG_TENSOR] = "kw_arg_tensor",
                                       [KW_TAG_TENSOR_LIST] = "kw_typed_tensors",
                                       [KW_TAG_INT] = "kw_arg_int",
                                       [KW_TAG_INT_LIST] = "kw_typed_ints",
                                       [KW_TAG_FLOAT] = "kw_arg_float",
                                       [KW_TAG_BOOL] = "kw_arg_bool",
                                       [KW_TAG_STRING] = "kw_arg_string",
                                       [KW_TAG_DTYPE] = "kw_arg_dtype",
                                       [KW_TAG_GENERATOR] = "kw_arg_generator"};
  const char *maker = conversion(arg) ? NULL : makers[arg->tag];
  if (is_optional(arg) && arg->tag == KW_TAG_TENSOR) maker = "kw_typed_optional";
  if (is_optional(arg) && arg->tag == KW_TAG_INT_LIST) maker = "kw_typed_optional_ints";
  if (is_optional(arg) && arg->tag == KW_TAG_STRING) maker = "kw_typed_optional_string";
  add(to, maker ? "%s(%s)" : "%s%s", maker ? maker : "", arg->name);
}

static void add_number(line *to, double number) {
  char text[40];
  snprintf(text, sizeof text, "%.15g", number);
  add(to, "%s%s", text, strpbrk(text, ".e") ? "" : ".0");
}

static void add_default(line *to, const char *op, const kw_arg_info *arg) {
  const kw_value *value = &arg->default_value;
  const char *more = more_default(op, arg->name);
  if (more) {
    add(to, "%s", more);
  } else if (value->tag == KW_TAG_NONE) {
    add(to, "%s",
        conversion(arg)               ? "kw_arg_none()"
        : arg->tag == KW_TAG_DTYPE    ? "KW_DTYPE_NONE"
        : arg->tag == KW_TAG_INT_LIST ? "KW_NO_INTS"
                                      : "NULL");
  } else if (value->tag == KW_TAG_INT || (value->tag == KW_TAG_SCALAR && value->kind == KW_SCALAR_I64)) {
    add(to, "%" PRId64, value->u.i);
  } else if (value->tag == KW_TAG_FLOAT || (value->tag == KW_TAG_SCALAR && value->kind == KW_SCALAR_F64)) {
    add_number(to, value->u.f);
  } else if (value->tag == KW_TAG_STRING) {
    add(to, "\"%s\"", value->u.s);
  } else if (value->tag == KW_TAG_INT_LIST) {
    add(to, value->count ? "KW_INTS(" : "KW_NO_INTS");
    for (uint32_t i = 0; i < value->count; ++i) add(to, "%s%" PRId64, i ? ", " : "", value->u.ints[i]);
    add(to, value->count ? ")" : "");
  } else {
    add(to, "%s", value->u.b ? "true" : "false");
  }
}

/* ---- An op's calls ----------------------------------------------------------------------------------------------- */

/* ", kw_tensor **out" of each new result, or ", out". */
static void add_outs(line *to, const typed_op *op, const char *before) {
  for (uint32_t r = 0, n = op->arg_count; r < op->result_count; ++r) {
    if (op->is_new[r]) add(to, "%s%s%s", n++ ? ", " : "", before, op->results[r]);
  }
}

static void print_function(FILE *out, const typed_op *op, const char *part) {
  line text = {""}, indent = {""};
  add(&text, "static inline kw_status kw_%s%s(", part, op->c_name);
  add(&indent, "%*s", (int)strlen(text.text), "");
  for (uint32_t i = 0; i < op->arg_count; ++i) {
    add(&text, "%s", i ? ", " : "");
    add_parameter(&text, &op->args[i]);
  }
  add_outs(&text, op, "kw_tensor **");
  add(&text, ") {");
  print_code(out, &text, indent.text, "");
  fprintf(out, "  static kw_op_name op = {\"%s\", NULL};\n", op->name);
  text = (line){"  const kw_value args[] = {"};
  for (uint32_t i = 0; i < op->arg_count; ++i) {
    add(&text, "%s", i ? ", " : "");
    add_value(&text, &op->args[i]);
  }
  add(&text, "};");
  print_code(out, &text, "                           ", "");
  if (op->result_count == 1 && op->new_count == 1) {
    fprintf(out, "  return kw_op_run(&op, NULL, args, %u, out, 1);\n}\n", op->arg_count);
    return;
  }
  if (op->new_count == 0) {
    fprintf(out, "  return kw_op_run(&op, NULL, args, %u, NULL, 0);\n}\n", op->arg_count);
    return;
  }
  text = (line){"  kw_tensor *outs[] = {"};
  for (uint32_t r = 0; r < op->result_count; ++r) {
    add(&text, "%s%s%s", r ? ", " : "", op->is_new[r] ? "*" : "NULL", op->is_new[r] ? op->results[r] : "");
  }
  add(&text, "};");
  print_code(out, &text, "                       ", "");
  fprintf(out, "  const kw_status status = kw_op_run(&op, NULL, args, %u, outs, %u);\n", op->arg_count,
          op->result_count);
  for (uint32_t r = 0; r < op->result_count; ++r) {
    if (op->is_new[r]) fprintf(out, "  *%s = outs[%u];\n", op->results[r], r);
  }
  fprintf(out, "  return status;\n}\n");
}

/* For expressions: the first new result, of which the others are released. */
static void print_expression(FILE *out, const typed_op *op, const char *part) {
  line text = {""}, indent = {""};
  add(&text, "static inline kw_tensor *kwx_%s%s(", part, op->c_name);
  add(&indent, "%*s", (int)strlen(text.text), "");
  for (uint32_t i = 0; i < op->arg_count; ++i) {
    add(&text, "%s", i ? ", " : "");
    add_parameter(&text, &op->args[i]);
  }
  add(&text, ") {");
  print_code(out, &text, indent.text, "");
  text = (line){"  kw_tensor "};
  const char *first = NULL;
  for (uint32_t r = 0; r < op->result_count; ++r) {
    if (op->is_new[r]) add(&text, "%s*%s = NULL", first ? ", " : "", op->results[r]);
    if (op->is_new[r] && !first) first = op->results[r];
  }
  add(&text, ";");
  print_code(out, &text, "      ", "");
  text = (line){""};
  add(&text, "  kw_%s%s(", part, op->c_name);
  for (uint32_t i = 0; i < op->arg_count; ++i) add(&text, "%s%s", i ? ", " : "", op->args[i].name);
  add_outs(&text, op, "&");
  add(&text, ");");
  print_code(out, &text, "      ", "");
  for (uint32_t r = 0; r < op->result_count; ++r) {
    if (op->is_new[r] && op->results[r] != first) fprintf(out, "  kw_scope_release(%s);\n", op->results[r]);
  }
  fprintf(out, "  return %s;\n}\n", first);
}

/* The macro that takes `given` of the arguments; the last one converts and calls the function. */
static void print_macro(FILE *out, const typed_op *op, const char *prefix, bool with_outs, uint32_t given,
                        bool counted) {
  const uint32_t outs = with_outs ? op->new_count : 0;
  line text = {""};
  add(&text, "#define %s_", prefix);
  if (counted) add(&text, "%u_", given + outs);
  add(&text, "%s", op->c_name);
  add(&text, "(");
  for (uint32_t i = 0; i < given; ++i) add(&text, "%s%s", i ? ", " : "", op->args[i].name);
  if (with_outs) add_outs(&text, op, "");
  const bool all = given == op->arg_count;
  add(&text, ") %s_", prefix);
  if (all) {
    add(&text, "typed_");
  } else {
    add(&text, "%u_", op->arg_count + outs);
  }
  add(&text, "%s(", op->c_name);
  for (uint32_t i = 0; i < op->arg_count; ++i) {
    const char *convert = all ? conversion(&op->args[i]) : NULL;
    add(&text, "%s", i ? ", " : "");
    if (i >= given)
      add_default(&text, op->name, &op->args[i]);
    else
      add(&text, convert ? "%s(%s)" : "%s%s", convert ? convert : "", op->args[i].name);
  }
  if (with_outs) add_outs(&text, op, "");
  add(&text, ")");
  print_code(out, &text, "  ", " \\");
}

static void print_macros(FILE *out, const typed_op *op, const char *prefix, bool with_outs) {
  const bool counted = op->required < op->arg_count;
  line text = {""};
  add(&text, "#define %s_%s(...) KW_BY_NUMBER(%s, %s, __VA_ARGS__)", prefix, op->c_name, prefix, op->c_name);
  if (counted) print_code(out, &text, "  ", " \\");
  for (uint32_t given = op->required; given <= op->arg_count; ++given) {
    print_macro(out, op, prefix, with_outs, given, counted);
  }
}

static void print_op(FILE *out, const typed_op *op) {
  const bool macros = has_macros(op);
  line text = {""};
  add(&text, "/* %s */", op->schema);
  fputc('\n', out);
  print_wrapped(out, &text, " * ", "", " ,");
  print_function(out, op, macros ? "typed_" : "");
  if (op->new_count > 0) print_expression(out, op, macros ? "typed_" : "");
  if (!macros) return;
  print_macros(out, op, "kw", true);
  if (op->new_count > 0) print_macros(out, op, "kwx", false);
}

/* ---- The header -------------------------------------------------------------------------------------------------- */

static const char head[] =
    "/* SPDX-License-Identifier: Apache-2.0\n"
    " *\n"
    " * Keyway for applications: every op of the op table as a typed call. Made from the op table by\n"
    " * `keyway ops --header`; docs/ops says what each op means.\n"
    " *\n"
    " *     kw_status status = kw_addmm(bias, x, weight, &out);          alpha and beta are 1\n"
    " *     kw_status status = kw_addmm(bias, x, weight, 1, 0.5, &out);  all of them\n"
    " *     kw_tensor *out = kwx_relu(kwx_addmm(bias, x, weight));       an expression: keyway/scope.h\n"
    " *\n"
    " *   - Names: kw_ and ATen's name with its overload, in lower case: sum.dim_IntList is kw_sum_dim_intlist.\n"
    " *     Underscores that it begins with are gone: _softmax is kw_softmax; that of an op in place comes last:\n"
    " *     fill_.Scalar is kw_fill_scalar_. _cdist_forward and _pdist_forward are kw_cdist and kw_pdist. Another\n"
    " *     namespace than aten and keyway is part of the name: kw_torchvision_nms. Two ops with one name in C are\n"
    " *     refused when this file is made.\n"
    " *   - Arguments: those of the schema in its order; trailing ones that have a default there may be left out.\n"
    " *     keyway/typed.h says how lists, numbers and none are written.\n"
    " *   - Results: behind the arguments, each a kw_tensor **, as outs of kw_op_call: *out is NULL, for a new\n"
    " *     tensor, or one to be written to. What is changed in place (a!) is no result here.\n"
    " *   - kwx_NAME, for each op with a new result, takes no kw_tensor ** and returns that result, of several the\n"
    " *     first, or NULL on failure, which the scope keeps.\n"
    " *   - Calls go to the scope's stream, or without a scope to the default stream of the arguments' device.\n"
    " *   - kw_typed_NAME and kw_3_NAME, for three arguments, are what kw_NAME is made of where it is a macro.\n"
    " *   - keyway/functions.h adds what is more than one op, kw_linear for instance, and views in expressions.\n"
    " *   - C11 and C++11 or later.\n"
    " */\n"
    "/* clang-format off */\n"
    "#ifndef KEYWAY_OPS_H\n"
    "#define KEYWAY_OPS_H\n"
    "\n"
    "#include <keyway/typed.h>\n"
    "\n"
    "#include <stddef.h>\n";

/* No op's name in C is another's, nor one that the calls of another are made of. */
static bool names_differ(const typed_op *ops, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    const bool is_part = strncmp(ops[i].c_name, "typed_", 6) == 0 || isdigit((unsigned char)ops[i].c_name[0]);
    const char *same = is_part ? "what another op's calls are made of" : NULL;
    for (uint32_t j = 0; j < i && !same; ++j) {
      if (strcmp(ops[i].c_name, ops[j].c_name) == 0) same = ops[j].name;
    }
    if (!same) continue;
    fprintf(stderr, "keyway ops: the op %s would be kw_%s in C, as %s: give it another name\n", ops[i].name,
            ops[i].c_name, same);
    return false;
  }
  return true;
}

bool kw_op_header_print(FILE *out) {
  typed_op *ops = calloc(kw_op_count() + 1, sizeof *ops);
  uint32_t count = 0;
  for (uint32_t i = 0; ops && i < kw_op_count(); ++i) count += read_op(kw_op_at(i), &ops[count]);
  if (!ops) fputs("keyway ops: no memory\n", stderr);
  const bool good = ops && names_differ(ops, count);
  if (good) {
    fputs(head, out);
    for (uint32_t i = 0; i < count; ++i) print_op(out, &ops[i]);
    fputs("\n#endif /* KEYWAY_OPS_H */\n", out);
  }
  free(ops);
  return good;
}
