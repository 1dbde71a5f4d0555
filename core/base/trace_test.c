/* SPDX-License-Identifier: Apache-2.0
 *
 * Each case traces in a child process, as the file is completed at exit.
 */
#include "base/trace.h"

#include "testing/test_device.h"

#include <cjson/cJSON.h>
#include <sys/wait.h>
#include <unistd.h>

static char path[] = "trace_test_XXXXXX";

static int make_path(void **state) {
  (void)state;
  strcpy(path + sizeof path - 7, "XXXXXX");
  int file = mkstemp(path);
  if (file < 0) return -1;
  return close(file);
}

static int remove_path(void **state) {
  (void)state;
  return unlink(path);
}

/* Runs body in a child that exits normally; returns its exit code. */
static int in_child(const char *target, void (*body)(void)) {
  pid_t child = fork();
  if (child == 0) {
    if (target != NULL) {
      setenv("KEYWAY_TRACE", target, 1);
    } else {
      unsetenv("KEYWAY_TRACE");
    }
    kw_trace_start();
    body();
    exit(kw_trace_on() ? 0 : 7);
  }
  int code = -1;
  assert_int_equal(waitpid(child, &code, 0), child);
  assert_true(WIFEXITED(code));
  return WEXITSTATUS(code);
}

static cJSON *read_events(cJSON **out_document) {
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  static char text[1 << 20];
  size_t size = fread(text, 1, sizeof text - 1, file);
  text[size] = 0;
  fclose(file);
  *out_document = cJSON_Parse(text);
  assert_non_null(*out_document);
  cJSON *events = cJSON_GetObjectItemCaseSensitive(*out_document, "traceEvents");
  assert_true(cJSON_IsArray(events));
  return events;
}

static const char *string_of(const cJSON *event, const char *field) {
  const cJSON *value = cJSON_GetObjectItemCaseSensitive(event, field);
  assert_true(cJSON_IsString(value));
  return value->valuestring;
}

#define AWKWARD "quote \" backslash \\ newline \n tab \t bell \a"

static void *many_spans(void *user) {
  for (int i = 0; i < 100; ++i) kw_trace_span("op", user, AWKWARD, kw_trace_begin());
  return NULL;
}

static void trace_from_threads(void) {
  static char names[3][8] = {"one", "two", "three"};
  pthread_t threads[3];
  for (int i = 0; i < 3; ++i) pthread_create(&threads[i], NULL, many_spans, names[i]);
  for (int i = 0; i < 3; ++i) pthread_join(threads[i], NULL);
  kw_trace_span("sync", "last", NULL, kw_trace_begin());
}

static void the_file_is_valid_json(void **state) {
  (void)state;
  assert_int_equal(in_child(path, trace_from_threads), 0);
  cJSON *document, *events = read_events(&document), *event;
  assert_int_equal(cJSON_GetArraySize(events), 301);
  int counts[3] = {0};
  cJSON_ArrayForEach(event, events) {
    assert_string_equal(string_of(event, "ph"), "X");
    assert_true(cJSON_IsNumber(cJSON_GetObjectItemCaseSensitive(event, "ts")));
    assert_true(cJSON_GetObjectItemCaseSensitive(event, "dur")->valuedouble >= 0);
    assert_true(cJSON_IsNumber(cJSON_GetObjectItemCaseSensitive(event, "tid")));
    const char *name = string_of(event, "name");
    if (strcmp(name, "last") == 0) continue;
    ++counts[strcmp(name, "one") == 0 ? 0 : strcmp(name, "two") == 0 ? 1 : 2];
    const cJSON *args = cJSON_GetObjectItemCaseSensitive(event, "args");
    assert_string_equal(string_of(args, "detail"), AWKWARD);
  }
  for (int i = 0; i < 3; ++i) assert_int_equal(counts[i], 100);
  cJSON_Delete(document);
}

static void no_spans(void) {}

static void an_empty_trace_is_valid(void **state) {
  (void)state;
  assert_int_equal(in_child(path, no_spans), 0);
  cJSON *document, *events = read_events(&document);
  assert_int_equal(cJSON_GetArraySize(events), 0);
  cJSON_Delete(document);
}

static void a_fork_of_its_own(void) {
  kw_trace_span("op", "parent", NULL, kw_trace_begin());
  pid_t child = fork();
  if (child == 0) {
    kw_trace_span("op", "child", NULL, kw_trace_begin());
    exit(kw_trace_on() ? 1 : 0);
  }
  int code = -1;
  waitpid(child, &code, 0);
  if (code != 0) exit(9);
}

static void a_forked_child_leaves_the_file_alone(void **state) {
  (void)state;
  assert_int_equal(in_child(path, a_fork_of_its_own), 0);
  cJSON *document, *events = read_events(&document);
  assert_int_equal(cJSON_GetArraySize(events), 1);
  assert_string_equal(string_of(cJSON_GetArrayItem(events, 0), "name"), "parent");
  cJSON_Delete(document);
}

static void use_a_device(void) {
  test_device *test = test_device_open("test:0", 0);
  kw_tensor *tensor = NULL;
  char byte = 1;
  assert_ok(kw_tensor_create(&test->device, KW_I8, 0, NULL, &tensor));
  assert_ok(kw_tensor_write(tensor, &byte));
  kw_tensor_release(tensor);
  test_device_close(test);
}

static void core_traces_memory_copies_and_waiting(void **state) {
  (void)state;
  assert_int_equal(in_child(path, use_a_device), 0);
  cJSON *document, *events = read_events(&document), *event;
  int allocs = 0, copies = 0, syncs = 0;
  double in_use = -1, most_in_use = 0, reserved = -1;
  cJSON_ArrayForEach(event, events) {
    const char *category = string_of(event, "cat");
    allocs += strcmp(category, "alloc") == 0;
    copies += strcmp(category, "copy") == 0;
    syncs += strcmp(category, "sync") == 0;
    if (strcmp(category, "memory") != 0) continue;
    assert_string_equal(string_of(event, "ph"), "C");
    assert_string_equal(string_of(event, "name"), "test:0 memory");
    const cJSON *args = cJSON_GetObjectItemCaseSensitive(event, "args");
    in_use = cJSON_GetObjectItemCaseSensitive(args, "in use")->valuedouble;
    reserved = cJSON_GetObjectItemCaseSensitive(args, "reserved")->valuedouble;
    if (in_use > most_in_use) most_in_use = in_use;
  }
  assert_int_equal(allocs, 2); /* and the free */
  assert_int_equal(copies, 1);
  assert_true(syncs >= 1);
  assert_true(most_in_use >= 1 && in_use == 0 && reserved == 0); /* nothing is left */
  cJSON_Delete(document);
}

static void off(void **state) {
  (void)state;
  assert_int_equal(in_child(NULL, trace_from_threads), 7);
  assert_int_equal(in_child("", trace_from_threads), 7);
  assert_int_equal(in_child("no_such_directory/trace.json", trace_from_threads), 7);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(the_file_is_valid_json, make_path, remove_path),
      cmocka_unit_test_setup_teardown(an_empty_trace_is_valid, make_path, remove_path),
      cmocka_unit_test_setup_teardown(a_forked_child_leaves_the_file_alone, make_path, remove_path),
      cmocka_unit_test_setup_teardown(core_traces_memory_copies_and_waiting, make_path, remove_path),
      cmocka_unit_test(off),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
