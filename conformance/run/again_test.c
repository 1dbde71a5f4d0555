/* SPDX-License-Identifier: Apache-2.0
 *
 * Whole runs of `keyway conform` on a device that hangs, or fails only after other calls: what is run again alone.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char once[] = "keyway-again-test-XXXXXX"; /* a file that says: not yet */
static char output[1 << 16];

/* Runs `keyway conform` on the device with these options; the exit code. */
static int run(const char *options) {
  char command[1024];
  snprintf(command, sizeof command, "exec '%s' conform --device mutant:0 --plugin '%s' %s 2>&1", KEYWAY_PROGRAM,
           KEYWAY_MOODY_ABS, options);
  FILE *pipe = popen(command, "r");
  assert_non_null(pipe);
  size_t length = fread(output, 1, sizeof output - 1, pipe);
  output[length] = 0;
  int status = pclose(pipe);
  assert_true(WIFEXITED(status));
  return WEXITSTATUS(status);
}

static void contains(const char *text) {
  if (!strstr(output, text)) fail_msg("no '%s' in: %s", text, output);
}

/* Sleep is no waiting for a processor: this is a timeout on any machine, and says after which limit. */
static void a_deadlock_is_a_timeout(void **state) {
  (void)state;
  assert_int_equal(run("--case 'abs/i64/prime/0' --timeout-scale 0.05"), 1);
  contains("timeout abs/i64/prime/0: timeout\n    no answer within 10 s in ");
  contains("verdict: not conformant");
}

/* The clock of what computes goes as fast as it is served, so it ends. Where others were served too, nobody can tell
 * that it hung. */
static void computing_for_ever_ends(void **state) {
  (void)state;
  int code = run("--case 'abs/u8/prime/0' --timeout-scale 0.01");
  if (code == 4) {
    contains("the machine was starved of processor time");
    contains("verdict: inconclusive");
  } else {
    assert_int_equal(code, 1);
    contains("timeout abs/u8/prime/0: timeout\n    no answer");
  }
}

/* A process of scale that is killed was in the way of others: that tells nothing of the device. */
static void killed_for_memory_is_inconclusive(void **state) {
  (void)state;
  assert_int_equal(run("--case 'scale/pointwise/abs'"), 4);
  contains(
      "inconclusive scale/pointwise/abs\n    the worker ended with signal 9 (SIGKILL), by which a system short of");
  contains("verdict: inconclusive");
}

static void passing_alone_is_inconclusive(void **state) {
  (void)state;
  int fd = mkstemp(once);
  assert_true(fd >= 0);
  close(fd);
  setenv("KEYWAY_TEST_ONCE", once, 1);
  assert_int_equal(run("--case 'abs/i32/prime/?' --timeout-scale 0.05"), 4);
  assert_int_equal(access(once, F_OK), -1);
  contains("inconclusive abs/i32/prime/");
  contains("no answer within 1 s");
  contains("; run again alone with ten times the limit it passed\n");
  contains("verdict: inconclusive (claims, only --case 'abs/i32/prime/?', 1 of ");
  contains(" ops): 7 of 8 cases pass, 1 inconclusive");
  assert_int_equal(run("--case 'abs/i32/prime/?'"), 0); /* nothing is left of it */
}

/* So it is where the run ended there: of the rest nothing is known, and nothing failed. */
static void ended_there_it_is_inconclusive_too(void **state) {
  (void)state;
  int fd = open(once, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
  assert_true(fd >= 0);
  close(fd);
  assert_int_equal(run("--op abs --case 'abs/i32/*' --jobs 1 --fail-fast --timeout-scale 0.05"), 4);
  contains("; run again alone with ten times the limit it passed\n");
  contains("verdict: inconclusive (claims, ");
  contains(", 1 inconclusive, ");
  contains(" not run\n");
}

/* The command that a report prints below a case; NULL when there is none. */
static char *replay_of(const char *id) {
  char *at = strstr(output, id), *command = at ? strstr(at, "\n    keyway conform ") : NULL;
  if (!command) return NULL;
  command += strlen("\n    keyway conform --device mutant:0 --plugin '");
  command = strchr(command, '\'') + 1;
  return strndup(command, strcspn(command, "\n"));
}

/* One call is behind it, of the many that its process had before. */
static void a_failure_behind_others_is_replayed(void **state) {
  (void)state;
  assert_int_equal(run("--op abs --case 'abs/f32/*' --jobs 1 -v"), 1);
  contains("passes alone; fails again behind the calls that the replay makes first\n");
  char *first = strstr(output, "fail abs/f32/"), id[64] = "";
  assert_non_null(first);
  sscanf(first, "fail %60[^:\n]", id);
  char *replay = replay_of(id);
  assert_non_null(replay);
  char *after = strstr(replay, "--after 'abs/f32/");
  assert_non_null(after);
  assert_null(strchr(after, ',')); /* one call */
  char same[200];
  snprintf(same, sizeof same, "%.190s", strstr(first, "\n"));
  same[strcspn(same + 1, "\n") + 1] = 0; /* what was wrong */
  assert_int_equal(run(replay), 1);
  contains("1 fail");
  contains(same);
  *strstr(replay, "--after") = 0;
  char alone[200];
  snprintf(alone, sizeof alone, "%s --case '%s'", replay, id);
  assert_int_equal(run(alone), 0);
  free(replay);
}

static void unusable_calls_before_are_refused(void **state) {
  (void)state;
  assert_int_equal(run("--after 'abs/f32/one/0#0'"), 2);
  contains("--after goes with --case and the id of one case");
  static const char *const wrong[] = {"abs/f32/one/0", "abs/f32/one/0#2", "abs/f32/nope/0#0", "x"};
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    char options[128];
    snprintf(options, sizeof options, "--case 'abs/f32/one/0' --after 'abs/f32/one/1#0,%s'", wrong[i]);
    assert_int_equal(run(options), 2);
    snprintf(options, sizeof options, "--after has '%s', which is no run of a case", wrong[i]);
    contains(i == 2 ? "--after has 'abs/f32/nope/0'" : options);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_deadlock_is_a_timeout),           cmocka_unit_test(computing_for_ever_ends),
      cmocka_unit_test(passing_alone_is_inconclusive),     cmocka_unit_test(ended_there_it_is_inconclusive_too),
      cmocka_unit_test(killed_for_memory_is_inconclusive), cmocka_unit_test(a_failure_behind_others_is_replayed),
      cmocka_unit_test(unusable_calls_before_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
