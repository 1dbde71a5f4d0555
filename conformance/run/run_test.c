/* SPDX-License-Identifier: Apache-2.0
 *
 * Whole runs of `keyway conform` on cpu:0: exit codes, reports, and what happens when a worker dies or hangs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <cjson/cJSON.h>
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "running.h"

static int count_of(const cJSON *report, const char *what) {
  return cJSON_GetObjectItem(cJSON_GetObjectItem(report, "counts"), what)->valueint;
}

/* ---- Nothing to run ---------------------------------------------------------------------------------------------- */

static void refusals_say_why(void **state) {
  (void)state;
  assert_int_equal(run((const char *[]){"--device", "nope", NULL}), 2);
  output_contains("nope");
  output_contains("cpu:0"); /* what there is instead */
  assert_int_equal(run((const char *[]){"--device", "cpu:0", "--op", "nope.*", NULL}), 2);
  output_contains("no op matches 'nope.*'");
  assert_int_equal(run((const char *[]){"--device", "cpu:0", "--op", "neg,nope", NULL}), 2);
  output_contains("no op matches 'nope'");
  assert_int_equal(run((const char *[]){"--device", "cpu:0", "--op", "neg,add", NULL}), 2);
  output_contains("no op matches 'add'; did you mean 'add.*'?");
  char longer[202] = ""; /* whose beginning matches every op */
  memset(longer, '*', 200);
  longer[200] = '#';
  assert_int_equal(run((const char *[]){"--device", "cpu:0", "--op", longer, NULL}), 2);
  output_contains("***#'");
  assert_int_equal(run((const char *[]){"--device", "cpu:0", "--op", "neg", "--op", "abs", NULL}), 2);
  output_contains("--op is given once");
  assert_int_equal(run((const char *[]){"--device", "cpu:0", "--suite", "stream", "--suite", "event", NULL}), 2);
  output_contains("--suite is given once");
  assert_int_equal(run((const char *[]){"--device", "cpu:0", "--case", "stream/order", "--case", "stream/query", NULL}),
                   2);
  output_contains("--case is given once");
  assert_int_equal(run((const char *[]){"--device", "cpu:0", "--plugin", "/dev/null", NULL}), 2);
  output_contains("nothing was run: plugin /dev/null was not loaded");
  output_contains("see 'keyway doctor --plugin /dev/null'");
  assert_int_equal(run((const char *[]){"--device", "cpu:0", "--case", "add.Tensor/f32/nope/1", NULL}), 2);
  output_contains("there is no case");
  assert_int_equal(run((const char *[]){"--device", "cpu:0", "--case", "neg/*/nope/*", NULL}), 2);
  output_contains("no case is left");
  assert_int_equal(run((const char *[]){"--device", "cpu:0", "--op", "neg", "--shard", "9000/9000", NULL}), 2);
  output_contains("no case is left");
  assert_int_equal(run((const char *[]){NULL}), 2);
  output_contains("--device NAME");
  assert_int_equal(run((const char *[]){"--device", "cpu:0", "--suite", "memroy", NULL}), 2);
  output_contains("there is no suite 'memroy'; did you mean 'memory'?; --suite takes");
  assert_int_equal(run((const char *[]){"--device", "cpu:0", "--shard", "3/2", NULL}), 2);
  output_contains("--shard takes");
  assert_int_equal(run((const char *[]){"--device", "cpu:0", "--op", "neg", "--html", "no/such/page.html", NULL}), 2);
  output_contains("nothing was run: no/such/page.html cannot be written: No such file or directory");
  assert_int_equal(run((const char *[]){"--device", "cpu:0", "--op", "neg", "--json", "/", NULL}), 2);
  output_contains("nothing was run: / cannot be written: Is a directory");
}

/* ---- Reports ----------------------------------------------------------------------------------------------------- */

/* Takes the values of "seconds" members and time attributes out, and the last section of a page. */
static void strip_times(char *text) {
  char *page_times = strstr(text, "<section id=\"times\">");
  if (page_times) *page_times = 0;
  static const char *const marks[] = {"\"seconds\": ", "time=\""};
  char *to = text;
  for (const char *from = text; *from;) {
    size_t mark = 0;
    for (size_t i = 0; i < 2 && !mark; i++) {
      if (strncmp(from, marks[i], strlen(marks[i])) == 0) mark = strlen(marks[i]);
    }
    memmove(to, from, mark ? mark : 1);
    to += mark ? mark : 1;
    from += mark ? mark : 1;
    if (mark) from += strspn(from, "0123456789.");
  }
  *to = 0;
}

static char *read_without_times(const char *name) {
  char *text = read_file(name);
  strip_times(text);
  return text;
}

static const char *text_member(const cJSON *report, const char *key) {
  const cJSON *item = cJSON_GetObjectItem(report, key);
  return cJSON_IsString(item) ? item->valuestring : "";
}

static void same_without_times(const char *a, const char *b) {
  char *first = read_without_times(a), *second = read_without_times(b);
  assert_string_equal(first, second);
  free(first);
  free(second);
}

/* The same seed gives the same bytes in every format, apart from times, however many workers there are. */
static void same_seed_same_report(void **state) {
  (void)state;
  assert_int_equal(run((const char *[]){"--device", "cpu:0", "--op", "mul.*", "--jobs", "1", "--json",
                                        in_folder("0.json"), "--junit", in_folder("0.xml"), "--tap", in_folder("0.tap"),
                                        "--html", in_folder("0.html"), NULL}),
                   0);
  output_contains("verdict: conformant (claims, only --op 'mul.*', 2 of ");
  assert_int_equal(run((const char *[]){"--device", "cpu:0", "--op", "mul.*", "--jobs", "3", "--json",
                                        in_folder("1.json"), "--junit", in_folder("1.xml"), "--tap", in_folder("1.tap"),
                                        "--html", in_folder("1.html"), NULL}),
                   0);
  same_without_times("0.json", "1.json");
  same_without_times("0.xml", "1.xml");
  same_without_times("0.tap", "1.tap");
  same_without_times("0.html", "1.html");
}

/* The reports of shards, in any order, are the report of the whole. */
static void merged_shards_are_the_whole(void **state) {
  (void)state;
  static const char *const shards[] = {"1/3", "2/3", "3/3"};
  for (int i = 0; i < 3; i++) {
    char name[32];
    snprintf(name, sizeof name, "shard%d.json", i + 1);
    assert_int_equal(run((const char *[]){"--device", "cpu:0", "--op", "mul.*", "--shard", shards[i], "--json",
                                          in_folder(name), NULL}),
                     0);
    char part[64];
    snprintf(part, sizeof part, ", shard %d of 3): ", i + 1);
    output_contains(part);
  }
  const char *s1 = in_folder("shard1.json"), *s2 = in_folder("shard2.json"), *s3 = in_folder("shard3.json");
  assert_int_equal(run_report((const char *[]){"merge", s3, s1, s2, "--json", in_folder("merged.json"), "--junit",
                                               in_folder("merged.xml"), "--tap", in_folder("merged.tap"), "--html",
                                               in_folder("merged.html"), NULL}),
                   0);
  output_contains("verdict: conformant (claims, only --op 'mul.*', 2 of ");
  same_without_times("0.json", "merged.json");
  same_without_times("0.xml", "merged.xml");
  same_without_times("0.tap", "merged.tap");
  same_without_times("0.html", "merged.html");

  assert_int_equal(run_report((const char *[]){"merge", s1, s3, NULL}), 2);
  output_contains("shard 2 of 3 is missing");
  assert_int_equal(run_report((const char *[]){"merge", s1, s2, s3, s2, NULL}), 2);
  output_contains("shard 2 of 3 is there twice");
  assert_int_equal(run((const char *[]){"--device", "cpu:0", "--op", "mul.*", "--shard", "2/3", "--seed", "2", "--json",
                                        in_folder("other.json"), NULL}),
                   0);
  assert_int_equal(run_report((const char *[]){"merge", s1, in_folder("other.json"), s3, NULL}), 2);
  output_contains("report 2 has seed '2', report 1 has '1'");
}

static void shown_report_is_the_same(void **state) {
  (void)state;
  assert_int_equal(run_report((const char *[]){"show", in_folder("0.json"), "--json", in_folder("shown.json"), NULL}),
                   0);
  output_contains("verdict: conformant (claims, only --op 'mul.*', 2 of ");
  char *first = read_file("0.json"), *second = read_file("shown.json");
  assert_string_equal(first, second);
  free(first);
  free(second);
  assert_int_equal(run_report((const char *[]){"show", in_folder("0.json"), "--markdown", NULL}), 0);
  output_contains("| mul.Tensor |");
  assert_int_equal(run_report((const char *[]){"show", in_folder("0.tap"), NULL}), 2);
  output_contains("is no JSON report");
  assert_int_equal(run_report((const char *[]){NULL}), 2);
  output_contains("keyway report show FILE");
}

static void json_names_what_was_judged(void **state) {
  (void)state;
  char *text = read_file("0.json"), *xml = read_without_times("0.xml"), *tap = read_file("0.tap");
  cJSON *report = cJSON_Parse(text);
  assert_non_null(report);
  assert_string_equal(text_member(report, "device"), "cpu:0");
  assert_string_equal(text_member(report, "verdict"), "conformant");
  assert_string_equal(text_member(report, "plugin"), "keyway_cpu.so");
  assert_string_equal(text_member(report, "seed"), "1");
  assert_int_equal(strlen(text_member(report, "plugin_sha256")), 64);
  assert_int_equal(strlen(text_member(report, "tolerances_sha256")), 64);
  assert_int_equal(strlen(text_member(report, "cases_sha256")), 64);
  assert_true(cJSON_IsNull(cJSON_GetObjectItem(report, "level")));
  assert_true(cJSON_IsFalse(cJSON_GetObjectItem(report, "emulated")));
  assert_int_equal(cJSON_GetObjectItem(report, "fallbacks")->valueint, 0);
  assert_true(count_of(report, "pass") > 300);
  int cases = 0;
  const cJSON *op;
  cJSON_ArrayForEach(op, cJSON_GetObjectItem(report, "ops")) {
    int count = cJSON_GetObjectItem(op, "cases")->valueint, of_classes = 0, of_errors = 0;
    const cJSON *part;
    cJSON_ArrayForEach(part, cJSON_GetObjectItem(op, "classes")) of_classes += part->valueint;
    cJSON_ArrayForEach(part, cJSON_GetObjectItem(op, "errors")) of_errors += part->valueint;
    cases += count;
    assert_int_equal(count, cJSON_GetObjectItem(op, "pass")->valueint);
    assert_int_equal(count, of_classes);
    assert_int_equal(count, of_errors);
    assert_true(cJSON_GetObjectItem(op, "max_error")->valuedouble <= cJSON_GetObjectItem(op, "bound")->valuedouble);
  }
  assert_int_equal(cases, count_of(report, "pass"));
  assert_int_equal(cases, cJSON_GetArraySize(cJSON_GetObjectItem(report, "cases")));
  assert_non_null(strstr(xml, "<testcase classname=\"cpu:0.mul.Tensor\" name=\"f32/prime/0\" time=\"\"/>"));
  assert_non_null(strstr(tap, "- mul.Tensor/f32/prime/0\n"));
  cJSON_Delete(report);
  free(text);
  free(xml);
  free(tap);
}

/* The hash is that of the file, as another program computes it. */
static void plugin_hash_is_sha256(void **state) {
  (void)state;
  char command[256], hash[80] = "";
  snprintf(command, sizeof command, "sha256sum '%s'", KEYWAY_CPU_PLUGIN);
  FILE *pipe = popen(command, "r");
  assert_non_null(pipe);
  assert_non_null(fgets(hash, 65, pipe));
  pclose(pipe);
  assert_int_equal(run((const char *[]){"--device", "cpu:0", "--case", "mm/f32/one/0", NULL}), 0);
  output_contains(hash);
}

static void shards_are_parts(void **state) {
  (void)state;
  char *lists[3];
  static const char *const shards[] = {"1/1", "1/2", "2/2"};
  for (int i = 0; i < 3; i++) {
    assert_int_equal(run((const char *[]){"--device", "cpu:0", "--op", "neg", "--list", "--shard", shards[i], NULL}),
                     0);
    lists[i] = read_file("output");
  }
  assert_int_equal(strlen(lists[0]), strlen(lists[1]) + strlen(lists[2]));
  for (int i = 0; i < 3; i++) free(lists[i]);
}

static void one_case_alone(void **state) {
  (void)state;
  assert_int_equal(run((const char *[]){"--device", "cpu:0", "--case", "mm/f32/prime/1", NULL}), 0);
  output_contains("1 of 1 cases pass");
  assert_int_equal(run((const char *[]){"--device", "cpu:0", "--case", "memory/zero_size", NULL}), 0);
  output_contains("1 of 1 cases pass");
}

/* Workers do not write over each other's traces. */
static void traces_of_their_own(void **state) {
  (void)state;
  char target[96];
  snprintf(target, sizeof target, "%s/trace", folder);
  setenv("KEYWAY_TRACE", target, 1);
  int code = run((const char *[]){"--device", "cpu:0", "--op", "neg", "--jobs", "1", NULL});
  unsetenv("KEYWAY_TRACE");
  assert_int_equal(code, 0);
  static const char *const files[] = {"trace.worker1", "trace.worker2"}; /* the first only tells of the device */
  for (size_t i = 0; i < 2; i++) {
    char *text = read_file(files[i]);
    cJSON *trace = cJSON_Parse(text);
    assert_non_null(trace);
    assert_true((strstr(text, "neg") != NULL) == (i == 1));
    cJSON_Delete(trace);
    free(text);
  }
}

/* After the first failure no new cases are begun, and those that were not run are counted as such. */
static void fail_fast_stops(void **state) {
  (void)state;
  assert_int_equal(run((const char *[]){"--device", "mutant:0", "--plugin", KEYWAY_NAN_MUTANT, "--op", "maximum",
                                        "--jobs", "1", "--fail-fast", NULL}),
                   1);
  output_contains("fail maximum/f32/special/0");
  output_contains("1 fail, ");
  output_contains(" not run");
}

/* A process that a plugin starts holds what it inherited, this pipe's end for one, until it is gone. */
static void nothing_outlives_the_workers(void **state) {
  (void)state;
  int ends[2];
  char byte;
  assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
  int inherited = fcntl(ends[1], F_DUPFD, 64); /* past the descriptors that workers are given */
  assert_true(inherited >= 64);
  pid_t pid =
      start((const char *[]){"--device", "mutant:0", "--plugin", KEYWAY_FAULTY_ABS, "--case", "abs/i32/prime/0", NULL});
  close(ends[1]);
  close(inherited);
  assert_int_equal(finish(pid), 0);
  struct pollfd closed = {.fd = ends[0]};
  assert_int_equal(poll(&closed, 1, 10000), 1);
  assert_int_equal(read(ends[0], &byte, 1), 0);
  close(ends[0]);
}

static void ops_are_chosen_by_globs(void **state) {
  (void)state;
  assert_int_equal(run((const char *[]){"--device", "cpu:0", "--op", "neg,ab?", "--list", NULL}), 0);
  char *ids = read_file("output");
  int chosen = 0, all = 0;
  for (const char *id = strtok(ids, "\n"); id; id = strtok(NULL, "\n"), all++) {
    chosen += strncmp(id, "neg/", 4) == 0 || strncmp(id, "abs/", 4) == 0;
  }
  free(ids);
  assert_true(chosen > 100);
  assert_int_equal(chosen, all);
  output_contains("abs/f32/prime/0");
  output_contains("neg/f32/prime/0");
}

/* A quick run has one case of each class and dtype, dtypes not the same one; contract tests stay. */
static void quick_is_a_sample(void **state) {
  (void)state;
  assert_int_equal(run((const char *[]){"--device", "cpu:0", "--op", "abs", "--quick", "--list", NULL}), 0);
  char *ids = read_file("output"), last[64] = "", first[8] = "";
  int varied = 0;
  for (char *id = strtok(ids, "\n"); id; id = strtok(NULL, "\n")) {
    char *number = strrchr(id, '/');
    assert_non_null(number);
    *number = 0;
    assert_string_not_equal(id, last);
    snprintf(last, sizeof last, "%s", id);
    if (!strstr(id, "/prime")) continue;
    if (!*first) snprintf(first, sizeof first, "%s", number + 1);
    varied += strcmp(first, number + 1) != 0;
  }
  free(ids);
  assert_true(varied > 0);
  assert_int_equal(run((const char *[]){"--device", "cpu:0", "--op", "relu", "--quick", NULL}), 0);
  output_contains("verdict: conformant (claims, quick, only --op 'relu', 1 of ");
  assert_int_equal(run((const char *[]){"--device", "cpu:0", "--op", "relu", "--quick", "--thorough", NULL}), 2);
  output_contains("--quick and --thorough");
}

/* A failure of a quick run is replayed as one: the counts of contract tests depend on it. */
static void replays_keep_the_effort(void **state) {
  (void)state;
  assert_int_equal(
      run((const char *[]){"--device", "mutant:0", "--plugin", KEYWAY_FAULTY_ABS, "--op", "abs", "--quick", NULL}), 1);
  output_contains(" --quick --seed 1 --case ");
}

/* A level asks for dtypes whether or not the device claims them. */
static void level_core_on_one_op(void **state) {
  (void)state;
  assert_int_equal(run((const char *[]){"--device", "cpu:0", "--level", "core", "--op", "relu", NULL}), 0);
  output_contains("verdict: conformant (core, only --op 'relu', 1 of ");
}

/* The cases of a level do not depend on the device, nor on what it has besides: this one has an op of a vendor's. */
static void levels_are_the_same_for_all(void **state) {
  (void)state;
  assert_int_equal(run((const char *[]){"--device", "cpu:0", "--level", "core", "--list", NULL}), 0);
  char *plain = read_file("output");
  assert_int_equal(
      run((const char *[]){"--device", "mutant:0", "--plugin", KEYWAY_FAULTY_ABS, "--level", "core", "--list", NULL}),
      0);
  char *mutant = read_file("output");
  assert_non_null(strstr(plain, "error/op/addmm\n"));
  assert_string_equal(mutant, plain);
  free(plain);
  free(mutant);
  assert_int_equal(run((const char *[]){"--device", "mutant:0", "--plugin", KEYWAY_FAULTY_ABS, "--list", NULL}), 0);
  output_contains("error/op/mutant::twice\n");
}

/* ---- Known failures ---------------------------------------------------------------------------------------------- */

static void write_expect(const char *text) {
  FILE *file = fopen(in_folder("expect.json"), "w");
  assert_non_null(file);
  fputs(text, file);
  fclose(file);
}

/* On a device that drops NaN in maximum: which case fails because of that. */
static int run_expecting(const char *text) {
  write_expect(text);
  return run((const char *[]){"--device", "mutant:0", "--plugin", KEYWAY_NAN_MUTANT, "--op", "maximum", "--expect",
                              in_folder("expect.json"), "--json", in_folder("expected.json"), NULL});
}

static void known_failures_are_told_apart(void **state) {
  (void)state;
  assert_int_equal(run_expecting("[]"), 1);
  output_contains("fail maximum/f32/special/0");
  assert_int_equal(run_expecting("[{\"case\": \"maximum/f32/special/*\", \"reason\": \"errata 7\"}]"), 3);
  output_contains("expected failure maximum/f32/special/0");
  output_contains("expected to fail: errata 7");
  output_contains("verdict: not conformant");
  char *text = read_file("expected.json");
  cJSON *report = cJSON_Parse(text);
  assert_int_equal(count_of(report, "expected_fail"), 1);
  assert_int_equal(count_of(report, "fail"), 0);
  assert_int_equal(count_of(report, "pass"), count_of(report, "cases") - 1);
  assert_int_equal(strlen(text_member(report, "expect_sha256")), 64);
  cJSON_Delete(report);
  free(text);

  /* One more that passes: an error, even beside the one that fails as it should. */
  assert_int_equal(run_expecting("[{\"case\": \"maximum/f32/special/0\", \"reason\": \"errata 7\"},\n"
                                 " {\"case\": \"maximum/f32/one/0\", \"reason\": \"errata 8\"}]"),
                   1);
  output_contains("unexpected pass maximum/f32/one/0");
  output_contains("1 expected failures, 1 unexpected passes");

  /* An entry about an op that was not chosen is none of this run's business. */
  assert_int_equal(run_expecting("[{\"case\": \"maximum/f32/special/0\", \"reason\": \"errata 7\"},\n"
                                 " {\"case\": \"mm/f32/one/0\", \"reason\": \"errata 9\"}]"),
                   3);
}

static void unusable_expectations_are_refused(void **state) {
  (void)state;
  static const char *const files[][2] = {
      {"[{\"case\": \"maximum/f32/special/0\", \"reason\": \"x\"},\n\n"
       "{\"case\": \"maximum/f32/special/99\", \"reason\": \"x\"}]",
       "expect.json:3: no case is 'maximum/f32/special/99'"},
      {"[\n{\"case\": \"maximum/*\", \"reason\": \"x\"\n]", "expect.json:3: this is no JSON"},
      {"[\n{\"reason\": \"{[\\\"\", \"case\": \"*\"},\n{\"case\": \"maximum/*\"}]",
       "expect.json:3: this entry has no \"reason\""},
      {"[{\"case\": \"\", \"reason\": \"x\"}]", "expect.json:1: this entry has no \"case\""},
      {"[{\"case\": \"*\", \"reason\": \"x\", \"resaon\": 1}]", "expect.json:1: this entry has members other"},
      {"{\"case\": \"*\"}", "expect.json:1: the file is not a list"},
      {"", "expect.json:1: this is no JSON"}};
  for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
    assert_int_equal(run_expecting(files[i][0]), 2);
    output_contains(files[i][1]);
  }
  assert_int_equal(run((const char *[]){"--device", "cpu:0", "--op", "neg", "--expect", in_folder("nope.json"), NULL}),
                   2);
  output_contains("No such file");
}

/* ---- Workers that die -------------------------------------------------------------------------------------------- */

/* Clock ticks of processor time that a process has used; -1 when it is no child of `parent`. */
static long ticks_of(const char *pid, pid_t parent) {
  char path[300], text[512] = "";
  snprintf(path, sizeof path, "/proc/%s/stat", pid);
  FILE *file = fopen(path, "r");
  if (!file) return -1;
  size_t length = fread(text, 1, sizeof text - 1, file);
  fclose(file);
  text[length] = 0;
  const char *after = strrchr(text, ')'); /* the name may contain anything */
  long ppid = -1, user = 0, kernel = 0;
  if (!after || sscanf(after + 1, " %*c %ld %*d %*d %*d %*d %*u %*u %*u %*u %*u %ld %ld", &ppid, &user, &kernel) != 3)
    return -1;
  return ppid == parent ? user + kernel : -1;
}

/* A worker that is certainly in the middle of its cases: it has used far more processor time than starting takes. */
static pid_t find_busy_worker(pid_t parent, long ticks) {
  for (;;) {
    DIR *proc = opendir("/proc");
    assert_non_null(proc);
    pid_t found = 0;
    for (struct dirent *entry; !found && (entry = readdir(proc));) {
      if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' && ticks_of(entry->d_name, parent) >= ticks) {
        found = (pid_t)strtol(entry->d_name, NULL, 10);
      }
    }
    closedir(proc);
    if (found) return found;
    if (waitpid(parent, NULL, WNOHANG) == parent) fail_msg("the run ended before any worker was busy");
    sched_yield();
  }
}

/* Whether it is a worker's process for one test, and not the helper that probes plugins. */
static int is_scenario(const char *pid) {
  char path[300], text[64] = "";
  snprintf(path, sizeof path, "/proc/%s/cmdline", pid);
  FILE *file = fopen(path, "r");
  if (!file) return 0;
  const size_t length = fread(text, 1, sizeof text - 1, file), name = strlen(text);
  fclose(file);
  return name + 1 < length && strcmp(text + name + 1, "child") == 0;
}

/* Waits until a worker of this run has started such a process. */
static void wait_for_scenario(pid_t run) {
  for (int found = 0; !found;) {
    const pid_t worker = find_busy_worker(run, 0);
    DIR *proc = opendir("/proc");
    assert_non_null(proc);
    for (struct dirent *entry; !found && (entry = readdir(proc));) {
      const int process = entry->d_name[0] >= '1' && entry->d_name[0] <= '9';
      found = process && ticks_of(entry->d_name, worker) >= 0 && is_scenario(entry->d_name);
    }
    closedir(proc);
  }
}

/* A run that is killed takes all with it, also what hangs in a driver in a process that a test has started. */
static void nothing_outlives_a_killed_run(void **state) {
  (void)state;
  int ends[2];
  char byte;
  assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
  int inherited = fcntl(ends[1], F_DUPFD, 64);
  assert_true(inherited >= 64);
  pid_t pid = start((const char *[]){"--device", "mutant:0", "--plugin", KEYWAY_HANGING_DESTROY, "--case",
                                     "stream/destroy_finishes", NULL});
  close(ends[1]);
  close(inherited);
  wait_for_scenario(pid);
  assert_int_equal(kill(pid, SIGKILL), 0);
  assert_int_equal(waitpid(pid, NULL, 0), pid);
  struct pollfd closed = {.fd = ends[0]};
  assert_int_equal(poll(&closed, 1, 60000), 1);
  assert_int_equal(read(ends[0], &byte, 1), 0);
  close(ends[0]);
}

static cJSON *run_and_disturb(int signal_number, const char *scale, int code) {
  char json[96];
  snprintf(json, sizeof json, "%s/disturbed.json", folder);
  pid_t pid = start((const char *[]){"--device", "cpu:0", "--op", "add.*", "--jobs", "1", "--timeout-scale", scale,
                                     "--json", json, NULL});
  kill(find_busy_worker(pid, sysconf(_SC_CLK_TCK) / 4), signal_number);
  assert_int_equal(finish(pid), code);
  char *text = read_file("disturbed.json");
  cJSON *report = cJSON_Parse(text);
  assert_non_null(report);
  free(text);
  return report;
}

static void killed_worker_is_one_named_crash(void **state) {
  (void)state;
  cJSON *report = run_and_disturb(SIGKILL, "1", 1);
  assert_int_equal(count_of(report, "crash"), 1);
  assert_int_equal(count_of(report, "fail") + count_of(report, "timeout"), 0);
  assert_true(count_of(report, "pass") > 500); /* it went on */
  const cJSON *failures = cJSON_GetObjectItem(report, "failures");
  assert_int_equal(cJSON_GetArraySize(failures), 1);
  const cJSON *failure = cJSON_GetArrayItem(failures, 0);
  assert_non_null(strstr(cJSON_GetObjectItem(failure, "text")->valuestring, "signal 9 (SIGKILL)"));
  const char *replay = cJSON_GetObjectItem(failure, "replay")->valuestring;
  assert_non_null(strstr(replay, "keyway conform --device cpu:0 --seed 1 --case '"));
  output_contains("not conformant");
  cJSON_Delete(report);
}

/* Its case passes when it is run again alone, so it is not the device's fault, nor is it known to be none. */
static void stopped_worker_is_inconclusive(void **state) {
  (void)state;
  cJSON *report = run_and_disturb(SIGSTOP, "0.2", 4);
  assert_int_equal(count_of(report, "inconclusive"), 1);
  assert_int_equal(count_of(report, "fail") + count_of(report, "crash") + count_of(report, "timeout"), 0);
  assert_true(count_of(report, "pass") > 500);
  assert_string_equal(text_member(report, "verdict"), "inconclusive");
  output_contains("; run again alone with ten times the limit it passed");
  cJSON_Delete(report);
}

/* What the options say is no fault of the device: a factor that is no binary fraction leaves its mark on the thread
 * that reads it. */
static void options_accuse_nobody(void **state) {
  (void)state;
  assert_int_equal(
      run((const char *[]){"--device", "cpu:0", "--case", "environment/whole_life", "--timeout-scale", "1.1", NULL}),
      0);
}

/* A crash is told with its signal and with where it was, by what does not change from run to run. */
static void crashes_say_where(void **state) {
  (void)state;
#ifdef KEYWAY_SANITIZED
  print_message("a sanitizer has its own reports of crashes\n");
  skip();
#else
  char *first = NULL;
  for (int i = 0; i < 2; i++) {
    assert_int_equal(run((const char *[]){"--device", "mutant:0", "--plugin", KEYWAY_FAULTY_ABS, "--case",
                                          "abs/f64/prime/0", "--json", in_folder("crash.json"), NULL}),
                     1);
    output_contains("crash abs/f64/prime/0");
    output_contains("the worker ended with signal 11 (SIGSEGV) in keyway_mutant_faulty_abs.so+0x");
    output_contains(" < libkeyway.so");
    char *text = read_without_times("crash.json");
    if (first) assert_string_equal(text, first);
    free(first);
    first = text;
  }
  free(first);
  assert_int_equal(
      run((const char *[]){"--device", "mutant:0", "--plugin", KEYWAY_FAULTY_ABS, "--case", "abs/f16/prime/0", NULL}),
      1);
  output_contains("the worker ended with signal 6 (SIGABRT) in ");
  output_contains(" < keyway_mutant_faulty_abs.so+0x");
#endif
}

#define FAULTY "--device", "mutant:0", "--plugin", KEYWAY_FAULTY_ABS

/* The first failure of each dtype comes with the smallest one: abs goes wrong from five elements on. */
static void failures_shrink(void **state) {
  (void)state;
  static const char *const dtypes[] = {
      "f32",
#ifndef KEYWAY_SANITIZED /* f64 and f16 crash */
      "f64",
      "f16",
#endif
  };
  assert_int_equal(run((const char *[]){FAULTY, "--op", "abs", "--json", in_folder("faulty.json"), "-v", NULL}), 1);
  char line[128], id[64];
  for (size_t i = 0; i < sizeof dtypes / sizeof dtypes[0]; i++) {
    snprintf(line, sizeof line, "smallest failing: abs/%s/prime/0@5, on %s [5]", dtypes[i], dtypes[i]);
    output_contains(line);
  }
  for (size_t i = 0; i < sizeof dtypes / sizeof dtypes[0]; i++) {
    snprintf(id, sizeof id, "abs/%s/prime/0@5", dtypes[i]);
    assert_int_equal(run((const char *[]){FAULTY, "--case", id, NULL}), 1);
    snprintf(id, sizeof id, "abs/%s/prime/0@4", dtypes[i]);
    assert_int_equal(run((const char *[]){FAULTY, "--case", id, NULL}), 0);
    snprintf(line, sizeof line, "smallest failing: abs/%s/prime/2@1x5, on %s [1, 5]", dtypes[i], dtypes[i]);
    snprintf(id, sizeof id, "abs/%s/prime/2", dtypes[i]);
    assert_int_equal(run((const char *[]){FAULTY, "--case", id, NULL}), 1);
    output_contains(line);
    assert_int_equal(run((const char *[]){FAULTY, "--case", id, "--no-shrink", NULL}), 1);
    char *output = read_file("output");
    assert_null(strstr(output, "smallest"));
    free(output);
  }
}

/* Failures, crashes and what they shrink to are in the merged report as in that of the whole run. */
static void merged_failures_are_the_whole(void **state) {
  (void)state;
  assert_int_equal(run((const char *[]){FAULTY, "--op", "abs", "--shard", "1/2", "--json", in_folder("f1.json"), NULL}),
                   1);
  assert_int_equal(run((const char *[]){FAULTY, "--op", "abs", "--shard", "2/2", "--json", in_folder("f2.json"), NULL}),
                   1);
  assert_int_equal(run_report((const char *[]){"merge", in_folder("f1.json"), in_folder("f2.json"), "--json",
                                               in_folder("merged.json"), NULL}),
                   1);
  output_contains("verdict: not conformant");
  same_without_times("faulty.json", "merged.json");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(refusals_say_why),
      cmocka_unit_test(same_seed_same_report),
      cmocka_unit_test(merged_shards_are_the_whole),
      cmocka_unit_test(shown_report_is_the_same),
      cmocka_unit_test(json_names_what_was_judged),
      cmocka_unit_test(plugin_hash_is_sha256),
      cmocka_unit_test(shards_are_parts),
      cmocka_unit_test(one_case_alone),
      cmocka_unit_test(nothing_outlives_the_workers),
      cmocka_unit_test(ops_are_chosen_by_globs),
      cmocka_unit_test(quick_is_a_sample),
      cmocka_unit_test(replays_keep_the_effort),
      cmocka_unit_test(level_core_on_one_op),
      cmocka_unit_test(levels_are_the_same_for_all),
      cmocka_unit_test(fail_fast_stops),
      cmocka_unit_test(traces_of_their_own),
      cmocka_unit_test(known_failures_are_told_apart),
      cmocka_unit_test(unusable_expectations_are_refused),
      cmocka_unit_test(nothing_outlives_a_killed_run),
      cmocka_unit_test(killed_worker_is_one_named_crash),
      cmocka_unit_test(options_accuse_nobody),
      cmocka_unit_test(stopped_worker_is_inconclusive),
      cmocka_unit_test(crashes_say_where),
      cmocka_unit_test(failures_shrink),
      cmocka_unit_test(merged_failures_are_the_whole),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
