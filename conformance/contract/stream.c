/* SPDX-License-Identifier: Apache-2.0
 *
 * Suite stream: order, waiting, independence, destruction in flight, callbacks. A stream is held up by a gate (see
 * contract_helpers.h), never by sleeping.
 */
#include "contract/soak/soak.h"
#include "tools.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>

enum { SIZE = 10000 };

/* Work of one stream happens in the order in which it was enqueued. */
void kw_contract_stream_order(void **state) {
  (void)state;
  enum { STEPS = 50 };
  kw_stream *stream = kw_test_stream();
  kw_tensor *tensor = kw_test_bytes_on(stream, SIZE);
  unsigned char *sent = kw_test_memory(2 * STEPS * SIZE), *got = sent + STEPS * SIZE;
  for (int i = 0; i < STEPS; i++) kw_test_pattern(sent + i * SIZE, SIZE, (uint64_t)i);
  for (int i = 0; i < STEPS; i++) {
    KW_CHECK_OK(kw_tensor_write_async(tensor, sent + i * SIZE, stream));
    KW_CHECK_OK(kw_tensor_read_async(tensor, got + i * SIZE, stream));
  }
  KW_CHECK_OK(kw_stream_synchronize(stream));
  for (int i = 0; i < STEPS; i++) {
    kw_test_same(got + i * SIZE, sent + i * SIZE, SIZE, "one of many writes and reads in a row on a stream");
  }
  kw_tensor_release(tensor);
  KW_CHECK_OK(kw_stream_destroy(stream));
  free(sent);
}

/* A copy does not run ahead of what its stream has still to do. The tensor is looked at on another stream. */
void kw_contract_stream_copies_behind_gate(void **state) {
  (void)state;
  kw_stream *stream = kw_test_stream(), *bystander = kw_test_stream();
  kw_tensor *tensor = kw_test_bytes(SIZE, 1);
  unsigned char *sent = kw_test_memory(SIZE);
  kw_test_pattern(sent, SIZE, 2);
  kw_gate *gate = kw_gate_close(stream);
  KW_CHECK_OK(kw_tensor_write_async(tensor, sent, stream));
  kw_test_busy(bystander);
  kw_test_expect_bytes(tensor, 1, "the destination of a copy whose stream is held up");
  kw_gate_open(gate);
  KW_CHECK_OK(kw_stream_synchronize(stream));
  kw_test_expect_bytes(tensor, 2, "the destination of that copy once its stream went on");
  kw_tensor_release(tensor);
  KW_CHECK_OK(kw_stream_destroy(stream));
  KW_CHECK_OK(kw_stream_destroy(bystander));
  free(sent);
}

/* Kernels and copies keep that order too: x = op(x, x), many times over, read in between. */
void kw_contract_stream_ops_in_order(void **state) {
  (void)state;
  enum { STEPS = 10, COUNT = 3001 };
  const kw_pair *pair = kw_test_need_pair();
  kw_stream *stream = kw_test_stream();
  kw_tensor *values[STEPS + 1] = {kw_test_f32(COUNT, 1)};
  float *got = kw_test_memory((STEPS + 1) * COUNT * sizeof *got), *want = got + STEPS * COUNT;
  for (int i = 0; i < STEPS; i++) {
    KW_CHECK_OK(kw_test_pair(pair, stream, values[i], values[i], &values[i + 1]));
    KW_CHECK_OK(kw_tensor_read_async(values[i + 1], got + i * COUNT, stream));
  }
  KW_CHECK_OK(kw_stream_synchronize(stream));
  kw_test_floats(want, COUNT, 1);
  for (int i = 0; i < STEPS; i++) {
    for (int j = 0; j < COUNT; j++) want[j] = pair->of(want[j], want[j]);
    kw_test_same(got + i * COUNT, want, COUNT * sizeof *want, "a chain of x = op(x, x) on one stream");
  }
  for (int i = 0; i <= STEPS; i++) kw_tensor_release(values[i]);
  KW_CHECK_OK(kw_stream_destroy(stream));
  free(got);
}

/* Synchronize returns when everything enqueued before has finished. */
static void check_waits(bool whole_device) {
  atomic_int *done = kw_test_memory(sizeof *done);
  for (int round = 0; round < 5; round++) {
    kw_stream *stream = kw_test_stream();
    kw_gate *gate = kw_gate_close(stream);
    atomic_store(done, 0);
    KW_CHECK_OK(kw_stream_call_host(stream, kw_test_slow_flag, done));
    kw_gate_open(gate);
    KW_CHECK_OK(whole_device ? kw_device_synchronize(kw_contract.device) : kw_stream_synchronize(stream));
    KW_CHECK(atomic_load(done), "%s returned before work that was enqueued earlier had finished",
             whole_device ? "kw_device_synchronize" : "kw_stream_synchronize");
    KW_CHECK_OK(kw_stream_destroy(stream));
  }
  free(done);
}

void kw_contract_stream_synchronize_waits(void **state) {
  (void)state;
  check_waits(false);
}

void kw_contract_stream_device_synchronize_waits(void **state) {
  (void)state;
  check_waits(true);
}

static kw_status wait_within(void *stream, uint64_t limit) {
  return kw_stream_synchronize_for(stream, limit);
}

/* A wait ends at its limit with KW_ERR_TIMEOUT, and leaves the stream as it was: others go on, and the wait after the
 * work was let go is as good as the first. */
void kw_contract_stream_synchronize_within(void **state) {
  (void)state;
  static const uint64_t limits[] = {0, 1, 1000000, 0};
  kw_stream *stream = kw_test_stream(), *other = kw_test_stream();
  atomic_int *done = kw_test_memory(sizeof *done);
  kw_gate *gate = kw_gate_close(stream);
  KW_CHECK_OK(kw_stream_call_host(stream, kw_test_slow_flag, done));
  for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
    KW_CHECK_STATUS(kw_stream_synchronize_for(stream, limits[i]), KW_ERR_TIMEOUT);
    kw_test_busy(other);
  }
  KW_CHECK_STATUS(kw_device_synchronize_for(kw_contract.device, 1000), KW_ERR_TIMEOUT);
  kw_test_limits_last(wait_within, stream, "a stream");
  KW_CHECK(!atomic_load(done), "work behind a gate ran while a wait for it ended at its limit");
  kw_gate_open(gate);
  KW_CHECK_OK(kw_stream_synchronize_for(stream, KW_WAIT_FOREVER));
  KW_CHECK(atomic_load(done), "a wait returned before the work had finished, after others had ended at their limits");
  KW_CHECK_OK(kw_stream_synchronize_for(stream, 0));
  KW_CHECK_OK(kw_stream_destroy(stream));
  KW_CHECK_OK(kw_stream_destroy(other));
  free(done);
}

/* Query tells running from idle, and does not wait. */
void kw_contract_stream_query(void **state) {
  (void)state;
  kw_test_need(KW_NATIVE_CALL_HOST | KW_NATIVE_QUERY);
  kw_stream *stream = kw_test_stream();
  KW_CHECK_STATUS(kw_stream_query(stream), KW_OK);
  for (int round = 0; round < 10; round++) {
    kw_gate *gate = kw_gate_close(stream);
    KW_CHECK_STATUS(kw_stream_query(stream), KW_ERR_NOT_READY);
    KW_CHECK_STATUS(kw_stream_query(stream), KW_ERR_NOT_READY);
    kw_gate_open(gate);
    KW_CHECK_OK(kw_stream_synchronize(stream));
    KW_CHECK_STATUS(kw_stream_query(stream), KW_OK);
  }
  KW_CHECK_OK(kw_stream_destroy(stream));
}

/* While one stream is held up, others go on, the default stream among them. */
void kw_contract_stream_others_go_on(void **state) {
  (void)state;
  kw_stream *gated = kw_test_stream(), *other = kw_test_stream();
  kw_gate *gate = kw_gate_close(gated);
  kw_test_busy(other);
  kw_test_busy(kw_stream_default(kw_contract.device));
  kw_test_usable("the default stream while another is held up");
  kw_stream *late = kw_test_stream();
  kw_test_busy(late);
  KW_CHECK_OK(kw_stream_destroy(late));
  if (kw_test_has("add.Tensor")) {
    kw_tensor *a = kw_test_f32(100, 1), *sum = NULL;
    kw_test_add(other, a, a, &sum);
    KW_CHECK_OK(kw_stream_synchronize(other));
    kw_tensor_release(a);
    kw_tensor_release(sum);
  }
  kw_gate_open(gate);
  KW_CHECK_OK(kw_stream_destroy(gated));
  KW_CHECK_OK(kw_stream_destroy(other));
}

typedef struct destroyer {
  pthread_t thread;
  kw_stream *stream;
  kw_status status;
} destroyer;

static void *destroy_main(void *user) {
  destroyer *self = user;
  self->status = kw_stream_destroy(self->stream);
  return NULL;
}

/* A stream destroyed with work in flight: the work finishes. */
void kw_contract_stream_destroy_in_flight(void **state) {
  (void)state;
  kw_test_need(KW_NATIVE_CALL_HOST);
  unsigned char *want = kw_test_memory(2 * SIZE), *got = want + SIZE;
  atomic_int *done = kw_test_memory(sizeof *done);
  kw_test_pattern(want, SIZE, 5);
  for (int round = 0; round < 3; round++) {
    static destroyer job; /* its thread may outlive a failed check */
    job = (destroyer){.stream = kw_test_stream()};
    kw_tensor *tensor = kw_test_bytes_on(job.stream, SIZE);
    kw_gate *gate = kw_gate_close(job.stream);
    KW_CHECK_OK(kw_tensor_write_async(tensor, want, job.stream));
    KW_CHECK_OK(kw_tensor_read_async(tensor, got, job.stream));
    KW_CHECK_OK(kw_stream_call_host(job.stream, kw_test_slow_flag, done));
    kw_tensor_release(tensor);
    KW_NEED(pthread_create(&job.thread, NULL, destroy_main, &job) == 0, "threads");
    kw_test_busy(kw_stream_default(kw_contract.device)); /* the device goes on meanwhile */
    kw_gate_open(gate);
    pthread_join(job.thread, NULL);
    KW_CHECK(job.status == KW_OK, "kw_stream_destroy gave %d (%s)", (int)job.status, kw_status_name(job.status));
    kw_test_waits("work that was queued on a stream when it was destroyed"); /* destroy need not have waited for it */
    while (!atomic_load(done)) sched_yield();
    kw_test_same(got, want, SIZE, "work of a stream that was destroyed while it was queued");
    memset(got, 0, SIZE);
    atomic_store(done, 0);
  }
  kw_test_usable("a round trip after streams were destroyed with work in flight");
  free(want);
  free(done);
}

/* Many streams at once, each with its own data. */
void kw_contract_stream_many_streams(void **state) {
  (void)state;
  enum { STREAMS = 32, STEPS = 8 };
  kw_stream *streams[STREAMS];
  kw_tensor *tensors[STREAMS];
  unsigned char *sent = kw_test_memory(2 * STREAMS * SIZE), *got = sent + STREAMS * SIZE;
  for (int i = 0; i < STREAMS; i++) {
    streams[i] = kw_test_stream();
    for (int j = 0; j < i; j++) KW_CHECK(streams[i] != streams[j], "two live streams are one");
    KW_CHECK(kw_stream_device(streams[i]) == kw_contract.device, "a stream names another device");
    tensors[i] = kw_test_bytes_on(streams[i], SIZE);
  }
  for (int step = 0; step < STEPS; step++) {
    for (int i = 0; i < STREAMS; i++) {
      kw_test_pattern(sent + i * SIZE, SIZE, (uint64_t)(step * STREAMS + i));
      KW_CHECK_OK(kw_tensor_write_async(tensors[i], sent + i * SIZE, streams[i]));
      KW_CHECK_OK(kw_tensor_read_async(tensors[i], got + i * SIZE, streams[i]));
    }
    for (int i = STREAMS; i-- > 0;) KW_CHECK_OK(kw_stream_synchronize(streams[i]));
    kw_test_same(got, sent, STREAMS * SIZE, "data that went through 32 streams");
  }
  for (int i = 0; i < STREAMS; i++) {
    kw_tensor_release(tensors[i]);
    KW_CHECK_OK(kw_stream_destroy(streams[i]));
  }
  free(sent);
}

static void count_up(void *user) {
  atomic_fetch_add((atomic_int *)user, 1);
}

typedef struct shared_stream {
  kw_stream *stream;
  atomic_int *count;
} shared_stream;

static int stream_body(int index, void *user, char *text, size_t size) {
  enum { BYTES = 4000 };
  static unsigned char sent[KW_TEST_THREADS][BYTES], got[KW_TEST_THREADS][BYTES];
  const shared_stream *shared = user;
  kw_tensor *tensor = NULL;
  int64_t shape = BYTES;
  if (kw_test_note(kw_tensor_create_on(shared->stream, KW_U8, 1, &shape, &tensor), "create", text, size)) return 1;
  for (int i = 0; i < 50; i++) {
    memset(sent[index], index * 64 + i, BYTES);
    if (kw_test_note(kw_tensor_write_async(tensor, sent[index], shared->stream), "write", text, size)) return 1;
    if (kw_test_note(kw_tensor_read_async(tensor, got[index], shared->stream), "read", text, size)) return 1;
    if (kw_test_note(kw_stream_call_host(shared->stream, count_up, shared->count), "call_host", text, size)) return 1;
    if (kw_test_note(kw_stream_synchronize(shared->stream), "synchronize", text, size)) return 1;
    if (memcmp(sent[index], got[index], BYTES) != 0) {
      snprintf(text, size, "round %d read other data than it wrote", i);
      return 1;
    }
  }
  kw_tensor_release(tensor);
  return 0;
}

/* Many threads may use one stream at once. */
void kw_contract_stream_many_threads(void **state) {
  (void)state;
  shared_stream *shared = kw_test_memory(sizeof *shared);
  *shared = (shared_stream){kw_test_stream(), kw_test_memory(sizeof(atomic_int))};
  kw_test_run_threads(stream_body, shared);
  KW_CHECK_OK(kw_stream_synchronize(shared->stream));
  KW_CHECK(atomic_load(shared->count) == 50 * KW_TEST_THREADS, "%d callbacks were enqueued and %d ran",
           50 * KW_TEST_THREADS, atomic_load(shared->count));
  KW_CHECK_OK(kw_stream_destroy(shared->stream));
  free(shared->count);
  free(shared);
}

/* ---- Callbacks --------------------------------------------------------------------------------------------------- */

enum { CALLBACKS = 100 };

typedef struct callback_log {
  atomic_int next; /* of entries */
  int entries[2 * CALLBACKS];
} callback_log;

typedef struct callback {
  callback_log *log;
  int number;
} callback;

static void write_log(void *user) {
  callback *self = user;
  int at = atomic_fetch_add(&self->log->next, 1);
  if (at < 2 * CALLBACKS) self->log->entries[at] = self->number;
}

/* Callbacks run exactly once each, in order. (Without stream.call_host core runs them: the same holds.) */
void kw_contract_stream_callback_order(void **state) {
  (void)state;
  callback_log *log = kw_test_memory(sizeof *log);
  callback *callbacks = kw_test_memory(CALLBACKS * sizeof *callbacks);
  kw_stream *stream = kw_test_stream();
  bool gated = kw_device_native(kw_contract.device) & KW_NATIVE_CALL_HOST;
  kw_gate *gate = gated ? kw_gate_close(stream) : NULL;
  for (int i = 0; i < CALLBACKS; i++) {
    callbacks[i] = (callback){log, i};
    KW_CHECK_OK(kw_stream_call_host(stream, write_log, &callbacks[i]));
  }
  if (gated) {
    KW_CHECK(atomic_load(&log->next) == 0, "a callback ran while work enqueued before it had not finished");
    kw_gate_open(gate);
  }
  KW_CHECK_OK(kw_stream_synchronize(stream));
  KW_CHECK(atomic_load(&log->next) == CALLBACKS, "%d callbacks were enqueued and %d ran", CALLBACKS,
           atomic_load(&log->next));
  for (int i = 0; i < CALLBACKS; i++) {
    KW_CHECK(log->entries[i] == i, "callback number %d ran in place %d", log->entries[i], i);
  }
  KW_CHECK_OK(kw_stream_destroy(stream));
  free(callbacks);
  free(log);
}

typedef struct inline_check {
  pthread_t caller;
  atomic_int in_call; /* the caller is inside call_host */
  atomic_int ran, ran_inline;
} inline_check;

static void check_inline(void *user) {
  inline_check *self = user;
  if (atomic_load(&self->in_call) && pthread_equal(self->caller, pthread_self())) atomic_store(&self->ran_inline, 1);
  atomic_store(&self->ran, 1);
}

/* On a stream other than the default one a callback does not run on the caller's thread before call_host returns. */
void kw_contract_stream_callback_not_inline(void **state) {
  (void)state;
  kw_test_need(KW_NATIVE_CALL_HOST);
  inline_check *check = kw_test_memory(sizeof *check);
  kw_stream *stream = kw_test_stream();
  for (int i = 0; i < 10; i++) {
    check->caller = pthread_self();
    atomic_store(&check->in_call, 1);
    KW_CHECK_OK(kw_stream_call_host(stream, check_inline, check));
    atomic_store(&check->in_call, 0);
    KW_CHECK_OK(kw_stream_synchronize(stream));
    KW_CHECK(atomic_load(&check->ran), "kw_stream_synchronize returned and the callback had not run");
    KW_CHECK(!atomic_load(&check->ran_inline), "a callback ran on the calling thread, inside call_host");
    atomic_store(&check->ran, 0);
  }
  KW_CHECK_OK(kw_stream_destroy(stream));
  free(check);
}

typedef struct snapshot {
  const unsigned char *live; /* what the stream reads into */
  unsigned char *copy;       /* what it held when the callback ran */
} snapshot;

static void take_snapshot(void *user) {
  snapshot *self = user;
  memcpy(self->copy, self->live, SIZE);
}

/* When a callback runs, work enqueued before it has finished; what is enqueued after waits for it. */
void kw_contract_stream_callback_after_work(void **state) {
  (void)state;
  enum { STEPS = 20 };
  kw_stream *stream = kw_test_stream();
  kw_tensor *tensor = kw_test_bytes_on(stream, SIZE);
  unsigned char *sent = kw_test_memory((2 * STEPS + 1) * SIZE), *copies = sent + STEPS * SIZE,
                *live = copies + STEPS * SIZE;
  snapshot *snapshots = kw_test_memory(STEPS * sizeof *snapshots);
  for (int i = 0; i < STEPS; i++) {
    kw_test_pattern(sent + i * SIZE, SIZE, (uint64_t)i);
    snapshots[i] = (snapshot){live, copies + i * SIZE};
  }
  for (int i = 0; i < STEPS; i++) {
    KW_CHECK_OK(kw_tensor_write_async(tensor, sent + i * SIZE, stream));
    KW_CHECK_OK(kw_tensor_read_async(tensor, live, stream));
    KW_CHECK_OK(kw_stream_call_host(stream, take_snapshot, &snapshots[i]));
  }
  KW_CHECK_OK(kw_stream_synchronize(stream));
  kw_test_same(copies, sent, STEPS * SIZE, "what callbacks between copies saw");
  kw_tensor_release(tensor);
  KW_CHECK_OK(kw_stream_destroy(stream));
  free(snapshots);
  free(sent);
}

/* The same of a launch. What it left is read over another stream, while the host function keeps this one. */
void kw_contract_stream_callback_after_launch(void **state) {
  (void)state;
  enum { STEPS = 8 };
  static kw_soak_call call;
  kw_test_need(KW_NATIVE_CALL_HOST);
  kw_soak_call_make(STEPS, &call);
  kw_soak_call_clear(&call, STEPS);
  kw_stream *stream = kw_test_stream(), *other = kw_test_stream();
  for (uint64_t i = 0; i < STEPS; i++) { /* with one launch at a time the stream has nothing else to do before it */
    kw_gate *before = kw_gate_close(stream);
    KW_CHECK_OK(kw_soak_call_run(&call, stream, i));
    kw_gate *behind = kw_gate_close_behind(stream);
    kw_gate_open(before);
    kw_gate_reach(behind);
    kw_soak_call_check_over(&call, other, i, "a host function behind a launch");
    kw_gate_open(behind);
    KW_CHECK_OK(kw_stream_synchronize(stream));
  }
  KW_CHECK_OK(kw_stream_destroy(stream));
  KW_CHECK_OK(kw_stream_destroy(other));
  kw_soak_call_free(&call);
}

typedef struct waits {
  kw_stream *stream;
  kw_event *event;
  kw_status stream_status, device_status, event_status;
} waits;

static void try_to_wait(void *user) {
  waits *self = user;
  self->stream_status = kw_stream_synchronize(self->stream);
  self->device_status = kw_device_synchronize(kw_contract.device);
  self->event_status = kw_event_synchronize(self->event);
}

/* A callback that waits would wait for itself: it gets KW_ERR_BUSY, and nothing hangs. */
void kw_contract_stream_callback_may_not_wait(void **state) {
  (void)state;
  kw_stream *streams[2] = {kw_test_stream(), kw_stream_default(kw_contract.device)};
  waits *tried = kw_test_memory(sizeof *tried);
  for (int i = 0; i < 2; i++) {
    *tried = (waits){.stream = streams[i], .event = kw_test_event()};
    KW_CHECK_OK(kw_stream_call_host(streams[i], try_to_wait, tried));
    KW_CHECK_OK(kw_stream_synchronize(streams[i]));
    KW_CHECK_STATUS(tried->stream_status, KW_ERR_BUSY);
    KW_CHECK_STATUS(tried->device_status, KW_ERR_BUSY);
    KW_CHECK_STATUS(tried->event_status, KW_ERR_BUSY);
    KW_CHECK_OK(kw_event_destroy(tried->event));
  }
  KW_CHECK_OK(kw_stream_destroy(streams[0]));
  kw_test_usable("a round trip after a callback tried to wait");
  free(tried);
}

/* The default stream: always there, one, usable by NULL; destroying NULL is nothing. */
void kw_contract_stream_default_stream(void **state) {
  (void)state;
  kw_stream *stream = kw_stream_default(kw_contract.device);
  KW_CHECK(stream && stream == kw_stream_default(kw_contract.device), "the default stream is not one");
  KW_CHECK(kw_stream_device(stream) == kw_contract.device, "the default stream names another device");
  unsigned char *want = kw_test_memory(2 * SIZE), *got = want + SIZE;
  kw_test_pattern(want, SIZE, 1);
  kw_tensor *tensor = kw_test_bytes_on(NULL, SIZE);
  KW_CHECK_OK(kw_tensor_write_async(tensor, want, NULL));
  KW_CHECK_OK(kw_tensor_read_async(tensor, got, stream));
  KW_CHECK_OK(kw_stream_synchronize(stream));
  KW_CHECK_OK(kw_stream_query(stream));
  kw_test_same(got, want, SIZE, "copies on the default stream, named and by NULL");
  KW_CHECK_OK(kw_stream_destroy(NULL));
  kw_tensor_release(tensor);
  free(want);
}
