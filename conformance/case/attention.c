/* SPDX-License-Identifier: Apache-2.0
 *
 * Cases of attention in all its forms. A case is made from seven sizes, whichever form lays them out.
 */
#include "case/makers.h"
#include "case/parts.h"

#include <string.h>

/* The sizes. Heads of queries are `heads` times `group`. */
enum { BATCH, HEADS, GROUP, ROWS, KEYS, WIDTH, VALUE_WIDTH, SIZES };

typedef struct attention_size {
  int64_t dims[SIZES];
} attention_size;

/* What a case gives beyond its tensors. */
typedef struct attention_option {
  enum { MASK_NONE, MASK_BOOL, MASK_KEY, MASK_COMPUTE } mask;
  uint32_t mask_rank; /* of [b, h, l, s]: 4 see mask_shape, 2 for all heads, 1 for all rows, 0 for all */
  double scale;       /* 0: not given */
  double cap;
  int64_t left, right;
  bool causal;                /* in ATen's form, in place of a mask */
  kw_domain mask_values;      /* 0: what is usual */
  const attention_size *size; /* NULL: that of the class */
} attention_option;

static const attention_size empty_sizes[] = {{{0, 1, 1, 3, 4, 5, 2}},
                                             {{2, 1, 2, 0, 4, 3, 2}},
                                             {{1, 2, 1, 3, 0, 4, 2}},
                                             {{1, 1, 1, 2, 3, 0, 2}},
                                             {{1, 1, 1, 2, 3, 4, 0}}};
static const attention_size one_sizes[] = {{{1, 1, 1, 1, 1, 1, 1}}, {{1, 1, 1, 1, 7, 3, 5}}, {{2, 1, 1, 5, 1, 3, 2}}};
static const attention_size prime_sizes[] = {
    {{1, 1, 1, 3, 5, 7, 2}},
    {{2, 3, 1, 7, 11, 5, 3}},
    {{3, 2, 2, 5, 13, 3, 7}},
    {{1, 1, 3, 1, 67, 17, 5}},
    {{2, 1, 5, 13, 3, 2, 11}},
    {{1, 1, 1, 2, 131, 64, 3}},
    {{5, 1, 1, 3, 3, 29, 1}},
    {{1, 2, 1, 17, 17, 8, 8}},
    /* wider than what kernels hold of a row at a time, in steps of 4; one key, or one query, past a tile of them */
    {{1, 2, 1, 3, 65, 68, 76}},
    {{1, 1, 2, 65, 3, 6, 132}},
    {{1, 1, 1, 2, 5, 132, 260}},
    {{1, 1, 2, 1, 129, 260, 7}},
    {{2, 1, 1, 1, 257, 3, 5}}};
static const attention_size large_sizes[] = {{{2, 2, 2, 131, 37, 13, 67}}, {{1, 1, 1, 2, 2053, 3, 5}}};
static const attention_size layout_sizes[] = {{{2, 2, 1, 3, 5, 4, 3}}, {{2, 1, 2, 5, 3, 2, 6}}};
static const attention_size plain_sizes[] = {{{2, 2, 2, 5, 7, 6, 3}}};
static const attention_size exact_sizes[] = {{{1, 2, 1, 3, 64, 4, 5}},
                                             {{2, 1, 2, 2, 1024, 3, 3}},
                                             {{1, 1, 1, 5, 4, 2, 7}},
                                             {{1, 2, 1, 4, 64, 4, 5}},
                                             {{2, 1, 2, 8, 128, 3, 3}}};

/* Keys for several tiles, some of which hide whole; queries and keys in other numbers than each other. */
static const attention_size tiles = {{1, 1, 2, 8, 193, 4, 3}}, one_query = {{2, 1, 2, 1, 67, 4, 3}};
static const attention_size few_keys = {{1, 2, 2, 67, 5, 4, 3}}, many_keys = {{1, 2, 1, 5, 193, 4, 3}};
static const attention_size far_off = {{1, 1, 1, 35, 67, 4, 3}};

static const attention_option options[] = {
    {MASK_NONE, 0, 0, 0, -1, 0, false, 0, NULL},
    {MASK_BOOL, 4, 0, 0, -1, -1, false, 0, NULL},
    {MASK_KEY, 2, 0.3, 0, -1, -1, false, 0, NULL},
    {MASK_NONE, 0, 0, 5, -1, -1, true, 0, NULL},
    {MASK_COMPUTE, 4, 0, 0, -1, -1, false, 0, NULL},
    {MASK_NONE, 0, 0.5, 0, 2, 0, false, 0, NULL},
    {MASK_BOOL, 1, 1, 0.75, -1, -1, false, 0, NULL},
    {MASK_NONE, 0, -0.25, 0, 1, 2, true, 0, NULL},
    {MASK_KEY, 4, 0, 2, 3, 0, false, 0, NULL},
    {MASK_NONE, 0, 0, 0, 0, 0, false, 0, NULL},
    {MASK_BOOL, 2, 0.125, 0, -1, 1, false, 0, NULL},
    {MASK_KEY, 0, 0, 0, 4, -1, true, 0, NULL},
    {MASK_BOOL, 0, 0, 0, -1, -1, false, 0, NULL},
    {MASK_COMPUTE, 1, 0.2, 8, -1, 0, false, 0, NULL},
    {MASK_NONE, 0, 0, 50, INT64_MAX, INT64_MAX, false, 0, NULL},
    {MASK_NONE, 0, 0, 0, 1000, 1000, true, 0, NULL},
    {MASK_BOOL, 2, 0, 0, -1, -1, false, KW_DOMAIN_BLOCKS, &tiles},
    {MASK_KEY, 4, 0.25, 0, -1, -1, false, KW_DOMAIN_BLOCKS, &tiles},
    {MASK_COMPUTE, 2, 0, 0, -1, 0, false, KW_DOMAIN_BLOCKS, &tiles},
    {MASK_NONE, 0, 0, 0, -1, 0, true, 0, &one_query},
    {MASK_NONE, 0, 0, 0, -1, 0, true, 0, &few_keys},
    {MASK_NONE, 0, 0, 0, 3, 0, true, 0, &many_keys},
    {MASK_BOOL, 2, -2, 0, -1, -1, false, 0, NULL},
    {MASK_NONE, 0, 0, 0, 20, 18, true, 0, &far_off},
    {MASK_KEY, 2, -0.5, 20, -1, -1, false, KW_DOMAIN_BLOCKS, &tiles},
    {MASK_NONE, 0, 4, 0, -1, -1, false, 0, NULL},
};
static const attention_option no_option = {MASK_NONE, 0, 0, 0, -1, -1, false, 0, NULL};

/* Numbers that are as low as can be, in the exact cases from this one on. */
enum { LOWEST_FROM = 3 };
static const attention_option lowest[] = {{MASK_KEY, 4, 0, 0, -1, -1, false, KW_DOMAIN_LOWEST, NULL},
                                          {MASK_COMPUTE, 2, 0, 0, -1, -1, false, KW_DOMAIN_LOWEST, NULL}};

/* Shapes, a letter a dimension: b, h, g, l, s, e and v stand for batch, heads of queries, heads of keys, queries, keys
 * and both widths; 1 and 3 for themselves. */
typedef struct attention_form {
  const char *query, *key, *value, *mask, *out;
} attention_form;

/* Masks that broadcast in each dimension, in several, and that lack the first ones. */
static const char *const masks[] = {"1hls", "b1ls", "bh1s", "bhl1", "b11s", "1hl1", "hls", "h1s", "1111"};

/* The same in ATen's form, of other ranks; those from 3 on of what broadcasts. */
enum { FORMS_FROM = 3 };
static const attention_form forms[] = {
    {"3bhle", "3bhse", "3bhsv", "3bhls", "3bhlv"},
    {"3bhle", "3bhse", "3bhsv", "1bhls", "3bhlv"},
    {"3bhle", "3bgse", "3bgsv", "31hls", "3bhlv"},
    {"3bhle", "3bhse", "3bhsv", "3b1ls", "3bhlv"},
    {"3bhle", "3bhse", "3bhsv", "3bh1s", "3bhlv"},
    {"3bhle", "3bgse", "3bgsv", "3bhl1", "3bhlv"},
    {"31hle", "1bhse", "3bhsv", "311ls", "3bhlv"},
    {"3bhle", "bhse", "hsv", "b1ls", "3bhlv"},
    {"3bhle", "3bhse", "3bhsv", "11h1s", "3bhlv"},
    {"3b3hle", "3b3gse", "3b3gsv", "1b1hls", "3b3hlv"},
    {"bhle", "bgse", "bhsv", "hls", "bhlv"},
    {"hle", "hse", "hsv", "hls", "hlv"},
    {"hle", "hse", "hsv", "1ls", "hlv"},
    {"hle", "gse", "gsv", "hl1", "hlv"},
    {"hle", "hse", "sv", "ls", "hlv"},
    {"le", "se", "sv", "ls", "lv"},
    {"le", "se", "sv", "1s", "lv"},
    {"le", "se", "sv", "l1", "lv"},
};

typedef struct attention_rows {
  const attention_size *sizes;
  uint32_t count;
} attention_rows;

#define ROWS_OF(array) \
  { array, COUNT(array) }

/* The layout of what comes beside queries, keys and values: a mask, and of gradients what the forward op gave. It is of
 * the class in numbers behind those of the operands' layouts, where operands are dense. False when there is none. */
static bool pick_beside(const kw_case *c, kw_layout *out_layout) {
  const uint32_t first = c->class == KW_CLASS_STRIDE0 ? 9 : 6; /* kw_case_pick_layout knows as many of 3 tensors */
  *out_layout = KW_LAYOUT_DENSE;
  return kw_case_about_layouts(c->class) && c->number >= first && kw_suite_op_find_arg(c->op, "attn_mask") >= 0 &&
         kw_case_pick_layout(c->class, c->number - first, 0, 1, out_layout);
}

/* How many cases of broadcasting the op has. */
static uint32_t broadcast_cases(const kw_case *c) {
  if (kw_suite_op_find_arg(c->op, "attn_mask") < 0) return 0;
  return kw_suite_op_find_arg(c->op, "is_causal") < 0 ? COUNT(masks) : FORMS_FROM + COUNT(forms);
}

/* Those of values, and where no logarithm is wanted, whose infinities the pages do not go into, those of scores. */
enum { VALUE_SPECIALS = 3, QUERY_SPECIAL = VALUE_SPECIALS, MASK_SPECIALS, ALL_SPECIALS = MASK_SPECIALS + 2 };
static uint32_t special_cases(const kw_case *c) {
  return c->op->result_count == 1 ? ALL_SPECIALS : VALUE_SPECIALS;
}

/* The sizes and options of a case's number. */
static bool pick(const kw_case *c, attention_size *out_size, attention_option *out_option) {
  static const attention_rows rows[KW_CLASS_COUNT] = {
      [KW_CLASS_EMPTY] = ROWS_OF(empty_sizes),       [KW_CLASS_ONE] = ROWS_OF(one_sizes),
      [KW_CLASS_PRIME] = ROWS_OF(prime_sizes),       [KW_CLASS_LARGE] = ROWS_OF(large_sizes),
      [KW_CLASS_TRANSPOSED] = ROWS_OF(layout_sizes), [KW_CLASS_SLICED] = ROWS_OF(layout_sizes),
      [KW_CLASS_STRIDE0] = ROWS_OF(layout_sizes),    [KW_CLASS_OUTPUTS] = ROWS_OF(layout_sizes),
      [KW_CLASS_ATTRS] = ROWS_OF(plain_sizes),       [KW_CLASS_SPECIAL] = ROWS_OF(plain_sizes),
      [KW_CLASS_EXACT] = ROWS_OF(exact_sizes),       [KW_CLASS_BROADCAST] = ROWS_OF(plain_sizes)};
  const attention_rows *mine = &rows[c->class];
  uint32_t limit = c->class == KW_CLASS_ATTRS       ? COUNT(options)
                   : c->class == KW_CLASS_OUTPUTS   ? KW_CASE_OUT_LAYOUTS
                   : c->class == KW_CLASS_SPECIAL   ? special_cases(c)
                   : c->class == KW_CLASS_BROADCAST ? broadcast_cases(c)
                                                    : mine->count;
  if (mine->count == 0 || (!kw_case_about_layouts(c->class) && c->number >= limit)) return false;
  if (c->class == KW_CLASS_LARGE && c->key != KW_F32) return false; /* heavy */
  *out_size = mine->sizes[c->number % mine->count];
  *out_option = c->class == KW_CLASS_ATTRS ? options[c->number] : no_option;
  if (c->class == KW_CLASS_EXACT && c->number >= LOWEST_FROM) *out_option = lowest[c->number - LOWEST_FROM];
  kw_layout beside;
  if (c->class == KW_CLASS_BROADCAST || pick_beside(c, &beside)) {
    out_option->mask = 1 + c->number % 3; /* each of the dtypes */
    out_option->mask_rank = 4;
  }
  if (c->class == KW_CLASS_SPECIAL && c->number >= MASK_SPECIALS) {
    out_option->mask = c->number == MASK_SPECIALS ? MASK_KEY : MASK_COMPUTE;
    out_option->mask_rank = 4;
    out_option->mask_values = KW_DOMAIN_SPECIAL_ROW;
  }
  if (out_option->size) *out_size = *out_option->size;
  return true;
}

static void give_float(kw_case *c, const char *name, double value) {
  kw_case_give(c, (uint32_t)kw_suite_op_find_arg(c->op, name), (kw_value){.tag = KW_TAG_FLOAT, .u.f = value});
}

static void give_int(kw_case *c, const char *name, int64_t value) {
  kw_case_give(c, (uint32_t)kw_suite_op_find_arg(c->op, name), (kw_value){.tag = KW_TAG_INT, .u.i = value});
}

/* Exact cases have a scale of 0: all weights of a row are one fraction, a power of two. */
static void give_scale(kw_case *c, const attention_option *option) {
  if (option->scale != 0 || c->class == KW_CLASS_EXACT) give_float(c, "scale", option->scale);
}

/* A mask of the dtype and the values that the option says. */
static void give_mask(kw_case *c, const attention_option *option, const kw_shape *shape) {
  const uint32_t mask = (uint32_t)kw_suite_op_find_arg(c->op, "attn_mask");
  const kw_dtype dtype = option->mask == MASK_BOOL  ? KW_BOOL
                         : option->mask == MASK_KEY ? c->key
                                                    : kw_element_compute(c->key);
  kw_layout layout;
  pick_beside(c, &layout);
  kw_case_set_tensor(c, mask, dtype, shape, layout);
  c->tensors[mask].domain = option->mask_values         ? option->mask_values
                            : option->mask == MASK_BOOL ? KW_DOMAIN_BOOL
                                                        : KW_DOMAIN_NEAR;
  if (option->mask_values) c->tensors[mask].value_stride = (uint32_t)shape->dims[shape->rank - 1];
}

static int64_t letter_size(char letter, const attention_size *size) {
  const int64_t *n = size->dims;
  switch (letter) {
    case 'b':
      return n[BATCH];
    case 'h':
      return n[HEADS] * n[GROUP];
    case 'g':
      return n[HEADS];
    case 'l':
      return n[ROWS];
    case 's':
      return n[KEYS];
    case 'e':
      return n[WIDTH];
    case 'v':
      return n[VALUE_WIDTH];
    default:
      return letter - '0';
  }
}

static kw_shape form_shape(const char *form, const attention_size *size) {
  kw_shape shape = {(uint32_t)strlen(form), {0}};
  for (uint32_t d = 0; d < shape.rank; d++) shape.dims[d] = letter_size(form[d], size);
  return shape;
}

/* The last dimensions of the scores, or what broadcasts to them. */
static kw_shape mask_shape(const kw_case *c, const attention_option *option, const kw_shape *scores) {
  if (c->class == KW_CLASS_BROADCAST) {
    const int64_t *n = scores->dims;
    return form_shape(masks[c->number], &(attention_size){{n[0], n[1], 1, n[2], n[3], 0, 0}});
  }
  if (kw_case_about_layouts(c->class)) return *scores;
  kw_shape shape = {option->mask_rank, {0}};
  uint32_t drop = scores->rank > shape.rank ? scores->rank - shape.rank : 0;
  if (shape.rank > scores->rank) shape.rank = scores->rank;
  memcpy(shape.dims, scores->dims + drop, shape.rank * sizeof *shape.dims);
  /* Of rank 4: in bool one for all heads, in the key dtype one for the whole batch, else each has its own. */
  if (shape.rank == 4 && option->mask == MASK_BOOL) shape.dims[1] = 1;
  if (shape.rank == 4 && option->mask == MASK_KEY) shape.dims[0] = 1;
  return shape;
}

/* Mask, scale, cap and window, as far as the op has them and the option gives them. */
static void give_options(kw_case *c, const attention_option *option, const kw_shape *scores) {
  if (option->mask != MASK_NONE && kw_suite_op_find_arg(c->op, "attn_mask") >= 0) {
    const kw_shape shape = mask_shape(c, option, scores);
    give_mask(c, option, &shape);
  }
  give_scale(c, option);
  if (option->cap > 0 && kw_suite_op_find_arg(c->op, "softcap") >= 0) give_float(c, "softcap", option->cap);
  if (option->left >= 0 && kw_suite_op_find_arg(c->op, "window_left") >= 0) give_int(c, "window_left", option->left);
  bool right = kw_suite_op_find_arg(c->op, "window_right") >= 0;
  if (right && (option->right >= 0 || c->class == KW_CLASS_ATTRS)) give_int(c, "window_right", option->right);
}

/* The values of queries, keys and values: weights that are alike, and weights of which a few are all. A special value
 * is in every eighth row of values, or in every other query; queries and keys are small else, so that no weight
 * vanishes. */
static void give_domains(kw_case *c, uint32_t first, const attention_size *size) {
  static const kw_domain usual[] = {KW_DOMAIN_UNIT, KW_DOMAIN_NEAR, KW_DOMAIN_FEW};
  for (uint32_t i = first; i < first + 3; i++) c->tensors[i].domain = usual[i < first + 2 ? c->number % 3 : 0];
  if (c->class == KW_CLASS_EXACT) c->tensors[first + 2].domain = KW_DOMAIN_SMALL;
  if (c->class != KW_CLASS_SPECIAL) return;
  c->tensors[first].domain = c->tensors[first + 1].domain = KW_DOMAIN_UNIT;
  static const kw_domain special[] = {KW_DOMAIN_SPECIAL_ROW, KW_DOMAIN_OFFSET, KW_DOMAIN_TINY};
  if (c->number < VALUE_SPECIALS) {
    c->tensors[first + 2].domain = special[c->number];
    c->tensors[first + 2].value_stride = (uint32_t)(8 * size->dims[VALUE_WIDTH]);
  } else if (c->number == QUERY_SPECIAL) {
    c->tensors[first].domain = KW_DOMAIN_SPECIAL_ROW;
    c->tensors[first].value_stride = (uint32_t)(2 * size->dims[WIDTH]);
  }
}

/* Query, key and value of this shape each, from argument `first` on. */
static bool set_operands(kw_case *c, uint32_t first, const kw_shape shapes[3], const attention_size *size) {
  for (uint32_t i = 0; i < 3; i++) {
    kw_layout layout = KW_LAYOUT_DENSE, beside;
    if (!pick_beside(c, &beside) && !kw_case_pick_layout(c->class, c->number, i, 3, &layout)) return false;
    kw_case_set_tensor(c, first + i, c->key, &shapes[i], layout);
  }
  give_domains(c, first, size);
  return true;
}

static void set_numbers(kw_case *c, const char *name, const kw_shape *shape, int64_t limit, kw_layout layout) {
  uint32_t arg = (uint32_t)kw_suite_op_find_arg(c->op, name);
  kw_case_set_tensor(c, arg, c->number % 2 ? KW_I32 : KW_I64, shape, layout);
  kw_case_set_indices(c, arg, limit, false, false, 1);
}

/* Of index tensors: strided where the case is about strides. */
static kw_layout numbers_layout(const kw_case *c) {
  if (!kw_case_about_layouts(c->class)) return KW_LAYOUT_DENSE;
  return c->number % 2 ? KW_LAYOUT_STEPPED : KW_LAYOUT_TRANSPOSED;
}

static void set_results(kw_case *c, const kw_shape *out) {
  kw_layout layout = kw_case_out_layout(c);
  kw_case_set_result(c, 0, c->key, out, layout);
  kw_shape logarithms = {out->rank - 1, {0}};
  memcpy(logarithms.dims, out->dims, logarithms.rank * sizeof *out->dims);
  if (c->op->result_count > 1) kw_case_set_result(c, 1, kw_element_compute(c->key), &logarithms, layout);
}

/* [.., heads, rows, width] of queries, keys, values and scores; fewer dimensions where a case of ATen's form says so.
 */
typedef struct attention_shapes {
  kw_shape operands[3], scores, out;
} attention_shapes;

static attention_shapes shapes_of(const attention_size *size) {
  const int64_t *n = size->dims;
  return (attention_shapes){{{4, {n[BATCH], n[HEADS] * n[GROUP], n[ROWS], n[WIDTH]}},
                             {4, {n[BATCH], n[HEADS], n[KEYS], n[WIDTH]}},
                             {4, {n[BATCH], n[HEADS], n[KEYS], n[VALUE_WIDTH]}}},
                            {4, {n[BATCH], n[HEADS] * n[GROUP], n[ROWS], n[KEYS]}},
                            {4, {n[BATCH], n[HEADS] * n[GROUP], n[ROWS], n[VALUE_WIDTH]}}};
}

static bool begin(kw_case *c, attention_size *size, attention_option *option) {
  if (!pick(c, size, option)) return false;
  kw_shape sizes = {SIZES, {0}};
  memcpy(sizes.dims, size->dims, sizeof size->dims);
  kw_case_resize(c, &sizes);
  memcpy(size->dims, sizes.dims, sizeof size->dims);
  c->terms = 1; /* the magnitude op is the bound itself */
  c->exact = c->class == KW_CLASS_EXACT;
  return true;
}

/* ---- ATen's form ------------------------------------------------------------------------------------------------- */

/* Takes the first dimension away. */
static void drop_first(kw_shape *shape) {
  memmove(shape->dims, shape->dims + 1, --shape->rank * sizeof *shape->dims);
}

/* Operands and a mask that broadcast to each other. */
static bool make_form(kw_case *c, const attention_form *form, const attention_size *size,
                      const attention_option *option) {
  const kw_shape operands[] = {form_shape(form->query, size), form_shape(form->key, size),
                               form_shape(form->value, size)};
  const kw_shape mask = form_shape(form->mask, size), out = form_shape(form->out, size);
  if (!set_operands(c, 0, operands, size)) return false;
  give_mask(c, option, &mask);
  if (strchr(form->key, 'g')) kw_case_give(c, 7, (kw_value){.tag = KW_TAG_BOOL, .u.b = true});
  set_results(c, &out);
  return true;
}

bool kw_case_make_sdpa(kw_case *c) {
  attention_size size, whole; /* of a shrunken case; ranks are those of the whole one */
  attention_option option;
  const bool broadcast = c->class == KW_CLASS_BROADCAST;
  if (!pick(c, &whole, &option) || !begin(c, &size, &option)) return false;
  if (broadcast && c->number >= FORMS_FROM) return make_form(c, &forms[c->number - FORMS_FROM], &size, &option);
  bool grouped = whole.dims[GROUP] > 1 && !broadcast && c->number % 5 != 4;
  if (!grouped) size.dims[GROUP] = 1;
  attention_shapes shapes = shapes_of(&size);
  if (broadcast && c->number < 2) shapes.operands[c->number].dims[0] = 1; /* one for the whole batch */
  if (broadcast && c->number == 2) drop_first(&shapes.operands[1]);
  if (c->class == KW_CLASS_PRIME && !grouped && whole.dims[BATCH] == 1) { /* heads, or rows and width alone */
    kw_shape *all[] = {&shapes.operands[0], &shapes.operands[1], &shapes.operands[2], &shapes.scores, &shapes.out};
    bool alone = whole.dims[HEADS] == 1;
    for (uint32_t i = 0; i < COUNT(all); i++) {
      drop_first(all[i]);
      if (alone) drop_first(all[i]);
    }
  }
  if (!set_operands(c, 0, shapes.operands, &size)) return false;
  if (option.causal || broadcast) option.mask = MASK_NONE;
  give_options(c, &option, &shapes.scores);
  if (option.causal) kw_case_give(c, 5, (kw_value){.tag = KW_TAG_BOOL, .u.b = true});
  if (grouped) kw_case_give(c, 7, (kw_value){.tag = KW_TAG_BOOL, .u.b = true});
  set_results(c, &shapes.out);
  return true;
}

/* ---- Keyway's forms ---------------------------------------------------------------------------------------------- */

/* keyway::attention, and with lengths keyway::attention_decode. */
bool kw_case_make_attention(kw_case *c) {
  attention_size size;
  attention_option option;
  if (!begin(c, &size, &option)) return false;
  bool decodes = kw_suite_op_find_arg(c->op, "lengths") >= 0;
  if (decodes && c->class == KW_CLASS_EXACT) return false; /* lengths are no powers of two */
  attention_shapes shapes = shapes_of(&size);
  if (!set_operands(c, 0, shapes.operands, &size)) return false;
  give_options(c, &option, &shapes.scores);
  kw_shape lengths = {1, {size.dims[BATCH]}};
  if (decodes) set_numbers(c, "lengths", &lengths, size.dims[KEYS] + 1, numbers_layout(c));
  set_results(c, &shapes.out);
  return true;
}

/* Where sequences begin: `count` + 1 numbers up to `rows`. */
static void set_starts(kw_case *c, const char *name, int64_t count, int64_t rows) {
  kw_shape shape = {1, {count + 1}};
  set_numbers(c, name, &shape, rows, KW_LAYOUT_DENSE);
  kw_case_tensor *starts = &c->tensors[kw_suite_op_find_arg(c->op, name)];
  starts->domain = KW_DOMAIN_STARTS;
  starts->value_stride = (uint32_t)count;
}

bool kw_case_make_attention_varlen(kw_case *c) {
  attention_size size;
  attention_option option;
  if (!begin(c, &size, &option)) return false;
  const int64_t *n = size.dims;
  if (n[BATCH] == 0 || c->class == KW_CLASS_EXACT) return false; /* one sequence at least */
  int64_t rows = n[BATCH] * n[ROWS], keys = n[BATCH] * n[KEYS];
  kw_shape operands[3] = {{3, {rows, n[HEADS] * n[GROUP], n[WIDTH]}},
                          {3, {keys, n[HEADS], n[WIDTH]}},
                          {3, {keys, n[HEADS], n[VALUE_WIDTH]}}};
  kw_shape out = {3, {rows, n[HEADS] * n[GROUP], n[VALUE_WIDTH]}}, none = {0, {0}};
  if (!set_operands(c, 0, operands, &size)) return false;
  give_options(c, &option, &none);
  set_starts(c, "cu_seqlens_q", n[BATCH], rows);
  set_starts(c, "cu_seqlens_k", n[BATCH], keys);
  set_results(c, &out);
  return true;
}

/* Pages of three rows, in later numbers of others too; two more than are needed if all sequences are as long as can be.
 */
bool kw_case_make_attention_paged(kw_case *c) {
  attention_size size;
  attention_option option;
  if (!begin(c, &size, &option)) return false;
  const int64_t *n = size.dims, page = c->number < 8 ? 3 : (const int64_t[]){16, 1, 5}[c->number % 3];
  if (c->class == KW_CLASS_EXACT) return false;
  int64_t pages = (n[KEYS] + page - 1) / page, all = n[BATCH] * pages + 2;
  attention_shapes shapes = shapes_of(&size);
  shapes.operands[1] = (kw_shape){4, {all, page, n[HEADS], n[WIDTH]}};
  shapes.operands[2] = (kw_shape){4, {all, page, n[HEADS], n[VALUE_WIDTH]}};
  shapes.scores.dims[3] = pages * page;
  if (!set_operands(c, 0, shapes.operands, &size)) return false;
  give_options(c, &option, &shapes.scores);
  kw_shape table = {2, {n[BATCH], pages}}, lengths = {1, {n[BATCH]}};
  set_numbers(c, "block_table", &table, all, numbers_layout(c));
  set_numbers(c, "lengths", &lengths, pages * page + 1, numbers_layout(c));
  set_results(c, &shapes.out);
  return true;
}

/* ---- Gradients --------------------------------------------------------------------------------------------------- */

/* Any result of the forward op will do: the gradients are a function of what is given. */
bool kw_case_make_attention_backward(kw_case *c) {
  attention_size size;
  attention_option option;
  if (c->class == KW_CLASS_LARGE) return false;
  if (!begin(c, &size, &option) || c->class == KW_CLASS_EXACT) return false;
  attention_shapes shapes = shapes_of(&size);
  if (!set_operands(c, 1, shapes.operands, &size)) return false;
  for (uint32_t i = 1; i < 4; i++) c->tensors[i].domain = KW_DOMAIN_UNIT; /* weights up to exp(s): not too far apart */
  kw_shape logarithms = {3, {0}};
  memcpy(logarithms.dims, shapes.out.dims, 3 * sizeof(int64_t));
  kw_layout beside;
  pick_beside(c, &beside);
  kw_case_set_tensor(c, 0, c->key, &shapes.out, beside);
  kw_case_set_tensor(c, 4, c->key, &shapes.out, beside);
  kw_case_set_tensor(c, 5, kw_element_compute(c->key), &logarithms, beside);
  c->tensors[0].domain = c->tensors[4].domain = c->tensors[5].domain = KW_DOMAIN_UNIT;
  give_options(c, &option, &shapes.scores);
  if (c->tensors[6].domain == KW_DOMAIN_NEAR) c->tensors[6].domain = KW_DOMAIN_UNIT;
  const kw_layout layout = kw_case_out_layout(c);
  for (uint32_t r = 0; r < 3; r++) kw_case_set_result(c, r, c->key, &shapes.operands[r], layout);
  return true;
}
