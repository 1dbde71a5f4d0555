/* SPDX-License-Identifier: Apache-2.0
 *
 * What this folder's files are compiled into, once for each instruction set: tables of functions on contiguous runs of
 * numbers, `lanes`. Every dtype is read into lanes of one of few types, computed on there, and written from them.
 */
#ifndef KEYWAY_CPU_FAST_ISA_H
#define KEYWAY_CPU_FAST_ISA_H

#include <keyway/types.h>

#include <stdbool.h>
#include <stdint.h>

/* The first four are what dtypes are computed on in. Bytes are for logic alone, where only zero differs from the rest;
 * f16 and bf16 for functions whose every step is in f32 but what they read and write. */
typedef enum kw_lane {
  KW_LANE_F32,
  KW_LANE_F64,
  KW_LANE_I32,
  KW_LANE_I64,
  KW_LANE_BYTE,
  KW_LANE_F16,
  KW_LANE_BF16,
  KW_LANE_COUNT
} kw_lane;

#define KW_LANE_BYTES 8    /* of the widest */
#define KW_LANE_BLOCK 1024 /* lanes that are held in buffers at once: few enough for the first cache */

/* How many lanes the block from lane i of n on has. */
static inline int64_t kw_block_at(int64_t i, int64_t n) {
  return n - i < KW_LANE_BLOCK ? n - i : KW_LANE_BLOCK;
}

/* Pointwise functions: X(name, operands). In the order of an op's arguments, as in the reference kernels. */
#define KW_POINTWISE_LIST(X) \
  X(ADD, 2)                  \
  X(ADD_SCALED, 3)           \
  X(SUB, 2)                  \
  X(SUB_SCALED, 3)           \
  X(MUL, 2)                  \
  X(DIV, 2)                  \
  X(DIV_TRUNC, 2)            \
  X(MAXIMUM, 2)              \
  X(MINIMUM, 2)              \
  X(CLAMP, 3)                \
  X(WHERE, 3)                \
  X(NEG, 1)                  \
  X(ABS, 1)                  \
  X(SQRT, 1)                 \
  X(RSQRT, 1)                \
  X(RECIPROCAL, 1)           \
  X(SQUARE, 1)               \
  X(CUBE, 1)                 \
  X(RECIPROCAL_SQUARE, 1)    \
  X(POW_HALF, 1)             \
  X(POW_MINUS_HALF, 1)       \
  X(RELU, 1)                 \
  X(CEIL, 1)                 \
  X(FLOOR, 1)                \
  X(ROUND, 1)                \
  X(ROUND_DECIMALS, 2)       \
  X(TRUNC, 1)                \
  X(SIGN, 1)                 \
  X(BITWISE_AND, 2)          \
  X(BITWISE_OR, 2)           \
  X(BITWISE_XOR, 2)          \
  X(BITWISE_NOT, 1)          \
  X(LEFT_SHIFT, 2)           \
  X(RIGHT_SHIFT, 2)          \
  X(LEAKY_RELU, 2)           \
  X(HARDSWISH, 1)            \
  X(THRESHOLD, 3)            \
  X(ADDCMUL, 4)              \
  X(ADD_PRODUCT, 3)          \
  X(ADDCDIV, 4)              \
  X(LERP, 3)                 \
  X(SIGMOID_BACKWARD, 2)     \
  X(TANH_BACKWARD, 2)        \
  X(THRESHOLD_BACKWARD, 3)   \
  X(LEAKY_RELU_BACKWARD, 3)  \
  X(HARDTANH_BACKWARD, 4)    \
  X(MUL_TWICE, 3)            \
  X(TURN_FIRST, 4)           \
  X(TURN_SECOND, 4)          \
  X(SQUARED_ERROR, 2)        \
  X(SQUARED_ERROR_SLOPE, 4)  \
  X(HUBER, 3)                \
  X(EXP, 1)                  \
  X(EXP2, 1)                 \
  X(EXPM1, 1)                \
  X(LOG, 1)                  \
  X(LOG2, 1)                 \
  X(LOG10, 1)                \
  X(LOG1P, 1)                \
  X(SIN, 1)                  \
  X(COS, 1)                  \
  X(TAN, 1)                  \
  X(ASIN, 1)                 \
  X(ACOS, 1)                 \
  X(ATAN, 1)                 \
  X(SINH, 1)                 \
  X(COSH, 1)                 \
  X(TANH, 1)                 \
  X(ASINH, 1)                \
  X(ACOSH, 1)                \
  X(ATANH, 1)                \
  X(ERF, 1)                  \
  X(ATAN2, 2)                \
  X(FMOD, 2)                 \
  X(REMAINDER, 2)            \
  X(DIV_FLOOR, 2)            \
  X(POW, 2)                  \
  X(SIGMOID, 1)              \
  X(SILU, 1)                 \
  X(SWIGLU, 2)               \
  X(SWIGLU_GATE, 3)          \
  X(GLU, 2)                  \
  X(GLU_GATE, 3)             \
  X(GELU, 1)                 \
  X(GELU_TANH, 1)            \
  X(SILU_BACKWARD, 2)        \
  X(GELU_BACKWARD, 2)        \
  X(GELU_TANH_BACKWARD, 2)   \
  X(ELU, 4)                  \
  X(ELU_BACKWARD, 6)         \
  X(SOFTPLUS, 3)             \
  X(SOFTPLUS_BACKWARD, 4)    \
  X(LOGIT_CROSS_ENTROPY, 4)  \
  X(EQ, 2)                   \
  X(NE, 2)                   \
  X(LT, 2)                   \
  X(LE, 2)                   \
  X(GT, 2)                   \
  X(GE, 2)                   \
  X(LOGICAL_AND, 2)          \
  X(LOGICAL_OR, 2)           \
  X(LOGICAL_XOR, 2)          \
  X(LOGICAL_NOT, 1)          \
  X(ISNAN, 1)                \
  X(ISINF, 1)

typedef enum kw_pointwise_fn {
#define NAME(name, operands) KW_POINTWISE_##name,
  KW_POINTWISE_LIST(NAME)
#undef NAME
      KW_POINTWISE_COUNT
} kw_pointwise_fn;
#define KW_POINTWISE_OPERANDS 6

/* From here on a lane costs a function of the math library; and then results are bytes, 0 or 1, instead of lanes. */
#define KW_POINTWISE_FIRST_SLOW KW_POINTWISE_EXP
#define KW_POINTWISE_FIRST_PREDICATE KW_POINTWISE_EQ

/* out[i] = f(in[0][i], in[1][i], ...) for n lanes. out may be one of the inputs, but of a predicate. */
typedef void (*kw_lanes_fn)(void *out, const void *const *in, int64_t n);

/* The same where operands from number `from` on are one lane, which repeats; the others have n. */
typedef struct kw_repeated_fn {
  kw_lanes_fn function;
  uint32_t from;
} kw_repeated_fn;

/* n lanes from elements `step` bytes apart, rounded once; and back: floating point to an integer saturates with NaN as
 * 0, an integer to a narrower one wraps, bool is "not zero". */
typedef void (*kw_read_fn)(void *lanes, const char *from, int64_t step, int64_t n);
typedef void (*kw_write_fn)(char *to, int64_t step, const void *lanes, int64_t n);

/* ---- Products of matrices ---------------------------------------------------------------------------------------- */

/* Lines of numbers that a panel is made of: rows of the first matrix, columns of the second. Steps are bytes. */
typedef struct kw_product_lines {
  const char *at;
  int64_t step;    /* from a line to the next */
  int64_t k_step;  /* within a line */
  kw_read_fn read; /* into lanes */
  int64_t size;    /* of an element */
  bool is_native;  /* elements are lanes */
} kw_product_lines;

/* What is made of the differences of two lines. NaN wins. */
typedef enum kw_distance_fn {
  KW_DISTANCE_COUNT, /* how many are not 0 */
  KW_DISTANCE_SIZES, /* the sum of their absolute values */
  KW_DISTANCE_SQUARES,
  KW_DISTANCE_LARGEST /* absolute value */
} kw_distance_fn;

/* What products in one lane type are put together from. A sum has its terms in order of k, each fused where the
 * instruction set can: no bit of a result depends on how the matrices are cut. */
typedef struct kw_product {
  int64_t rows, columns; /* of a block */

  /* A panel of `width` lines, [k][width]: the first `count` from `lines`, the others 0. */
  void (*pack)(void *panel, int64_t width, const kw_product_lines *lines, int64_t count, int64_t k);

  /* c = a @ b, or c += a @ b: a is a panel of `rows` lines, of which `count` at least are multiplied. Lines of b and of
   * c are b_step and c_step lanes apart and have `columns` lanes. */
  void (*block)(int64_t count, const void *a, const void *b, int64_t b_step, int64_t k, void *c, int64_t c_step,
                bool adds);

  /* The same for distances: c is made of differences of a and b, panels of `rows` and `columns` lines. Or goes on with
   * the sums, or largest, that are there. */
  void (*distances)(kw_distance_fn kind, const void *a, const void *b, int64_t k, void *c, int64_t c_step,
                    bool goes_on);

  /* sum[j] += factors[0] * lines[0][j] + ... for KW_PRODUCT_LINES lines of n lanes. */
  void (*add_lines)(void *sum, const void *factors, const void *const *lines, int64_t n);

  /* out[i] = x . lines[i] for KW_PRODUCT_LINES lines of k lanes. */
  void (*dot_lines)(void *out, const void *x, const void *const *lines, int64_t k);
} kw_product;

/* What products of int8 are put together from, which wrap at 32 bits. The next terms of a line, `group` of them, are a
 * word; those that a line has not are 0. */
typedef struct kw_byte_product {
  int64_t rows, columns; /* of a block */
  int64_t group;         /* terms of a word, KW_BYTE_GROUP at most */
  uint32_t flip;         /* what is flipped in the words of the second matrix; in those of the first 0 */

  /* n words, word i of element i of each of `group` lines. */
  void (*weave)(uint32_t *words, const int8_t *const *lines, int64_t n, uint32_t flip);
  /* The words of n terms of a line. */
  void (*gather)(uint32_t *words, const int8_t *line, int64_t n, uint32_t flip);

  /* What the sums of `rows` rows begin with: of their panel, [n][rows] words. */
  void (*start)(uint32_t *starts, const uint32_t *panel, int64_t n);
  /* c = a @ b, or c += a @ b: panels [n][rows] and [n][columns]. Rows of c, of which `count` at least are computed, are
   * c_step numbers apart. */
  void (*block)(int64_t count, const uint32_t *a, const uint32_t *starts, const uint32_t *b, int64_t n, uint32_t *c,
                int64_t c_step, bool adds);
} kw_byte_product;
#define KW_BYTE_GROUP 4

#define KW_PRODUCT_LINES 8
#define KW_PRODUCT_WIDTH 64 /* the most rows or columns of a block */

/* ---- Attention --------------------------------------------------------------------------------------------------- */

/* Scores of a tile of queries: a line for each key, in it a lane for each query, as many as a block of a product has
 * columns. What belongs to a query is such a line, too. */
typedef struct kw_attention_lanes {
  /* Hides from each query the keys outside [from, to), which are lanes: their scores become -inf. */
  void (*hide)(void *scores, const void *from, const void *to, int64_t keys);

  /* Makes scores times a number, one lane, weights: exp(score - top), with the new largest score of a query in `top`.
   * What was added up with the old one is to be faded by `fade`; the sum of weights is. False: all of those are 1. */
  bool (*weigh)(void *scores, const void *scale, void *top, void *sum, void *fade, int64_t keys);

  /* Multiplies n lines by one. */
  void (*fade)(void *lines, const void *by, int64_t n);

  /* Of one query: out[i] = x . lines[i], and sum[j] += weights[0] * lines[0][j] + ..., for n lines of k lanes. Of
   * products n is a multiple of KW_ATTENTION_LINES. */
  void (*dot)(void *out, const void *x, const void *const *lines, int64_t n, int64_t k);
  void (*add)(void *sum, const void *weights, const void *const *lines, int64_t n, int64_t k);
} kw_attention_lanes;
#define KW_ATTENTION_LINES 16 /* at least as many as a vector has lanes */

/* ---- The table --------------------------------------------------------------------------------------------------- */

#define KW_ISA_DTYPES (KW_F8E5M2 + 1) /* the real ones that ops compute on */

/* Folds: many lanes made one. */
typedef enum kw_fold_fn {
  KW_FOLD_SUM, /* integers wrap */
  KW_FOLD_MAX, /* NaN wins */
  KW_FOLD_MIN,
  KW_FOLD_PRODUCT, /* integers wrap */
  KW_FOLD_ANY,     /* 1 where a lane is not 0, otherwise 0 */
  KW_FOLD_ALL,
  KW_FOLD_COUNT
} kw_fold_fn;

/* What is folded so far, wider than lanes: sums and products of f32 in f64, of f64 in the widest type that the compiler
 * has. */
typedef union kw_total {
  double f64;
  long double widest;
  int64_t i64;
} kw_total;

/* The best of some lanes, and which of them it is; -1: there was none yet. */
typedef struct kw_pick {
  _Alignas(KW_LANE_BYTES) char lane[KW_LANE_BYTES];
  int64_t index;
} kw_pick;

#define KW_FOLD_ROWS 8

typedef struct kw_fold {
  void (*start)(kw_total *total); /* of no lanes */
  void (*fold)(kw_total *total, const void *lanes, int64_t n);
  /* Into each of n lanes the same column of KW_FOLD_ROWS rows. Of a sum only 16 times before a total takes the lanes.
   * NULL: the totals take each row. */
  void (*rows)(void *into, const void *const *rows, int64_t n);
  void (*take)(kw_total *totals, const void *lanes, int64_t n); /* each total one lane */
  void (*merge)(kw_total *total, const kw_total *other);
  void (*merge_each)(kw_total *totals, const kw_total *others, int64_t n);
  void (*finish)(void *lane, const kw_total *total, int64_t divisor); /* floating point is divided by it */
  /* The same for n totals with a lane each. */
  void (*finish_each)(void *lanes, const kw_total *totals, int64_t divisor, int64_t n);

  /* Of extremes alone. The best of those so far and n lanes, the first of which is number `first`: the first NaN, or
   * else the first of the equal ones. */
  void (*pick)(kw_pick *pick, const void *lanes, int64_t first, int64_t n);
  /* The same by columns: `best` and `places`, integers of the lanes' size, take what is better in row number `number`.
   */
  void (*pick_row)(void *best, void *places, const void *row, int64_t number, int64_t n);
} kw_fold;
#define KW_FOLD_CALLS 16 /* of `rows`, see there */

typedef enum kw_scan_fn { KW_SCAN_SUM, KW_SCAN_PRODUCT, KW_SCAN_COUNT } kw_scan_fn;

/* Scans: each lane becomes what the lanes up to it are together, `state` included, which has two of the widest lanes
 * for each line. out may be in. */
typedef struct kw_scan {
  void (*start)(void *state, int64_t lines);
  void (*along)(void *out, void *state, const void *in, int64_t n);  /* n lanes of one line */
  void (*across)(void *out, void *state, const void *in, int64_t n); /* a lane each of n lines */
} kw_scan;

/* Lanes that the backwards of norms are made of: grad * weight is the gradient of (x - mean) * rstd. Mean and rstd are
 * one lane. */
typedef struct kw_slope_lanes {
  const void *grad, *weight, *x, *mean, *rstd;
} kw_slope_lanes;

/* What softmax and norms do with the lanes of a row, floating point only. Numbers that belong to the row are lanes,
 * too, behind pointers. out may be x. */
typedef struct kw_row_lanes {
  void (*exp_below)(void *out, const void *x, const void *top, int64_t n);                  /* exp(x - top) */
  void (*divide)(void *out, const void *x, const void *by, int64_t n);                      /* x * (1 / by) */
  void (*log_share)(void *out, const void *x, const void *top, const void *sum, int64_t n); /* x - top - log(sum) */
  void (*add_squares)(kw_total *total, const void *x, const void *mean, int64_t n);         /* of x - mean */
  void (*rstd)(void *out, const void *variance, double eps, int64_t n); /* 1 / sqrt(variance + eps) */
  /* (x - mean) * rstd * weight + bias, weight and bias for each lane. */
  void (*normalise)(void *out, const void *x, const void *mean, const void *rstd, const void *weight, const void *bias,
                    int64_t n);
  /* The same with one weight and one bias. */
  void (*normalise_alike)(void *out, const void *x, const void *mean, const void *rstd, const void *weight,
                          const void *bias, int64_t n);
  void (*add_products)(kw_total *total, const void *x, const void *y, int64_t n);
  /* Backward of softmax, (grad - sum) * value, and of its logarithm, grad - exp(value) * sum. */
  void (*share_slope)(void *out, const void *grad, const void *value, const void *sum, int64_t n);
  void (*log_share_slope)(void *out, const void *grad, const void *value, const void *sum, int64_t n);
  /* What running statistics become: old * (1 - momentum) + momentum * x * factor. */
  void (*blend)(void *out, const void *old, const void *x, double momentum, double factor, int64_t n);
  /* Adds grad * weight to the first total, and to the second that times (x - mean) * rstd. */
  void (*add_slopes)(kw_total totals[2], const kw_slope_lanes *of, int64_t n);
  /* Into each of n lanes the same column of KW_FOLD_ROWS rows, of grad and of grad * (x - mean) * rstd; means and rstds
   * are a lane for each row. As often as kw_fold's `rows`. */
  void (*slope_rows)(void *const sums[2], const void *const *grads, const void *const *xs, const void *means,
                     const void *rstds, int64_t n);
  /* (grad * weight - means[0] - (x - mean) * rstd * means[1]) * scale; the last two are lanes. */
  void (*slope)(void *out, const kw_slope_lanes *of, const void *means, const void *scale, int64_t n);
} kw_row_lanes;

/* What the elements of a tensor have in common in a step of an optimiser. */
typedef struct kw_step {
  bool is_scaled, maximize, nesterov, is_first, decoupled, amsgrad;
  double scale; /* of the gradient */
  double rate, decay, momentum, undamped;
  double rate_decay, fresh_mean, kept_square, fresh_square, size, root_bias, least; /* of adam alone */
} kw_step;
#define KW_STEP_LISTS 5

/* A step for n lanes, KW_LANE_BLOCK at most: parameter, gradient, and the optimiser's lists in their order. What the
 * step does not change is not written. */
typedef void (*kw_step_fn)(const kw_step *step, void *const *lists, int64_t n);

/* Windows along a row of lanes: window j has count[j] lanes, `step` apart, the first of them lane first[j]. Those from
 * even_begin to even_end - 1 have as many lanes, and begin `stride` lanes after one another. */
typedef struct kw_windows {
  const int64_t *first, *count;
  int64_t step, even_begin, even_end, stride;
} kw_windows;

typedef struct kw_pool {
  /* out[j] = the sum of window j, whose lanes are side by side, divided by divisors[j] * factor. */
  void (*average)(void *out, const void *row, const kw_windows *windows, const double *divisors, double factor,
                  int64_t n);
  /* Lanes that exceed those of `best`, or are NaN, take their place, and `number` that of rows[i]: integers as large as
   * lanes, of rows that come one behind the other. */
  void (*higher)(void *best, void *rows, const void *row, int64_t number, int64_t n);
  /* out[j] = the largest lane of window j of `best`: of equal ones the first, of NaN the last, in the order of rows,
   * and in a row of lanes; places[j] = its place among all lanes of rows of `width`. */
  void (*highest)(void *out, int64_t *places, const void *best, const void *rows, int64_t width,
                  const kw_windows *windows, int64_t n);
  /* outs[c][i] = the sum over `taps` of a weight times the lane of plane c at an offset; a negative one: nothing. Those
   * of a place i, which all planes share, follow each other. */
  void (*weigh)(void *const *outs, const void *const *planes, const int32_t *offsets, const void *weights, int64_t taps,
                int64_t n);
  /* The same of planes side by side, KW_POOL_LINE at most: place i's results are line i of `out`, of as many lanes, and
   * the lanes of all planes at an offset lie there. */
  void (*weigh_lines)(void *out, const void *lanes, int64_t planes, const int32_t *offsets, const void *weights,
                      int64_t taps, int64_t n);
} kw_pool;
#define KW_POOL_PLANES 4 /* of weigh */
#define KW_POOL_LINE 64

/* ---- Fourier transforms ------------------------------------------------------------------------------------------ */

#define KW_FFT_STAGES 20

/* A transform of lines of n complex numbers, in stages of one factor of n each. */
typedef struct kw_fft {
  int64_t n;
  const void *roots; /* exp(sign 2 pi i t / (n * turn)), t = 0, 1, ...: pairs of lanes */
  int64_t turn;
  double sign;
  uint32_t stages;
  int64_t radices[KW_FFT_STAGES];
} kw_fft;

/* Lines lie side by side: element t of all of them is a row of `lines` real parts, behind it one of as many imaginary
 * parts. */
typedef struct kw_transforms {
  int64_t lines;
  /* Where the result is: x or `room`, which both have n rows of pairs. (Stockham's way: Cochran et al., "What is the
   * fast Fourier transform?", Proceedings of the IEEE 55, 1967.) */
  void *(*transform)(const kw_fft *fft, void *x, void *room);
  /* Of 2n real numbers, whose pairs are the n complex ones that were transformed: n + 1 rows y, the first half of their
   * transform, the rest mirrors. And back, before the transform. `turn` is 2. */
  void (*to_half)(const kw_fft *fft, const void *x, void *y);
  void (*from_half)(const kw_fft *fft, const void *x, void *y);
  void (*scale)(void *x, double by, int64_t n);
} kw_transforms;

/* Moves n elements of one size from where one follows the other by from_step bytes to where it does by to_step. */
typedef void (*kw_move_fn)(char *to, int64_t to_step, const char *from, int64_t from_step, int64_t n);

/* Moves elements that lie in rows of `columns`, from_step bytes apart, to columns: there each is a row, to_step bytes
 * apart, of `rows` elements. */
typedef void (*kw_transpose_fn)(char *to, int64_t to_step, const char *from, int64_t from_step, int64_t rows,
                                int64_t columns);

#define KW_MOVE_SIZES 5 /* elements of 1, 2, 4, 8 and 16 bytes: by the logarithm */

/* An element of 16 bytes. */
typedef struct kw_pair {
  uint64_t half[2];
} kw_pair;

typedef struct kw_isa {
  kw_lanes_fn pointwise[KW_POINTWISE_COUNT][KW_LANE_COUNT];   /* NULL: there is no such thing */
  kw_repeated_fn repeated[KW_POINTWISE_COUNT][KW_LANE_COUNT]; /* with the same bits; of some functions */
  kw_fold folds[KW_FOLD_COUNT][KW_LANE_COUNT];
  /* Adds to the total of a sum of f32 as many of n dense elements as fill vectors, and returns how many that are. NULL:
   * they are read into lanes. */
  int64_t (*sum_halves[KW_ISA_DTYPES])(kw_total *total, const char *from, int64_t n);
  kw_scan scans[KW_SCAN_COUNT][KW_LANE_COUNT];
  kw_row_lanes rows[KW_LANE_COUNT];
  kw_read_fn read[KW_ISA_DTYPES][KW_LANE_COUNT]; /* NULL: not with one rounding */
  kw_write_fn write[KW_ISA_DTYPES][KW_LANE_COUNT];
  kw_product product[KW_LANE_F64 + 1];
  kw_byte_product byte_product;

  /* out[i] = x . lines[i] for KW_PRODUCT_LINES lines of n bytes, which wraps at 32 bits. */
  void (*dot_bytes)(uint32_t *out, const int8_t *x, const int8_t *const *lines, int64_t n);

  /* rint(x / scale) + zero, cut to [low, high], NaN as 0; and (code - zero) * scale; lane by lane. Zero points and
   * limits have at most 22 bits. */
  void (*to_codes)(int32_t *codes, const float *x, const float *scale, const int32_t *zero, int32_t low, int32_t high,
                   int64_t n);
  void (*from_codes)(float *lanes, const int32_t *codes, const int32_t *zero, const float *scale, int64_t n);

  /* (code - zero) * scale for the two codes of each byte, the low nibble's first. */
  void (*nibbles)(float *lanes, const uint8_t *bytes, float zero, float scale, int64_t n);
  kw_attention_lanes attention[KW_LANE_F64 + 1];
  kw_pool pools[KW_LANE_F64 + 1];
  kw_transforms transforms[KW_LANE_F64 + 1];
  kw_transforms lone_transforms[KW_LANE_F64 + 1]; /* of one line */
  kw_step_fn sgd[KW_LANE_F64 + 1];
  kw_step_fn adam[KW_LANE_F64 + 1];
  kw_move_fn move[KW_MOVE_SIZES];
  kw_transpose_fn transpose[KW_MOVE_SIZES];

  /* The words of blocks `first`, `first` + 1, ..., part `part`, four each: kw_words_block's for Philox. */
  void (*philox)(uint32_t *words, uint64_t seed, uint64_t first, uint32_t part, int64_t blocks);
  /* n numbers in [0, 1): of a word without its `cut` lowest bits, at least one, and of the upper 53 bits of two. */
  void (*uniform_f32)(float *lanes, const uint32_t *words, int cut, int64_t n);
  void (*uniform_f64)(double *lanes, const uint32_t *high, const uint32_t *low, int64_t n);

  /* How many lanes of an ascending line of `count` stand before each of n values: the less, if `right` the equal, too.
   * NaN is the greatest. */
  void (*search[KW_LANE_COUNT])(int32_t *places, const void *line, int32_t count, const void *values, int64_t n,
                                bool right);

  /* Copies n rows of so many bytes, which lie to_pitch and from_pitch bytes apart. */
  void (*copy_rows)(char *to, int64_t to_pitch, const char *from, int64_t from_pitch, int64_t bytes, int64_t n);

  /* Copies bytes to memory and leaves none of them in the caches. Before another thread may read them comes
   * stream_end, on the thread that has written them. */
  void (*stream)(char *to, const char *from, int64_t bytes);
  void (*stream_end)(void);
} kw_isa;

/* Fill a zeroed table: of every instruction set that the library was compiled for. */
void kw_isa_fill_baseline(kw_isa *isa);
void kw_isa_fill_avx2(kw_isa *isa);
void kw_isa_fill_avx512(kw_isa *isa);
void kw_isa_fill_avx512_fp16(kw_isa *isa);

#endif /* KEYWAY_CPU_FAST_ISA_H */
