/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs `keyway bench` as a person does.
 */
#include "test_program.h"

/* Shapes as they are in the JSON, by op; times are a machine's business, but there have to be some. */
static void bench_measures_every_kind_of_shape(void **state) {
  (void)state;
  static const struct {
    const char *op, *what, *rate;
    int rank;
    double shape[4];
  } rows[] = {{"add.Tensor", "[16]", "gbps", 1, {16}},
              {"_softmax", "[1, 16]", "gbps", 2, {1, 16}},
              {"mm", "[16, 16]", "gflops", 2, {16, 16}},
              {"scaled_dot_product_attention", "[1, 8, 16, 64] causal", "gflops", 4, {1, 8, 16, 64}}};
  cJSON *json = run_json(
      "bench --rounds 1 --size 16 --op add.Tensor --op _softmax --op mm --op scaled_dot_product_attention --json");
  const cJSON *measured = check_fields(json, "rows", (const char *[]){"op", "family", "dtype", "shape", "ns", NULL});
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
    const cJSON *row = find_row(measured, rows[i].op, rows[i].what), *shape = cJSON_GetObjectItem(row, "shape");
    assert_int_equal(cJSON_GetArraySize(shape), rows[i].rank);
    for (int d = 0; d < rows[i].rank; ++d) assert_true(cJSON_GetArrayItem(shape, d)->valuedouble == rows[i].shape[d]);
    assert_true(cJSON_GetObjectItem(row, "ns")->valuedouble > 0);
    assert_true(cJSON_GetObjectItem(row, rows[i].rate)->valuedouble > 0);
  }
  const cJSON *limits = cJSON_GetObjectItem(json, "limits");
  assert_true(cJSON_GetObjectItem(limits, "gbps")->valuedouble > 0);
  assert_true(cJSON_GetObjectItem(limits, "gflops")->valuedouble > 0);
  cJSON_Delete(json);
  check("bench --rounds 1 --size 16 --op scaled_dot_product_attention", 0, "[1, 8, 16, 64] causal");
}

/* Every workload of the table is a call that cpu:0 runs, and so is k-means' step of the last points' piece. */
static void bench_runs_every_workload(void **state) {
  (void)state;
  cJSON *json = run_json("bench --rounds 1 --size 16 --json"), *row;
  check_fields(json, "rows", (const char *[]){"ns", NULL});
  cJSON_Delete(json);
  json = run_json("bench --rounds 1 --size 20000 --op kmeans --json");
  row = cJSON_GetArrayItem(cJSON_GetObjectItem(json, "rows"), 0);
  assert_true(cJSON_GetObjectItem(row, "ns")->valuedouble > 0);
  cJSON_Delete(json);
}

static void bench_says_what_makes_no_sense(void **state) {
  (void)state;
  check("bench --op nope", 2, "'nope' is not among the ops that are measured");
  check("bench --op reluu", 2, "did you mean 'relu'?");
  check("bench --family nope", 2, "'nope' is not among the families that are measured: moves, pointwise, ");
  check("bench --size 0", 2, "--size wants a number of elements");
  check("bench --rounds 0", 2, "--rounds wants a number");
  check("bench --threads none", 2, "--threads wants a number");
  check("bench --dtype i32", 2, "--dtype wants f32, f64, f16 or bf16");
  check("bench --against nobody", 2, "there is no peer 'nobody'");
  check("bench --rounds 1 --size 16 --op neg --svg no/such/picture.svg", 1, "no/such/picture.svg cannot be written");
}

/* What is not there, a peer, or a kernel of the device, is a row that says so. */
static void bench_has_rows_for_what_is_not_there(void **state) {
  (void)state;
  check("bench --rounds 1 --size 16 --op neg --against clblast", 0, "clblast: not there: for cpu devices it is not in");
  cJSON *json = run_json("bench --rounds 1 --size 16 --op neg --against raw --against clblast --json");
  const cJSON *sides = check_fields(json, "against", (const char *[]){"name", NULL}),
              *row = cJSON_GetArrayItem(cJSON_GetObjectItem(json, "rows"), 0),
              *figures = cJSON_GetObjectItem(row, "peers"), *raw = cJSON_GetObjectItem(figures, "raw");
  assert_non_null(find_named(sides, "raw"));
  assert_non_null(cJSON_GetObjectItem(find_named(sides, "clblast"), "not_there"));
  assert_non_null(cJSON_GetObjectItem(raw, "cannot")); /* it has no loop for neg */
  assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItem(cJSON_GetObjectItem(figures, "clblast"), "cannot")),
                      "not there");
  cJSON_Delete(json);
  check("bench --rounds 1 --size 16 --op arange.start_step --against raw", 0,
        "arange"); /* whose first argument is no tensor */
  json = run_json("bench --device " KEYWAY_BARE_DEVICE " --rounds 1 --size 16 --op exp --json");
  row = cJSON_GetArrayItem(cJSON_GetObjectItem(json, "rows"), 0);
  assert_null(cJSON_GetObjectItem(row, "ns"));
  assert_non_null(strstr(cJSON_GetStringValue(cJSON_GetObjectItem(row, "not_there")), "exp"));
  cJSON_Delete(json);
}

static void bench_compares_with_plain_loops(void **state) {
  (void)state;
  cJSON *json = run_json(
      "bench --rounds 1 --size 1024 --op add.Tensor --op sum --op cat --op _to_copy --against raw --dtype f32 --dtype "
      "f64 --json");
  const cJSON *rows = cJSON_GetObjectItem(json, "rows");
  static const char *const compared[][2] = {{"add.Tensor", "[1024]"},
                                            {"sum", "[1024]"},
                                            {"cat", "[512]"},
                                            {"cat", "[1, 512] of rows"},
                                            {"_to_copy", "[1024] to bf16"}};
  for (size_t i = 0; i < sizeof compared / sizeof compared[0]; ++i) {
    const cJSON *peers = cJSON_GetObjectItem(find_row(rows, compared[i][0], compared[i][1]), "peers"),
                *raw = cJSON_GetObjectItem(peers, "raw");
    if (!cJSON_GetObjectItem(raw, "ratio")) fail_msg("%s %s is not compared", compared[i][0], compared[i][1]);
  }
  const cJSON *side = find_named(cJSON_GetObjectItem(json, "against"), "raw");
  assert_true(cJSON_GetObjectItem(side, "geometric_mean")->valuedouble > 0);
  assert_non_null(cJSON_GetObjectItem(side, "worst_op"));
  cJSON_Delete(json);
}

/* Tags that begin end in their order, and nothing but text stands between. */
static void check_well_formed(const char *text) {
  const char *open[16];
  size_t depth = 0;
  for (const char *at = text; (at = strchr(at, '<')) != NULL; ++at) {
    const char *end = strpbrk(at + 1, "<>");
    assert_true(end && *end == '>');
    if (at[1] == '/') {
      assert_true(depth > 0 && strncmp(open[depth - 1] + 1, at + 2, (size_t)(end - at - 2)) == 0);
      --depth;
    } else if (end[-1] != '/') {
      assert_true(depth < sizeof open / sizeof open[0]);
      open[depth++] = at;
    }
  }
  assert_int_equal(depth, 0);
}

/* Reads a file of the test's folder and removes it. */
static void take_file(const char *name, char *text, size_t size) {
  char path[128];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  text[fread(text, 1, size - 1, file)] = '\0';
  fclose(file);
  remove(path);
}

static void bench_draws(void **state) {
  (void)state;
  char text[1 << 14];
  check("bench --rounds 1 --size 1024 --op relu --op sum --against raw --svg ratios.svg", 0, "against raw");
  take_file("ratios.svg", text, sizeof text);
  assert_int_equal(strncmp(text, "<svg ", 5), 0);
  assert_non_null(strstr(text, "relu [1024] f32"));
  check_well_formed(text);
}

static void bench_makes_a_page(void **state) {
  (void)state;
  char text[1 << 14];
  check("bench --rounds 1 --size 1024 --op relu --op sum --against raw --against clblast --html bench.html", 0, "raw");
  take_file("bench.html", text, sizeof text);
  assert_non_null(strstr(text, "<title>cpu:0: benchmarks</title>"));
  assert_true(strstr(text, "<h2>reductions</h2>") && strstr(text, "not there: for cpu devices it is not in"));
  check_well_formed(strstr(text, "<html"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bench_measures_every_kind_of_shape),
      cmocka_unit_test(bench_runs_every_workload),
      cmocka_unit_test(bench_says_what_makes_no_sense),
      cmocka_unit_test(bench_has_rows_for_what_is_not_there),
      cmocka_unit_test(bench_compares_with_plain_loops),
      cmocka_unit_test(bench_draws),
      cmocka_unit_test(bench_makes_a_page),
  };
  return end_in_folder(cmocka_run_group_tests(tests, make_folder, NULL), (const char *[]){NULL});
}
