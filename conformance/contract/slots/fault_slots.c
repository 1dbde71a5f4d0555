/* SPDX-License-Identifier: Apache-2.0
 *
 * Suite fault: late errors, a lost device and refused memory as a small host sees them, to which the plugin tells
 * exactly what and when; Keyway tells applications less of it, and closes what does not close.
 */
#include "launch.h"

#include "contract/fault.h"
#include "contract/scenarios.h"

#include <stdio.h>
#include <unistd.h>

static void order(kw_fault fault, uint64_t nth) {
  kw_guest_seen.error[0] = 0;
  kw_fault_check_order(KW_SLOT(test, order, fault, nth), fault, kw_guest_seen.error);
}

static kw_launch *draw(void) {
  kw_launch *launch = kw_launch_draw();
  if (launch) return launch;
  fprintf(stderr,
          "late errors: not tested without Keyway between; the plugin has no kernel that this suite can launch");
  exit(KW_CHILD_NOT_TRIED);
}

/* ---- A late error ------------------------------------------------------------------------------------------------ */

static bool means(kw_status status, kw_status want) {
  return status == want ||
         KW_STATUS_CLASS(status) == (want == KW_ERR_DEVICE_LOST ? (uint32_t)KW_CLASS_LOST : (uint32_t)KW_CLASS_BUG);
}

static kw_status wait_for(void *stream) {
  kw_test_calls(__FILE__, __LINE__, "stream.synchronize");
  return KW_SLOT(stream, synchronize, stream, KW_WAIT_FOREVER);
}

/* Nothing has failed that was not told before. */
static void expect_untold(void *stream, uint64_t token) {
  kw_bench_report report = {0};
  const kw_status status = wait_for(stream);
  const uint32_t told = kw_bench_reports(&report, 1);
  KW_CHECK(status == KW_OK, "a wait for stream %llu gave %s, and nothing has failed on it that was not told before",
           (unsigned long long)token, kw_status_name(status));
  KW_CHECK(told == 0, "the plugin told of a failure (%s) of stream %llu; nothing has failed that was not told before",
           kw_status_name(report.status), (unsigned long long)report.token);
}

/* This launch has failed on the stream, of which a wait has given `status`: it is told by then, by that or through the
 * host, of this stream, of this launch or of an unknown one. Which one lost the device is anybody's guess. */
static void expect_told(kw_status status, uint64_t token, uint64_t call_id, kw_status want) {
  kw_bench_report report = {0};
  const uint32_t told = kw_bench_reports(&report, 1);
  KW_CHECK(
      told > 0 || status != KW_OK,
      "a launch failed after its slot had returned KW_OK, and nobody was told: the wait for its stream gave KW_OK, "
      "and report_async_error was not called");
  KW_CHECK(told < 2, "one failure of a launch was told %u times", told);
  KW_CHECK(status == KW_OK || means(status, want), "the wait for a stream where a launch failed gave %s, not %s",
           kw_status_name(status), kw_status_name(want));
  if (told == 0) return;
  KW_CHECK(means(report.status, want), "a launch that was to fail with %s was said to have failed with %s",
           kw_status_name(want), kw_status_name(report.status));
  KW_CHECK(report.token == token, "a launch failed on stream %llu, and the plugin told of stream %llu",
           (unsigned long long)token, (unsigned long long)report.token);
  KW_CHECK(report.call_id == call_id || report.call_id == 0 || want == KW_ERR_DEVICE_LOST,
           "launch %d failed, and the plugin blamed launch %d", (int)call_id, (int)report.call_id);
}

int kw_child_fault_told(void) {
  enum { LAUNCHES = 4 };
  kw_bench_open();
  kw_launch *launch = draw();
  static const uint64_t tokens[2] = {301, (UINT64_C(1) << 40) + 301}; /* which differ in their upper half alone */
  void *streams[2] = {kw_bench_stream(tokens[0]), kw_bench_stream(tokens[1])};
  kw_mem results[LAUNCHES];
  for (uint64_t fails = 0; fails < LAUNCHES; fails++) {
    for (int i = 0; i < LAUNCHES; i++) results[i] = kw_launch_result(launch);
    order(KW_FAULT_LATE, fails + 1);
    /* Held: whichever fails is no longer the last one that was enqueued. */
    kw_gate *gates[2] = {NULL};
    for (int i = 0; i < 2 && kw_bench.guest.stream->call_host; i++) gates[i] = kw_bench_shut(streams[i]);
    for (uint64_t i = 0; i < LAUNCHES; i++) kw_launch_run(launch, streams[i % 2], results[i], 200 + i);
    for (int i = 0; i < 2 && gates[i]; i++) kw_gate_open(gates[i]);
    kw_status statuses[2];
    for (int i = 0; i < 2; i++) statuses[i] = wait_for(streams[i]);
    KW_CHECK(statuses[1 - fails % 2] == KW_OK, "a launch failed on stream %d, and the wait for stream %d gave %s",
             (int)(fails % 2) + 1, (int)(1 - fails % 2) + 1, kw_status_name(statuses[1 - fails % 2]));
    expect_told(statuses[fails % 2], tokens[fails % 2], 200 + fails, KW_ERR_INTERNAL);
    for (uint64_t i = 0; i < 2; i++) expect_untold(streams[i], tokens[i]);
    for (uint64_t i = 0; i < LAUNCHES; i++) {
      if (i % 2 != fails % 2)
        kw_launch_expect(launch, streams[0], results[i],
                         "the result of a launch on another stream than "
                         "the one that failed");
      kw_bench_free(results[i]);
    }
  }
  for (int i = 0; i < 2; i++) kw_bench_end_stream(streams[i]);
  kw_launch_free(launch);
  kw_bench_close();
  return 0;
}

/* A launch that fails late is told once, of its stream and with its call_id; other streams know nothing of it, and the
 * device closes. */
void kw_contract_fault_names_stream_and_launch(void **state) {
  (void)state;
  kw_fault_run("fault_told");
}

/* ---- A lost device ----------------------------------------------------------------------------------------------- */

enum { STREAMS = 6, ROUNDS = 4 };

/* It may say once more that the device is lost, and has to do what it can. */
static void give_back(const char *slot, kw_status status) {
  KW_CHECK(status == KW_OK || means(status, KW_ERR_DEVICE_LOST), "%s of a lost device gave %s: %s", slot,
           kw_status_name(status), kw_guest_seen.error);
}

/* Opened, lost and closed. */
static void lose(void) {
  kw_launch *launch = draw();
  void *streams[STREAMS], *event = kw_bench.guest.event ? kw_bench_event() : NULL;
  for (uint64_t i = 0; i < STREAMS; i++) streams[i] = kw_bench_stream(1 + i);
  const kw_mem result = kw_launch_result(launch);
  order(KW_FAULT_LOSE, 1);
  kw_launch_run(launch, streams[0], result, 300);
  expect_told(wait_for(streams[0]), 1, 300, KW_ERR_DEVICE_LOST);
  if (event) give_back("event.destroy", KW_SLOT(event, destroy, event));
  for (int i = 0; i < STREAMS; i++) give_back("stream.destroy", KW_SLOT(stream, destroy, streams[i]));
  give_back("memory.dealloc", KW_SLOT(memory, dealloc, result));
  kw_launch_end(launch, give_back);
  kw_bench_reopen();
  (void)kw_bench_reports(NULL, 0); /* what was said of the streams once more while they ended */
}

/* KW_OK when no more threads run than a few more than at first: some end a little after what they belong to. */
static kw_status ask_threads(void *first) {
  return kw_test_count_threads() < *(int *)first + (ROUNDS - 1) * STREAMS / 2 ? KW_OK : KW_ERR_NOT_READY;
}

int kw_child_fault_ends(void) {
  kw_bench_open();
  lose();
  int threads = kw_test_count_threads();
  for (int round = 1; round < ROUNDS; round++) lose();
  kw_bench_ask(ask_threads, &threads, "the end of threads that came with streams of a lost device, which was closed");
  kw_launch_free(draw()); /* which launches it */
  kw_bench_close();
  return 0;
}

/* A device that is lost closes, its streams end, and opened again it works, as often as that happens; closed with all
 * that an application has of it, too, and in the way of no other device. */
void kw_contract_fault_lost_device_closes(void **state) {
  (void)state;
  kw_fault_run("fault_ends");
  kw_fault_run("fault_live");
}

/* ---- Work that is lost with it ----------------------------------------------------------------------------------- */

/* How a host waits for work. */
typedef enum waiting { BY_STREAM, BY_LIMIT, BY_EVENT, BY_EVENT_LIMIT, BY_QUERY, BY_OTHER_STREAM, WAITINGS } waiting;

static kw_status ask_event(void *event) {
  return KW_SLOT(event, query, event);
}

static kw_status wait_by(waiting how, void *stream, void *event, void *other) {
  const uint64_t minute = UINT64_C(60000000000);
  kw_status status = KW_OK;
  switch (how) {
    case BY_STREAM:
      return wait_for(stream);
    case BY_LIMIT:
      return KW_SLOT(stream, synchronize, stream, minute);
    case BY_EVENT:
      return KW_SLOT(event, synchronize, event, KW_WAIT_FOREVER);
    case BY_EVENT_LIMIT:
      return KW_SLOT(event, synchronize, event, minute);
    case BY_QUERY: /* tells that it is over; the stream's wait, how */
      status = kw_bench_ask(ask_event, event, "an event behind work that was lost with its device");
      return status == KW_OK ? wait_for(stream) : status;
    default:
      status = KW_SLOT(event, wait, other, event);
      return status == KW_OK ? wait_for(other) : status;
  }
}

static const char *const waiting_names[WAITINGS] = {"a wait for its stream",
                                                    "a wait for its stream that has a limit",
                                                    "a wait for an event behind it",
                                                    "a wait for an event behind it that has a limit",
                                                    "asking an event behind it, and waiting for its stream",
                                                    "a wait for another stream, which waits for an event behind it"};

/* Work is enqueued, lost with the device, and waited for. */
static void lose_work(waiting how) {
  kw_launch *launch = draw();
  void *stream = kw_bench_stream(1), *other = kw_bench_stream(2);
  void *event = kw_bench.guest.event ? kw_bench_event() : NULL;
  const kw_mem result = kw_launch_result(launch);
  order(KW_FAULT_LOSE, 1);
  kw_launch_run(launch, stream, result, 300);
  kw_status status = event ? KW_SLOT(event, record, event, stream) : KW_OK;
  kw_test_calls(__FILE__, __LINE__, waiting_names[how]);
  if (status == KW_OK) status = wait_by(how, stream, event, other);
  KW_CHECK(
      means(status, KW_ERR_DEVICE_LOST) || (status == KW_OK && kw_bench_reports(NULL, 0) > 0),
      "a launch was lost with its device, and %s gave %s, the host being told nothing by then: who waited so takes "
      "what is in memory for its result",
      waiting_names[how], kw_status_name(status));
  if (event) give_back("event.destroy", KW_SLOT(event, destroy, event));
  give_back("stream.destroy", KW_SLOT(stream, destroy, stream));
  give_back("stream.destroy", KW_SLOT(stream, destroy, other));
  give_back("memory.dealloc", KW_SLOT(memory, dealloc, result));
  kw_launch_end(launch, give_back);
  kw_bench_reopen();
  (void)kw_bench_reports(NULL, 0);
}

int kw_child_fault_work(void) {
  kw_bench_open();
  for (int how = 0; how < WAITINGS; how++) {
    if (how <= BY_LIMIT || kw_bench.guest.event) lose_work((waiting)how);
  }
  kw_bench_close();
  return 0;
}

/* Work that is lost with its device is not said to be done, by whichever way it is waited for. */
void kw_contract_fault_lost_work(void **state) {
  (void)state;
  kw_fault_run("fault_work");
}

/* ---- Memory that is refused -------------------------------------------------------------------------------------- */

/* Bytes of addresses that this process has in use. */
static uint64_t address_space(void) {
  unsigned long long pages = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  const bool read = file && fscanf(file, "%llu", &pages) == 1;
  if (file) fclose(file);
  return read ? pages * (uint64_t)sysconf(_SC_PAGESIZE) : 0;
}

int kw_child_fault_refused(void) {
  enum { TIMES = 64 };
  const uint64_t gib = UINT64_C(1) << 30;
  static char taken;
  kw_bench_open();
  kw_alloc_info info = {.struct_size = sizeof info, .kind = KW_MEM_DEVICE, .alignment = 1};
  info.size = kw_bench.info.total_memory / 16;
  if (info.size > gib / 4) info.size = gib / 4;
  if (info.size == 0) info.size = 1;
  kw_mem mem = NULL;
  const bool fits = KW_SLOT(memory, alloc, &info, &mem) == KW_OK;
  if (fits) kw_bench_free(mem);
  const uint64_t before = address_space();
  for (int i = 0; i < TIMES; i++) {
    order(KW_FAULT_ALLOC, 1);
    mem = (kw_mem)&taken;
    KW_SLOT_STATUS(KW_ERR_OUT_OF_MEMORY, memory, alloc, &info, &mem);
    KW_CHECK(
        mem == (kw_mem)&taken || mem == NULL,
        "memory.alloc was refused, and gave a handle all the same: on failure a slot leaves its out-parameters as they "
        "were, or NULL");
  }
  const uint64_t asked = TIMES * info.size, grown = address_space() - before;
  KW_CHECK(
      asked < gib || grown < asked / 2 || grown > UINT64_MAX / 2,
      "%d allocations of %llu MiB were refused, and what they asked for is in use: a refused allocation keeps nothing",
      TIMES, (unsigned long long)(info.size >> 20));
  if (fits) { /* it has been asked for four times all the memory there is, or for less than that tells */
    KW_SLOT_OK(memory, alloc, &info, &mem);
    kw_bench_free(mem);
  }
  kw_guest_use_opened(&kw_bench.guest, kw_bench.device, 1, "after refused allocations");
  kw_bench_close();
  return 0;
}

/* An allocation that is refused gives no handle and keeps no memory. */
void kw_contract_fault_refused_keeps_nothing(void **state) {
  (void)state;
  kw_fault_run("fault_refused");
}

/* ---- Orders ------------------------------------------------------------------------------------------------------ */

enum { TRIED = 8 };

/* A launch that may be told to fail, on a stream of its own. */
typedef struct ordered {
  kw_launch *launch;
  void *stream;
  kw_mem result;
} ordered;

static ordered begin_orders(void) {
  kw_bench_open();
  ordered o = {.launch = draw(), .stream = kw_bench_stream(301)};
  o.result = kw_launch_result(o.launch);
  return o;
}

static int end_orders(ordered *o) {
  kw_bench_free(o->result);
  kw_bench_end_stream(o->stream);
  kw_launch_free(o->launch);
  kw_bench_close();
  return 0;
}

/* Launches so often, and waits for each. Which one has failed, counted from 1; 0: none. */
static int failing_launch(const ordered *o, int count) {
  int failing = 0;
  for (int i = 1; i <= count; i++) {
    kw_bench_report report = {0};
    kw_launch_run(o->launch, o->stream, o->result, 200 + (uint64_t)i);
    kw_status status = wait_for(o->stream);
    if (kw_bench_reports(&report, 1) > 0) status = report.status;
    if (status == KW_OK) continue;
    KW_CHECK(means(status, KW_ERR_INTERNAL), "a launch failed with %s, where the last order was KW_FAULT_LATE or none",
             kw_status_name(status));
    KW_CHECK(failing == 0, "one order, KW_FAULT_LATE, let launches %d and %d from then on fail", failing, i);
    failing = i;
  }
  return failing;
}

/* Which of some allocations is refused, counted from 1; 0: none. */
static int failing_allocation(int count) {
  const kw_alloc_info info = {.struct_size = sizeof info, .kind = KW_MEM_DEVICE, .size = 4096, .alignment = 1};
  int failing = 0;
  for (int i = 1; i <= count; i++) {
    kw_mem mem = NULL;
    const kw_status status = KW_SLOT(memory, alloc, &info, &mem);
    if (status == KW_OK) kw_bench_free(mem);
    if (status != KW_OK && failing == 0) failing = i;
  }
  return failing;
}

/* False where the plugin does not have that fault: then it is not tried. */
static bool order_if_known(kw_fault fault, uint64_t nth) {
  const kw_status status = KW_SLOT(test, order, fault, nth);
  if (status != KW_ERR_UNSUPPORTED) kw_fault_check_order(status, fault, kw_guest_seen.error);
  return status == KW_OK;
}

/* Faults of later versions, which a plugin of such a version may know. */
static void order_unknown(void) {
  static const kw_fault unknown[] = {KW_FAULT_HOLD + 1, 0x7ff0, UINT32_MAX};
  for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
    if (kw_bench.guest.desc->abi_version > KW_ABI_VERSION) continue;
    const kw_status status = KW_SLOT(test, order, unknown[i], 1);
    KW_CHECK(
        status == KW_ERR_UNSUPPORTED,
        "the order to bring about fault %u, which the plugin cannot know, gave %s: the host takes what it ordered for "
        "tried; refuse faults that are not known with KW_ERR_UNSUPPORTED",
        unknown[i], kw_status_name(status));
  }
}

int kw_child_fault_unknown(void) {
  ordered o = begin_orders();
  order_unknown();
  int failed = failing_launch(&o, 2);
  KW_CHECK(failed == 0, "launch %d failed after orders that were refused, and no other was given", failed);
  order(KW_FAULT_LATE, 2);
  order_unknown();
  failed = failing_launch(&o, TRIED);
  KW_CHECK(
      failed == 2,
      "launch 2 was to fail, then unknown faults were ordered and refused, and launch %d failed (0: none): an order "
      "that is refused leaves the one before as it is",
      failed);
  return end_orders(&o);
}

/* Faults that the plugin cannot know are refused, and change nothing. */
void kw_contract_fault_unknown_is_refused(void **state) {
  (void)state;
  kw_fault_run("fault_unknown");
}

/* An order that has not come about when another takes its place. */
static const struct earlier {
  kw_fault fault;
  uint64_t nth;
  int launches; /* in between */
  bool called_off;
} earlier[] = {{KW_FAULT_LATE, 5, 2, false},  {KW_FAULT_LATE, 5, 0, true},  {KW_FAULT_LATE, 5, 3, true},
               {KW_FAULT_ALLOC, 5, 1, false}, {KW_FAULT_LOSE, 5, 2, false}, {KW_FAULT_HOLD, 1000, 2, false}};

static void expect_in_place(const ordered *o, const struct earlier *e, uint64_t nth) {
  static const char *const names[] = {"", "KW_FAULT_ALLOC", "KW_FAULT_LATE", "KW_FAULT_LOSE", "KW_FAULT_HOLD"};
  if (!order_if_known(e->fault, e->nth)) return;
  int failed = failing_launch(o, e->launches);
  KW_CHECK(failed == 0, "after the order %s, number %d, launch %d failed", names[e->fault], (int)e->nth, failed);
  if (e->called_off) {
    order(KW_FAULT_NONE, 0);
    failed = failing_launch(o, TRIED);
    KW_CHECK(failed == 0, "launch %d failed after KW_FAULT_NONE, which calls off what was ordered", failed);
  }
  order(KW_FAULT_LATE, nth);
  failed = failing_launch(o, TRIED);
  KW_CHECK(failed == (int)nth,
           "of %d launches number %d was to fail, ordered after %s, number %d, of which %d launches had come%s; number "
           "%d failed (0: none): a new order takes the place of the one before, and counts from then on",
           TRIED, (int)nth, names[e->fault], (int)e->nth, e->launches, e->called_off ? " before KW_FAULT_NONE" : "",
           failed);
}

int kw_child_fault_orders(void) {
  ordered o = begin_orders();
  if (order_if_known(KW_FAULT_ALLOC, 5)) {
    (void)failing_allocation(2);
    order(KW_FAULT_ALLOC, 2);
    const int refused = failing_allocation(TRIED);
    KW_CHECK(refused == 2,
             "allocation 2 was to be refused, ordered after allocation 5, of which 2 had come; allocation %d was (0: "
             "none): a new order takes the place of the one before, and counts from then on",
             refused);
  }
  for (size_t i = 0; i < sizeof earlier / sizeof *earlier; i++) {
    for (uint64_t nth = 1; nth <= 2; nth++) expect_in_place(&o, &earlier[i], nth);
  }
  order(KW_FAULT_LATE, 5);
  (void)failing_launch(&o, 2);
  if (order_if_known(KW_FAULT_ALLOC, 2)) {
    const int refused = failing_allocation(TRIED), failed = failing_launch(&o, TRIED);
    KW_CHECK(
        refused == 2 && failed == 0,
        "allocation 2 was to be refused, ordered after a late error that had not come about; allocation %d was, and "
        "launch %d failed (0: none): a new order takes the place of the one before, and counts from then on",
        refused, failed);
  }
  return end_orders(&o);
}

/* A new order takes the place of the one before, whatever that was and however far it had come. */
void kw_contract_fault_order_takes_its_place(void **state) {
  (void)state;
  kw_fault_run("fault_orders");
}
