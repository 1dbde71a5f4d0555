/* SPDX-License-Identifier: Apache-2.0
 *
 * Suite soak: events recorded, waits for them and host functions, more than small counters hold. Streams are held
 * meanwhile, so that each of them shows: what was lost counts as passed while its stream stands still.
 */
#include "soak.h"

#include "base/worker_note.h"
#include "contract/child.h"

#include <stdio.h>

enum { BLOCK = 500, LEAST = 16 };

/* ---- Records ----------------------------------------------------------------------------------------------------- */

typedef struct records {
  kw_stream *stream;
  kw_event *events[BLOCK];
  bool anew; /* each record is of a new event */
} records;

static void make_events(records *r, uint64_t count) {
  for (uint64_t i = 0; i < count; i++) r->events[i] = kw_test_event();
}

static void destroy_events(records *r, uint64_t count) {
  for (uint64_t i = 0; i < count; i++) KW_CHECK_OK(kw_event_destroy(r->events[i]));
}

static void run_records(void *user, uint64_t first, uint64_t count) {
  records *r = user;
  if (r->anew) make_events(r, count);
  kw_gate *gate = kw_gate_close(r->stream);
  for (uint64_t i = 0; i < count; i++) KW_CHECK_OK(kw_event_record(r->events[i], r->stream));
  for (uint64_t i = 0; i < count; i++) {
    kw_status status = kw_event_query(r->events[i]);
    KW_CHECK(status == KW_ERR_NOT_READY, "record %s was lost: its event is %s while the stream is held",
             kw_soak_number(first + i + 1), status == KW_OK ? "passed" : kw_status_name(status));
  }
  const kw_status wait = kw_stream_synchronize_for(r->stream, 0);
  KW_CHECK(wait == KW_ERR_TIMEOUT, "after %s records a wait without patience for a stream that is held gave %s",
           kw_soak_number(first + count), kw_status_name(wait));
  const uint64_t kept = r->anew ? count / 2 : count; /* of new events the others are destroyed while they are pending */
  for (uint64_t i = kept; i < count; i++) KW_CHECK_OK(kw_event_destroy(r->events[i]));
  kw_gate_open(gate);
  KW_CHECK_OK(kw_stream_synchronize(r->stream));
  for (uint64_t i = 0; i < kept; i++) {
    kw_status status = kw_event_query(r->events[i]);
    KW_CHECK(status == KW_OK, "record %s: its event is %s once the stream is idle", kw_soak_number(first + i + 1),
             status == KW_ERR_NOT_READY ? "not passed" : kw_status_name(status));
  }
  if (r->anew) destroy_events(r, kept);
}

static void soak_records(const char *objects, bool anew, uint64_t first, uint64_t count) {
  static records r;
  kw_test_need(KW_NATIVE_EVENTS | KW_NATIVE_CALL_HOST);
  r = (records){.stream = kw_test_stream(), .anew = anew};
  if (!anew) make_events(&r, BLOCK);
  const kw_soak_work work = {.objects = objects,
                             .first = first,
                             .count = count,
                             .block = BLOCK,
                             .least = LEAST,
                             .run = run_records,
                             .user = &r};
  kw_soak_run(&work);
  if (!anew) destroy_events(&r, BLOCK);
  KW_CHECK_OK(kw_stream_destroy(r.stream));
}

void kw_soak_records(uint64_t first, uint64_t count) {
  soak_records("records of events", false, first, count);
}

/* The same events, recorded again and again. */
void kw_contract_soak_records(void **state) {
  (void)state;
  kw_soak_records(0, kw_soak_count(2500, 70000, KW_SOAK_PAST_20_BITS));
}

/* Events that come and go. */
void kw_contract_soak_events(void **state) {
  (void)state;
  soak_records("events", true, 0, kw_soak_count(2500, 35000, 150000));
}

/* ---- Queries ----------------------------------------------------------------------------------------------------- */

typedef struct queries {
  kw_stream *stream;
  kw_event *event;
} queries;

static void expect(kw_status status, kw_status want, const char *what, uint64_t number) {
  KW_CHECK(status == want, "%s, number %s, gave %s: %s", what, kw_soak_number(number), kw_status_name(status),
           kw_error_message());
}

static void query(const queries *q, bool idle, uint64_t number) {
  const kw_status now = idle ? KW_OK : KW_ERR_NOT_READY, wait = idle ? KW_OK : KW_ERR_TIMEOUT;
  const char *state = idle ? "of an idle stream" : "of a stream that is held";
  char what[64];
  snprintf(what, sizeof what, "a query %s", state);
  expect(kw_stream_query(q->stream), now, what, number);
  expect(kw_event_query(q->event), now, what, number);
  snprintf(what, sizeof what, "a wait without patience %s", state);
  expect(kw_stream_synchronize_for(q->stream, 0), wait, what, number);
  expect(kw_event_synchronize_for(q->event, 0), wait, what, number);
}

static void run_queries(void *user, uint64_t first, uint64_t count) {
  queries *q = user;
  kw_gate *gate = kw_gate_close(q->stream);
  KW_CHECK_OK(kw_event_record(q->event, q->stream));
  for (uint64_t i = 0; i < count; i++) query(q, false, first + i + 1);
  kw_gate_open(gate);
  KW_CHECK_OK(kw_stream_synchronize(q->stream));
  for (uint64_t i = 0; i < count; i++) query(q, true, first + i + 1);
}

/* Looking whether something is done, which it is not, and then is. */
void kw_contract_soak_queries(void **state) {
  (void)state;
  static queries q;
  kw_test_need(KW_NATIVE_EVENTS | KW_NATIVE_CALL_HOST);
  q = (queries){.stream = kw_test_stream(), .event = kw_test_event()};
  const kw_soak_work work = {.objects = "queries",
                             .count = kw_soak_count(1000, 4000, 100000),
                             .block = BLOCK,
                             .least = LEAST,
                             .run = run_queries,
                             .user = &q};
  kw_soak_run(&work);
  KW_CHECK_OK(kw_event_destroy(q.event));
  KW_CHECK_OK(kw_stream_destroy(q.stream));
}

/* ---- Waits ------------------------------------------------------------------------------------------------------- */

enum { FOLLOWERS = 24 };

typedef struct waits {
  kw_stream *leader, *followers[FOLLOWERS];
  kw_event *awaited, *behind[FOLLOWERS]; /* what follows each wait */
} waits;

/* As many streams wait for one event of a stream that is held. */
static void run_waits(void *user, uint64_t first, uint64_t count) {
  waits *w = user;
  kw_gate *gate = kw_gate_close(w->leader);
  KW_CHECK_OK(kw_event_record(w->awaited, w->leader));
  for (uint64_t i = 0; i < count; i++) {
    KW_CHECK_OK(kw_stream_wait_event(w->followers[i], w->awaited));
    KW_CHECK_OK(kw_event_record(w->behind[i], w->followers[i]));
  }
  for (uint64_t i = 0; i < count; i++) {
    kw_status status = kw_event_query(w->behind[i]);
    KW_CHECK(status == KW_ERR_NOT_READY, "wait %s was lost: what follows it is %s while its event's stream is held",
             kw_soak_number(first + i + 1), status == KW_OK ? "passed" : kw_status_name(status));
  }
  kw_gate_open(gate);
  for (uint64_t i = 0; i < count; i++) KW_CHECK_OK(kw_stream_synchronize(w->followers[i]));
}

/* Streams that wait for events of another, again and again. */
void kw_contract_soak_waits(void **state) {
  (void)state;
  static waits w;
  kw_test_need(KW_NATIVE_EVENTS | KW_NATIVE_CALL_HOST);
  w = (waits){.leader = kw_test_stream(), .awaited = kw_test_event()};
  for (int i = 0; i < FOLLOWERS; i++) {
    w.followers[i] = kw_test_stream();
    w.behind[i] = kw_test_event();
  }
  const kw_soak_work work = {.objects = "waits for events",
                             .count = kw_soak_count(1200, 4800, 150000),
                             .block = FOLLOWERS,
                             .least = LEAST,
                             .run = run_waits,
                             .user = &w};
  kw_soak_run(&work);
  for (int i = 0; i < FOLLOWERS; i++) {
    KW_CHECK_OK(kw_event_destroy(w.behind[i]));
    KW_CHECK_OK(kw_stream_destroy(w.followers[i]));
  }
  KW_CHECK_OK(kw_event_destroy(w.awaited));
  KW_CHECK_OK(kw_stream_destroy(w.leader));
}

/* ---- Host functions ---------------------------------------------------------------------------------------------- */

static struct {
  uint64_t ran[BLOCK]; /* 1 + how many of the block ran before; 0: it did not */
  uint64_t count;
} functions;

static void note_run(void *cell) {
  *(uint64_t *)cell = ++functions.count;
}

static void run_functions(void *user, uint64_t first, uint64_t count) {
  memset(&functions, 0, sizeof functions);
  for (uint64_t i = 0; i < count; i++) KW_CHECK_OK(kw_stream_call_host(user, note_run, &functions.ran[i]));
  KW_CHECK_OK(kw_stream_synchronize(user));
  for (uint64_t i = 0; i < count; i++) {
    KW_CHECK(functions.ran[i] != 0, "host function %s did not run", kw_soak_number(first + i + 1));
    KW_CHECK(functions.ran[i] == i + 1, "host function %s ran out of order, or more than once",
             kw_soak_number(first + i + 1));
  }
}

void kw_soak_host_functions(uint64_t first, uint64_t count) {
  kw_stream *stream = kw_test_stream();
  const kw_soak_work work = {.objects = "host functions",
                             .first = first,
                             .count = count,
                             .block = BLOCK,
                             .least = LEAST,
                             .run = run_functions,
                             .user = stream};
  kw_soak_run(&work);
  KW_CHECK_OK(kw_stream_destroy(stream));
}

/* Host functions run, each once and in order, however many came before. */
void kw_contract_soak_host_functions(void **state) {
  (void)state;
  kw_soak_host_functions(0, kw_soak_count(2500, 70000, 150000));
}

/* ---- Time -------------------------------------------------------------------------------------------------------- */

/* Nanoseconds past 2^32, of events and of the device's clock; with --quick fewer. */
void kw_contract_soak_elapsed(void **state) {
  (void)state;
  kw_test_child("slots_seconds");
}
