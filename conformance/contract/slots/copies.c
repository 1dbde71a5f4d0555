/* SPDX-License-Identifier: Apache-2.0
 *
 * Suite slots: copies that are called directly: between all kinds of places, and large reads from several threads and
 * in front of an event. Keyway splits large copies and aligns what it allocates; a plugin gets the bare calls here.
 */
#include "bench.h"

#include "contract/hold.h"
#include "contract/scenarios.h"
#include "contract/soak/soak.h"

#include <stdio.h>

/* ---- Places ------------------------------------------------------------------------------------------------------ */

enum { EDGE = 64 }; /* bytes before and behind each copy, and what all places are aligned to */

enum { FROM_HOST, TO_HOST, WITHIN_DEVICE, WITHIN_MEMORY, WAYS };
static const char *const way_names[WAYS] = {"from the host to the device", "from the device to the host",
                                            "from one memory of the device to another",
                                            "from one end of a memory of the device to the other"};

/* Copies one way, each between places of its own, the same in what is copied from and in what is copied to. */
static struct {
  int way;
  uint32_t count;
  uint64_t end; /* of the last place */
  struct {
    uint64_t place, from, to, size;
  } copies[2048];
} swept;

static void begin_sweep(int way) {
  swept.way = way;
  swept.count = 0;
  swept.end = 0;
}

/* So far past a multiple of EDGE at both ends. */
static void add_copy(uint64_t from, uint64_t to, uint64_t size) {
  if (swept.count == sizeof swept.copies / sizeof *swept.copies || size == 0) return;
  const uint64_t at = swept.end + EDGE, last = at + size + (from > to ? from : to);
  swept.copies[swept.count].place = swept.end;
  swept.copies[swept.count].from = at + from;
  swept.copies[swept.count].to = at + to;
  swept.copies[swept.count++].size = size;
  swept.end = (last + 2 * EDGE - 1) / EDGE * EDGE;
}

static void check_swept(const unsigned char *got, const unsigned char *want) {
  for (uint32_t i = 0; i < swept.count; i++) {
    const uint64_t to = swept.copies[i].to, size = swept.copies[i].size, place = swept.copies[i].place;
    const uint64_t end = i + 1 < swept.count ? swept.copies[i + 1].place : swept.end;
    if (memcmp(got + place, want + place, end - place) == 0) continue;
    uint64_t at = place;
    while (got[at] == want[at]) at++;
    KW_FAIL(
        "memory.copy of %llu bytes %s, from %llu past a multiple of 64 to %llu past one, %s: byte %lld of it is "
        "0x%02x, not 0x%02x",
        (unsigned long long)size, way_names[swept.way], (unsigned long long)(swept.copies[i].from % EDGE),
        (unsigned long long)(to % EDGE), at < to || at >= to + size ? "wrote beside them" : "left other bytes there",
        (long long)at - (long long)to, got[at], want[at]);
  }
}

static unsigned char *aligned_memory(uint64_t size) {
  unsigned char *memory = aligned_alloc(EDGE, size); /* sizes of sweeps are multiples of it */
  KW_CHECK(memory, "no memory");
  return memory;
}

/* Does all of them, and looks at every byte of the places that are copied to. */
static void copy_swept(void *stream) {
  const uint64_t size = swept.end;
  const bool one = swept.way == WITHIN_MEMORY, device_from = swept.way != FROM_HOST, device_to = swept.way != TO_HOST;
  const kw_mem to = device_to ? kw_bench_memory_of(KW_MEM_DEVICE, one ? 2 * size : size) : NULL;
  const kw_mem from = !device_from ? NULL : one ? to : kw_bench_memory_of(KW_MEM_DEVICE, size);
  unsigned char *sent = aligned_memory(2 * size), *want = aligned_memory(size), *got = aligned_memory(size);
  kw_test_pattern(sent, 2 * size, 1);
  memcpy(want, sent + size, size);
  if (one)
    kw_bench_write(stream, to, sent, 2 * size);
  else if (from)
    kw_bench_write(stream, from, sent, size);
  if (one) memcpy(want, sent, size);
  memcpy(got, want, size);
  if (to && !one) kw_bench_write(stream, to, got, size); /* from got: want changes while the device reads */
  const uint64_t shift = one ? size : 0;                 /* where what is copied from begins */
  for (uint32_t i = 0; i < swept.count; i++) {
    const kw_copy_kind kind = swept.way == FROM_HOST ? KW_COPY_HOST_TO_DEVICE
                              : swept.way == TO_HOST ? KW_COPY_DEVICE_TO_HOST
                                                     : KW_COPY_DEVICE_TO_DEVICE;
    kw_bench_copy(stream, (kw_copy_info){.kind = kind,
                                         .dst_host = to ? NULL : got + swept.copies[i].to,
                                         .dst_mem = to,
                                         .dst_offset = to ? swept.copies[i].to : 0,
                                         .src_host = from ? NULL : sent + swept.copies[i].from,
                                         .src_mem = from,
                                         .src_offset = from ? shift + swept.copies[i].from : 0,
                                         .size = swept.copies[i].size});
    memcpy(want + swept.copies[i].to, sent + shift + swept.copies[i].from, swept.copies[i].size);
  }
  if (to) kw_bench_read(stream, to, got, size);
  kw_bench_wait(stream);
  check_swept(got, want);
  if (to) kw_bench_free(to);
  if (from && !one) kw_bench_free(from);
  free(sent);
  free(want);
  free(got);
}

/* Sizes about those of lines, pages and buffers, between places that fit each other to every degree. */
static void sweep_large(int way, void *stream) {
  static const uint64_t about[] = {4096, 16384, 65536, 1 << 20};
  static const uint64_t more[] = {0, 1, 4, 9, 12, 15, UINT64_MAX, 67};
  static const uint64_t places[][2] = {{0, 0}, {16, 16}, {0, 1},   {1, 0},  {3, 4},   {4, 3},
                                       {2, 2}, {8, 4},   {15, 15}, {16, 8}, {32, 48}, {6, 0}};
  enum { PLACES = sizeof places / sizeof *places, MORE = sizeof more / sizeof *more };
  const int sizes = (int)kw_soak_count(1, 4, 4), all = kw_contract.effort == KW_EFFORT_THOROUGH;
  for (int size = 0; size < sizes; size++) {
    begin_sweep(way);
    for (int i = 0; i < PLACES * MORE; i++) {
      if (!all && size == 3 && i % 16 != 5) continue; /* a MiB each */
      if (!all && size == 2 && (i + i / PLACES) % 2 != 0) continue;
      add_copy(places[i % PLACES][0], places[i % PLACES][1], about[size] + more[i / PLACES]);
    }
    copy_swept(stream);
  }
}

int kw_child_slots_copy_places(void) {
  static const uint64_t offsets[] = {0, 1, 2, 4, 7, 8, 16, 48};
  static const uint64_t sizes[] = {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100, 129, 257, 1023};
  enum { OFFSETS = sizeof offsets / sizeof *offsets, PAIRS = OFFSETS * OFFSETS, SIZES = sizeof sizes / sizeof *sizes };
  kw_bench_open();
  void *stream = kw_bench_stream(1);
  const int step = (int)kw_soak_count(5, 2, 1);
  for (int way = 0; way < WAYS; way++) {
    begin_sweep(way);
    for (int i = 0; i < PAIRS * SIZES; i++) {
      if ((i + i / PAIRS) % step != 0) continue;
      add_copy(offsets[i % OFFSETS], offsets[i / OFFSETS % OFFSETS], sizes[i / PAIRS]);
    }
    copy_swept(stream);
    sweep_large(way, stream);
  }
  kw_bench_end_stream(stream);
  kw_bench_close();
  return 0;
}

/* Whatever its size, and however the two places lie, a copy brings all of its bytes and leaves what is beside them. */
void kw_contract_slots_copy_places(void **state) {
  (void)state;
  kw_test_child("slots_copy_places");
}

/* ---- Large copies from several threads --------------------------------------------------------------------------- */

enum { READ_SIZES = 3, READ_MOST = (1 << 20) + 67 };

typedef struct reading {
  void *streams[KW_TEST_THREADS];
  kw_mem mems[KW_TEST_THREADS];
  unsigned char *sent[KW_TEST_THREADS], *got[KW_TEST_THREADS];
  pthread_barrier_t barrier;
  uint64_t rounds;
  atomic_int mixed; /* a copy brought other bytes: of which thread is chance */
} reading;

/* Every other time the memory is written again before, with what it holds. */
static kw_status read_own(const reading *r, int index, uint64_t size, bool writes) {
  memset(r->got[index], 0, size);
  void *stream = r->streams[index];
  kw_status status = writes ? kw_bench_try_write(stream, r->mems[index], 0, r->sent[index], size) : KW_OK;
  if (status == KW_OK) status = kw_bench_try_read(stream, r->mems[index], 0, r->got[index], size);
  return status == KW_OK ? KW_SLOT(stream, synchronize, stream, KW_WAIT_FOREVER) : status;
}

/* All threads copy at once, each its own memory by its own stream. Who fails goes on meeting the others. */
static int read_at_once(int index, void *user, char *text, size_t size) {
  static const uint64_t sizes[READ_SIZES] = {300001, READ_MOST, READ_MOST};
  reading *r = user;
  kw_status status = KW_OK;
  for (uint64_t round = 0; round < r->rounds; round++) {
    const uint64_t bytes = sizes[round % READ_SIZES];
    pthread_barrier_wait(&r->barrier);
    if (status != KW_OK) continue;
    status = read_own(r, index, bytes, round % 2 != 0);
    if (status == KW_OK && memcmp(r->got[index], r->sent[index], bytes) != 0) atomic_store(&r->mixed, 1);
  }
  if (status == KW_OK) return 0;
  snprintf(text, size, "copying while other threads copy by other streams gave %s", kw_status_name(status));
  return 1;
}

int kw_child_slots_threads_read(void) {
  static reading r;
  kw_bench_open();
  r.rounds = READ_SIZES * kw_soak_count(2, 20, 200);
  KW_NEED(pthread_barrier_init(&r.barrier, NULL, KW_TEST_THREADS) == 0, "barriers");
  for (int i = 0; i < KW_TEST_THREADS; i++) {
    r.streams[i] = kw_bench_stream((uint64_t)i + 1);
    r.mems[i] = kw_bench_memory(READ_MOST);
    r.sent[i] = kw_test_memory(READ_MOST);
    r.got[i] = kw_test_memory(READ_MOST);
    kw_test_pattern(r.sent[i], READ_MOST, (uint64_t)i);
    kw_bench_write(r.streams[i], r.mems[i], r.sent[i], READ_MOST);
    kw_bench_wait(r.streams[i]);
  }
  kw_test_run_threads(read_at_once, &r);
  KW_CHECK(
      !atomic_load(&r.mixed),
      "what a stream wrote and read while others did the same with other memory holds other bytes: do they share a "
      "buffer?");
  pthread_barrier_destroy(&r.barrier);
  for (int i = 0; i < KW_TEST_THREADS; i++) {
    kw_bench_free(r.mems[i]);
    kw_bench_end_stream(r.streams[i]);
    free(r.sent[i]);
    free(r.got[i]);
  }
  kw_bench_close();
  return 0;
}

/* Large copies to and from the host that are in flight at once, by streams and threads of their own, each bring what
 * they were to. */
void kw_contract_slots_threads_read(void **state) {
  (void)state;
  kw_test_child("slots_threads_read");
}

/* ---- In front of an event ---------------------------------------------------------------------------------------- */

enum { SEEN_BY_QUERY, SEEN_BY_WAIT, SEEN_BY_STREAM, SEEN_BY_OTHER, SEEN_WAYS };

static kw_status ask_event(void *event) {
  return KW_SLOT(event, query, event);
}

static kw_status ask_stream(void *stream) {
  return KW_SLOT(stream, query, stream);
}

/* Returns when the plugin says that what is in front of the event has finished. */
static void see_end(int how, void *stream, void *event, void *other) {
  kw_status status = KW_OK;
  if (how == SEEN_BY_QUERY) status = kw_bench_ask(ask_event, event, "an event behind a large read");
  if (how == SEEN_BY_STREAM) status = kw_bench_ask(ask_stream, stream, "the end of a large read");
  kw_guest_expect(status, KW_OK, "a query", "behind a large read");
  if (how == SEEN_BY_WAIT) KW_SLOT_OK(event, synchronize, event, KW_WAIT_FOREVER);
  if (how == SEEN_BY_OTHER) {
    KW_SLOT_OK(event, wait, other, event);
    KW_SLOT_OK(stream, synchronize, other, KW_WAIT_FOREVER);
  }
}

/* Host memory and the device's, and two streams, of which the second has nothing to do. */
typedef struct seen_copies {
  void *streams[2];
  kw_mem mem;
  unsigned char *host, *want;
} seen_copies;

static void open_seen(seen_copies *t) {
  kw_bench_open();
  for (int i = 0; i < 2; i++) t->streams[i] = kw_bench_stream((uint64_t)i + 1);
  t->mem = kw_bench_memory(READ_MOST);
  t->host = kw_test_memory(READ_MOST);
  t->want = kw_test_memory(READ_MOST);
}

static void close_seen(seen_copies *t) {
  free(t->host);
  free(t->want);
  kw_bench_free(t->mem);
  for (int i = 0; i < 2; i++) kw_bench_end_stream(t->streams[i]);
  kw_bench_close();
}

/* Copies, and returns as soon as the plugin says that this is done: to the host, or from it. Gives the event by which
 * it was told. */
static void *copy_then_see(const seen_copies *t, int how, bool is_upload, uint64_t size) {
  void *event = kw_bench_event();
  atomic_int *all_enqueued = kw_test_memory(sizeof *all_enqueued);
  kw_gate *gate = kw_bench_shut(t->streams[0]);
  kw_bench_open_when_stuck_or(gate, all_enqueued); /* a driver may wait for its turn where memory is not page-locked */
  if (is_upload) {
    kw_bench_write(t->streams[0], t->mem, t->host, size);
  } else {
    kw_bench_read(t->streams[0], t->mem, t->host, size);
  }
  KW_SLOT_OK(event, record, event, t->streams[0]);
  atomic_store(all_enqueued, 1);
  see_end(how, t->streams[0], event, t->streams[1]);
  free(all_enqueued);
  return event;
}

static const uint64_t seen_sizes[READ_SIZES] = {5000, 70000, READ_MOST};
static const char *const seen_names[SEEN_WAYS] = {
    "event.query says that an event behind it has passed", "event.synchronize of an event behind it has returned",
    "stream.query says that its stream is done", "a stream that waited for an event behind it is done"};

int kw_child_slots_read_then_event(void) {
  static seen_copies t;
  open_seen(&t);
  kw_test_pattern(t.want, READ_MOST, 1);
  kw_bench_write(t.streams[0], t.mem, t.want, READ_MOST);
  kw_bench_wait(t.streams[0]);
  for (uint64_t i = 0; i < SEEN_WAYS * READ_SIZES * kw_soak_count(1, 2, 50); i++) {
    const int how = (int)(i % SEEN_WAYS);
    const uint64_t size = seen_sizes[i / SEEN_WAYS % READ_SIZES];
    memset(t.host, 0, size);
    void *event = copy_then_see(&t, how, false, size);
    const bool is_there = memcmp(t.host, t.want, size) == 0;
    kw_bench_wait(t.streams[0]);
    KW_CHECK(is_there, "a read of %llu bytes to the host is not all there when %s", (unsigned long long)size,
             seen_names[how]);
    KW_SLOT_OK(event, destroy, event);
  }
  close_seen(&t);
  return 0;
}

/* Who learns that an event behind a large read has passed finds all of it in the host's memory, by whichever slot it
 * learned that. */
void kw_contract_slots_events_behind_reads(void **state) {
  (void)state;
  kw_test_need(KW_NATIVE_CALL_HOST | KW_NATIVE_EVENTS);
  kw_test_child("slots_read_then_event");
}

int kw_child_slots_write_then_event(void) {
  static seen_copies t;
  open_seen(&t);
  for (uint64_t i = 0; i < SEEN_WAYS * READ_SIZES * kw_soak_count(1, 2, 50); i++) {
    const int how = (int)(i % SEEN_WAYS);
    const uint64_t size = seen_sizes[i / SEEN_WAYS % READ_SIZES];
    kw_test_pattern(t.want, size, i);
    memcpy(t.host, t.want, size);
    void *event = copy_then_see(&t, how, true, size);
    memset(t.host, 0xee, size);
    kw_bench_wait(t.streams[0]);
    kw_bench_read(t.streams[0], t.mem, t.host, size);
    kw_bench_wait(t.streams[0]);
    KW_CHECK(memcmp(t.host, t.want, size) == 0,
             "a copy of %llu bytes from the host still reads them when %s: what the host wrote there then arrived",
             (unsigned long long)size, seen_names[how]);
    KW_SLOT_OK(event, destroy, event);
  }
  close_seen(&t);
  return 0;
}

/* The same of a large copy from the host: nothing reads the host's memory any more. */
void kw_contract_slots_events_behind_writes(void **state) {
  (void)state;
  kw_test_need(KW_NATIVE_CALL_HOST | KW_NATIVE_EVENTS);
  kw_test_child("slots_write_then_event");
}

/* ---- Small ones behind a gate ------------------------------------------------------------------------------------ */

enum { SIZES = 7, ROOM = 4096 };
static const uint64_t small_sizes[SIZES] = {1, 4, 16, 64, 256, 257, ROOM};

/* From the host to the device, on to other memory of it and back, in each size. */
typedef struct small_copies {
  void *stream;
  kw_mem there[SIZES], elsewhere[SIZES];
  unsigned char *sent, *got[SIZES]; /* page-locked, where the plugin has such memory */
} small_copies;

static unsigned char *host_memory(void) {
  void *memory = NULL;
  if (!kw_bench.guest.memory->alloc_host) return kw_test_memory(ROOM);
  KW_SLOT_OK(memory, alloc_host, ROOM, &memory);
  return memory;
}

static void free_host_memory(void *memory) {
  if (kw_bench.guest.memory->alloc_host) {
    KW_SLOT_OK(memory, free_host, memory);
  } else {
    free(memory);
  }
}

static kw_status copy_one(small_copies *c, int index) {
  const int size = index / 3;
  kw_copy_info info = {.struct_size = sizeof info, .size = small_sizes[size]};
  if (index % 3 == TO_HOST) {
    info.kind = KW_COPY_DEVICE_TO_HOST;
    info.src_mem = c->there[size];
    info.dst_host = c->got[size];
  } else if (index % 3 == FROM_HOST) {
    info.kind = KW_COPY_HOST_TO_DEVICE;
    info.src_host = c->sent;
    info.dst_mem = c->there[size];
  } else {
    info.kind = KW_COPY_DEVICE_TO_DEVICE;
    info.src_mem = c->there[size];
    info.dst_mem = c->elsewhere[size];
  }
  return KW_SLOT(memory, copy, c->stream, &info);
}

/* A copy that waits has the process do nothing: the gate opens of itself then, and the test says what it waited for. */
static void copy_small(small_copies *c) {
  char what[160];
  for (int i = 0; i < 3 * SIZES; i++) {
    snprintf(what, sizeof what, "memory.copy of %llu bytes %s, which is to enqueue it,",
             (unsigned long long)small_sizes[i / 3], way_names[i % 3]);
    kw_test_waits(what);
    kw_guest_expect(copy_one(c, i), KW_OK, "memory.copy", "behind a host function");
    kw_gate_check();
  }
}

int kw_child_slots_small_copies(void) {
  static small_copies c;
  unsigned char read[ROOM];
  kw_bench_open();
  c.stream = kw_bench_stream(1);
  c.sent = host_memory();
  kw_test_pattern(c.sent, ROOM, 1);
  for (int i = 0; i < SIZES; i++) {
    c.there[i] = kw_bench_memory(ROOM);
    c.elsewhere[i] = kw_bench_memory(ROOM);
    c.got[i] = host_memory();
  }
  kw_gate *gate = kw_bench_shut(c.stream);
  copy_small(&c);
  kw_gate_open(gate);
  kw_bench_wait(c.stream);
  for (int i = 0; i < SIZES; i++) {
    kw_bench_read(c.stream, c.elsewhere[i], read, small_sizes[i]);
    kw_bench_wait(c.stream);
    kw_test_same(c.got[i], c.sent, small_sizes[i], "what a small copy behind a host function brought back");
    kw_test_same(read, c.sent, small_sizes[i], "what a small copy behind a host function brought to other memory");
    kw_bench_free(c.there[i]);
    kw_bench_free(c.elsewhere[i]);
    free_host_memory(c.got[i]);
  }
  free_host_memory(c.sent);
  kw_bench_end_stream(c.stream);
  kw_bench_close();
  return 0;
}

/* Small copies are enqueued like large ones: none waits for its stream inside of the slot. */
void kw_contract_slots_small_copies_return(void **state) {
  (void)state;
  kw_test_need(KW_NATIVE_CALL_HOST);
  kw_test_child("slots_small_copies");
}
