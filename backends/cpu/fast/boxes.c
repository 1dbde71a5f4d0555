/* SPDX-License-Identifier: Apache-2.0
 *
 * Each box with each other, and the suppression of those that overlap better ones: boxes lie side by side by coordinate
 * while one is compared with them.
 */
#include "fast.h"

#include "loop.h"
#include "number.h"
#include "operand.h"
#include "sizes.h"
#include "sort.h"
#include "walk.h"

#include <string.h>

#define BLOCK 256   /* boxes that are held as lanes at once: few enough for the first cache */
#define GRAIN 16384 /* results: the fewest that a thread is woken for */

enum { LEFT, TOP, RIGHT, BOTTOM, CORNERS };

static kw_status plan_boxes(const kw_fast_kernel *kernel, const kw_call *call, void *plan) {
  const kw_dtype dtype = call->outs[0]->dtype;
  (void)kernel;
  for (uint32_t k = 0; k < 2; k++) {
    if (call->args[k].u.tensor->dtype != dtype) return KW_ERR_NOT_IMPLEMENTED;
  }
  return kw_port_open(plan, dtype, kw_lane_of(dtype)) ? KW_OK : KW_ERR_NOT_IMPLEMENTED;
}

/* As the reference: NaN wins, and 0 / 0 is 0. Results are those of its roundings. */
#define BOXES(name, T)                                                                                    \
  static inline T least_##name(T a, T b) {                                                                \
    return ((b != b) | (b < a)) ? b : a;                                                                  \
  }                                                                                                       \
  static inline T most_##name(T a, T b) {                                                                 \
    return ((b != b) | (b > a)) ? b : a;                                                                  \
  }                                                                                                       \
  static inline T area_##name(T left, T top, T right, T bottom) {                                         \
    return most_##name(0, right - left) * most_##name(0, bottom - top);                                   \
  }                                                                                                       \
  static inline T share_##name(T part, T whole) {                                                         \
    return whole == 0 ? 0 : part / whole;                                                                 \
  }                                                                                                       \
  static inline void pair_##name(T *restrict to, const T *restrict a, const T *restrict b, int64_t n,     \
                                 bool generalized) {                                                      \
    const T *left = b + LEFT * BLOCK, *top = b + TOP * BLOCK, *right = b + RIGHT * BLOCK,                 \
            *bottom = b + BOTTOM * BLOCK;                                                                 \
    const T own = area_##name(a[LEFT], a[TOP], a[RIGHT], a[BOTTOM]);                                      \
    for (int64_t i = 0; i < n; i++) {                                                                     \
      const T common = area_##name(most_##name(a[LEFT], left[i]), most_##name(a[TOP], top[i]),            \
                                   least_##name(a[RIGHT], right[i]), least_##name(a[BOTTOM], bottom[i])); \
      const T whole = own + area_##name(left[i], top[i], right[i], bottom[i]) - common;                   \
      const T shared = share_##name(common, whole);                                                       \
      const T hull = area_##name(least_##name(a[LEFT], left[i]), least_##name(a[TOP], top[i]),            \
                                 most_##name(a[RIGHT], right[i]), most_##name(a[BOTTOM], bottom[i]));     \
      to[i] = generalized ? shared - share_##name(hull - whole, hull) : shared;                           \
    }                                                                                                     \
  }                                                                                                       \
  static void iou_##name(void *to, const void *a, const void *b, int64_t n) {                             \
    pair_##name(to, a, b, n, false);                                                                      \
  }                                                                                                       \
  static void giou_##name(void *to, const void *a, const void *b, int64_t n) {                            \
    pair_##name(to, a, b, n, true);                                                                       \
  }
BOXES(f32, float)
BOXES(f64, double)

/* Lanes of one box with each of n, which lie by coordinate, BLOCK lanes each. */
typedef void (*pair_fn)(void *to, const void *a, const void *b, int64_t n);

typedef struct boxes_op {
  pair_fn pair[KW_LANE_F64 + 1];
} boxes_op;

static const boxes_op iou = {{iou_f32, iou_f64}}, giou = {{giou_f32, giou_f64}};

typedef struct boxes_run {
  const kw_port *port;
  pair_fn pair;
  const kw_tensor_ref *first, *second, *out;
} boxes_run;

/* Results of rows [begin, end) with n boxes from `from` on. */
static void pair_block(const boxes_run *run, int64_t begin, int64_t end, int64_t from, int64_t n) {
  const kw_tensor_ref *first = run->first, *second = run->second, *out = run->out;
  const kw_port *port = run->port;
  const int64_t step = kw_loop_step(second, 0), to_step = kw_loop_step(out, 1);
  _Alignas(64) char boxes[CORNERS * BLOCK * KW_LANE_BYTES], results[BLOCK * KW_LANE_BYTES];
  _Alignas(64) char box[CORNERS * KW_LANE_BYTES];
  for (int64_t c = 0; c < CORNERS; c++) {
    const char *at = kw_walk_base(second) + from * step + c * kw_loop_step(second, 1);
    kw_port_read(port, boxes + c * BLOCK * kw_lane_size(port->lane), at, step, n);
  }
  for (int64_t r = begin; r < end; r++) {
    char *to = kw_walk_base(out) + r * kw_loop_step(out, 0) + from * to_step;
    void *lanes = kw_port_is_lanes(port, to_step) ? to : results;
    kw_port_read(port, box, kw_walk_base(first) + r * kw_loop_step(first, 0), kw_loop_step(first, 1), CORNERS);
    run->pair(lanes, box, boxes, n);
    if (lanes != to) kw_port_write(port, to, to_step, lanes, n);
  }
}

static void pair_rows(void *user, int64_t begin, int64_t end) {
  const boxes_run *run = user;
  const int64_t count = run->out->shape[1];
  for (int64_t i = 0; i < count; i += BLOCK) pair_block(run, begin, end, i, kw_least(count - i, BLOCK));
}

static kw_status run_boxes(const kw_host_api *host, const kw_call *call, const void *plan) {
  const kw_fast_kernel *kernel = call->user;
  const boxes_op *op = kernel->family;
  const kw_port *port = plan;
  const kw_tensor_ref *out = call->outs[0];
  boxes_run run = {port, op->pair[port->lane], call->args[0].u.tensor, call->args[1].u.tensor, out};
  if (out->numel == 0) return KW_OK;
  return host->parallel_for(host->ctx, out->shape[0], 1 + GRAIN / out->shape[1], pair_rows, &run);
}

/* ---- nms --------------------------------------------------------------------------------------------------------- */

/* Boxes by descending score. */
typedef struct nms_run {
  const kw_port *port;
  const kw_tensor_ref *boxes;
  const int64_t *order;
  int64_t count;
  double threshold; /* a number that lanes have */
  char *blocks;     /* BLOCK boxes each, by coordinate */
  bool *gone;
} nms_run;

static kw_status plan_nms(const kw_fast_kernel *kernel, const kw_call *call, void *plan) {
  const kw_dtype dtype = call->args[0].u.tensor->dtype;
  (void)kernel;
  if (call->args[1].u.tensor->dtype != dtype) return KW_ERR_NOT_IMPLEMENTED;
  if (call->outs[0]->dtype != KW_I64 || call->outs[1]->dtype != KW_I64) return KW_ERR_NOT_IMPLEMENTED;
  return kw_port_open(plan, dtype, kw_lane_of(dtype)) ? KW_OK : KW_ERR_NOT_IMPLEMENTED;
}

static int64_t block_bytes(const kw_port *port) {
  return CORNERS * BLOCK * kw_lane_size(port->lane);
}

/* Box i as CORNERS lanes. */
static void read_box(const nms_run *run, int64_t i, void *lanes) {
  const kw_tensor_ref *boxes = run->boxes;
  const char *at = kw_walk_base(boxes) + run->order[i] * kw_loop_step(boxes, 0);
  kw_port_read(run->port, lanes, at, kw_loop_step(boxes, 1), CORNERS);
}

static void lay_boxes(const nms_run *run) {
  const int64_t lane = kw_lane_size(run->port->lane);
  char box[CORNERS * KW_LANE_BYTES];
  for (int64_t i = 0; i < run->count; i++) {
    char *to = run->blocks + i / BLOCK * block_bytes(run->port) + i % BLOCK * lane;
    read_box(run, i, box);
    for (int64_t c = 0; c < CORNERS; c++) memcpy(to + c * BLOCK * lane, box + c * lane, (size_t)lane);
  }
}

static void mark(const nms_run *run, bool *gone, const void *results, int64_t n) {
  if (run->port->lane == KW_LANE_F32) {
    const float threshold = (float)run->threshold;
    for (int64_t i = 0; i < n; i++) gone[i] |= ((const float *)results)[i] > threshold;
  } else {
    for (int64_t i = 0; i < n; i++) gone[i] |= ((const double *)results)[i] > run->threshold;
  }
}

/* Marks what overlaps box i too much; of what is before it nobody asks any more. */
static void suppress(const nms_run *run, int64_t i) {
  _Alignas(64) char results[BLOCK * KW_LANE_BYTES], box[CORNERS * KW_LANE_BYTES];
  read_box(run, i, box);
  for (int64_t from = i / BLOCK * BLOCK; from < run->count; from += BLOCK) {
    const int64_t n = kw_least(run->count - from, BLOCK);
    iou.pair[run->port->lane](results, box, run->blocks + from / BLOCK * block_bytes(run->port), n);
    mark(run, run->gone + from, results, n);
  }
}

/* Arguments: dets, scores, iou_threshold. */
static kw_status run_nms(const kw_host_api *host, const kw_call *call, const void *plan) {
  const kw_tensor_ref *scores = call->args[1].u.tensor, *out = call->outs[0], *count = call->outs[1];
  const kw_element threshold = kw_operand_scalar(&call->args[2]);
  nms_run run = {.port = plan, .boxes = call->args[0].u.tensor, .count = scores->shape[0]};
  const int64_t places = 2 * run.count * (int64_t)sizeof(int64_t);
  const int64_t blocks = (run.count + BLOCK - 1) / BLOCK * block_bytes(run.port);
  int64_t *kept = (int64_t *)(void *)kw_walk_base(out), filled = 0;
  void *room;
  const kw_status status = host->host_alloc(host->ctx, (uint64_t)(blocks + places + run.count + 1), 64, &room);
  if (status != KW_OK) return status;
  run.threshold = kw_number_load(threshold.dtype, threshold.bytes);
  run.blocks = room;
  run.order = kw_sort_order(scores->dtype, kw_walk_base(scores), run.count, kw_loop_step(scores, 0), true,
                            (int64_t *)(void *)(run.blocks + blocks));
  run.gone = (bool *)(run.blocks + blocks + places);
  memset(run.gone, 0, (size_t)run.count);
  lay_boxes(&run);
  for (int64_t i = 0; i < run.count; i++) {
    if (run.gone[i]) continue;
    kept[filled++ * out->strides[0]] = run.order[i];
    suppress(&run, i);
  }
  kw_number_store_int(KW_I64, kw_walk_base(count), filled);
  host->host_free(host->ctx, room);
  return KW_OK;
}

#define KERNEL(name, which, planner, runner)                                                                       \
  {                                                                                                                \
    .op = name, .dtypes = KW_DTYPES_FLOAT, .plan_size = sizeof(kw_port), .family = &(which), .make_plan = planner, \
    .run = runner                                                                                                  \
  }

static const kw_fast_kernel kernels[] = {
    KERNEL("keyway::box_iou", iou, plan_boxes, run_boxes),
    KERNEL("keyway::generalized_box_iou", giou, plan_boxes, run_boxes),
    KERNEL("torchvision::nms", iou, plan_nms, run_nms),
};

kw_fast_family kw_fast_boxes(void) {
  return (kw_fast_family){kernels, sizeof kernels / sizeof *kernels};
}
