/* SPDX-License-Identifier: Apache-2.0
 *
 * Attention where its kernels divide the work: wide heads, keys in parts, sequences in one tensor or in pages,
 * gradients over several tiles; and data in error.
 */
#include "test_host.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* [batch, heads * group, rows, width], [batch, heads, keys, width], [batch, heads, keys, value_width]. */
typedef struct sizes {
  int64_t batch, heads, group, rows, keys, width, value_width;
} sizes;

typedef struct rule {
  double cap;
  int64_t left, right;
} rule;

static const rule no_rule = {0, -1, -1};

/* Numbers in [-1, 1), others for each seed. */
static float *numbers(int64_t count, uint32_t seed) {
  float *out = malloc((size_t)(count + 1) * sizeof *out);
  uint32_t state = seed;
  for (int64_t i = 0; i < count; ++i) {
    state = state * 1664525u + 1013904223u;
    out[i] = (float)(state >> 8) / 8388608.0f - 1.0f;
  }
  return out;
}

static kw_tensor_ref tensor4(test_host *host, const float *data, int64_t a, int64_t b, int64_t c, int64_t d) {
  return test_tensor(host, KW_F32, 4, (int64_t[]){a, b, c, d}, data);
}

static kw_value number(double value) {
  return (kw_value){.tag = KW_TAG_FLOAT, .u.f = value};
}

static kw_value integer(int64_t value) {
  return (kw_value){.tag = KW_TAG_INT, .u.i = value};
}

static const kw_value none = {.tag = KW_TAG_NONE};

static void assert_all_near(const float *got, const double *want, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    if (got[i] == want[i]) continue; /* infinities */
    if (!(fabs(got[i] - want[i]) <= 2e-5 * (1 + fabs(want[i]))))
      fail_msg("element %lld: got %.9g, want %.9g", (long long)i, got[i], want[i]);
  }
}

/* ---- The plain way ----------------------------------------------------------------------------------------------- */

static double dot(const float *x, const float *y, int64_t count) {
  double sum = 0;
  for (int64_t i = 0; i < count; ++i) sum += (double)x[i] * y[i];
  return sum;
}

/* A row's scores, of which -inf are hidden; `position` is the query's among the keys. */
static void score_row(const rule *r, const float *query, const float *keys, int64_t count, int64_t width,
                      int64_t position, double *out) {
  for (int64_t j = 0; j < count; ++j) {
    double score = dot(query, keys + j * width, width) / sqrt((double)width);
    bool hidden = (r->left >= 0 && j < position - r->left) || (r->right >= 0 && j > position + r->right);
    out[j] = hidden ? -INFINITY : r->cap > 0 ? r->cap * tanh(score / r->cap) : score;
  }
}

/* One row of the result and its logarithm. */
static double attend_row(const double *scores, const float *values, int64_t count, int64_t width, double *out) {
  double max = -INFINITY, sum = 0;
  for (int64_t j = 0; j < count; ++j) max = fmax(max, scores[j]);
  for (int64_t e = 0; e < width; ++e) out[e] = 0;
  if (max == -INFINITY) return max;
  for (int64_t j = 0; j < count; ++j) {
    double weight = exp(scores[j] - max);
    sum += weight;
    for (int64_t e = 0; e < width; ++e) out[e] += weight * values[j * width + e];
  }
  for (int64_t e = 0; e < width; ++e) out[e] /= sum;
  return max + log(sum);
}

/* All rows; of sequence b the first lengths[b] keys, or all. The last query is at the last key. */
static void attend_all(const sizes *n, const rule *r, const float *query, const float *key, const float *value,
                       const int64_t *lengths, double *out, double *lse) {
  double *scores = malloc((size_t)(n->keys + 1) * sizeof *scores);
  for (int64_t i = 0; i < n->batch * n->heads * n->group * n->rows; ++i) {
    int64_t b = i / (n->heads * n->group * n->rows), head = i / (n->group * n->rows);
    int64_t count = lengths ? lengths[b] : n->keys;
    const float *keys = key + head * n->keys * n->width;
    score_row(r, query + i * n->width, keys, count, n->width, count - n->rows + i % n->rows, scores);
    lse[i] =
        attend_row(scores, value + head * n->keys * n->value_width, count, n->value_width, out + i * n->value_width);
  }
  free(scores);
}

/* ---- Forms of attention ------------------------------------------------------------------------------------------ */

/* Runs the op on these operands and compares with the plain way. `lengths` NULL: keyway::attention. */
static void check_batch(test_host *host, const sizes *n, const rule *r, const int64_t *lengths) {
  const int64_t heads = n->heads * n->group, rows = n->batch * heads * n->rows;
  float *query = numbers(rows * n->width, 1), *key = numbers(n->batch * n->heads * n->keys * n->width, 2);
  float *value = numbers(n->batch * n->heads * n->keys * n->value_width, 3);
  float *got = numbers(rows * n->value_width, 4), *got_lse = numbers(rows, 5);
  double *want = malloc((size_t)(rows * n->value_width) * sizeof *want), *lse = malloc((size_t)rows * sizeof *lse);
  kw_tensor_ref tensors[] = {tensor4(host, query, n->batch, heads, n->rows, n->width),
                             tensor4(host, key, n->batch, n->heads, n->keys, n->width),
                             tensor4(host, value, n->batch, n->heads, n->keys, n->value_width),
                             tensor4(host, NULL, n->batch, heads, n->rows, n->value_width),
                             test_tensor(host, KW_F32, 3, (int64_t[]){n->batch, heads, n->rows}, NULL),
                             test_tensor(host, KW_I64, 1, (int64_t[]){n->batch}, lengths)};
  const kw_tensor_ref *outs[] = {&tensors[3], &tensors[4]};
  const kw_value args[] = {test_tensor_arg(&tensors[0]),
                           test_tensor_arg(&tensors[1]),
                           test_tensor_arg(&tensors[2]),
                           lengths ? test_tensor_arg(&tensors[5]) : none,
                           none,
                           number(r->cap),
                           integer(r->left),
                           integer(r->right)};
  const char *op = lengths ? "keyway::attention_decode" : "keyway::attention";
  assert_int_equal(test_call_results(host, op, KW_F32, args, lengths ? 7 : 8, outs, 2), -1);
  attend_all(n, r, query, key, value, lengths, want, lse);
  test_read(host, outs[0], got, (uint64_t)(rows * n->value_width) * sizeof *got);
  test_read(host, outs[1], got_lse, (uint64_t)rows * sizeof *got);
  assert_all_near(got, want, rows * n->value_width);
  assert_all_near(got_lse, lse, rows);
  for (int t = 0; t < 6; ++t) test_tensor_free(host, &tensors[t]);
  float *all[] = {query, key, value, got, got_lse};
  for (int i = 0; i < 5; ++i) free(all[i]);
  free(want);
  free(lse);
}

static void test_heads_wider_than_a_tile(void **state) {
  check_batch(*state, &(sizes){1, 2, 1, 5, 70, 300, 300}, &no_rule, NULL);
  check_batch(*state, &(sizes){2, 1, 3, 7, 65, 33, 129}, &(rule){2, 20, 3}, NULL);
}

static void test_keys_in_parts(void **state) {
  check_batch(*state, &(sizes){1, 1, 4, 2, 3000, 40, 150}, &(rule){3, 2000, -1}, NULL);
  check_batch(*state, &(sizes){1, 2, 1, 1, 20001, 8, 8}, &no_rule, NULL);
}

static void test_lengths_with_keys_in_parts(void **state) {
  check_batch(*state, &(sizes){4, 1, 2, 3, 3000, 16, 24}, &(rule){0, -1, 0}, (const int64_t[]){0, 1500, 3000, 2});
  check_batch(*state, &(sizes){2, 2, 2, 1, 2000, 16, 24}, &(rule){0, 700, 0}, (const int64_t[]){1999, 1});
}

/* Every second batch dimension of queries repeats, every other of keys: none merge with their neighbours. */
static void test_batch_of_many_dimensions(void **state) {
  enum { DIMS = 9, ROWS = 2, KEYS = 3, WIDTH = 4, ALL = 1 << DIMS };
  test_host *host = *state;
  int64_t shapes[3][DIMS + 2];
  for (int d = 0; d < DIMS; ++d) {
    shapes[0][d] = d % 2 ? 1 : 2;
    shapes[1][d] = d % 2 ? 2 : 1;
    shapes[2][d] = 2;
  }
  const int64_t rows[3] = {ROWS, KEYS, ROWS};
  for (int t = 0; t < 3; ++t) {
    shapes[t][DIMS] = rows[t];
    shapes[t][DIMS + 1] = WIDTH;
  }
  float *query = numbers(ALL * ROWS * WIDTH, 1), *key = numbers(ALL * KEYS * WIDTH, 2), *got = numbers(ALL * 8, 3);
  kw_tensor_ref q = test_tensor(host, KW_F32, DIMS + 2, shapes[0], query);
  kw_tensor_ref k = test_tensor(host, KW_F32, DIMS + 2, shapes[1], key);
  kw_tensor_ref out = test_tensor(host, KW_F32, DIMS + 2, shapes[2], NULL);
  const kw_value args[] = {
      test_tensor_arg(&q), test_tensor_arg(&k), test_tensor_arg(&k), none, number(0), {.tag = KW_TAG_BOOL}, none,
      {.tag = KW_TAG_BOOL}};
  test_call(host, "scaled_dot_product_attention", KW_F32, args, 8, &out);
  test_read(host, &out, got, sizeof(float) * ALL * ROWS * WIDTH);
  for (int place = 0; place < ALL; ++place) {
    int at[2] = {0, 0};
    double scores[KEYS], want[WIDTH];
    for (int d = 0; d < DIMS; ++d) at[d % 2] = 2 * at[d % 2] + (place >> (DIMS - 1 - d)) % 2;
    for (int i = 0; i < ROWS; ++i) {
      const float *keys = key + at[1] * KEYS * WIDTH;
      score_row(&no_rule, query + (at[0] * ROWS + i) * WIDTH, keys, KEYS, WIDTH, 0, scores);
      attend_row(scores, keys, KEYS, WIDTH, want);
      assert_all_near(got + (place * ROWS + i) * WIDTH, want, WIDTH);
    }
  }
  test_tensor_free(host, &q);
  test_tensor_free(host, &k);
  test_tensor_free(host, &out);
  free(query);
  free(key);
  free(got);
}

/* More sequences than a group has items; some have no queries, some no keys. */
static void test_sequences_in_one_tensor(void **state) {
  enum { SEQUENCES = 203, HEADS = 2, GROUP = 3, WIDTH = 5 };
  test_host *host = *state;
  int64_t starts[2][SEQUENCES + 1];
  starts[0][0] = starts[1][0] = 0;
  for (int b = 0; b < SEQUENCES; ++b) {
    starts[0][b + 1] = starts[0][b] + (b % 50 == 7 ? 40 : b % 4);
    starts[1][b + 1] = starts[1][b] + (b % 60 == 7 ? 90 : b % 5);
  }
  const int64_t rows = starts[0][SEQUENCES], keys = starts[1][SEQUENCES], all = HEADS * GROUP;
  float *query = numbers(rows * all * WIDTH, 1), *key = numbers(keys * HEADS * WIDTH, 2);
  float *got = numbers(rows * all * WIDTH, 3), *got_lse = numbers(rows * all, 4);
  kw_tensor_ref q = test_tensor(host, KW_F32, 3, (int64_t[]){rows, all, WIDTH}, query);
  kw_tensor_ref k = test_tensor(host, KW_F32, 3, (int64_t[]){keys, HEADS, WIDTH}, key);
  kw_tensor_ref out = test_tensor(host, KW_F32, 3, q.shape, NULL), lse = test_tensor(host, KW_F32, 2, q.shape, NULL);
  kw_tensor_ref sides[2];
  for (int s = 0; s < 2; ++s) sides[s] = test_tensor(host, KW_I64, 1, (int64_t[]){SEQUENCES + 1}, starts[s]);
  const kw_value args[] = {test_tensor_arg(&q),
                           test_tensor_arg(&k),
                           test_tensor_arg(&k),
                           test_tensor_arg(&sides[0]),
                           test_tensor_arg(&sides[1]),
                           none,
                           number(0),
                           integer(-1),
                           integer(1)};
  const kw_tensor_ref *outs[] = {&out, &lse};
  assert_int_equal(test_call_results(host, "keyway::attention_varlen", KW_F32, args, 9, outs, 2), -1);
  test_read(host, &out, got, sizeof(float) * (uint64_t)(rows * all * WIDTH));
  test_read(host, &lse, got_lse, sizeof(float) * (uint64_t)(rows * all));
  const rule near = {0, -1, 1};
  for (int b = 0; b < SEQUENCES; ++b) {
    int64_t length = starts[1][b + 1] - starts[1][b], count = starts[0][b + 1] - starts[0][b];
    for (int64_t i = 0; i < count * all; ++i) {
      double scores[90], want[WIDTH], logarithm;
      float head[90 * WIDTH];
      for (int64_t j = 0; j < length; ++j)
        memcpy(head + j * WIDTH, key + ((starts[1][b] + j) * HEADS + i % all / GROUP) * WIDTH, sizeof(float) * WIDTH);
      const int64_t row = starts[0][b] * all + i;
      score_row(&near, query + row * WIDTH, head, length, WIDTH, length - count + i / all, scores);
      logarithm = attend_row(scores, head, length, WIDTH, want);
      assert_all_near(got + row * WIDTH, want, WIDTH);
      assert_all_near(got_lse + row, &logarithm, 1);
    }
  }
  for (int s = 0; s < 2; ++s) test_tensor_free(host, &sides[s]);
  kw_tensor_ref *all_tensors[] = {&q, &k, &out, &lse};
  for (int t = 0; t < 4; ++t) test_tensor_free(host, all_tensors[t]);
  free(query);
  free(key);
  free(got);
  free(got_lse);
}

/* ---- Gradients --------------------------------------------------------------------------------------------------- */

/* Adds to the gradients what row i gives: `sum` is that of grad * out. */
static void add_gradients(const sizes *n, const rule *r, const float *query, const float *key, const float *value,
                          const float *grad, double sum, double lse, int64_t i, double *dq, double *dk, double *dv) {
  double *scores = malloc((size_t)n->keys * sizeof *scores), scale = 1 / sqrt((double)n->width);
  score_row(r, query, key, n->keys, n->width, n->keys - n->rows + i, scores);
  for (int64_t j = 0; j < n->keys; ++j) {
    double weight = exp(scores[j] - lse), tangent = r->cap > 0 && weight > 0 ? scores[j] / r->cap : 0;
    double slope = weight * (dot(grad, value + j * n->value_width, n->value_width) - sum) * (1 - tangent * tangent);
    for (int64_t e = 0; e < n->value_width; ++e) dv[j * n->value_width + e] += weight * grad[e];
    for (int64_t e = 0; e < n->width; ++e) {
      dq[e] += scale * slope * key[j * n->width + e];
      dk[j * n->width + e] += scale * slope * query[e];
    }
  }
  free(scores);
}

static void test_gradients_over_several_tiles(void **state) {
  test_host *host = *state;
  const sizes n = {2, 2, 3, 70, 90, 150, 200};
  const rule r = {2, 40, 10};
  const int64_t heads = n.heads * n.group, rows = n.batch * heads * n.rows, keys = n.batch * n.heads * n.keys;
  const int64_t counts[] = {rows * n.value_width, rows * n.width, keys * n.width, keys * n.value_width};
  float *inputs[4], *out = numbers(rows * n.value_width, 5), *lse = numbers(rows, 6);
  double *want[3], *exact = malloc((size_t)counts[0] * sizeof *exact), *logs = malloc((size_t)rows * sizeof *logs);
  kw_tensor_ref tensors[9]; /* six arguments and three results */
  for (int t = 0; t < 4; ++t) inputs[t] = numbers(counts[t], 1 + (uint32_t)t);
  for (int t = 0; t < 3; ++t) want[t] = calloc((size_t)counts[t + 1], sizeof **want);
  attend_all(&n, &r, inputs[1], inputs[2], inputs[3], NULL, exact, logs);
  for (int64_t i = 0; i < counts[0]; ++i) out[i] = (float)exact[i];
  for (int64_t i = 0; i < rows; ++i) lse[i] = (float)logs[i];
  for (int64_t i = 0; i < rows; ++i) {
    const float *grad = inputs[0] + i * n.value_width;
    int64_t head = i / (n.group * n.rows), key = head * n.keys * n.width, value = head * n.keys * n.value_width;
    add_gradients(&n, &r, inputs[1] + i * n.width, inputs[2] + key, inputs[3] + value, grad,
                  dot(grad, out + i * n.value_width, n.value_width), lse[i], i % n.rows, want[0] + i * n.width,
                  want[1] + key, want[2] + value);
  }
  for (int t = 0; t < 9; ++t) {
    const bool of_keys = t == 2 || t == 3 || t > 6, of_values = t == 0 || t == 3 || t == 4 || t == 8;
    const float *data = t < 4 ? inputs[t] : t == 4 ? out : NULL;
    tensors[t] = t == 5 ? test_tensor(host, KW_F32, 3, (int64_t[]){n.batch, heads, n.rows}, lse)
                        : tensor4(host, data, n.batch, of_keys ? n.heads : heads, of_keys ? n.keys : n.rows,
                                  of_values ? n.value_width : n.width);
  }
  const kw_tensor_ref *outs[] = {&tensors[6], &tensors[7], &tensors[8]};
  kw_value args[11];
  for (int t = 0; t < 6; ++t) args[t] = test_tensor_arg(&tensors[t]);
  args[6] = args[7] = none;
  args[8] = number(r.cap);
  args[9] = integer(r.left);
  args[10] = integer(r.right);
  assert_int_equal(test_call_results(host, "keyway::attention_backward", KW_F32, args, 11, outs, 3), -1);
  for (int t = 0; t < 3; ++t) {
    test_read(host, outs[t], inputs[t + 1], (uint64_t)counts[t + 1] * sizeof(float));
    assert_all_near(inputs[t + 1], want[t], counts[t + 1]);
  }
  for (int t = 0; t < 9; ++t) test_tensor_free(host, &tensors[t]);
  for (int t = 0; t < 4; ++t) free(inputs[t]);
  for (int t = 0; t < 3; ++t) free(want[t]);
  free(out);
  free(lse);
  free(exact);
  free(logs);
}

/* ---- Data in error ----------------------------------------------------------------------------------------------- */

/* The argument to blame, of queries [2, 1, 1, 2] and keys [2, 1, 3, 2] or three pages of two rows; `numbers` go into
 * argument 3 and `more` into argument 4. */
static int blamed(test_host *host, const char *op, int64_t count, const int64_t *first, const int64_t *more) {
  const float *data = NULL;
  const bool packed = strcmp(op, "keyway::attention_varlen") == 0, paged = strcmp(op, "keyway::attention_paged") == 0;
  kw_tensor_ref q = packed ? test_tensor(host, KW_F32, 3, (int64_t[]){2, 1, 2}, data) : tensor4(host, data, 2, 1, 1, 2);
  kw_tensor_ref k = packed  ? test_tensor(host, KW_F32, 3, (int64_t[]){6, 1, 2}, data)
                    : paged ? tensor4(host, data, 3, 2, 1, 2)
                            : tensor4(host, data, 2, 1, 3, 2);
  kw_tensor_ref out = test_tensor(host, KW_F32, q.rank, q.shape, data);
  kw_tensor_ref lse = test_tensor(host, KW_F32, (uint8_t)(q.rank - 1), q.shape, data);
  kw_tensor_ref indices[] = {test_tensor(host, KW_I64, paged ? 2 : 1, (int64_t[]){count, 2}, first),
                             test_tensor(host, KW_I64, 1, (int64_t[]){count}, more)};
  const kw_tensor_ref *outs[] = {&out, &lse};
  kw_value args[10] = {test_tensor_arg(&q), test_tensor_arg(&k), test_tensor_arg(&k), test_tensor_arg(&indices[0])};
  uint32_t used = 4;
  if (more) args[used++] = test_tensor_arg(&indices[1]);
  if (paged) args[used++] = none;
  args[used++] = none;
  args[used++] = number(0);
  args[used++] = integer(-1);
  if (more) args[used++] = integer(0);
  int blame = test_call_results(host, op, KW_F32, args, used, outs, 2);
  kw_tensor_ref *all[] = {&q, &k, &out, &lse, &indices[0], &indices[1]};
  for (int t = 0; t < 6; ++t) test_tensor_free(host, all[t]);
  return blame;
}

#define NUMBERS(...) ((const int64_t[]){__VA_ARGS__})

static void test_data_in_error(void **state) {
  test_host *host = *state;
  assert_int_equal(blamed(host, "keyway::attention_decode", 2, NUMBERS(3, 0), NULL), -1);
  assert_int_equal(blamed(host, "keyway::attention_decode", 2, NUMBERS(1, 4), NULL), 3);
  assert_int_equal(blamed(host, "keyway::attention_decode", 2, NUMBERS(-1, 3), NULL), 3);

  assert_int_equal(blamed(host, "keyway::attention_varlen", 3, NUMBERS(0, 1, 2), NUMBERS(0, 6, 6)), -1);
  assert_int_equal(blamed(host, "keyway::attention_varlen", 3, NUMBERS(1, 1, 2), NUMBERS(0, 6, 6)), 3);
  assert_int_equal(blamed(host, "keyway::attention_varlen", 3, NUMBERS(0, 1, 3), NUMBERS(0, 6, 6)), 3);
  assert_int_equal(blamed(host, "keyway::attention_varlen", 3, NUMBERS(0, 1, 2), NUMBERS(0, 7, 6)), 4);
  assert_int_equal(blamed(host, "keyway::attention_varlen", 3, NUMBERS(0, 1, 2), NUMBERS(0, 6, 5)), 4);
  assert_int_equal(blamed(host, "keyway::attention_varlen", 3, NUMBERS(0, 1, 2), NUMBERS(0, INT64_MIN, 6)), 4);

  assert_int_equal(blamed(host, "keyway::attention_paged", 2, NUMBERS(0, 2, 1, 1), NUMBERS(4, 3)), -1);
  assert_int_equal(blamed(host, "keyway::attention_paged", 2, NUMBERS(0, 3, 1, -1), NUMBERS(2, 2)), -1); /* not read */
  assert_int_equal(blamed(host, "keyway::attention_paged", 2, NUMBERS(0, 3, 1, 1), NUMBERS(4, 3)), 3);
  assert_int_equal(blamed(host, "keyway::attention_paged", 2, NUMBERS(0, 2, 1, -1), NUMBERS(4, 3)), 3);
  assert_int_equal(blamed(host, "keyway::attention_paged", 2, NUMBERS(0, 2, 1, 1), NUMBERS(5, 3)), 4);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_heads_wider_than_a_tile),
      cmocka_unit_test(test_keys_in_parts),
      cmocka_unit_test(test_lengths_with_keys_in_parts),
      cmocka_unit_test(test_batch_of_many_dimensions),
      cmocka_unit_test(test_sequences_in_one_tensor),
      cmocka_unit_test(test_gradients_over_several_tiles),
      cmocka_unit_test(test_data_in_error),
  };
  return cmocka_run_group_tests_name("opencl/attention", tests, test_host_start, test_host_stop);
}
