/* SPDX-License-Identifier: Apache-2.0
 *
 * Cases of pools in one to three dimensions, and of their gradients, from one table.
 */
#include "case/makers.h"
#include "case/parts.h"

#include <string.h>

enum { MOST_DIMS = 3 };

/* Sizes and numbers for three dimensions; ops of fewer take the last ones. */
typedef struct pooling_row {
  int64_t batches, channels; /* batches -1: no such dimension */
  int64_t sizes[MOST_DIMS];
  int64_t kernel[MOST_DIMS], stride[MOST_DIMS], padding[MOST_DIMS], dilation[MOST_DIMS]; /* stride 0: none given */
  bool ceil;
  int64_t output[MOST_DIMS]; /* of adaptive pools */
} pooling_row;

typedef struct pooling_rows {
  const pooling_row *rows;
  uint32_t count;
} pooling_rows;

#define ROWS(array) \
  { array, COUNT(array) }
#define ONES \
  { 1, 1, 1 }
#define NONE \
  { 0, 0, 0 }

static const pooling_row empty[] = {{0, 3, {5, 6, 7}, {2, 2, 2}, NONE, NONE, ONES, false, {2, 3, 4}},
                                    {2, 0, {5, 6, 7}, {3, 3, 3}, NONE, ONES, ONES, true, {2, 3, 4}},
                                    {-1, 0, {3, 3, 3}, ONES, NONE, NONE, ONES, false, NONE}};
static const pooling_row one[] = {{1, 1, ONES, ONES, NONE, NONE, ONES, false, ONES},
                                  {-1, 1, {3, 5, 7}, {3, 5, 7}, NONE, NONE, ONES, false, ONES},
                                  {1, 1, ONES, {3, 3, 3}, ONES, ONES, ONES, false, ONES},
                                  {1, 1, {2, 2, 2}, {3, 3, 3}, {2, 2, 2}, NONE, ONES, true, ONES}};
static const pooling_row prime[] = {{2, 3, {5, 7, 11}, {2, 3, 5}, NONE, NONE, ONES, false, {2, 3, 5}},
                                    {-1, 3, {5, 7, 11}, {3, 3, 3}, ONES, ONES, ONES, false, {7, 9, 13}},
                                    {1, 1, {7, 5, 13}, {3, 2, 4}, {2, 1, 3}, {1, 0, 2}, ONES, true, {7, 5, 13}},
                                    {2, 2, {5, 6, 7}, {2, 2, 2}, NONE, ONES, ONES, true, {2, 3, 2}},
                                    {-1, 2, {5, 7, 9}, {5, 7, 9}, NONE, NONE, ONES, false, ONES},
                                    {1, 5, {4, 4, 17}, ONES, {2, 2, 2}, NONE, ONES, false, {2, 4, 4}},
                                    {3, 1, {3, 8, 31}, {3, 5, 7}, {2, 3, 4}, {1, 2, 3}, ONES, false, {3, 5, 7}},
                                    {1, 2, {5, 7, 11}, {2, 2, 2}, {3, 3, 3}, NONE, ONES, true, {4, 6, 10}},
                                    {2, 2, {7, 9, 11}, {2, 3, 3}, {1, 2, 1}, ONES, {2, 2, 3}, false, {1, 2, 3}},
                                    {1, 1, {7, 9, 23}, {3, 3, 4}, {2, 1, 3}, {1, 1, 2}, {1, 3, 4}, true, {6, 4, 22}}};
/* The second has places past 2^16. */
static const pooling_row large[] = {{2, 0, {3, 17, 131}, {3, 3, 3}, {2, 2, 2}, ONES, ONES, false, {2, 5, 37}},
                                    {1, 0, {1, 257, 263}, {1, 3, 4}, {1, 31, 37}, NONE, ONES, false, {1, 5, 7}}};
static const pooling_row layout[] = {{2, 3, {4, 6, 9}, {3, 3, 3}, {2, 2, 2}, ONES, ONES, false, {3, 4, 5}},
                                     {2, 5, {3, 5, 8}, {2, 2, 2}, NONE, NONE, ONES, true, {2, 2, 3}}};
static const pooling_row special[] = {{1, 2, {2, 3, 63}, {1, 1, 7}, NONE, NONE, ONES, false, {2, 3, 9}},
                                      {2, 1, {3, 5, 16}, {2, 2, 2}, ONES, NONE, ONES, false, {2, 4, 9}},
                                      {1, 1, {2, 4, 36}, {1, 2, 6}, NONE, NONE, ONES, false, {2, 2, 6}},
                                      {1, 2, {2, 5, 18}, {2, 3, 4}, ONES, {1, 1, 1}, ONES, true, {2, 3, 7}},
                                      {1, 0, {2, 4, 6}, {2, 3, 4}, {1, 2, 3}, ONES, ONES, true, {1, 3, 4}}};
static const pooling_row attrs[] = {{1, 2, {4, 5, 8}, {3, 3, 3}, {2, 2, 2}, ONES, ONES, false, {3, 2, 5}},
                                    {1, 2, {4, 6, 8}, {3, 3, 3}, {2, 2, 2}, ONES, ONES, true, {2, 5, 3}},
                                    {-1, 3, {5, 7, 8}, {2, 3, 2}, {3, 1, 2}, {0, 1, 1}, {2, 1, 3}, true, {5, 1, 2}}};
static const pooling_row exact[] = {{2, 3, {4, 6, 8}, {2, 2, 2}, NONE, NONE, ONES, false, {2, 3, 4}},
                                    {-1, 1, {8, 16, 64}, {8, 16, 64}, NONE, NONE, ONES, false, ONES}};

/* Of ops that add up, what is in the special rows. */
static const kw_domain sums[] = {KW_DOMAIN_SPECIAL_ROW, KW_DOMAIN_FEW, KW_DOMAIN_HUGE, KW_DOMAIN_TINY};

static const pooling_rows all_rows[KW_CLASS_COUNT] = {
    [KW_CLASS_EMPTY] = ROWS(empty),       [KW_CLASS_ONE] = ROWS(one),         [KW_CLASS_PRIME] = ROWS(prime),
    [KW_CLASS_LARGE] = ROWS(large),       [KW_CLASS_SLICED] = ROWS(layout),   [KW_CLASS_STRIDE0] = ROWS(layout),
    [KW_CLASS_TRANSPOSED] = ROWS(layout), [KW_CLASS_SPECIAL] = ROWS(special), [KW_CLASS_ATTRS] = ROWS(attrs),
    [KW_CLASS_OUTPUTS] = ROWS(layout),    [KW_CLASS_EXACT] = ROWS(exact)};

/* ---- What the op is ---------------------------------------------------------------------------------------------- */

static bool has(const kw_case *c, const char *arg) {
  return kw_suite_op_find_arg(c->op, arg) >= 0;
}

/* The digit in "avg_pool2d". */
static uint32_t pooled_dims(const kw_case *c) {
  return (uint32_t)(strstr(c->op->base, "pool")[4] - '0');
}

static bool is_backward(const kw_case *c) {
  return has(c, "grad_output");
}

static bool is_average(const kw_case *c) {
  return strstr(c->op->base, "avg_pool") != NULL;
}

/* ---- Paths ------------------------------------------------------------------------------------------------------- */

/* Drivers have kernels of their own for some windows, which forget another attribute: all combinations, of sizes that
 * leave the last window another rest each time. None of these counts may share a factor with the steps of plan_of. */
static const int64_t forms[][MOST_DIMS] = {{1, 1, 1}, {2, 2, 2}, {3, 3, 3}, {2, 1, 3}, {0, 0, 0} /* all there is */};
static const int64_t strides[][MOST_DIMS] = {NONE, ONES, {2, 2, 2}, {3, 1, 2}};
static const int64_t dilations[][MOST_DIMS] = {ONES, {2, 2, 2}, {1, 3, 2}};

enum { SLIDING = COUNT(forms) * COUNT(strides) * 4 };

static pooling_row make_path(uint32_t index) {
  static const int64_t image[] = {3, 4, 5};
  const int64_t *form = forms[index % COUNT(forms)], *stride = strides[index / COUNT(forms) % COUNT(strides)];
  const uint32_t choice = index / (COUNT(forms) * COUNT(strides)), rest = index / COUNT(forms) + choice;
  pooling_row row = {index % 3 ? 1 : -1, 2, NONE, NONE, NONE, NONE, NONE, choice / 2 % 2 == 1, ONES};
  for (uint32_t d = 0; d < MOST_DIMS; d++) {
    const int64_t size = image[d] + (rest + d) % 3;
    row.kernel[d] = form[d] ? form[d] : size;
    row.stride[d] = stride[d];
    row.padding[d] = choice % 2 ? row.kernel[d] / 2 : 0;
    row.dilation[d] = dilations[choice / 4 % COUNT(dilations)][d];
    row.sizes[d] = size + (row.kernel[d] - 1) * (row.dilation[d] - 1);
  }
  return row;
}

/* A kernel, a stride, a padding or a dilation along the first or the last dimension that a field of 4, 6 or 8 bits does
 * not hold, or one of 16. */
enum { KERNEL, STRIDE, PADDING, DILATION };
static const int64_t beyond[] = {16, 64, 257};
#define FAR_BEYOND 65537

static pooling_row make_field(uint32_t field, int64_t value, uint32_t at) {
  pooling_row row = {1, 2, {3, 3, 3}, {2, 2, 2}, ONES, NONE, ONES, false, ONES};
  switch (field) {
    case KERNEL:
      row.kernel[at] = value;
      row.sizes[at] = value + 2;
      break;
    case STRIDE:
      row.stride[at] = value;
      row.sizes[at] = 2 * value + 3;
      break;
    case PADDING:
      row.padding[at] = value;
      row.kernel[at] = 2 * value;
      row.sizes[at] = 5;
      break;
    default:
      row.dilation[at] = value;
      row.sizes[at] = value + 3;
  }
  return row;
}

/* By dimensions: windows at odd places past 2^24, which f32 does not hold. */
static const pooling_row far_places[MOST_DIMS] = {
    {1, 1, {1, 1, 19573424}, {1, 1, 2}, {1, 1, 2796203}, NONE, ONES, false, NONE},
    {1, 1, {1, 4099, 4111}, {1, 2, 2}, {1, 1361, 587}, NONE, ONES, false, NONE},
    {1, 1, {257, 257, 257}, {2, 2, 2}, {85, 101, 83}, NONE, ONES, false, NONE}};

/* Fast paths of adaptive pools: all of a dimension, as many windows as elements, parts of one size, each twice; and
 * more windows, or larger ones, than small fields hold. */
static const pooling_row adaptive[] = {{2, 3, {4, 6, 8}, NONE, NONE, NONE, NONE, false, ONES},
                                       {-1, 3, {4, 6, 8}, NONE, NONE, NONE, NONE, false, {4, 6, 8}},
                                       {1, 2, {4, 6, 8}, NONE, NONE, NONE, NONE, false, {4, 1, 8}},
                                       {2, 2, {4, 6, 8}, NONE, NONE, NONE, NONE, false, {1, 6, 1}},
                                       {1, 3, {4, 6, 9}, NONE, NONE, NONE, NONE, false, {2, 2, 3}},
                                       {2, 1, {3, 4, 5}, NONE, NONE, NONE, NONE, false, {6, 8, 10}},
                                       {1, 2, {3, 2, 3}, NONE, NONE, NONE, NONE, false, {3, 2, 257}},
                                       {1, 2, {3, 257, 2}, NONE, NONE, NONE, NONE, false, {2, 2, 2}},
                                       {1, 1, {3, 2, 515}, NONE, NONE, NONE, NONE, false, {3, 2, 257}}};

/* How many numbers come before the paths in the class about attributes. */
static uint32_t count_combinations(const kw_case *c) {
  return has(c, "divisor_override") ? 24 : has(c, "count_include_pad") ? 6 : 3;
}

/* Where tensors are as large as far_places, all their elements are one. */
static bool is_far(const pooling_row *row) {
  return row->sizes[0] * row->sizes[1] * row->sizes[2] > 1 << 24;
}

/* Paths, then fields along either end: every `step`-th row, numbered from `first` on. f32 has all of them; other dtypes
 * some, each its own, and so have gradients by indices. Then far places, fields of 16 bits, and paths with channels
 * last, for which drivers have kernels, too. */
typedef struct plan {
  uint32_t fields, paths, ends, step, first, numbers, far_places, far_fields, turned;
} plan;

enum { TURNED_STEP = 7 };

static plan plan_of(const kw_case *c) {
  const bool dilated = has(c, "dilation"), back = is_backward(c), whole = c->key == KW_F32;
  plan p = {.fields = dilated ? DILATION + 1 : DILATION, .paths = SLIDING * (dilated ? COUNT(dilations) : 1)};
  p.ends = 2 * p.fields * COUNT(beyond);
  p.step = (back && !is_average(c) ? 7 : 1) * (whole ? 1 : kw_element_is_float(c->key) ? 7 : 11);
  p.first = (uint32_t)c->key % p.step;
  p.numbers = (p.paths + p.ends - p.first + p.step - 1) / p.step;
  p.far_places = dilated && !back && kw_element_size(c->key) <= 4;     /* less than 80 MB, should a kernel copy it */
  p.far_fields = whole && !back && pooled_dims(c) == 2 ? p.fields : 0; /* they take long */
  p.turned = whole && pooled_dims(c) > 1 ? p.paths / TURNED_STEP : 0;
  return p;
}

/* In other dtypes, which have no such numbers of their own, every other path. */
static bool is_turned(const kw_case *c) {
  const uint32_t before = count_combinations(c);
  if (c->class != KW_CLASS_ATTRS || c->number < before || pooled_dims(c) == 1 || !has(c, "kernel_size")) return false;
  const plan p = plan_of(c);
  return c->key == KW_F32 ? c->number - before >= p.numbers + p.far_places + p.far_fields : c->number % 2 == 1;
}

static bool pick_path(const kw_case *c, uint32_t number, pooling_row *out) {
  if (!has(c, "kernel_size")) {
    *out = adaptive[number % COUNT(adaptive)];
    return number < COUNT(adaptive);
  }
  const plan p = plan_of(c);
  const uint32_t index = number * p.step + p.first;
  if (number < p.numbers && index < p.paths) {
    *out = make_path(index);
  } else if (number < p.numbers) {
    const uint32_t row = index - p.paths, at = row / p.fields % 2 ? MOST_DIMS - 1 : MOST_DIMS - pooled_dims(c);
    *out = make_field(row % p.fields, beyond[row / p.fields / 2], at);
  } else if (number < p.numbers + p.far_places) {
    *out = far_places[pooled_dims(c) - 1];
  } else if (number < p.numbers + p.far_places + p.far_fields) {
    *out = make_field(number - p.numbers - p.far_places, FAR_BEYOND, MOST_DIMS - 1);
    out->channels = out->sizes[1] = out->kernel[1] = 1;
  } else {
    const uint32_t turned = number - p.numbers - p.far_places - p.far_fields;
    *out = make_path(turned * TURNED_STEP);
    return turned < p.turned;
  }
  return true;
}

/* ---- Shapes ------------------------------------------------------------------------------------------------------ */

/* The layouts of kw_case_pick_layout: of one tensor, or of the first and the last of two. */
static uint32_t count_layouts(const kw_case *c) {
  kw_layout layout;
  uint32_t count = 0;
  while (kw_case_pick_layout(c->class, count, 0, is_backward(c) ? 2 : 1, &layout)) count++;
  return count;
}

/* How many numbers of a class there are. The classes about layouts and attributes go through their rows again and
 * again. */
static uint32_t count_numbers(const kw_case *c) {
  switch (c->class) {
    case KW_CLASS_TRANSPOSED: /* and two with channels last */
      return count_layouts(c) + 2;
    case KW_CLASS_SLICED:
    case KW_CLASS_STRIDE0:
      return count_layouts(c);
    case KW_CLASS_OUTPUTS:
      return KW_CASE_OUT_LAYOUTS;
    case KW_CLASS_ATTRS:
      return UINT32_MAX; /* pick_path says */
    case KW_CLASS_LARGE:
      return c->key != KW_F32 ? 0 : is_average(c) ? 1 : COUNT(large);
    case KW_CLASS_SPECIAL:
      return is_average(c) || is_backward(c) ? COUNT(sums) : COUNT(special);
    case KW_CLASS_EXACT:
      return is_average(c) || is_backward(c) ? COUNT(exact) : 0;
    default:
      return all_rows[c->class].count;
  }
}

/* Channels where the row says none: as many as make it large, or one for each special value. */
static int64_t count_channels(const kw_case *c, const pooling_row *row, int64_t plane) {
  if (c->class == KW_CLASS_LARGE) return plane > 40000 ? 1 : 40000 / plane;
  return c->class == KW_CLASS_SPECIAL && row->channels == 0 ? kw_value_special_count(c->key) : row->channels;
}

static kw_shape input_shape(const kw_case *c, const pooling_row *row) {
  const uint32_t dims = pooled_dims(c);
  kw_shape shape = {0, {0}};
  int64_t plane = 1;
  for (uint32_t d = MOST_DIMS - dims; d < MOST_DIMS; d++) plane *= row->sizes[d];
  if (row->batches >= 0) shape.dims[shape.rank++] = row->batches;
  shape.dims[shape.rank++] = count_channels(c, row, plane);
  for (uint32_t d = MOST_DIMS - dims; d < MOST_DIMS; d++) shape.dims[shape.rank++] = row->sizes[d];
  return shape;
}

static int64_t smaller(int64_t a, int64_t b) {
  return a < b ? a : b;
}

/* The numbers of a row for an input that may have been shrunk: windows that no longer fit become smaller. */
static void fit(pooling_row *row, uint32_t at, int64_t size) {
  int64_t span = (row->kernel[at] - 1) * row->dilation[at] + 1;
  if (size == 0 || row->sizes[at] == size || span <= size) return;
  row->dilation[at] = 1;
  row->kernel[at] = smaller(row->kernel[at], size);
  row->padding[at] = smaller(row->padding[at], row->kernel[at] / 2);
}

static int64_t count_windows(const kw_case *c, const pooling_row *row, uint32_t at, int64_t size) {
  int64_t dilation = has(c, "dilation") ? row->dilation[at] : 1, padding = row->padding[at];
  int64_t stride = row->stride[at] ? row->stride[at] : row->kernel[at];
  int64_t room = size + 2 * padding - (row->kernel[at] - 1) * dilation - 1;
  int64_t windows = (room + (row->ceil ? stride - 1 : 0)) / stride + 1;
  return row->ceil && (windows - 1) * stride >= size + padding ? windows - 1 : windows;
}

static kw_shape result_shape(const kw_case *c, const pooling_row *row, kw_shape shape) {
  const uint32_t dims = pooled_dims(c);
  for (uint32_t d = 0; d < dims; d++) {
    int64_t *size = &shape.dims[shape.rank - dims + d];
    uint32_t at = MOST_DIMS - dims + d;
    *size = has(c, "kernel_size") ? count_windows(c, row, at, *size) : row->output[at];
  }
  return shape;
}

/* ---- Arguments --------------------------------------------------------------------------------------------------- */

/* An int[N], in every other case one number where that will do. */
static void give_list(kw_case *c, const char *name, const int64_t *numbers) {
  int arg = kw_suite_op_find_arg(c->op, name);
  if (arg < 0) return;
  const uint32_t dims = pooled_dims(c);
  numbers += MOST_DIMS - dims;
  bool same = true;
  for (uint32_t d = 1; d < dims; d++) same = same && numbers[d] == numbers[0];
  kw_case_give_ints(c, (uint32_t)arg, numbers, same && c->number % 2 ? 1 : dims);
}

static void give_bool(kw_case *c, const char *name, bool b) {
  int arg = kw_suite_op_find_arg(c->op, name);
  if (arg >= 0) kw_case_give(c, (uint32_t)arg, (kw_value){.tag = KW_TAG_BOOL, .u.b = b});
}

/* All combinations in the class about them. Elsewhere what has a default is given now and then. */
static void give_numbers(kw_case *c, const pooling_row *row) {
  static const int64_t divisors[] = {0, 3, -5, 1};
  int stride = kw_suite_op_find_arg(c->op, "stride"), divisor = kw_suite_op_find_arg(c->op, "divisor_override");
  bool all = c->class == KW_CLASS_ATTRS || is_backward(c);
  bool padded = row->padding[0] || row->padding[1] || row->padding[2];
  int64_t by = c->class == KW_CLASS_ATTRS ? divisors[c->number / 6 % COUNT(divisors)] : 0;
  give_list(c, "kernel_size", row->kernel);
  if (row->stride[0]) {
    give_list(c, "stride", row->stride);
  } else if (stride >= 0 && (all || c->number % 2)) {
    kw_case_give_ints(c, (uint32_t)stride, row->stride, 0);
  }
  if (padded || row->ceil || all || c->number % 2) give_list(c, "padding", row->padding);
  give_list(c, "dilation", row->dilation);
  if (row->ceil || all) give_bool(c, "ceil_mode", row->ceil);
  if (all) give_bool(c, "count_include_pad", c->number / 3 % 2);
  if (divisor >= 0 && (by != 0 || all)) {
    kw_case_give(c, (uint32_t)divisor, (kw_value){.tag = by ? KW_TAG_INT : KW_TAG_NONE, .u.i = by});
  }
  give_list(c, "output_size", row->output);
}

/* Channels last comes behind the other layouts, and then with such a result. */
static kw_layout input_layout(const kw_case *c, uint32_t tensor) {
  kw_layout layout = KW_LAYOUT_DENSE;
  if (is_turned(c)) return KW_LAYOUT_CHANNELS_LAST;
  if (c->class == KW_CLASS_TRANSPOSED && c->number >= count_layouts(c)) return KW_LAYOUT_CHANNELS_LAST;
  kw_case_pick_layout(c->class, c->number, tensor, is_backward(c) ? 2 : 1, &layout);
  return layout;
}

static kw_layout result_layout(const kw_case *c) {
  if (is_turned(c)) return KW_LAYOUT_CHANNELS_LAST;
  if (c->class == KW_CLASS_TRANSPOSED && c->number == count_layouts(c) + 1) return KW_LAYOUT_CHANNELS_LAST;
  return kw_case_out_layout(c);
}

/* What is special: for sums values that spread; for maxima NaN and ties, and rows and planes of one value. */
static void set_domain(kw_case *c, int64_t row_length, int64_t plane) {
  static const kw_domain maxima[] = {KW_DOMAIN_SPECIAL, KW_DOMAIN_SPECIAL, KW_DOMAIN_SPECIAL, KW_DOMAIN_FEW,
                                     KW_DOMAIN_SPECIAL};
  kw_case_tensor *pooled = &c->tensors[0];
  bool adds = is_average(c) || is_backward(c);
  pooled->domain = !adds && c->number % 2 ? KW_DOMAIN_FEW : KW_DOMAIN_ANY;
  if (c->class == KW_CLASS_EXACT) pooled->domain = KW_DOMAIN_SMALL;
  if (c->class != KW_CLASS_SPECIAL) return;
  pooled->domain = adds ? sums[c->number] : maxima[c->number];
  const int64_t length = c->number == 2 ? row_length : c->number == 4 ? plane : 1;
  pooled->value_stride = adds ? 7 : (uint32_t)length;
}

static int64_t count_plane(const kw_case *c, const kw_shape *input) {
  int64_t plane = 1;
  for (uint32_t d = input->rank - pooled_dims(c); d < input->rank; d++) plane *= input->dims[d];
  return plane;
}

/* Any places in the plane; in every other case few, so that many gradients go to one. */
static void give_indices(kw_case *c, const kw_shape *result, const kw_shape *input) {
  int indices = kw_suite_op_find_arg(c->op, "indices");
  if (indices < 0) return;
  const int64_t plane = count_plane(c, input);
  kw_case_set_tensor(c, (uint32_t)indices, c->number % 2 ? KW_I32 : KW_I64, result, input_layout(c, 1));
  kw_case_set_indices(c, (uint32_t)indices, c->number % 4 < 2 ? plane : (plane + 3) / 4, false, false, 1);
}

/* Windows in a plane: as many gradients may go to one place. */
static uint64_t count_terms(const kw_case *c, const kw_shape *result) {
  uint64_t terms = 1;
  if (is_average(c)) return terms;
  for (uint32_t d = result->rank - pooled_dims(c); d < result->rank; d++) terms *= (uint64_t)result->dims[d];
  return terms;
}

bool kw_case_make_pool(kw_case *c) {
  const pooling_rows *rows = &all_rows[c->class];
  if (rows->count == 0 || c->number >= count_numbers(c)) return false;
  const uint32_t dims = pooled_dims(c), combinations = count_combinations(c);
  pooling_row row = rows->rows[c->number % rows->count];
  const bool path = c->class == KW_CLASS_ATTRS && c->number >= combinations;
  if (path && !pick_path(c, c->number - combinations, &row)) return false;
  kw_shape shape = input_shape(c, &row);
  kw_case_resize(c, &shape);
  for (uint32_t d = 0; d < dims; d++) fit(&row, MOST_DIMS - dims + d, shape.dims[shape.rank - dims + d]);
  const kw_shape pooled = result_shape(c, &row, shape);

  if (is_backward(c)) {
    kw_case_set_tensor(c, 0, c->key, &pooled, input_layout(c, 0));
    kw_case_set_tensor(c, 1, c->key, &shape, is_average(c) ? input_layout(c, 1) : KW_LAYOUT_DENSE);
    give_indices(c, &pooled, &shape);
    kw_case_set_result(c, 0, c->key, &shape, result_layout(c));
  } else {
    kw_case_set_tensor(c, 0, c->key, &shape, is_far(&row) ? KW_LAYOUT_EXPAND_ALL : input_layout(c, 0));
    kw_case_set_result(c, 0, c->key, &pooled, result_layout(c));
    if (c->op->result_count > 1) kw_case_set_result(c, 1, KW_I64, &pooled, result_layout(c));
  }
  set_domain(c, shape.dims[shape.rank - 1], count_plane(c, &shape));
  give_numbers(c, &row);
  c->terms = count_terms(c, &pooled);
  c->exact = c->class == KW_CLASS_EXACT;
  return true;
}
