/* SPDX-License-Identifier: Apache-2.0
 *
 * Suite exit: processes that fork, and processes that end with a device open, work in flight and threads in calls. Each
 * scenario has a process of its own; one that hangs is ended by the case's time limit.
 */
#include "child.h"
#include "scenarios.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- What scenarios use ------------------------------------------------------------------------------------------ */

/* Objects of every kind on the device. */
typedef struct belongings {
  kw_stream *stream;
  kw_event *event;
  kw_tensor *tensor, *view;
  kw_plan *plan; /* NULL where the device has no add */
  kw_graph *graph;
  kw_generator *generator;
  unsigned char bytes[4096];
} belongings;

static belongings mine;

static void gather(void) {
  kw_child_open_device();
  const int64_t shape = sizeof mine.bytes / sizeof(float);
  mine.stream = kw_test_stream();
  mine.event = kw_test_event();
  KW_CHECK_OK(kw_tensor_create_on(mine.stream, KW_F32, 1, &shape, &mine.tensor));
  KW_CHECK_OK(kw_tensor_slice(mine.tensor, 0, 0, 4, 1, &mine.view));
  KW_CHECK_OK(kw_tensor_write(mine.tensor, mine.bytes));
  KW_CHECK_OK(kw_generator_create(kw_contract.device, 1, &mine.generator));
  KW_CHECK_OK(kw_graph_begin(mine.stream));
  KW_CHECK_OK(kw_graph_end(mine.stream, &mine.graph));
  if (!kw_test_has("add.Tensor")) return;
  kw_value args[] = {kw_arg_tensor(mine.tensor), kw_arg_tensor(mine.tensor)};
  kw_tensor *sum = NULL;
  KW_CHECK_OK(kw_plan_make(kw_op_find("add.Tensor"), mine.stream, args, 2, &sum, 1, NULL, &mine.plan));
  KW_CHECK_OK(kw_op_call(kw_op_find("add.Tensor"), mine.stream, args, 2, &sum, 1));
  KW_CHECK_OK(kw_stream_synchronize(mine.stream));
  kw_tensor_release(sum);
}

/* Fills the queues of several streams and waits for none. */
static void enqueue_much(void) {
  enum { STREAMS = 4, ROUNDS = 64, SIZE = 1 << 18 };
  static unsigned char bytes[STREAMS][SIZE];
  const int64_t shape = SIZE / sizeof(float);
  for (int i = 0; i < STREAMS; i++) {
    kw_stream *stream = kw_test_stream();
    kw_tensor *tensor = NULL;
    KW_CHECK_OK(kw_tensor_create_on(stream, KW_F32, 1, &shape, &tensor));
    for (int round = 0; round < ROUNDS; round++) {
      KW_CHECK_OK(kw_tensor_write_async(tensor, bytes[i], stream));
      if (kw_test_has("add.Tensor")) {
        kw_tensor *sum = NULL;
        kw_test_add(stream, tensor, tensor, &sum);
        kw_tensor_release(sum);
      }
      KW_CHECK_OK(kw_tensor_read_async(tensor, bytes[i], stream));
    }
  }
}

/* Calls that go on for ever, all kinds of locks taken and given back. */
static void *work_without_end(void *user) {
  (void)user;
  for (;;) {
    kw_tensor *tensor = NULL, *sum = NULL;
    const int64_t shape = 256;
    unsigned char bytes[1024] = {0};
    kw_stream *stream = NULL;
    if (kw_stream_create(kw_contract.device, &stream) != KW_OK) continue;
    if (kw_tensor_create_on(stream, KW_F32, 1, &shape, &tensor) == KW_OK) {
      kw_value args[] = {kw_arg_tensor(tensor), kw_arg_tensor(tensor)};
      kw_tensor_write_async(tensor, bytes, stream);
      kw_op_call(kw_op_find("add.Tensor"), stream, args, 2, &sum, 1);
      kw_tensor_release(sum);
      kw_tensor_release(tensor);
    }
    kw_stream_destroy(stream);
  }
  return NULL;
}

static void start_work(int threads) {
  for (int i = 0; i < threads; i++) {
    pthread_t thread;
    KW_NEED(pthread_create(&thread, NULL, work_without_end, NULL) == 0, "threads");
    pthread_detach(thread);
  }
}

static void reap(pid_t pid, const char *who) {
  int status = 0;
  pid_t ended;
  while ((ended = waitpid(pid, &status, 0)) < 0 && errno == EINTR) continue;
  KW_CHECK(ended == pid, "%s cannot be waited for", who);
  KW_CHECK(!WIFSIGNALED(status), "%s was ended by signal %d (%s)", who, WTERMSIG(status), strsignal(WTERMSIG(status)));
  if (WEXITSTATUS(status) != 0) _exit(1); /* it has said why */
}

int kw_child_usable(void) {
  kw_child_open_device();
  kw_test_usable("a round trip in a fresh process");
  return 0;
}

/* ---- Fork -------------------------------------------------------------------------------------------------------- */

/* In the forked child: no exit handlers, no unwinding. */
static void expect_refused(const char *call, kw_status status) {
  if (status == KW_ERR_UNSUPPORTED) return;
  fprintf(stderr, "in a forked child %s gave %s, not %s", call, status == KW_OK ? "KW_OK" : kw_status_name(status),
          kw_status_name(KW_ERR_UNSUPPORTED));
  fflush(stderr);
  _exit(1);
}
#define EXPECT_REFUSED(call) expect_refused(#call, (call))

static void nothing(void *user) {
  (void)user;
}

static void forked_child(void) {
  const int64_t shape = 16;
  kw_device *device = kw_contract.device, *again = NULL;
  kw_stream *stream = NULL;
  kw_event *event = NULL;
  kw_tensor *tensor = NULL;
  kw_plan *plan = NULL;
  kw_graph *graph = NULL;
  kw_generator *generator = NULL;
  uint64_t ns = 0;
  uint32_t count = 0;
  char text[64];
  kw_memory_stats stats = {.struct_size = sizeof stats};
  kw_counters counters = {.struct_size = sizeof counters};
  kw_generator_state numbers = {.struct_size = sizeof numbers};
  kw_value args[] = {kw_arg_tensor(mine.tensor), kw_arg_tensor(mine.tensor)};
  EXPECT_REFUSED(kw_init(NULL));
  EXPECT_REFUSED(kw_plugin_load(kw_contract.plugin_path));
  EXPECT_REFUSED(kw_plugin_count(&count));
  EXPECT_REFUSED(kw_device_count(&count));
  EXPECT_REFUSED(kw_device_open(kw_contract.device_name, &again));
  EXPECT_REFUSED(kw_device_synchronize(device));
  EXPECT_REFUSED(kw_device_get_counters(device, &counters));
  EXPECT_REFUSED(kw_memory_get_stats(device, &stats));
  EXPECT_REFUSED(kw_memory_trim(device));
  EXPECT_REFUSED(kw_stream_create(device, &stream));
  EXPECT_REFUSED(kw_stream_synchronize(mine.stream));
  EXPECT_REFUSED(kw_stream_query(mine.stream));
  EXPECT_REFUSED(kw_stream_call_host(mine.stream, nothing, NULL));
  EXPECT_REFUSED(kw_event_create(device, &event));
  EXPECT_REFUSED(kw_event_record(mine.event, mine.stream));
  EXPECT_REFUSED(kw_event_query(mine.event));
  EXPECT_REFUSED(kw_event_synchronize(mine.event));
  EXPECT_REFUSED(kw_stream_wait_event(mine.stream, mine.event));
  EXPECT_REFUSED(kw_event_elapsed(mine.event, mine.event, &ns));
  EXPECT_REFUSED(kw_tensor_create(device, KW_F32, 1, &shape, &tensor));
  EXPECT_REFUSED(kw_tensor_create_on(mine.stream, KW_F32, 1, &shape, &tensor));
  EXPECT_REFUSED(kw_tensor_write(mine.tensor, mine.bytes));
  EXPECT_REFUSED(kw_tensor_read(mine.tensor, mine.bytes));
  EXPECT_REFUSED(kw_tensor_write_async(mine.tensor, mine.bytes, mine.stream));
  EXPECT_REFUSED(kw_tensor_read_async(mine.tensor, mine.bytes, mine.stream));
  EXPECT_REFUSED(kw_tensor_to(mine.tensor, device, &tensor));
  EXPECT_REFUSED(kw_tensor_format(mine.tensor, text, sizeof text));
  EXPECT_REFUSED(kw_op_call(kw_op_find("add.Tensor"), mine.stream, args, 2, &tensor, 1));
  EXPECT_REFUSED(kw_plan_make(kw_op_find("add.Tensor"), mine.stream, args, 2, &tensor, 1, NULL, &plan));
  if (mine.plan) EXPECT_REFUSED(kw_plan_run(mine.plan, mine.stream, args, 2, &tensor, 1));
  EXPECT_REFUSED(kw_graph_begin(mine.stream));
  EXPECT_REFUSED(kw_graph_end(mine.stream, &graph));
  EXPECT_REFUSED(kw_graph_launch(mine.graph, mine.stream));
  EXPECT_REFUSED(kw_generator_create(device, 1, &generator));
  EXPECT_REFUSED(kw_generator_seed(mine.generator, 2));
  EXPECT_REFUSED(kw_generator_get_state(mine.generator, &numbers));
  EXPECT_REFUSED(kw_generator_set_state(mine.generator, &numbers));
  EXPECT_REFUSED(kw_graph_destroy(mine.graph));
  EXPECT_REFUSED(kw_event_destroy(mine.event));
  EXPECT_REFUSED(kw_stream_destroy(mine.stream));
  kw_plan_destroy(mine.plan);
  kw_generator_destroy(mine.generator);
  kw_tensor_release(mine.view);
  kw_tensor_release(mine.tensor);
  EXPECT_REFUSED(kw_device_close(device));
  _exit(0);
}

int kw_child_fork_refused(void) {
  enum { FORKS = 20 };
  gather();
  start_work(2); /* whatever lock they hold at the moment of the fork is held in the child for ever */
  for (int i = 0; i < FORKS; i++) {
    pid_t pid = fork();
    KW_NEED(pid >= 0, "processes");
    if (pid == 0) forked_child();
    reap(pid, "a forked child whose every call should be refused");
    kw_test_usable("a round trip in the parent after a fork");
  }
  return 0;
}

/* In a forked child everything that reaches a device is refused, and nothing hangs or crashes; the parent goes on. */
void kw_contract_exit_fork_refused(void **state) {
  (void)state;
  kw_test_child("fork_refused");
}

int kw_child_fork_exec(void) {
  gather();
  enqueue_much();
  pid_t pid = fork();
  KW_NEED(pid >= 0, "processes");
  if (pid == 0) {
    kw_child_command command;
    kw_child_command_make("usable", getppid(), &command);
    execv("/proc/self/exe", (char **)command.argv);
    _exit(1);
  }
  reap(pid, "a program that a forked child executed");
  kw_test_usable("a round trip in the parent");
  return 0;
}

/* A program executed by a forked child can use the device, while the parent has it open and busy. */
void kw_contract_exit_fork_then_exec(void **state) {
  (void)state;
  kw_test_child("fork_exec");
}

int kw_child_fork_first(void) {
  pid_t pid = fork();
  KW_NEED(pid >= 0, "processes");
  kw_child_open_device();
  kw_test_usable("a round trip in a process that had forked before it used Keyway");
  KW_CHECK_OK(kw_device_close(kw_contract.device));
  if (pid == 0) _exit(0);
  reap(pid, "a child that was forked before anybody used Keyway");
  return 0;
}

/* Fork first, use Keyway afterwards: both processes can. */
void kw_contract_exit_fork_before_start(void **state) {
  (void)state;
  kw_test_child("fork_first");
}

/* ---- Exit -------------------------------------------------------------------------------------------------------- */

int kw_child_exit_in_flight(void) {
  gather();
  enqueue_much();
  return 0;
}

/* Exit with full queues and everything still open. */
void kw_contract_exit_work_in_flight(void **state) {
  (void)state;
  kw_test_child("exit_in_flight");
}

static void wait_for_ever(void *user) {
  (void)user;
  for (;;) pause();
}

int kw_child_exit_held_up(void) {
  gather();
  kw_stream *stream = kw_test_stream();
  KW_CHECK_OK(kw_stream_call_host(stream, wait_for_ever, NULL));
  KW_CHECK_OK(kw_tensor_write_async(mine.tensor, mine.bytes, stream));
  return 0;
}

/* Exit while a host function holds up a stream for good. */
void kw_contract_exit_stream_held_up(void **state) {
  (void)state;
  kw_test_need(KW_NATIVE_CALL_HOST);
  kw_test_child("exit_held_up");
}

static void *exit_main(void *user) {
  (void)user;
  exit(0);
}

int kw_child_exit_elsewhere(void) {
  gather();
  enqueue_much();
  start_work(2);
  pthread_t thread;
  KW_NEED(pthread_create(&thread, NULL, exit_main, NULL) == 0, "threads");
  work_without_end(NULL);
  return 1;
}

/* Exit from one thread while others, the main thread among them, are in calls. */
void kw_contract_exit_from_other_thread(void **state) {
  (void)state;
  kw_test_child("exit_elsewhere");
}

static void exit_now(void *user) {
  (void)user;
  exit(0);
}

int kw_child_exit_in_function(void) {
  gather();
  kw_stream *stream = kw_test_stream();
  KW_CHECK_OK(kw_stream_call_host(stream, exit_now, NULL));
  kw_stream_synchronize(stream);
  pause();
  return 1;
}

/* Exit from a host function, on whatever thread the plugin runs it. */
void kw_contract_exit_from_host_function(void **state) {
  (void)state;
  kw_test_child("exit_in_function");
}

/* Runs after Keyway's own exit handler, since it was registered earlier. */
static void after_keyway(void) {
  kw_device *device = NULL;
  kw_status status = kw_device_open(kw_contract.device_name, &device);
  kw_tensor_release(mine.view);
  if (status == KW_ERR_UNSUPPORTED) return;
  fprintf(stderr, "after Keyway's exit handler kw_device_open gave %s, not %s",
          status == KW_OK ? "KW_OK" : kw_status_name(status), kw_status_name(KW_ERR_UNSUPPORTED));
  fflush(stderr);
  _exit(1);
}

/* Runs before it. */
static void before_keyway(void) {
  kw_test_usable("a round trip in an exit handler");
  enqueue_much();
}

int kw_child_exit_handlers(void) {
  KW_CHECK(atexit(after_keyway) == 0, "atexit failed");
  gather();
  KW_CHECK(atexit(before_keyway) == 0, "atexit failed");
  return 0;
}

/* An exit handler that was registered after the device was opened can still use it; one from before Keyway started is
 * told that it is too late. */
void kw_contract_exit_in_exit_handlers(void **state) {
  (void)state;
  kw_test_child("exit_handlers");
}
