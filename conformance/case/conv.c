/* SPDX-License-Identifier: Apache-2.0
 *
 * Cases of convolution and its gradients, im2col and col2im.
 */
#include "case/makers.h"
#include "case/parts.h"

#include <string.h>

#define SPATIAL 3

/* A window, and what it moves over. Channels are those of one group. */
typedef struct conv_row {
  uint32_t dims;
  int64_t batch, in, out, groups;
  int64_t size[SPATIAL], kernel[SPATIAL], stride[SPATIAL], padding[SPATIAL], dilation[SPATIAL], extra[SPATIAL];
  bool transposed;
} conv_row;

typedef struct conv_rows {
  const conv_row *rows;
  uint32_t count;
} conv_rows;

#define ROWS(array) \
  { array, COUNT(array) }

#define ONES \
  { 1, 1, 1 }
#define NONE \
  { 0, 0, 0 }

static const conv_row empty[] = {
    {2, 0, 2, 3, 1, {5, 4}, {3, 2}, ONES, NONE, ONES, NONE, false},
    {1, 0, 2, 3, 1, {5}, {2}, {2}, NONE, ONES, NONE, true},
    {2, 2, 0, 3, 1, {5, 4}, {3, 2}, ONES, {1, 0}, ONES, NONE, false},
    {1, 2, 0, 3, 2, {5}, {2}, {2}, NONE, ONES, NONE, false},
    {2, 2, 3, 0, 1, {5, 4}, {3, 2}, ONES, NONE, ONES, NONE, false},
    {2, 2, 0, 3, 1, {3, 4}, {3, 2}, ONES, NONE, ONES, NONE, true},
    {2, 2, 2, 0, 2, {3, 4}, {1, 1}, ONES, NONE, ONES, NONE, true},
    {3, 3, 0, 2, 1, {2, 1, 3}, {1, 1, 1}, ONES, NONE, ONES, NONE, false},
};
static const conv_row one[] = {
    {1, 1, 1, 1, 1, {1}, {1}, ONES, NONE, ONES, NONE, false},
    {2, 1, 1, 1, 1, {1, 1}, {1, 1}, ONES, NONE, ONES, NONE, true},
    {3, 1, 1, 1, 1, {1, 1, 1}, {3, 3, 3}, ONES, ONES, ONES, NONE, false},
};
static const conv_row prime[] = {
    {2, 2, 3, 5, 1, {7, 11}, {3, 3}, ONES, {1, 1}, ONES, NONE, false},
    {2, 1, 67, 3, 1, {5, 7}, {3, 3}, ONES, {1, 1}, ONES, NONE, false}, /* 603 terms */
    {2, 1, 2, 3, 2, {13, 9}, {5, 3}, {2, 3}, {2, 0}, {1, 2}, NONE, false},
    {2, 2, 1, 1, 7, {7, 7}, {3, 3}, {2, 2}, {1, 1}, ONES, NONE, false}, /* depthwise */
    {2, 1, 31, 17, 1, {3, 5}, {1, 1}, ONES, NONE, ONES, NONE, false},   /* pointwise */
    {1, 3, 5, 3, 1, {31}, {7}, {3}, {3}, {2}, NONE, false},
    {1, 2, 3, 2, 1, {13}, {4}, {3}, {1}, ONES, {2}, true},
    {2, 1, 3, 5, 1, {5, 7}, {3, 2}, {2, 3}, {1, 0}, {1, 2}, {1, 2}, true},
    {2, 1, 2, 3, 3, {4, 5}, {4, 4}, {2, 2}, {1, 1}, ONES, NONE, true},
    {3, 1, 2, 3, 1, {5, 4, 7}, {3, 2, 3}, {2, 1, 1}, {1, 0, 2}, {1, 1, 2}, NONE, false},
    {3, 1, 3, 2, 1, {2, 3, 2}, {2, 3, 2}, {2, 1, 3}, {0, 1, 0}, ONES, {1, 0, 0}, true},
    {2, 1, 2, 2, 1, {4, 3}, {3, 3}, {5, 5}, {4, 4}, ONES, NONE, false}, /* steps past whole kernels */
    /* channels and results past the tiles of a product, with odd rests */
    {2, 2, 5, 131, 1, {2, 3}, {1, 1}, ONES, NONE, ONES, NONE, false},
    {2, 1, 133, 5, 1, {3, 2}, {1, 1}, ONES, {1, 0}, ONES, NONE, false},
    {2, 1, 9, 66, 1, {3, 3}, {3, 3}, {2, 1}, {1, 1}, ONES, NONE, false},
    {2, 2, 1, 1, 131, {4, 5}, {3, 3}, ONES, {1, 1}, ONES, NONE, false},
    {2, 1, 3, 35, 3, {3, 2}, {2, 2}, ONES, NONE, ONES, NONE, false},
    {1, 2, 9, 69, 1, {5}, {3}, {2}, {1}, ONES, NONE, false},
    {2, 1, 37, 33, 1, {2, 2}, {2, 2}, {2, 2}, NONE, ONES, NONE, true},
    {3, 1, 5, 65, 1, {2, 2, 2}, {2, 1, 2}, ONES, {1, 0, 0}, ONES, NONE, false},
    {2, 1, 2, 259, 1, {2, 2}, {3, 3}, ONES, {1, 1}, ONES, NONE, false},
    {2, 1, 1, 1, 257, {2, 3}, {1, 2}, ONES, NONE, ONES, NONE, false},
};
enum { FEW_CHANNELS = 12 }; /* before those with many channels */
static const conv_row large[] = {
    {2, 1, 1, 1, 5, {127, 131}, {3, 3}, ONES, NONE, ONES, NONE, false},
    {1, 3, 2, 11, 1, {2053}, {3}, ONES, {1}, ONES, NONE, false},
};
static const conv_row layout[] = {
    {2, 2, 3, 4, 1, {6, 5}, {3, 2}, {2, 1}, {1, 1}, ONES, NONE, false},
};
static const conv_row exact[] = {
    {2, 1, 57, 3, 1, {5, 5}, {3, 3}, ONES, {1, 1}, ONES, NONE, false}, /* 513 terms */
    {2, 9, 2, 3, 1, {11, 13}, {3, 3}, ONES, {1, 1}, ONES, NONE, false},
    {2, 2, 33, 2, 1, {4, 5}, {3, 3}, {2, 2}, {1, 1}, ONES, {1, 0}, true},
    {1, 3, 4, 8, 1, {67}, {9}, {2}, {4}, ONES, NONE, false},
};
static const conv_row special[] = {
    {2, 1, 2, 3, 1, {9, 8}, {3, 3}, ONES, NONE, ONES, NONE, false},
    {2, 1, 2, 3, 1, {9, 8}, {3, 3}, ONES, NONE, ONES, NONE, false},
    {2, 1, 2, 3, 1, {9, 8}, {3, 3}, {2, 1}, {1, 1}, ONES, NONE, false},
};
static const conv_row outputs[] = {
    {2, 2, 2, 3, 1, {7, 8}, {3, 2}, ONES, {1, 0}, ONES, NONE, false},
    {2, 2, 2, 3, 1, {7, 8}, {3, 2}, ONES, {1, 0}, ONES, NONE, false},
    {1, 2, 2, 3, 1, {11}, {3}, {2}, {1}, ONES, NONE, true},
    {3, 1, 2, 3, 1, {3, 5, 4}, {2, 2, 2}, ONES, NONE, ONES, NONE, false},
    {2, 2, 3, 2, 1, {5, 6}, {3, 3}, {2, 2}, {1, 1}, ONES, {1, 1}, true},
    {2, 2, 3, 2, 1, {5, 6}, {3, 3}, {2, 2}, {1, 1}, ONES, NONE, false},
};
static const conv_row aliasing[] = {{2, 3, 3, 3, 1, {4, 5}, {4, 5}, ONES, {2, 2}, ONES, NONE, false}};

static const conv_rows rows[KW_CLASS_COUNT] = {
    [KW_CLASS_EMPTY] = ROWS(empty),     [KW_CLASS_ONE] = ROWS(one),           [KW_CLASS_PRIME] = ROWS(prime),
    [KW_CLASS_LARGE] = ROWS(large),     [KW_CLASS_TRANSPOSED] = ROWS(layout), [KW_CLASS_SLICED] = ROWS(layout),
    [KW_CLASS_STRIDE0] = ROWS(layout),  [KW_CLASS_EXACT] = ROWS(exact),       [KW_CLASS_SPECIAL] = ROWS(special),
    [KW_CLASS_OUTPUTS] = ROWS(outputs), [KW_CLASS_ALIASING] = ROWS(aliasing),
};

enum { COMBINATIONS = 32 };

/* All combinations of what can be odd, in 1 to 3 dimensions by turns. */
static bool pick_attrs(uint32_t number, conv_row *out) {
  if (number >= COMBINATIONS) return false;
  conv_row row = {.dims = 1 + number % 3, .batch = 2, .in = 2, .out = 3, .groups = number & 1 ? 2 : 1};
  for (int d = 0; d < SPATIAL; d++) {
    row.size[d] = 6 - d;
    row.kernel[d] = 2 + d % 2;
    row.stride[d] = number & 2 ? 2 + (d == 1) : 1;
    row.padding[d] = number & 4 ? 1 + (d == 0) : 0;
    row.dilation[d] = number & 8 ? 2 - (d == 2) : 1;
    row.extra[d] = number & 16 && row.stride[d] > 1 ? 1 : 0;
  }
  row.transposed = number & 16;
  *out = row;
  return true;
}

/* ---- Paths ------------------------------------------------------------------------------------------------------- */

/* Drivers have kernels of their own for windows of some forms and for some kinds of groups, and each of these may
 * forget another attribute. So each form meets each kind, and both every attribute: alone, unlike in each dimension,
 * and all.
 */

#define IMAGE \
  { 4, 5, 3 }

static const int64_t forms[][SPATIAL] = {{1, 1, 1}, {3, 3, 3},
                                         {1, 3, 2}, {3, 1, 1},
                                         {2, 2, 2}, {4, 3, 2}, /* as high as the image */
                                         IMAGE,     {6, 7, 5} /* larger than the image */,
                                         {2, 4, 3}};

typedef struct channel_kind {
  int64_t groups, in, out;
} channel_kind;

static const channel_kind kinds[] = {{1, 3, 2}, {2, 2, 3}, {3, 1, 1}, {8, 1, 1}, {3, 1, 2}, {1, 1, 4}, {1, 8, 8}};

typedef struct movement {
  int64_t stride[SPATIAL], padding[SPATIAL], dilation[SPATIAL], extra[SPATIAL];
} movement;

static const movement movements[] = {
    {ONES, NONE, ONES, NONE},      {ONES, ONES, ONES, NONE},
    {ONES, {2, 0, 1}, ONES, NONE}, {{2, 2, 2}, NONE, ONES, NONE},
    {{3, 1, 2}, NONE, ONES, NONE}, {ONES, NONE, {2, 2, 2}, NONE},
    {ONES, NONE, {3, 1, 2}, NONE}, {{2, 3, 1}, {1, 2, 1}, {2, 1, 3}, {1, 1, 0}},
};

/* Two dimensions as they mostly are; then others, and transposed ones. */
static const struct {
  uint32_t dims;
  bool transposed;
} directions[] = {{2, false}, {1, false}, {3, false}, {2, true}, {1, true}, {3, true}};

enum {
  WINDOWS = COUNT(forms) * COUNT(movements),
  OTHERS = COUNT(directions) - 1,
  PATHS = WINDOWS * (COUNT(kinds) + OTHERS)
};

static int64_t at_most(int64_t size, int64_t limit) {
  return size < limit ? size : limit;
}

/* The first dimensions of all kinds; of the others each window has one kind, by turns. */
static conv_row make_path(uint32_t direction, uint32_t window, uint32_t kind) {
  static const int64_t image[] = IMAGE;
  const movement *move = &movements[window / COUNT(forms)];
  const channel_kind *k = &kinds[kind % COUNT(kinds)];
  conv_row row = {.dims = directions[direction].dims, .transposed = directions[direction].transposed};
  const bool small = row.dims == 3; /* where each place has many elements */
  row.batch = small ? 1 : 2, row.groups = small ? at_most(k->groups, 3) : k->groups;
  row.in = small ? at_most(k->in, 2) : k->in, row.out = small ? at_most(k->out, 2) : k->out;
  for (int d = 0; d < SPATIAL; d++) {
    const int64_t kernel = forms[window % COUNT(forms)][d], over = kernel > image[d] ? (kernel - image[d]) / 2 : 0;
    const int from =
        kind % 2 == 1 && row.dims > 1 && d < 2 ? 1 - d : d; /* which of two dimensions is unlike, by turns */
    row.kernel[d] = kernel;
    row.stride[d] = move->stride[from];
    row.padding[d] = move->padding[from] + over;
    row.dilation[d] = move->dilation[from];
    row.extra[d] = row.transposed ? move->extra[from] : 0;
    row.size[d] = image[d] + (row.transposed ? 0 : (kernel - 1) * (row.dilation[d] - 1));
  }
  return row;
}

/* ---- Fields ------------------------------------------------------------------------------------------------------ */

/* A stride, a padding, a dilation or a kernel in one dimension that a field of 4, 6, 8 or 16 bits does not hold. */
enum { STRIDE, PADDING, DILATION, KERNEL, FIELDS };
static const int64_t beyond[] = {16, 64, 257};
#define FAR_BEYOND 65537
enum { FIELD_ROWS = FIELDS * COUNT(beyond) * 4 }; /* in two dimensions, transposed or not */

static conv_row make_field(uint32_t field, int64_t value, uint32_t dims, uint32_t at, bool transposed) {
  conv_row row = {dims, 1, 1, 2, 1, {3, 3, 3}, {2, 2, 2}, ONES, NONE, ONES, NONE, transposed};
  switch (field) {
    case STRIDE:
      row.stride[at] = value;
      row.size[at] = transposed ? 2 : 2 * value + 3;
      row.extra[at] = transposed ? value - 1 : 0;
      break;
    case PADDING:
      row.padding[at] = value;
      row.size[at] = transposed ? 2 * value + 3 : 3;
      break;
    case DILATION:
      row.dilation[at] = value;
      row.size[at] = transposed ? 3 : value + 3;
      break;
    default:
      row.out = 1;
      row.kernel[at] = value;
      row.size[at] = transposed ? 3 : value + 2;
  }
  return row;
}

static bool has(const kw_case *c, const char *arg) {
  return kw_suite_op_find_arg(c->op, arg) >= 0;
}

static conv_row pick_window(bool grouped, uint32_t index) {
  if (!grouped) return make_path(0, index, 0);
  if (index < WINDOWS * COUNT(kinds)) return make_path(0, index / COUNT(kinds), index);
  const uint32_t rest = index - WINDOWS * COUNT(kinds), direction = 1 + rest % OTHERS, window = rest / OTHERS;
  return make_path(direction, window, window + direction);
}

/* Paths, then fields: every `step`-th row, numbered from `first` on. f32 has all of them; other dtypes some, each its
 * own; gradients, which take longer, fewer, and so does f64, whose oracle is slow. Steps share no factor with the
 * number of kinds, nor with that of forms. Then fields of 16 bits, and paths
 * with channels last, for which drivers have kernels, too: every `turned`-th. */
typedef struct plan {
  uint32_t paths, fields, far_fields, step, first, numbers, turned;
} plan;

static plan plan_of(const kw_case *c) {
  const bool grouped = has(c, "groups"), back = has(c, "output_mask"), slow = c->key == KW_F64;
  plan p = {.paths = grouped ? PATHS : WINDOWS, .fields = back && slow ? 0 : FIELD_ROWS};
  p.far_fields = c->key == KW_F32 && grouped && !back ? FIELDS : 0; /* others take too long */
  p.step = (c->key == KW_F32 ? 1 : slow ? 8 : 4) * (back ? 5 : 1);
  p.turned = (slow ? 16 : 8) * (back ? 5 : 1);
  p.first = (uint32_t)c->key % p.step;
  p.numbers = (p.paths + p.fields - p.first + p.step - 1) / p.step;
  return p;
}

static bool is_turned(const kw_case *c) {
  const plan p = plan_of(c);
  return c->class == KW_CLASS_ATTRS && c->number >= COMBINATIONS + p.numbers + p.far_fields;
}

static bool pick_path(const kw_case *c, uint32_t number, conv_row *out) {
  const plan p = plan_of(c);
  const bool grouped = has(c, "groups");
  const uint32_t index = number * p.step + p.first;
  if (is_turned(c)) {
    const uint32_t window = (number - p.numbers - p.far_fields) * p.turned + ((uint32_t)c->key + 2) % p.turned;
    if (!grouped || window >= p.paths) return false;
    *out = pick_window(grouped, window);
  } else if (number >= p.numbers) {
    *out = make_field(number - p.numbers, FAR_BEYOND, 1, 0, false);
  } else if (index >= p.paths) {
    const uint32_t row = index - p.paths, rest = row / FIELDS;
    *out = make_field(row % FIELDS, beyond[rest / 4], 2, rest % 2, rest / 2 % 2 == 1);
  } else {
    *out = pick_window(grouped, index);
  }
  return true;
}

static bool pick_row(const kw_case *c, conv_row *out) {
  const conv_rows *mine = &rows[c->class];
  if (c->class == KW_CLASS_ATTRS) return pick_attrs(c->number, out) || pick_path(c, c->number - COMBINATIONS, out);
  bool wide = c->class == KW_CLASS_LARGE && c->key != KW_F32; /* one large dtype is enough */
  if (mine->count == 0 || wide || (!kw_case_about_layouts(c->class) && c->number >= mine->count)) return false;
  *out = mine->rows[c->number % mine->count];
  return true;
}

/* A kernel that is too long for the padded input is cut, and so is a padding that leaves nothing of the result. */
static void fit(conv_row *row) {
  for (uint32_t d = 0; d < row->dims; d++) {
    int64_t reach = row->dilation[d] * (row->kernel[d] - 1) + 1, longest = row->size[d] + 2 * row->padding[d];
    int64_t spread = (row->size[d] - 1) * row->stride[d] + reach + row->extra[d];
    if (row->transposed && 2 * row->padding[d] >= spread) row->padding[d] = (spread - 1) / 2;
    if (!row->transposed && reach > longest) row->kernel[d] = (longest - 1) / row->dilation[d] + 1;
  }
}

/* The sizes that everything follows from, or those of a shrunken case. */
static void resize(kw_case *c, conv_row *row) {
  kw_shape sizes = {3 + row->dims, {row->batch, row->in, row->out}};
  memcpy(sizes.dims + 3, row->size, row->dims * sizeof(int64_t));
  kw_case_resize(c, &sizes);
  row->batch = sizes.dims[0], row->in = sizes.dims[1], row->out = sizes.dims[2];
  memcpy(row->size, sizes.dims + 3, row->dims * sizeof(int64_t));
  fit(row);
}

/* How many places the window has, or what a transposed convolution makes of so many. */
static void measure(const conv_row *row, int64_t *out) {
  for (uint32_t d = 0; d < row->dims; d++) {
    int64_t reach = row->dilation[d] * (row->kernel[d] - 1) + 1, room = row->size[d] + 2 * row->padding[d] - reach;
    out[d] = room / row->stride[d] + 1;
    if (row->transposed) out[d] = (row->size[d] - 1) * row->stride[d] - 2 * row->padding[d] + reach + row->extra[d];
  }
}

static kw_shape make_shape(int64_t first, int64_t second, uint32_t dims, const int64_t *spatial) {
  kw_shape shape = {2 + dims, {first, second}};
  memcpy(shape.dims + 2, spatial, dims * sizeof(int64_t));
  return shape;
}

static int64_t taps_of(const conv_row *row) {
  int64_t taps = 1;
  for (uint32_t d = 0; d < row->dims; d++) taps *= row->kernel[d];
  return taps;
}

/* One number for each dimension; every third case gives one for all, where they are equal. */
static void give_list(kw_case *c, uint32_t arg, const int64_t *numbers, uint32_t dims) {
  bool equal = true;
  for (uint32_t d = 1; d < dims; d++) equal = equal && numbers[d] == numbers[0];
  kw_case_give_ints(c, arg, numbers, equal && c->number % 3 == 1 ? 1 : dims);
}

/* Strides, paddings and so on from argument `first` on. */
static void give_movement(kw_case *c, uint32_t first, const conv_row *row) {
  give_list(c, first, row->stride, row->dims);
  give_list(c, first + 1, row->padding, row->dims);
  give_list(c, first + 2, row->dilation, row->dims);
  kw_case_give(c, first + 3, (kw_value){.tag = KW_TAG_BOOL, .u.b = row->transposed});
  give_list(c, first + 4, row->extra, row->dims);
  kw_case_give(c, first + 5, (kw_value){.tag = KW_TAG_INT, .u.i = row->groups});
}

/* The tensors of a convolution. */
typedef struct conv_shapes {
  kw_shape input, weight, bias, result;
} conv_shapes;

static conv_shapes make_shapes(const conv_row *row) {
  int64_t places[SPATIAL], in = row->in * row->groups, results = row->out * row->groups;
  conv_shapes s;
  measure(row, places);
  s.input = make_shape(row->batch, in, row->dims, row->size);
  s.weight = row->transposed ? make_shape(in, row->out, row->dims, row->kernel)
                             : make_shape(results, row->in, row->dims, row->kernel);
  s.bias = (kw_shape){1, {results}};
  s.result = make_shape(row->batch, results, row->dims, places);
  return s;
}

/* `count` tensors from the first argument on. */
static bool set_images(kw_case *c, uint32_t count, const kw_shape *shapes) {
  if (!kw_case_set_images(c, 0, count, shapes)) return false;
  for (uint32_t i = 0; i < count && is_turned(c); i++) {
    kw_case_layout(&c->tensors[i], &shapes[i], KW_LAYOUT_CHANNELS_LAST);
  }
  return true;
}

static kw_layout result_layout(const kw_case *c) {
  return is_turned(c) ? KW_LAYOUT_CHANNELS_LAST : kw_case_image_layout(c);
}

bool kw_case_make_convolution(kw_case *c) {
  conv_row row;
  if (!pick_row(c, &row)) return false;
  if (c->class != KW_CLASS_ALIASING) resize(c, &row);
  const conv_shapes shapes = make_shapes(&row);
  if (!set_images(c, 2, (kw_shape[]){shapes.input, shapes.weight})) return false;
  if (c->number % 2 == 1) {
    kw_case_set_tensor(c, 2, c->key, &shapes.bias, kw_case_beside_layout(c));
    c->tensors[2].domain = c->exact ? KW_DOMAIN_SMALL : KW_DOMAIN_UNIT;
  }
  if (c->class == KW_CLASS_ALIASING) c->tensors[1].share = 0;
  give_movement(c, 3, &row);
  c->terms = (uint64_t)(row.in * taps_of(&row)) + 1; /* and the bias */
  kw_case_set_result(c, 0, c->key, &shapes.result, result_layout(c));
  return true;
}

/* Which of the three gradients are wanted: all of them in the classes that are about something else. */
static void set_gradients(kw_case *c, const conv_shapes *shapes) {
  const bool attrs = c->class == KW_CLASS_ATTRS && c->number < COMBINATIONS;
  const bool some = attrs || (c->class == KW_CLASS_PRIME && c->number < FEW_CHANNELS) || c->class == KW_CLASS_OUTPUTS;
  const int64_t bits = some ? (c->number + 7) % 8 : 7;
  const int64_t mask[] = {bits & 1, bits >> 1 & 1, bits >> 2};
  const kw_shape *wanted[] = {&shapes->input, &shapes->weight, &shapes->bias};
  kw_case_give_ints(c, 10, mask, 3);
  for (uint32_t r = 0; r < 3; r++) {
    if (mask[r]) kw_case_set_result(c, r, c->key, wanted[r], r < 2 ? result_layout(c) : KW_LAYOUT_DENSE);
  }
  if (mask[2] && c->number % 4 != 3) kw_case_give_ints(c, 3, shapes->bias.dims, 1);
}

bool kw_case_make_convolution_backward(kw_case *c) {
  conv_row row;
  if (c->class == KW_CLASS_ALIASING || !pick_row(c, &row)) return false;
  resize(c, &row);
  const conv_shapes shapes = make_shapes(&row);
  if (!set_images(c, 3, (kw_shape[]){shapes.result, shapes.input, shapes.weight})) return false;
  give_movement(c, 4, &row);
  set_gradients(c, &shapes);
  c->terms = 1; /* the bound is its own */
  return true;
}

/* ---- Columns ----------------------------------------------------------------------------------------------------- */

/* kernel_size, dilation, padding, stride from argument `first` on. */
static void give_block(kw_case *c, uint32_t first, const conv_row *row) {
  give_list(c, first, row->kernel, 2);
  give_list(c, first + 1, row->dilation, 2);
  give_list(c, first + 2, row->padding, 2);
  give_list(c, first + 3, row->stride, 2);
}

/* The rows in two dimensions that are not transposed; every other case goes without a batch. */
static bool make_columns(kw_case *c, bool back) {
  conv_row row;
  int64_t places[SPATIAL];
  if (c->class == KW_CLASS_ALIASING || !pick_row(c, &row)) return false;
  for (; row.dims < 2; row.dims++) {
    row.size[row.dims] = 4, row.kernel[row.dims] = 2;
    row.stride[row.dims] = row.dilation[row.dims] = 1;
  }
  row.dims = 2;
  row.transposed = false;
  row.out = 1;
  resize(c, &row);
  measure(&row, places);
  bool alone = c->number % 2 == 1 && c->class != KW_CLASS_EMPTY;
  const int64_t matrix[] = {row.batch, row.in * taps_of(&row), places[0] * places[1]};
  const int64_t image[] = {row.batch, row.in, row.size[0], row.size[1]};
  kw_shape images = {4 - alone, {0}}, columns = {3 - alone, {0}};
  memcpy(images.dims, image + alone, images.rank * sizeof *image);
  memcpy(columns.dims, matrix + alone, columns.rank * sizeof *matrix);
  if (!kw_case_set_images(c, 0, 1, back ? &columns : &images)) return false;
  if (back) give_list(c, 1, row.size, 2);
  give_block(c, back ? 2 : 1, &row);
  kw_layout layout = kw_case_out_layout(c);
  kw_case_set_result(c, 0, c->key, back ? &images : &columns, layout);
  c->terms = (uint64_t)taps_of(&row);
  return true;
}

bool kw_case_make_im2col(kw_case *c) {
  return make_columns(c, false);
}

bool kw_case_make_col2im(kw_case *c) {
  return make_columns(c, true);
}
