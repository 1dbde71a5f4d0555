/* SPDX-License-Identifier: Apache-2.0
 *
 * The layer `validation` finds misuses: each is made in a process of its own, in which the layer is on, and has to be
 * told by its name; the process survives it. Every name is on docs/layers.md, and every name there is made here.
 */
#include <keyway/interop.h>
#include <keyway/keyway.h>

#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include <cmocka.h>

/* ---- In the child ------------------------------------------------------------------------------------------------ */

static kw_device *device;
static kw_stream *stream;
static kw_event *event;
static kw_tensor *x, *y;
static kw_graph *graph;
static float numbers[4] = {1, 2, 3, 4};

/* What was misused says its name in the error or in the log, which is the same file here. */
static void tell(kw_status status) {
  if (status != KW_OK) fprintf(stderr, "error: %s\n", kw_error_message());
}

static void need(kw_status status) {
  if (status == KW_OK) return;
  fprintf(stderr, "the test's own call failed: %s\n", kw_error_message());
  _exit(1);
}

/* Holds a stream up, so that nothing behind it has happened yet. */
static sem_t go_on;
static void wait_to_go_on(void *unused) {
  (void)unused;
  sem_wait(&go_on);
}

static kw_tensor *floats(kw_device *of) {
  kw_tensor *made;
  need(kw_tensor_create(of, KW_F32, 1, (int64_t[]){4}, &made));
  need(kw_tensor_write(made, numbers));
  return made;
}

static kw_status add_on(kw_stream *on, const kw_tensor *a, const kw_tensor *b, kw_tensor **out) {
  const kw_value args[] = {kw_arg_tensor(a), kw_arg_tensor(b)};
  return kw_op_call(kw_op_find("add.Tensor"), on, args, 2, out, 1);
}

static kw_status call_with(kw_value second) {
  kw_tensor *out = NULL;
  const kw_value args[] = {kw_arg_tensor(x), second};
  return kw_op_call(kw_op_find("add.Tensor"), NULL, args, 2, &out, 1);
}

static kw_plan *make_plan(void) {
  const kw_value args[] = {kw_arg_tensor(x), kw_arg_tensor(x)};
  kw_plan *plan;
  need(kw_plan_make(kw_op_find("add.Tensor"), NULL, args, 2, &y, 1, NULL, &plan));
  return plan;
}

static kw_status run_plan(const kw_plan *plan) {
  const kw_value args[] = {kw_arg_tensor(x), kw_arg_tensor(x)};
  return kw_plan_run(plan, NULL, args, 2, &y, 1);
}

static kw_graph *record(void) {
  kw_graph *recorded;
  need(kw_graph_begin(stream));
  need(add_on(stream, x, x, &y));
  need(kw_graph_end(stream, &recorded));
  return recorded;
}

static kw_generator *make_generator(void) {
  kw_generator *generator;
  need(kw_generator_create(device, 1, &generator));
  return generator;
}

/* A second device: of another plugin. */
static kw_device *other(void) {
  kw_device *npu;
  need(kw_plugin_load(NPU_PLUGIN));
  need(kw_device_open("npu:0", &npu));
  return npu;
}

static void *end_recording(void *unused) {
  (void)unused;
  kw_graph *none;
  tell(kw_graph_end(stream, &none));
  return NULL;
}

static void elsewhere(void *(*function)(void *)) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, function, NULL) == 0) pthread_join(thread, NULL);
}

static void *release_x(void *unused) {
  (void)unused;
  kw_tensor_release(x);
  return NULL;
}

/* A call of an op tells of itself before it returns: another thread ends its argument then. */
static void during_a_call(const kw_trace_event *told, void *unused) {
  static bool done;
  (void)unused;
  if (done || strcmp(told->category, "op") != 0) return;
  done = true;
  elsewhere(release_x);
}

#define FOREIGN(type) ((type *)(void *)numbers)

/* MISUSE(name, statements): a function that breaks one rule. */
#define MISUSES(X)                                                                                                  \
  X(device_foreign, tell(kw_device_synchronize(FOREIGN(kw_device))))                                                \
  X(stream_foreign, tell(kw_stream_synchronize(FOREIGN(kw_stream))))                                                \
  X(event_foreign, tell(kw_event_synchronize(FOREIGN(kw_event))))                                                   \
  X(tensor_foreign, kw_tensor *out = FOREIGN(kw_tensor); tell(kw_tensor_read(out, numbers));                        \
    tell(add_on(NULL, x, x, &out)))                                                                                 \
  X(plan_foreign, tell(run_plan(FOREIGN(kw_plan))))                                                                 \
  X(generator_foreign, tell(kw_generator_seed(FOREIGN(kw_generator), 1)))                                           \
  X(graph_foreign, tell(kw_graph_launch(FOREIGN(kw_graph), NULL)))                                                  \
  X(window_foreign, kw_energy e = {.struct_size = sizeof e}; tell(kw_energy_end(FOREIGN(kw_energy_window), &e)))    \
  X(op_foreign, kw_op_info i = {.struct_size = sizeof i}; tell(kw_op_get_info(FOREIGN(const kw_op), &i)))           \
  X(host_memory_foreign, tell(kw_host_free(device, numbers)))                                                       \
  X(map_foreign, tell(kw_tensor_unmap(x, numbers)))                                                                 \
  X(address_foreign, tell(kw_address_assign(numbers, x)))                                                           \
  X(device_expected, tell(kw_device_synchronize((kw_device *)(void *)x)))                                           \
  X(stream_expected, tell(kw_stream_synchronize((kw_stream *)(void *)device)))                                      \
  X(event_expected, tell(kw_event_record((kw_event *)(void *)stream, stream)))                                      \
  X(tensor_expected, tell(kw_tensor_read((kw_tensor *)(void *)event, numbers)))                                     \
  X(plan_expected, tell(run_plan((kw_plan *)(void *)graph)))                                                        \
  X(generator_expected, tell(kw_generator_seed((kw_generator *)(void *)stream, 1)))                                 \
  X(graph_expected, tell(kw_graph_launch((kw_graph *)(void *)make_plan(), stream)))                                 \
  X(device_ended, kw_device *npu = other(); need(kw_device_close(npu)); tell(kw_device_synchronize(npu)))           \
  X(stream_ended, need(kw_stream_destroy(stream)); tell(kw_stream_synchronize(stream)))                             \
  X(event_ended, need(kw_event_destroy(event)); tell(kw_event_synchronize(event)))                                  \
  X(tensor_ended, kw_tensor_release(x); tell(kw_tensor_read(x, numbers)); tell(add_on(NULL, y, y, &x)))             \
  X(plan_ended, kw_plan *plan = make_plan(); kw_plan_destroy(plan); tell(run_plan(plan)))                           \
  X(generator_ended, kw_generator *g = make_generator(); kw_generator_destroy(g); tell(kw_generator_seed(g, 1)))    \
  X(graph_ended, need(kw_graph_destroy(graph)); tell(kw_graph_launch(graph, stream)))                               \
  X(address_ended, void *a; need(kw_address_reserve(x, &a)); need(kw_address_release(a));                           \
    tell(kw_address_assign(a, x)))                                                                                  \
  X(device_ended_twice, kw_device *npu = other(); need(kw_device_close(npu)); tell(kw_device_close(npu)))           \
  X(stream_ended_twice, need(kw_stream_destroy(stream)); tell(kw_stream_destroy(stream)))                           \
  X(event_ended_twice, need(kw_event_destroy(event)); tell(kw_event_destroy(event)))                                \
  X(tensor_ended_twice, kw_tensor_release(x); kw_tensor_release(x))                                                 \
  X(plan_ended_twice, kw_plan *plan = make_plan(); kw_plan_destroy(plan); kw_plan_destroy(plan))                    \
  X(generator_ended_twice, kw_generator *g = make_generator(); kw_generator_destroy(g); kw_generator_destroy(g))    \
  X(graph_ended_twice, need(kw_graph_destroy(graph)); tell(kw_graph_destroy(graph)))                                \
  X(host_memory_ended_twice, void *m; need(kw_host_alloc(device, 64, &m)); need(kw_host_free(device, m));           \
    tell(kw_host_free(device, m)))                                                                                  \
  X(map_ended_twice, void *p; need(kw_tensor_map(x, NULL, KW_MAP_READ, &p)); need(kw_tensor_unmap(x, p));           \
    tell(kw_tensor_unmap(x, p)))                                                                                    \
  X(address_ended_twice, void *a; need(kw_address_reserve(x, &a)); need(kw_address_release(a));                     \
    tell(kw_address_release(a)))                                                                                    \
  X(device_leaked, (void)other())                                                                                   \
  X(stream_leaked, kw_stream *lost; need(kw_stream_create(device, &lost)))                                          \
  X(event_leaked, kw_event *lost; need(kw_event_create(device, &lost)))                                             \
  X(tensor_leaked, (void)floats(device))                                                                            \
  X(plan_leaked, (void)make_plan())                                                                                 \
  X(generator_leaked, (void)make_generator())                                                                       \
  X(graph_leaked, (void)record())                                                                                   \
  X(host_memory_leaked, void *lost; need(kw_host_alloc(device, 64, &lost)))                                         \
  X(map_leaked, void *lost; need(kw_tensor_map(x, NULL, KW_MAP_READ, &lost)))                                       \
  X(address_leaked, void *lost; need(kw_address_reserve(x, &lost)))                                                 \
  X(tensor_released_while_mapped, void *p; need(kw_tensor_map(x, NULL, KW_MAP_READ, &p)); kw_tensor_release(x))     \
  X(handle_null, tell(kw_tensor_read(NULL, numbers)))                                                               \
  X(op_null, kw_op_info i = {.struct_size = sizeof i}; tell(kw_op_get_info(NULL, &i)))                              \
  X(result_null, tell(kw_tensor_alias(x, NULL)))                                                                    \
  X(text_null, tell(kw_profile_push(NULL)))                                                                         \
  X(host_null, tell(kw_tensor_write(x, NULL)))                                                                      \
  X(struct_null, tell(kw_device_get_info(device, NULL)))                                                            \
  X(struct_size_unset, kw_device_info i = {.struct_size = 0}; tell(kw_device_get_info(device, &i)))                 \
  X(struct_size_absurd, kw_memory_stats s[2]; memset(s, 0x7f, sizeof s); tell(kw_memory_get_stats(device, s)))      \
  X(values_null, kw_tensor *out = NULL; tell(kw_op_call(kw_op_find("add.Tensor"), NULL, NULL, 2, &out, 1)))         \
  X(results_null, const kw_value v[] = {kw_arg_tensor(x), kw_arg_tensor(x)};                                        \
    tell(kw_op_call(kw_op_find("add.Tensor"), NULL, v, 2, NULL, 1)))                                                \
  X(values_too_many, const kw_value v[] = {kw_arg_tensor(x), kw_arg_none(), kw_arg_none()}; kw_tensor *out = NULL;  \
    tell(kw_op_call(kw_op_find("neg"), NULL, v, 3, &out, 1)))                                                       \
  X(value_tensor_null, tell(call_with(kw_arg_tensor(NULL))))                                                        \
  X(value_list_null, tell(call_with(kw_arg_tensor_list(NULL, 2))))                                                  \
  X(value_text_null, tell(call_with(kw_arg_string(NULL))))                                                          \
  X(value_kind_unknown, kw_value v = kw_arg_scalar_i64(1); v.kind = 77; tell(call_with(v)))                         \
  X(value_tag_unknown, kw_value v = kw_arg_int(1); v.tag = 77; tell(call_with(v)))                                  \
  X(value_without_memory, tell(call_with(kw_arg_meta(kw_tensor_describe(x)))))                                      \
  X(tensor_of_another_device, kw_tensor *far = floats(other()), *out = NULL; tell(add_on(NULL, x, far, &out)))      \
  X(stream_of_another_device, kw_tensor *out = NULL; tell(add_on(kw_stream_default(other()), x, x, &out)))          \
  X(event_of_another_device, tell(kw_event_record(event, kw_stream_default(other()))))                              \
  X(graph_of_another_device, tell(kw_graph_launch(graph, kw_stream_default(other()))))                              \
  X(map_for_nothing, void *p; tell(kw_tensor_map(x, NULL, 0, &p)))                                                  \
  X(recording_begun_twice, need(kw_graph_begin(stream)); tell(kw_graph_begin(stream)))                              \
  X(recording_not_begun, kw_graph *none; tell(kw_graph_end(stream, &none)))                                         \
  X(recording_ended_elsewhere, need(kw_graph_begin(stream)); elsewhere(end_recording))                              \
  X(tensor_ended_while_used, need(kw_trace_listen(during_a_call, NULL)); tell(add_on(stream, x, x, &y)))            \
  X(hazard_read_after_write, kw_tensor *out = NULL; need(add_on(stream, x, x, &y)); need(add_on(NULL, y, y, &out))) \
  X(hazard_write_after_write, need(add_on(stream, x, x, &y)); need(add_on(NULL, x, x, &y)))                         \
  X(host_memory_changed, need(kw_stream_call_host(stream, wait_to_go_on, NULL));                                    \
    need(kw_tensor_write_async(x, numbers, stream)); numbers[0] = 9; sem_post(&go_on);                              \
    need(kw_stream_synchronize(stream)))                                                                            \
  X(host_memory_freed_under_copy, void *m; need(kw_host_alloc(device, 64, &m)); memset(m, 0, 64);                   \
    need(kw_tensor_write_async(x, m, stream)); tell(kw_host_free(device, m)))                                       \
  X(hazard_write_after_read, need(add_on(stream, x, x, &y)); need(kw_tensor_write(x, numbers)))

#define FUNCTION(name, ...)         \
  static void misuse_##name(void) { \
    __VA_ARGS__;                    \
  }
MISUSES(FUNCTION)

static const struct {
  const char *name;
  void (*commit)(void);
} misuses[] = {
#define ROW(name, ...) {#name, misuse_##name},
    MISUSES(ROW)};
enum { COUNT = sizeof misuses / sizeof misuses[0] };

/* What a plugin does that it must not: the fixture's, which is told by its environment. */
static const char *const misdeeds[] = {"slot-changes-process",
                                       "slot-changes-umask",
                                       "slot-changes-environment",
                                       "slot-without-result",
                                       "slot-touches-result",
                                       "slot-status-unknown",
                                       "slot-slow",
                                       "slot-number-absurd",
                                       "kernel-size-absurd",
                                       "kernel-changes-process"};
enum { MISDEEDS = sizeof misdeeds / sizeof misdeeds[0] };

/* The whole life of a process with a plugin that misbehaves. */
static int suffer(void) {
  const kw_init_options options = {.struct_size = sizeof options, .flags = KW_INIT_NO_DISCOVERY};
  uint64_t free_bytes, total_bytes;
  kw_tensor *a = NULL, *sum = NULL;
  need(kw_init(&options));
  need(kw_plugin_load(MISBEHAVES_PLUGIN));
  need(kw_device_open("misbehaves:0", &device));
  tell(kw_memory_get_usage(device, &free_bytes, &total_bytes));
  const kw_status made = kw_tensor_create(device, KW_F32, 1, (int64_t[]){4}, &a);
  tell(made);
  if (made == KW_OK) tell(add_on(NULL, a, a, &sum));
  kw_tensor_release(a), kw_tensor_release(sum);
  tell(kw_device_close(device));
  fprintf(stderr, "survived\n");
  return 0;
}

/* The stream has read them by then. */
static void change_numbers(void *unused) {
  (void)unused;
  numbers[0]++;
}

static atomic_bool reached;

static void tell_reached(void *unused) {
  (void)unused;
  atomic_store(&reached, true);
}

/* Ways to know of work on another stream that it is over, beside waits for streams and events. */
static void look_when_it_is_over(void) {
  void *pointer;
  need(add_on(stream, x, x, &y));
  need(kw_stream_call_host(stream, tell_reached, NULL)); /* may run it before it returns */
  while (!atomic_load(&reached)) continue;
  need(kw_tensor_read(y, numbers));
  need(kw_tensor_write_async(x, numbers, stream));
  need(kw_tensor_map(x, stream, KW_MAP_READ, &pointer));
  numbers[0]++;
  need(kw_tensor_unmap(x, pointer));
  need(kw_graph_launch(graph, stream));
  need(kw_graph_destroy(graph));
  need(kw_tensor_read(x, numbers));
  need(kw_tensor_read(y, numbers));
}

/* The whole life of a process that commits one misuse, or none. */
static int commit(const char *name) {
  if (getenv("FIXTURE_MISDEED") != NULL) return suffer();
  const kw_init_options options = {.struct_size = sizeof options, .flags = KW_INIT_NO_DISCOVERY};
  need(kw_init(&options));
  need(kw_plugin_load(CPU_PLUGIN));
  need(kw_device_open("cpu:0", &device));
  need(kw_stream_create(device, &stream));
  need(kw_event_create(device, &event));
  sem_init(&go_on, 0, 0);
  x = floats(device), y = floats(device);
  graph = record();
  for (int i = 0; i < COUNT; i++) {
    if (strcmp(misuses[i].name, name) != 0) continue;
    misuses[i].commit();
    fprintf(stderr, "survived\n");
    return 0; /* exit: leaks are told */
  }
  need(add_on(stream, x, x, &y));
  need(kw_event_record(event, stream));
  need(kw_stream_wait_event(kw_stream_default(device), event));
  need(kw_tensor_read(y, numbers));
  need(kw_graph_launch(graph, stream));
  need(kw_stream_synchronize(stream));
  need(kw_tensor_write_async(x, numbers, stream));
  need(kw_stream_call_host(stream, change_numbers, NULL));
  need(kw_stream_synchronize(stream));
  look_when_it_is_over();
  need(kw_event_destroy(event));
  need(kw_stream_destroy(stream));
  kw_tensor_release(x), kw_tensor_release(y);
  need(kw_device_close(device));
  fprintf(stderr, "survived\n");
  return 0;
}

/* ---- In the test ------------------------------------------------------------------------------------------------- */

static const char *program;

/* What the process that commits a misuse says, in a static buffer. */
static const char *output_of(const char *name) {
  static char text[65536];
  int ends[2];
  assert_int_equal(pipe(ends), 0);
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    dup2(ends[1], STDERR_FILENO);
    close(ends[0]), close(ends[1]);
    setenv("KEYWAY_LAYERS", "validation", 1);
    setenv("XDG_CACHE_HOME", CACHE, 1);
    unsetenv("KEYWAY_LOG");
    if (strcmp(name, "slot-slow") == 0) setenv("KEYWAY_VALIDATION_SLOW_MS", "1", 1); /* a busy machine is as slow */
    setenv("TSAN_OPTIONS", "report_bugs=0", 1);                                      /* misuses are races, too */
    for (int i = 0; i < MISDEEDS; i++) {
      if (strcmp(misdeeds[i], name) == 0) setenv("FIXTURE_MISDEED", name, 1);
    }
    execl(program, program, name, (char *)NULL);
    _exit(127);
  }
  close(ends[1]);
  size_t used = 0;
  for (ssize_t got; (got = read(ends[0], text + used, sizeof text - 1 - used)) > 0;) used += (size_t)got;
  text[used] = '\0';
  close(ends[0]);
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) fail_msg("%s: the process ended with %x: %s", name, status, text);
  return text;
}

static void as_id(const char *name, char id[64]) {
  snprintf(id, 64, "%s", name);
  for (char *c = id; *c != '\0'; c++) {
    if (*c == '_') *c = '-';
  }
}

/* Whether the text has the id, and not only as the beginning of another. */
static bool tells(const char *text, const char *id) {
  char words[96];
  snprintf(words, sizeof words, "validation: %s", id);
  for (const char *at = text; (at = strstr(at, words)) != NULL; at++) {
    if (strspn(at + strlen(words), "abcdefghijklmnopqrstuvwxyz-") == 0) return true;
  }
  return false;
}

static bool is_of_addresses(const char *name) {
  return strncmp(name, "address", strlen("address")) == 0;
}

/* Whether the system reads a process's memory for it, by which a change of that is found: emulators may not. */
static bool memory_is_read(void) {
  int number = 1, copied = 0;
  const struct iovec to = {&copied, sizeof copied}, from = {&number, sizeof number};
  return process_vm_readv(getpid(), &to, 1, &from, 1, 0) == sizeof number && copied == number;
}

static void expect_told(bool of_addresses) {
  int missed = 0;
  for (int i = 0; i < COUNT; i++) {
    if (is_of_addresses(misuses[i].name) != of_addresses) continue;
    if (strcmp(misuses[i].name, "host_memory_changed") == 0 && !memory_is_read()) {
      print_message("host_memory_changed: left out, as there is no process_vm_readv here\n");
      continue;
    }
    char id[64];
    as_id(misuses[i].name, id);
    const char *text = output_of(misuses[i].name);
    if (tells(text, id) && strstr(text, "survived") != NULL) continue;
    print_error("%s was not told:\n%s\n", id, text);
    missed++;
  }
  assert_int_equal(missed, 0);
}

static void each_misuse_is_told_by_its_name(void **state) {
  (void)state;
  expect_told(false);
}

/* Apart, as processes that reserve addresses do not run everywhere. */
static void each_misuse_of_addresses_is_told_by_its_name(void **state) {
  (void)state;
  expect_told(true);
}

/* What was never set, or was a result before and was released. */
static void a_result_that_is_no_tensor_is_to_be_null(void **state) {
  (void)state;
  static const char *const given[] = {"tensor_foreign", "tensor_ended"};
  for (int i = 0; i < 2; i++) {
    const char *text = output_of(given[i]);
    if (strstr(text, "outs[0]") == NULL || strstr(text, "; set it to NULL, and the call makes one") == NULL)
      fail_msg("%s is not told of NULL: %s", given[i], text);
  }
}

static void what_a_plugin_must_not_do_is_told_by_its_name(void **state) {
  (void)state;
  int missed = 0;
  for (int i = 0; i < MISDEEDS; i++) {
    const char *text = output_of(misdeeds[i]);
    if (tells(text, misdeeds[i]) && strstr(text, "survived") != NULL) continue;
    print_error("%s was not told:\n%s\n", misdeeds[i], text);
    missed++;
  }
  assert_int_equal(missed, 0);
}

static void nothing_is_told_of_a_process_that_breaks_no_rule(void **state) {
  (void)state;
  assert_string_equal(output_of("nothing"), "survived\n");
}

/* The table on the page, in whose rows names stand in backticks. */
static void the_page_has_the_same_names(void **state) {
  (void)state;
  char line[1024];
  FILE *page = fopen(PAGE, "r");
  assert_non_null(page);
  bool there[COUNT] = {false}, told[MISDEEDS] = {false}, in_table = false;
  while (fgets(line, sizeof line, page) != NULL) {
    in_table = line[0] == '|' && (in_table || strncmp(line, "| name |", 8) == 0);
    char *second = in_table ? strchr(line + 1, '|') : NULL; /* names stand in the first column */
    if (second != NULL) *second = '\0';
    for (const char *at = line; in_table && (at = strchr(at, '`')) != NULL; at = strchr(at + 1, '`') + 1) {
      bool known = false;
      for (int i = 0; i < COUNT; i++) {
        char id[64];
        as_id(misuses[i].name, id);
        if (strncmp(at + 1, id, strlen(id)) == 0 && at[1 + strlen(id)] == '`') known = there[i] = true;
      }
      for (int i = 0; i < MISDEEDS; i++) {
        const size_t length = strlen(misdeeds[i]);
        if (strncmp(at + 1, misdeeds[i], length) == 0 && at[1 + length] == '`') known = told[i] = true;
      }
      if (!known) fail_msg("%s has a name that is not tried: %s", PAGE, line);
    }
  }
  fclose(page);
  for (int i = 0; i < COUNT; i++) {
    if (!there[i]) fail_msg("%s lacks %s", PAGE, misuses[i].name);
  }
  for (int i = 0; i < MISDEEDS; i++) {
    if (!told[i]) fail_msg("%s lacks %s", PAGE, misdeeds[i]);
  }
}

int main(int argc, char **argv) {
  program = argv[0];
  if (argc == 2 && strcmp(argv[1], "--addresses") == 0) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_misuse_of_addresses_is_told_by_its_name)};
    return cmocka_run_group_tests(tests, NULL, NULL);
  }
  if (argc == 2) return commit(argv[1]);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_misuse_is_told_by_its_name),
      cmocka_unit_test(a_result_that_is_no_tensor_is_to_be_null),
      cmocka_unit_test(what_a_plugin_must_not_do_is_told_by_its_name),
      cmocka_unit_test(nothing_is_told_of_a_process_that_breaks_no_rule),
      cmocka_unit_test(the_page_has_the_same_names),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
