/* SPDX-License-Identifier: Apache-2.0
 *
 * Suite fault: what is left of a device after faults: everything, as before, after those of single calls; and nothing
 * that is in the way of others after the device was lost. Applications' calls.
 */
#include "fault.h"

#include "child.h"
#include "scenarios.h"
#include "soak/resources.h"
#include "soak/soak.h"

#include <keyway/test.h>
#include <stdio.h>

enum { PLACES = 8, IN_GRAPH = 5 /* from this place on graphs write */ };

static kw_soak_call call;

static void order(kw_fault fault, uint64_t nth) {
  kw_fault_check_order(kw_device_order_fault(kw_contract.device, fault, nth), fault, kw_error_message());
}

static kw_graph *record(kw_stream *stream) {
  kw_graph *graph = NULL;
  KW_CHECK_OK(kw_graph_begin(stream));
  for (uint64_t i = IN_GRAPH; i < PLACES; i++) KW_CHECK_OK(kw_soak_call_run(&call, stream, i));
  KW_CHECK_OK(kw_graph_end(stream, &graph));
  return graph;
}

/* ---- After single faults ----------------------------------------------------------------------------------------- */

static struct {
  kw_stream *stream, *other; /* faults come about on the first */
  kw_event *event;
  kw_graph *graph;
  const char *when;
} used;

/* A call of the application's that has to go well. */
static void expect_ok(kw_status status, const char *what) {
  KW_CHECK(status == KW_OK, "%s, %s gave %s: %s; a fault of one call leaves all others as they were", used.when, what,
           kw_status_name(status), kw_error_message());
}
#define EXPECT_OK(what, ...) (kw_test_calls(__FILE__, __LINE__, #__VA_ARGS__), expect_ok((__VA_ARGS__), what))

/* An event is passed when its stream comes there, and no sooner. */
static void use_event(void) {
  const uint64_t wanted = KW_NATIVE_CALL_HOST | KW_NATIVE_EVENTS;
  if ((kw_device_native(kw_contract.device) & wanted) != wanted) return;
  kw_gate *gate = kw_gate_close(used.stream);
  EXPECT_OK("a launch", kw_soak_call_run(&call, used.stream, 0));
  EXPECT_OK("recording an event", kw_event_record(used.event, used.stream));
  const kw_status status = kw_event_query(used.event);
  KW_CHECK(status == KW_ERR_NOT_READY,
           "%s, an event on a stream that was held gave %s when asked whether it has been passed, not "
           "KW_ERR_NOT_READY: events do not go on as before",
           used.when, kw_status_name(status));
  EXPECT_OK("a wait of another stream for an event", kw_stream_wait_event(used.other, used.event));
  EXPECT_OK("a launch behind that", kw_soak_call_run(&call, used.other, 1));
  kw_gate_open(gate);
  EXPECT_OK("waiting for an event", kw_event_synchronize(used.event));
  kw_soak_call_check_over(&call, used.other, 0, "a stream that has waited for an event after a fault");
}

/* Launches, copies, events, graphs and memory on both streams. */
static void use_all(const char *when) {
  enum { SIZE = 3000 };
  used.when = when;
  kw_soak_call_clear(&call, PLACES);
  use_event();
  for (uint64_t i = 0; i < IN_GRAPH; i++) {
    EXPECT_OK("the same launch again", kw_soak_call_run(&call, i % 2 ? used.other : used.stream, i));
  }
  EXPECT_OK("launching a graph", kw_graph_launch(used.graph, used.stream));
  EXPECT_OK("waiting for the stream", kw_stream_synchronize(used.stream));
  EXPECT_OK("waiting for another stream", kw_stream_synchronize(used.other));
  kw_soak_call_check(&call, PLACES, "after a fault that had been told, launch", 1);
  kw_tensor *bytes = kw_test_bytes(SIZE, 5);
  kw_test_expect_bytes(bytes, 5, "a round trip after a fault");
  kw_tensor_release(bytes);
  EXPECT_OK("waiting for the device", kw_device_synchronize(kw_contract.device));
}

static void fail_late(void) {
  order(KW_FAULT_LATE, 1);
  KW_CHECK_OK(kw_soak_call_run(&call, used.stream, 0));
  KW_CHECK_OK(kw_event_record(used.event, used.stream));
  KW_CHECK_STATUS(kw_stream_synchronize(used.stream), KW_ERR_INTERNAL);
}

static void fail_allocation(void) {
  enum { COUNT = 1 << 19 };
  order(KW_FAULT_ALLOC, 1);
  kw_tensor_release(kw_test_f32(COUNT, 1)); /* the library asks a second time */
}

static kw_memory_stats trimmed(void) {
  KW_CHECK_OK(kw_memory_trim(kw_contract.device));
  return kw_test_stats();
}

static void open_used(void) {
  kw_child_open_device_with(KW_INIT_TEST);
  kw_soak_call_make(PLACES, &call);
  used.stream = kw_test_stream();
  used.other = kw_test_stream();
  used.event = kw_test_event();
  used.graph = record(used.stream);
}

static void close_used(void) {
  KW_CHECK_OK(kw_graph_destroy(used.graph));
  KW_CHECK_OK(kw_event_destroy(used.event));
  KW_CHECK_OK(kw_stream_destroy(used.stream));
  KW_CHECK_OK(kw_stream_destroy(used.other));
  kw_soak_call_free(&call);
  KW_CHECK_OK(kw_device_close(kw_contract.device));
}

int kw_child_fault_after(void) {
  open_used();
  use_all("before any fault");
  const kw_memory_stats before = trimmed();
  for (int round = 0; round < 2; round++) {
    fail_late();
    use_all("after a launch had failed late and a wait had told it");
    fail_allocation();
    use_all("after an allocation had failed");
    const kw_memory_stats after = trimmed();
    KW_CHECK(after.held == before.held && after.live == before.live,
             "after faults %lld bytes and %lld allocations more are held than before",
             (long long)(after.held - before.held), (long long)(after.live - before.live));
  }
  close_used();
  return 0;
}

/* A fault that has been told is over: memory, copies, events, graphs and the same launch are as before on its stream
 * and on others, nothing tells of it again, and the next one is told like the first. */
void kw_contract_fault_all_as_before(void **state) {
  (void)state;
  kw_fault_run("fault_after");
}

/* ---- Graphs whose launch failed ---------------------------------------------------------------------------------- */

/* All that the graph holds, and beside it what it does not. */
static void check_graph(const char *what) {
  for (uint64_t place = 0; place < IN_GRAPH; place++) KW_CHECK_OK(kw_soak_call_run(&call, used.stream, place));
  KW_CHECK_OK(kw_stream_synchronize(used.stream));
  kw_soak_call_check(&call, PLACES, what, 1);
}

/* Launches the graph while a fault is ordered, which a plugin may count its launches for or not; but when nobody is
 * told of a failure, there was none. */
static void refuse(kw_fault fault) {
  kw_soak_call_clear(&call, PLACES);
  order(fault, 1);
  kw_test_calls(__FILE__, __LINE__, "kw_graph_launch");
  kw_status status = kw_graph_launch(used.graph, used.stream);
  if (status == KW_OK) status = kw_stream_synchronize(used.stream);
  order(KW_FAULT_NONE, 0);
  if (status == KW_OK)
    check_graph("of calls, the last three of them in a graph of whose launch no failure was told, number");
  KW_CHECK_OK(kw_stream_synchronize(used.stream));
  KW_CHECK_OK(kw_device_synchronize(kw_contract.device));
}

/* Launches the graph on two streams, the second time while a failure of the first may still have to be told: that is
 * the first stream's, and the second launch computes what it should. */
static void refuse_first(void) {
  kw_soak_call_clear(&call, PLACES);
  order(KW_FAULT_LATE, 1);
  kw_test_calls(__FILE__, __LINE__, "kw_graph_launch");
  const kw_status first = kw_graph_launch(used.graph, used.stream);
  const kw_status second = kw_graph_launch(used.graph, used.other);
  if (second == KW_OK) {
    used.when = "after the launch of a graph before it on another stream had failed";
    EXPECT_OK("waiting for the stream of a launch of it", kw_stream_synchronize(used.other));
  }
  if (first == KW_OK) (void)kw_stream_synchronize(used.stream);
  order(KW_FAULT_NONE, 0);
  if (second == KW_OK)
    check_graph("of calls, the last three of them in a graph whose launch before, on another stream, failed, number");
  KW_CHECK_OK(kw_device_synchronize(kw_contract.device));
}

int kw_child_fault_graphs(void) {
  static const kw_fault faults[] = {KW_FAULT_LATE, KW_FAULT_ALLOC, KW_FAULT_LATE};
  open_used();
  for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
    refuse(faults[i]);
    for (int again = 0; again < 2; again++) {
      kw_soak_call_clear(&call, PLACES);
      used.when = "after a launch of it was refused or had failed";
      EXPECT_OK("launching a graph", kw_graph_launch(used.graph, again ? used.other : used.stream));
      EXPECT_OK("waiting for the device", kw_device_synchronize(kw_contract.device));
      check_graph("of calls, the last three of them in a graph an earlier launch of which failed, number");
    }
  }
  for (int i = 0; i < 4; i++) refuse_first();
  use_all("after graphs' launches had failed");
  close_used();
  return 0;
}

/* A graph a launch of which was refused or has failed is launched again, and computes all that it holds; the failure is
 * told, and of the stream of that launch alone. */
void kw_contract_fault_graphs_outlast_refusal(void **state) {
  (void)state;
  kw_fault_run("fault_graphs");
}

/* ---- A lost device with all that it had -------------------------------------------------------------------------- */

enum { STREAMS = 4, ROUNDS = 4 };

static void give_back(const char *object, kw_status status) {
  KW_CHECK(status == KW_OK || status == KW_ERR_DEVICE_LOST, "%s of a device that was lost and closed gave %s: %s",
           object, kw_status_name(status), kw_error_message());
}

/* Another device of the plugin, where there is one: it has to compute as ever. */
static struct {
  kw_device *device;
  kw_stream *stream;
  kw_soak_call call;
} other;

static void open_other(void) {
  kw_device *const own = kw_contract.device;
  const char *name = NULL;
  other.device = kw_test_other_device(&name);
  if (!other.device) return;
  kw_contract.device = other.device;
  other.stream = kw_test_stream();
  kw_soak_call_make(STREAMS, &other.call);
  kw_contract.device = own;
}

static void use_other(const char *when) {
  char what[120];
  if (!other.device) return;
  kw_soak_call_clear(&other.call, STREAMS);
  for (uint64_t i = 0; i < STREAMS; i++) {
    kw_status status = kw_soak_call_run(&other.call, other.stream, i);
    if (status == KW_OK) status = kw_stream_synchronize(other.stream);
    KW_CHECK(status == KW_OK, "%s, a launch on another device of the plugin gave %s: %s; it was not lost", when,
             kw_status_name(status), kw_error_message());
  }
  snprintf(what, sizeof what, "on another device of the plugin, %s, launch", when);
  kw_soak_call_check(&other.call, STREAMS, what, 1);
}

static void close_other(void) {
  if (!other.device) return;
  KW_CHECK_OK(kw_stream_destroy(other.stream));
  kw_soak_call_free(&other.call);
  KW_CHECK_OK(kw_device_close(other.device));
}

/* The device is lost with work on its streams, closed with all that belongs to it, which is given back later, and
 * opened again. */
static void lose_all(void) {
  kw_stream *streams[STREAMS];
  kw_event *events[STREAMS];
  kw_tensor *bytes = kw_test_bytes(10000, 1);
  kw_soak_call_make(PLACES, &call);
  kw_graph *graph = record(kw_stream_default(kw_contract.device));
  for (int i = 0; i < STREAMS; i++) {
    streams[i] = kw_test_stream();
    events[i] = kw_test_event();
    KW_CHECK_OK(kw_soak_call_run(&call, streams[i], (uint64_t)i)); /* what a stream gets with its first work it has */
  }
  KW_CHECK_OK(kw_device_synchronize(kw_contract.device));
  order(KW_FAULT_LOSE, 1);
  for (int i = 0; i < STREAMS; i++) { /* these may be told of it already */
    (void)kw_soak_call_run(&call, streams[i], (uint64_t)i);
    (void)kw_event_record(events[i], streams[i]);
    (void)kw_graph_launch(graph, streams[i]);
  }
  KW_CHECK_STATUS(kw_device_synchronize(kw_contract.device), KW_ERR_DEVICE_LOST);
  use_other("while the first one was lost");
  KW_CHECK_OK(kw_device_close(kw_contract.device));
  for (int i = 0; i < STREAMS; i++) {
    give_back("destroying a stream", kw_stream_destroy(streams[i]));
    give_back("destroying an event", kw_event_destroy(events[i]));
  }
  give_back("destroying a graph", kw_graph_destroy(graph));
  kw_tensor_release(bytes);
  kw_soak_call_free(&call);
  KW_CHECK_OK(kw_device_open(kw_contract.device_name, &kw_contract.device));
  kw_test_usable("a round trip after the device was lost, closed with all that it had, and opened again");
  use_other("after the first one was lost and opened again");
}

int kw_child_fault_live(void) {
  kw_resources held[ROUNDS + 1];
  kw_child_open_device_with(KW_INIT_TEST);
  open_other();
  for (int round = 0; round <= ROUNDS; round++) {
    lose_all();
    kw_resources_take(round > 0 ? &held[round - 1] : NULL, &held[round]);
  }
  for (kw_resource r = KW_RESOURCE_DESCRIPTORS; r <= KW_RESOURCE_THREADS; r++) {
    bool grows = true;
    for (int i = 1; i <= ROUNDS; i++)
      grows = grows && held[i - 1].held[r] >= 0 && held[i].held[r] > held[i - 1].held[r];
    KW_CHECK(!grows, "each time that the device was lost and closed the process kept %s: %lld in %d times",
             kw_resource_name(r), (long long)(held[ROUNDS].held[r] - held[0].held[r]), ROUNDS);
  }
  close_other();
  KW_CHECK_OK(kw_device_close(kw_contract.device));
  return 0;
}
