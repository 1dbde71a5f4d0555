/* SPDX-License-Identifier: Apache-2.0
 *
 * `keyway conform --exhaustive` on cpu:0: what its table says, that it goes on where it was interrupted, and that it
 * finds one wrong number.
 */
#include "running.h"

#include <cjson/cJSON.h>
#include <signal.h>
#include <stdbool.h>
#include <time.h>

static void write_file(const char *name, const char *text, size_t length) {
  FILE *file = fopen(in_folder(name), "w");
  assert_non_null(file);
  assert_int_equal(fwrite(text, 1, length, file), length);
  fclose(file);
}

/* Starts `keyway LINE` in the folder, its output in the file `output` there. */
static pid_t start_line(const char *line) {
  char command[1024];
  snprintf(command, sizeof command, "cd '%s' && exec '%s' %s >output 2>&1", folder, KEYWAY_PROGRAM, line);
  const char *argv[] = {"sh", "-c", command, NULL};
  pid_t pid;
  assert_int_equal(posix_spawn(&pid, "/bin/sh", NULL, NULL, (char **)argv, environ), 0);
  return pid;
}

static int run_line(const char *line) {
  return finish(start_line(line));
}

static int lines_of(const char *text) {
  int lines = 0;
  for (; *text; text++) lines += *text == '\n';
  return lines;
}

static int state_lines(void) {
  char *text = read_file("state");
  const int lines = lines_of(text);
  free(text);
  return lines;
}

static cJSON *read_json(const char *name) {
  char *text = read_file(name);
  cJSON *json = cJSON_Parse(text);
  assert_non_null(json);
  free(text);
  return json;
}

static double number(const cJSON *object, const char *key) {
  const cJSON *item = cJSON_GetObjectItem(object, key);
  assert_true(cJSON_IsNumber(item));
  return item->valuedouble;
}

static const char *text(const cJSON *object, const char *key) {
  return cJSON_GetStringValue(cJSON_GetObjectItem(object, key));
}

/* ---- What is asked for ------------------------------------------------------------------------------------------- */

static void refusals_say_why(void **state) {
  (void)state;
  assert_int_equal(run_line("conform --device cpu:0 --exhaustive f64"), 2);
  output_contains("--exhaustive takes f32, f16 and bf16, and f32/N with a power of two from 2 to 1024");
  assert_int_equal(run_line("conform --device cpu:0 --exhaustive f32,f16/2"), 2);
  assert_int_equal(run_line("conform --device cpu:0 --exhaustive f32/3"), 2);
  assert_int_equal(run_line("conform --device cpu:0 --exhaustive f32 --suite ops"), 2);
  output_contains("leave out --suite");
  assert_int_equal(run_line("conform --device cpu:0 --state state"), 2);
  output_contains("--state goes with --exhaustive");
  assert_int_equal(run_line("conform --device cpu:0 --exhaustive f32 --op mm"), 2);
  output_contains("no case is left to run");
}

static void blocks_are_listed(void **state) {
  (void)state;
  assert_int_equal(run_line("conform --device cpu:0 --exhaustive f32 --op 'neg,add.Tensor,gelu' --list"), 0);
  char *output = read_file("output");
  assert_int_equal(lines_of(output), 1024 + 64 + 2048); /* gelu has two forms; two operands have too many pairs */
  assert_non_null(strstr(output, "neg/f32/patterns/1023\n"));
  assert_non_null(strstr(output, "add.Tensor/f32/dense/63\n"));
  assert_non_null(strstr(output, "gelu/f32/patterns/2047\n"));
  free(output);
  assert_int_equal(run_line("conform --device cpu:0 --exhaustive f32/256 --op 'neg,add.Tensor' --list"), 0);
  output = read_file("output");
  assert_int_equal(lines_of(output), 4 + 4);
  assert_non_null(strstr(output, "neg/f32/dense/3\n"));
  free(output);
}

/* ---- What it says ------------------------------------------------------------------------------------------------ */

static void the_table_says_what_was_tried(void **state) {
  (void)state;
  assert_int_equal(run_line("conform --device cpu:0 --exhaustive f32 --op sqrt --shard 255/512 --json a.json"), 0);
  output_contains("2/1024 of exhaustive");
  output_contains("only --exhaustive f32 --op 'sqrt', ");
  output_contains("shard 255 of 512");
  cJSON *json = read_json("a.json");
  const cJSON *line = cJSON_GetArrayItem(cJSON_GetObjectItem(json, "accuracy"), 0);
  assert_string_equal(text(line, "op"), "sqrt");
  assert_string_equal(text(line, "dtype"), "f32");
  assert_string_equal(text(line, "promised"), "3 ulp");
  assert_true(cJSON_IsFalse(cJSON_GetObjectItem(line, "exhaustive")));
  assert_true(number(line, "blocks") == 2 && number(line, "patterns") == 2 * 4194304.0);
  assert_true(number(line, "max_error") > 0.4999 && number(line, "max_error") <= 0.5);
  assert_non_null(strstr(text(line, "worst"), " (0x3f")); /* block 254 begins with 1; 766 has no roots */
  cJSON_Delete(json);
  assert_int_equal(run_line("conform --device cpu:0 --exhaustive f32/1024 --op 'pow.Scalar' --json b.json"), 0);
  output_contains("dense, 1 x 2^22");
  assert_int_equal(run_line("report show b.json --markdown"), 0);
  output_contains("# Accuracy of cpu:0");
  output_contains("| pow.Scalar (self=2) | f32 | dense, 1 x 2^22 | 0.5");
  output_contains(" ulp | 16 ulp | ");
}

static void narrow_floats_stand_beside(void **state) {
  (void)state;
  assert_int_equal(run_line("conform --device cpu:0 --exhaustive f32/1024,bf16,f16 --op 'exp,neg' --json a.json"), 0);
  output_contains("only --exhaustive f32/1024,f16,bf16 --op 'exp,neg'");
  output_contains("none beyond rounding");
  cJSON *json = read_json("a.json");
  const cJSON *lines = cJSON_GetObjectItem(json, "accuracy"), *line;
  int narrow = 0;
  assert_int_equal(cJSON_GetArraySize(lines), 6);
  cJSON_ArrayForEach(line, lines) {
    const bool all = cJSON_IsTrue(cJSON_GetObjectItem(line, "exhaustive"));
    assert_true(all == (strcmp(text(line, "dtype"), "f32") != 0));
    if (!all) continue;
    narrow++;
    assert_true(number(line, "patterns") == 65536 && number(line, "max_error") < 3);
    assert_true((*text(line, "worst") != 0) == (number(line, "max_error") > 0));
    if (strcmp(text(line, "op"), "exp") == 0 && strcmp(text(line, "dtype"), "f16") == 0)
      assert_non_null(strstr(text(line, "worst"), " (0x"));
  }
  assert_int_equal(narrow, 4);
  cJSON_Delete(json);
}

/* ---- Going on ---------------------------------------------------------------------------------------------------- */

static const char resumed[] =
    "conform --device cpu:0 --exhaustive f32 --op neg --shard 3/256 --jobs 1 --state state --json c.json";

static void an_interrupted_run_goes_on(void **state) {
  (void)state;
  const struct timespec pause = {0, 20000000};
  int status;
  unlink(in_folder("state"));
  pid_t pid = start_line(resumed);
  while (access(in_folder("state"), F_OK) != 0 || state_lines() < 2) {
    assert_int_equal(waitpid(pid, &status, WNOHANG), 0); /* four blocks: it is not done with the first */
    nanosleep(&pause, NULL);
  }
  kill(pid, SIGKILL);
  assert_int_equal(waitpid(pid, &status, 0), pid);
  char *before = read_file("state");
  const int done = lines_of(before) - 1;
  assert_true(done >= 1);
  assert_int_equal(run_line(resumed), 0);
  char *after = read_file("state");
  assert_int_equal(lines_of(after), 5);
  assert_memory_equal(before, after, strlen(before)); /* and the others behind it */
  cJSON *json = read_json("c.json");
  const cJSON *c;
  int taken_over = 0;
  cJSON_ArrayForEach(c, cJSON_GetObjectItem(json, "cases")) {
    assert_string_equal(text(c, "outcome"), "pass");
    taken_over += number(c, "seconds") == 0;
  }
  assert_int_equal(taken_over, done);
  assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(json, "cases")), 4);
  cJSON_Delete(json);
  free(before);
  free(after);
}

/* A line that was cut off is none, and what a line says is what the report says. */
static void a_line_that_was_cut_off_is_none(void **state) {
  (void)state;
  const char asked[] = "conform --device cpu:0 --exhaustive f32 --op exp --shard 255/512 --state state --json d.json";
  unlink(in_folder("state"));
  assert_int_equal(run_line(asked), 0);
  cJSON *json = read_json("d.json");
  char *whole = read_file("state"), *accuracy = cJSON_Print(cJSON_GetObjectItem(json, "accuracy"));
  cJSON_Delete(json);
  assert_int_equal(lines_of(whole), 3);
  assert_int_equal(run_line(asked), 0); /* everything is there */
  char *again = read_file("state");
  assert_string_equal(whole, again);
  free(again);
  write_file("state", whole, strlen(whole) - 3);
  assert_int_equal(run_line(asked), 0);
  assert_int_equal(state_lines(), 4); /* the cut-off line is ended, and no case */
  json = read_json("d.json");
  char *same = cJSON_Print(cJSON_GetObjectItem(json, "accuracy"));
  assert_string_equal(accuracy, same);
  cJSON_Delete(json);
  free(same);
  free(accuracy);
  free(whole);
}

static void the_state_of_another_run_is_refused(void **state) {
  (void)state;
  write_file("state", "a shopping list\n", 16);
  assert_int_equal(run_line(resumed), 2);
  output_contains(
      "state is the state of another run: it begins with 'a shopping list', and this one with 'keyway state 1: ");
  output_contains("name another file, or remove it");
  char *kept = read_file("state");
  assert_string_equal(kept, "a shopping list\n");
  free(kept);
  assert_int_equal(run_line("conform --device cpu:0 --exhaustive f32 --op neg --shard 3/1024 --state no/such/folder"),
                   2);
  output_contains("no/such/folder cannot be written: ");
}

/* ---- What it finds ----------------------------------------------------------------------------------------------- */

/* What failed is no part of the state: it is run again, and found again. */
static void one_wrong_number_is_found(void **state) {
  (void)state;
  const char asked[] = "conform --device mutant:0 --plugin '" KEYWAY_ONE_NUMBER
                       "' --exhaustive f32 --op exp --shard 243/512 --state state --json e.json";
  unlink(in_folder("state"));
  for (int i = 0; i < 2; i++) {
    assert_int_equal(run_line(asked), 1);
    output_contains(
        "fail exp/f32/patterns/754\n    run 0, kernel reference: element [1605632], of -0.0186157227 (0xbc988000): ");
    output_contains("; 1 of 4194304 elements are wrong\n");
    output_contains("--case 'exp/f32/patterns/754'");
    assert_int_equal(state_lines(), 2);
  }
  cJSON *json = read_json("e.json");
  const cJSON *line = cJSON_GetArrayItem(cJSON_GetObjectItem(json, "accuracy"), 0);
  assert_true(number(line, "failed") == 1 && number(line, "max_error") > 15);
  assert_string_equal(text(line, "worst"), "-0.0186157227 (0xbc988000)");
  cJSON_Delete(json);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(refusals_say_why),
      cmocka_unit_test(blocks_are_listed),
      cmocka_unit_test(the_table_says_what_was_tried),
      cmocka_unit_test(narrow_floats_stand_beside),
      cmocka_unit_test(an_interrupted_run_goes_on),
      cmocka_unit_test(a_line_that_was_cut_off_is_none),
      cmocka_unit_test(the_state_of_another_run_is_refused),
      cmocka_unit_test(one_wrong_number_is_found),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
