/* SPDX-License-Identifier: Apache-2.0
 *
 * Cases of object detection: boxes against each other, their suppression, regions of images.
 */
#include "case/makers.h"
#include "case/parts.h"

#include <keyway/keyway.h>

#include <string.h>

/* Corners are multiples of one of this. */
enum { NESTED = 0, WHOLE = 1, FINE = 1 << 12 };

static uint32_t distance_of(const kw_case_tensor *tensor) {
  return tensor->strides[1] > 0 ? (uint32_t)tensor->strides[1] : 1;
}

static void set_boxes(kw_case *c, uint32_t arg, int64_t count, kw_layout layout, int64_t grid) {
  const kw_shape shape = {2, {count, 4}};
  kw_case_set_tensor(c, arg, c->key, &shape, layout);
  kw_case_tensor *boxes = &c->tensors[arg];
  boxes->domain = KW_DOMAIN_BOX;
  boxes->value_stride = distance_of(boxes);
  boxes->limit = grid;
}

/* ---- Boxes against each other ------------------------------------------------------------------------------------ */

typedef struct pair_rows {
  const int64_t (*rows)[2];
  uint32_t count;
} pair_rows;

#define ROWS(array) \
  { array, COUNT(array) }

static bool pick_pair(kw_case *c, kw_shape *out) {
  static const int64_t empty[][2] = {{0, 3}, {3, 0}, {0, 0}};
  static const int64_t one[][2] = {{1, 1}, {1, 7}, {7, 1}};
  static const int64_t prime[][2] = {{7, 5}, {13, 31}, {2, 67}, {67, 2}, {101, 3}, {29, 29}, {3, 127}, {11, 61}};
  static const int64_t large[][2] = {{257, 257}};
  static const int64_t layout[][2] = {{7, 9}};
  static const int64_t special[][2] = {{29, 13}, {13, 29}, {31, 31}, {7, 67}};
  static const int64_t outputs[][2] = {{7, 9}, {11, 5}, {5, 13}, {9, 3}};
  static const pair_rows classes[KW_CLASS_COUNT] = {
      [KW_CLASS_EMPTY] = ROWS(empty),       [KW_CLASS_ONE] = ROWS(one),         [KW_CLASS_PRIME] = ROWS(prime),
      [KW_CLASS_LARGE] = ROWS(large),       [KW_CLASS_SPECIAL] = ROWS(special), [KW_CLASS_OUTPUTS] = ROWS(outputs),
      [KW_CLASS_TRANSPOSED] = ROWS(layout), [KW_CLASS_SLICED] = ROWS(layout),   [KW_CLASS_STRIDE0] = ROWS(layout)};
  const pair_rows *mine = &classes[c->class];
  if (mine->count == 0 || (c->number >= mine->count && !kw_case_about_layouts(c->class))) return false;
  if (c->class == KW_CLASS_LARGE && c->key != KW_F32) return false;
  const int64_t *row = mine->rows[c->number % mine->count];
  *out = (kw_shape){2, {row[0], row[1]}};
  if (c->class != KW_CLASS_SPECIAL) kw_case_resize(c, out);
  return true;
}

/* The hull of two boxes that are next to nothing, one in each direction, has an area below every number, and what the
 * quotient is then hangs on the width of the type: of the ops with a hull not both have special corners at a time. */
bool kw_case_make_box_pairs(kw_case *c) {
  const bool hulls = strcmp(c->op->name, "keyway::generalized_box_iou") == 0;
  kw_shape result;
  kw_layout layouts[2];
  if (!pick_pair(c, &result)) return false;
  for (uint32_t i = 0; i < 2; i++) {
    if (!kw_case_pick_layout(c->class, c->number, i, 2, &layouts[i])) return false;
  }
  for (uint32_t i = 0; i < 2; i++) {
    set_boxes(c, i, result.dims[i], layouts[i], c->number % 3 == 1 ? WHOLE : FINE);
    const bool odd = c->class == KW_CLASS_SPECIAL && (c->number % 3 == 2 || c->number % 3 == i);
    if (odd) c->tensors[i].domain = hulls && c->number % 3 == 2 ? KW_DOMAIN_FEW : KW_DOMAIN_SPECIAL_ROW;
    if (odd) c->tensors[i].value_stride = 4;
  }
  kw_case_set_result(c, 0, c->key, &result, kw_case_out_layout(c));
  return true;
}

/* ---- Suppression ------------------------------------------------------------------------------------------------- */

/* No two areas of some hundreds have one of these for their quotient, or come near: numbers that fractions approximate
 * worst of all, (sqrt(5) - 1) / 2 and its square. 0 is apart from every other quotient. */
static const double safe_thresholds[] = {0.6180339887498949, 0.3819660112501051, 0};

/* For boxes whose areas are powers of two: some quotients are equal to the threshold, and exact. The last suppress
 * everything and nothing. */
static const double met_thresholds[] = {0.5, 0.25, 0.125, 1, 0, -0.5, 1.5};

static bool pick_count(kw_case *c, int64_t *out) {
  static const int64_t prime[] = {7, 13, 31, 67, 127, 257, 1021, 2};
  static const int64_t outputs[] = {31, 7, 67, 13};
  uint32_t count = 0;
  switch (c->class) {
    case KW_CLASS_EMPTY:
      *out = 0;
      count = 1;
      break;
    case KW_CLASS_ONE:
      *out = 1;
      count = COUNT(safe_thresholds);
      break;
    case KW_CLASS_PRIME:
      *out = prime[c->number % COUNT(prime)];
      count = COUNT(prime);
      break;
    case KW_CLASS_LARGE: /* more than 2^16 numbers */
      *out = 16411;
      count = c->key == KW_F32;
      break;
    case KW_CLASS_OUTPUTS:
      *out = outputs[c->number % COUNT(outputs)];
      count = KW_CASE_OUT_LAYOUTS;
      break;
    case KW_CLASS_ATTRS:
      *out = 61;
      count = COUNT(met_thresholds);
      break;
    case KW_CLASS_SPECIAL:
      *out = 97;
      count = 4;
      break;
    default:
      *out = 53;
      return kw_case_about_layouts(c->class);
  }
  return c->number < count;
}

bool kw_case_make_nms(kw_case *c) {
  static const kw_domain scores[] = {KW_DOMAIN_UNIT, KW_DOMAIN_FEW, KW_DOMAIN_ANY};
  kw_layout layouts[2];
  kw_shape n = {1, {0}};
  if (!pick_count(c, &n.dims[0])) return false;
  for (uint32_t i = 0; i < 2; i++) {
    if (!kw_case_pick_layout(c->class, c->number, i, 2, &layouts[i])) return false;
  }
  if (c->class != KW_CLASS_SPECIAL) kw_case_resize(c, &n);
  const bool met = c->class == KW_CLASS_ATTRS, special = c->class == KW_CLASS_SPECIAL;
  const bool nested =
      met || c->class == KW_CLASS_LARGE; /* few of which stay: the work is in proportion to their number */
  set_boxes(c, 0, n.dims[0], layouts[0], nested ? NESTED : WHOLE);
  kw_case_set_tensor(c, 1, c->key, &n, layouts[1]);
  c->tensors[1].domain = scores[c->number % COUNT(scores)];
  if (special && c->number % 2 == 0) c->tensors[1].domain = KW_DOMAIN_SPECIAL; /* scores that are NaN, infinite, zero */
  if (special && c->number % 2 == 1) c->tensors[0].domain = KW_DOMAIN_SPECIAL_ROW; /* or corners */
  if (special) c->tensors[0].value_stride = 4;
  const double threshold = met ? met_thresholds[c->number] : safe_thresholds[c->number % COUNT(safe_thresholds)];
  kw_case_give(c, 2, kw_arg_float(threshold));
  const kw_shape point = {0, {0}};
  kw_case_set_result(c, 0, KW_I64, &n, kw_case_out_layout(c));
  kw_case_set_result(c, 1, KW_I64, &point, KW_LAYOUT_DENSE);
  return true;
}

/* ---- Regions ----------------------------------------------------------------------------------------------------- */

/* Where a region says how many samples it takes (a ratio of 0 or less), bins and scale are powers of two: the number is
 * certain then. Regions lie on quarters, partly outside of the images. */
typedef struct region_row {
  int64_t image[4]; /* n, c, h, w */
  int64_t regions, pooled[2], ratio;
  double scale;
  bool aligned;
} region_row;

typedef struct region_rows {
  const region_row *rows;
  uint32_t count;
} region_rows;

static bool pick_region(kw_case *c, region_row *out) {
  static const region_row empty[] = {{{2, 3, 5, 7}, 0, {3, 2}, 2, 1, true}, {{2, 0, 5, 7}, 3, {3, 2}, 2, 1, false}};
  static const region_row one[] = {{{1, 1, 1, 1}, 1, {1, 1}, 1, 1, true}, {{1, 1, 7, 5}, 1, {1, 1}, 0, 1, false}};
  static const region_row prime[] = {
      {{2, 3, 13, 11}, 5, {3, 5}, 2, 1, true},    {{1, 5, 17, 19}, 7, {2, 4}, 0, 1, true},
      {{3, 2, 11, 7}, 11, {7, 7}, 1, 0.3, false}, {{2, 2, 5, 5}, 13, {1, 2}, -1, 0.5, false},
      {{1, 1, 31, 29}, 3, {5, 3}, 3, 1.7, true},  {{5, 7, 3, 13}, 9, {2, 2}, 0, 1, false},
      {{2, 3, 9, 9}, 6, {3, 3}, 4, 0.6, false},   {{1, 67, 5, 3}, 2, {3, 2}, 2, 0.25, true},
      {{4, 1, 7, 7}, 31, {4, 8}, 0, 2, true},     {{2, 2, 13, 5}, 7, {6, 1}, 5, 0.9, false}};
  static const region_row large[] = {{{2, 5, 13, 17}, 269, {7, 7}, 2, 1, true}};
  static const region_row layout[] = {{{2, 3, 9, 11}, 5, {3, 4}, 2, 1, true}};
  static const region_row exact[] = {{{2, 3, 13, 11}, 5, {2, 2}, 2, 1, true},
                                     {{1, 4, 17, 13}, 7, {4, 2}, 1, 1, false},
                                     {{3, 2, 9, 9}, 6, {2, 4}, 2, 0.5, true}};
  static const region_row special[] = {{{2, 2, 9, 11}, 5, {3, 2}, 2, 1, true}};
  static const region_row attrs[] = {{{2, 2, 9, 11}, 7, {3, 5}, 2, 1, true}, {{2, 2, 9, 11}, 7, {4, 2}, 0, 1, false}};
  static const region_rows classes[KW_CLASS_COUNT] = {
      [KW_CLASS_EMPTY] = ROWS(empty),    [KW_CLASS_ONE] = ROWS(one),           [KW_CLASS_PRIME] = ROWS(prime),
      [KW_CLASS_LARGE] = ROWS(large),    [KW_CLASS_TRANSPOSED] = ROWS(layout), [KW_CLASS_SLICED] = ROWS(layout),
      [KW_CLASS_STRIDE0] = ROWS(layout), [KW_CLASS_EXACT] = ROWS(exact),       [KW_CLASS_SPECIAL] = ROWS(special),
      [KW_CLASS_OUTPUTS] = ROWS(layout), [KW_CLASS_ATTRS] = ROWS(attrs)};
  const region_rows *mine = &classes[c->class];
  uint32_t count = mine->count;
  if (c->class == KW_CLASS_ATTRS) count = 8;
  if (c->class == KW_CLASS_OUTPUTS) count = KW_CASE_OUT_LAYOUTS + 1;
  if (count == 0 || (c->number >= count && !kw_case_about_layouts(c->class))) return false;
  if (c->class == KW_CLASS_LARGE && c->key != KW_F32) return false;
  *out = mine->rows[c->number % mine->count];
  /* Of many regions some have a sample at the image's edge, where rounding would decide on which side it is. */
  if (c->sweep) *out = exact[c->number % COUNT(exact)];
  if (c->class == KW_CLASS_ATTRS) { /* scale and alignment of both kinds */
    out->scale = c->number / 2 % 2 ? 0.5 : 2;
    out->aligned = c->number / 4 % 2;
  }
  kw_shape sizes = {5, {out->image[0], out->image[1], out->image[2], out->image[3], out->regions}};
  kw_case_resize(c, &sizes);
  for (int d = 0; d < 4; d++) out->image[d] = sizes.dims[d];
  out->regions = sizes.dims[4];
  return true;
}

/* Regions, argument 1, in a layout where five numbers stay together. */
static void set_regions(kw_case *c, const region_row *row) {
  kw_layout layout;
  if (!kw_case_pick_layout(c->class, c->number, 0, 1, &layout)) layout = KW_LAYOUT_DENSE;
  if (layout == KW_LAYOUT_INNER) layout = KW_LAYOUT_STEPPED;
  if (layout == KW_LAYOUT_EXPAND_LAST) layout = KW_LAYOUT_EXPAND_FIRST;
  const kw_shape shape = {2, {row->regions, 5}};
  kw_case_set_tensor(c, 1, c->key, &shape, layout);
  kw_case_tensor *rois = &c->tensors[1];
  rois->domain = KW_DOMAIN_REGION;
  rois->value_stride = distance_of(rois);
  rois->limit = row->image[0];
}

static void give_region_attrs(kw_case *c, const region_row *row, uint32_t last) {
  kw_case_give(c, 2, kw_arg_float(row->scale));
  kw_case_give(c, 3, kw_arg_int(row->pooled[0]));
  kw_case_give(c, 4, kw_arg_int(row->pooled[1]));
  kw_case_give(c, last, kw_arg_int(row->ratio));
  kw_case_give(c, last + 1, kw_arg_bool(row->aligned));
  c->terms = 1;
}

bool kw_case_make_roi_align(kw_case *c) {
  region_row row;
  if (!pick_region(c, &row)) return false;
  const kw_shape image = {4, {row.image[0], row.image[1], row.image[2], row.image[3]}};
  const kw_shape result = {4, {row.regions, row.image[1], row.pooled[0], row.pooled[1]}};
  if (!kw_case_set_images(c, 0, 1, &image)) return false;
  if (c->class == KW_CLASS_SPECIAL) c->tensors[0].domain = KW_DOMAIN_FEW;
  set_regions(c, &row);
  give_region_attrs(c, &row, 5);
  kw_case_set_result(c, 0, c->key, &result, kw_case_image_layout(c));
  return true;
}

bool kw_case_make_roi_align_backward(kw_case *c) {
  region_row row;
  if (!pick_region(c, &row)) return false;
  const kw_shape image = {4, {row.image[0], row.image[1], row.image[2], row.image[3]}};
  const kw_shape grad = {4, {row.regions, row.image[1], row.pooled[0], row.pooled[1]}};
  if (!kw_case_set_images(c, 0, 1, &grad)) return false;
  if (c->class == KW_CLASS_SPECIAL) c->tensors[0].domain = KW_DOMAIN_FEW;
  set_regions(c, &row);
  give_region_attrs(c, &row, 9);
  for (uint32_t d = 0; d < 4; d++) kw_case_give(c, 5 + d, kw_arg_int(row.image[d]));
  kw_case_set_result(c, 0, c->key, &image, kw_case_image_layout(c));
  return true;
}
