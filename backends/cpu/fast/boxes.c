/* SPDX-License-Identifier: Apache-2.0
 *
 * Each box with each other: the second ones lie side by side by coordinate while rows of results are made.
 */
#include "fast.h"

#include "loop.h"
#include "sizes.h"
#include "walk.h"

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
    return (b != b) | (b < a) ? b : a;                                                                    \
  }                                                                                                       \
  static inline T most_##name(T a, T b) {                                                                 \
    return (b != b) | (b > a) ? b : a;                                                                    \
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

#define KERNEL(name, which)                                                                                           \
  {                                                                                                                   \
    .op = name, .dtypes = KW_DTYPES_FLOAT, .plan_size = sizeof(kw_port), .family = &(which), .make_plan = plan_boxes, \
    .run = run_boxes                                                                                                  \
  }

static const kw_fast_kernel kernels[] = {KERNEL("keyway::box_iou", iou), KERNEL("keyway::generalized_box_iou", giou)};

kw_fast_family kw_fast_boxes(void) {
  return (kw_fast_family){kernels, sizeof kernels / sizeof *kernels};
}
