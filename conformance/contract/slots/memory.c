/* SPDX-License-Identifier: Apache-2.0
 *
 * Suite slots: memory whose slots are called directly. Keyway pools memory, aligns what it hands out and keeps what a
 * copy names until long after; a plugin gets the bare calls here.
 */
#include "launch.h"

#include "contract/hold.h"
#include "contract/scenarios.h"
#include "contract/soak/soak.h"

#include <stdio.h>

enum { SIZE = 5000, SMALL = 24, MOST_ALIGNED = 64 };

static uint64_t lowest_bit(uint64_t x) {
  return x & (~x + 1);
}

/* Of a pointer, as a number that is the same in every run. */
static unsigned alignment_of(const void *pointer, uint64_t want) {
  const uint64_t bit = lowest_bit((uintptr_t)pointer);
  return (unsigned)(bit < want ? bit : want);
}

/* ---- Alignment --------------------------------------------------------------------------------------------------- */

static void align_host_memory(void) {
  enum { PIECES = 8 };
  static const uint64_t sizes[PIECES] = {1, 3, 64, 100, 1000, 4097, 65536, 1 << 20};
  void *pieces[PIECES];
  const kw_memory_api *memory = kw_bench.guest.memory;
  if (!memory->alloc_host || !memory->free_host) return;
  for (int i = 0; i < PIECES; i++) {
    KW_SLOT_OK(memory, alloc_host, sizes[i], &pieces[i]);
    const unsigned got = alignment_of(pieces[i], MOST_ALIGNED);
    KW_CHECK(got == MOST_ALIGNED, "memory.alloc_host of %llu bytes gave memory that is aligned to %u, not to 64",
             (unsigned long long)sizes[i], got);
    memset(pieces[i], i, sizes[i]);
  }
  for (int i = 0; i < PIECES; i++) KW_SLOT_OK(memory, free_host, pieces[i]);
}

/* Where memory is the host's, its name in the device's runtime is its address, which everybody's kernels rely on. */
static void align_memory(uint64_t alignment) {
  enum { HOSTS_CPU = 1 }; /* kDLCPU */
  const kw_interop_api *interop = kw_bench.guest.interop;
  kw_native_handle name = {.struct_size = sizeof name};
  if (!interop || !interop->native_handle) return;
  for (uint64_t size = 1; size < 1 << 20; size = size * 7 + 1) {
    const kw_alloc_info info = {
        .struct_size = sizeof info, .kind = KW_MEM_DEVICE, .size = size, .alignment = alignment};
    kw_mem mem = NULL;
    KW_SLOT_OK(memory, alloc, &info, &mem);
    if (KW_SLOT(interop, native_handle, KW_OBJECT_MEMORY, mem, &name) == KW_OK && name.dl_device_type == HOSTS_CPU) {
      const unsigned got = alignment_of(name.handle, alignment);
      KW_CHECK(got == alignment, "memory.alloc of %llu bytes for an alignment of %llu gave one of %u",
               (unsigned long long)size, (unsigned long long)alignment, got);
    }
    kw_bench_free(mem);
  }
}

static void align_map(kw_mem mem, uint64_t alignment, void *stream) {
  static const uint64_t flags[] = {KW_MAP_READ, KW_MAP_WRITE, KW_MAP_READ | KW_MAP_WRITE};
  static const uint64_t offsets[] = {0, 1, 2, 8, 24, 64, 96, 192, 4096};
  for (size_t i = 0; i < sizeof offsets / sizeof offsets[0]; i++) {
    kw_map_info info = {
        .struct_size = sizeof info, .flags = flags[i % 3], .mem = mem, .offset = offsets[i], .size = SIZE - 4096};
    const uint64_t want = lowest_bit(offsets[i] | alignment | MOST_ALIGNED);
    void *pointer = NULL;
    const kw_status status = KW_SLOT(memory, map, stream, &info, &pointer);
    if (status == KW_ERR_UNSUPPORTED) return; /* memory that the host does not reach */
    kw_guest_expect(status, KW_OK, "memory.map", "called directly");
    const unsigned got = alignment_of(pointer, want);
    KW_CHECK(got == want,
             "memory.map of bytes %llu on, in memory aligned to %llu, gave a pointer aligned to %u, not to %llu",
             (unsigned long long)offsets[i], (unsigned long long)alignment, got, (unsigned long long)want);
    KW_SLOT_OK(memory, unmap, stream, &info, pointer);
  }
}

int kw_child_slots_alignment(void) {
  kw_bench_open();
  const kw_memory_api *memory = kw_bench.guest.memory;
  void *stream = kw_bench_stream(1);
  align_host_memory();
  for (uint64_t alignment = 1; alignment <= kw_bench.info.mem_alignment; alignment *= 2) {
    align_memory(alignment);
    for (kw_mem_kind kind = KW_MEM_DEVICE; memory->map && memory->unmap && kind <= KW_MEM_MANAGED; kind++) {
      const kw_alloc_info info = {.struct_size = sizeof info, .kind = kind, .size = SIZE, .alignment = alignment};
      kw_alloc_info small = info;
      kw_mem before = NULL, mem = NULL;
      small.size = SMALL;
      if (KW_SLOT(memory, alloc, &small, &before) != KW_OK) continue; /* a kind that the device does not have */
      KW_SLOT_OK(memory, alloc, &info, &mem);
      align_map(mem, alignment, stream);
      kw_bench_free(mem);
      kw_bench_free(before);
    }
  }
  kw_bench_end_stream(stream);
  kw_bench_close();
  return 0;
}

/* Memory, memory for the host and maps lie as the headers say and the device claims: at multiples of the alignment that
 * was asked for, of 64, and of what the place in memory has. */
void kw_contract_slots_alignment(void **state) {
  (void)state;
  kw_test_child("slots_alignment");
}

/* ---- Freed after a wait ------------------------------------------------------------------------------------------ */

enum { WAIT_STREAM, WAIT_EVENT, WAIT_QUERY, WAIT_KINDS };

static void wait_as(int kind, void *stream, void *event) {
  if (kind == WAIT_STREAM) KW_SLOT_OK(stream, synchronize, stream, KW_WAIT_FOREVER);
  if (kind == WAIT_EVENT) {
    KW_SLOT_OK(event, record, event, stream);
    KW_SLOT_OK(event, synchronize, event, KW_WAIT_FOREVER);
  }
  if (kind == WAIT_QUERY) { /* the first says no, as good as always */
    kw_status status;
    do status = KW_SLOT(stream, synchronize, stream, 1000);
    while (status == KW_ERR_TIMEOUT);
    kw_guest_expect(status, KW_OK, "stream.synchronize", "called directly");
  }
}

/* Memory goes to the device and back and is freed at once; what takes its place has other contents. */
static void free_after(int kind, uint64_t tag, const kw_launch *launch, void *stream, void *event) {
  static unsigned char sent[2][SIZE], got[2][SIZE];
  const kw_mem mem = kw_bench_memory(SIZE), result = launch ? kw_launch_result(launch) : NULL;
  for (int i = 0; i < 2; i++) kw_test_pattern(sent[i], SIZE, 2 * tag + (uint64_t)i);
  kw_bench_write(stream, mem, sent[0], SIZE);
  kw_bench_read(stream, mem, got[0], SIZE);
  if (launch) kw_launch_run(launch, stream, result, tag);
  wait_as(kind, stream, event);
  kw_bench_free(mem);
  if (launch) kw_bench_free(result);
  const kw_mem next = kw_bench_memory(SIZE);
  kw_bench_write(stream, next, sent[1], SIZE);
  kw_test_same(got[0], sent[0], SIZE, "what was read from memory that was freed right after a wait");
  kw_bench_read(stream, next, got[1], SIZE);
  wait_as(kind, stream, event);
  kw_bench_free(next);
  kw_test_same(got[1], sent[1], SIZE,
               "what was read from memory in the place of memory that was freed right after a wait");
}

int kw_child_slots_free(void) {
  kw_bench_open();
  kw_launch *launch = kw_launch_draw();
  void *stream = kw_bench_stream(1), *event = kw_bench.guest.event ? kw_bench_event() : NULL;
  for (uint64_t i = 0; i < WAIT_KINDS * kw_soak_count(2, 16, 500); i++) {
    const int kind = (int)(i % WAIT_KINDS);
    free_after(kind == WAIT_EVENT && !event ? WAIT_STREAM : kind, i, launch, stream, event);
  }
  if (event) KW_SLOT_OK(event, destroy, event);
  kw_launch_free(launch);
  kw_bench_end_stream(stream);
  kw_bench_close();
  return 0;
}

/* When a wait has returned memory may be freed at once: nothing touches it any more, and results of before are there.
 */
void kw_contract_slots_free_after_wait(void **state) {
  (void)state;
  kw_test_child("slots_free");
}

/* ---- From several threads ---------------------------------------------------------------------------------------- */

enum { HELD = 6 }; /* blocks that a thread has at a time */

typedef struct allocating {
  void *streams[KW_TEST_THREADS];
  pthread_barrier_t barrier;
  uint64_t rounds;
} allocating;

typedef struct block {
  kw_mem mem;
  uint64_t tag, first, last; /* what is at both ends of it, and what was read there */
} block;

static uint64_t block_size(int number) {
  static const uint64_t sizes[] = {64, 4096, 100000}; /* all threads ask for the same at once */
  return sizes[number % 3];
}

static kw_status allocate_and_mark(block *b, int number, void *stream) {
  const kw_alloc_info info = {
      .struct_size = sizeof info, .kind = KW_MEM_DEVICE, .size = block_size(number), .alignment = 64};
  kw_status status = KW_SLOT(memory, alloc, &info, &b->mem);
  if (status == KW_OK) status = kw_bench_try_write(stream, b->mem, 0, &b->tag, sizeof b->tag);
  const uint64_t end = info.size - sizeof b->tag;
  return status == KW_OK ? kw_bench_try_write(stream, b->mem, end, &b->tag, sizeof b->tag) : status;
}

static kw_status read_marks(block *b, int number, void *stream) {
  const uint64_t end = block_size(number) - sizeof b->tag;
  const kw_status status = kw_bench_try_read(stream, b->mem, 0, &b->first, sizeof b->first);
  return status == KW_OK ? kw_bench_try_read(stream, b->mem, end, &b->last, sizeof b->last) : status;
}

static kw_status end_round(block *blocks, void *stream, bool *out_same) {
  kw_status status = KW_OK;
  for (int i = 0; i < HELD && status == KW_OK; i++) status = read_marks(&blocks[i], i, stream);
  if (status == KW_OK) status = KW_SLOT(stream, synchronize, stream, KW_WAIT_FOREVER);
  for (int i = 0; i < HELD && status == KW_OK; i++) {
    *out_same &= blocks[i].first == blocks[i].tag && blocks[i].last == blocks[i].tag;
    status = KW_SLOT(memory, dealloc, blocks[i].mem);
  }
  return status;
}

/* All threads allocate at once, and none reads before all have written. Who fails goes on meeting the others. */
static int allocate(int index, void *user, char *text, size_t size) {
  allocating *a = user;
  void *stream = a->streams[index];
  kw_status status = KW_OK;
  bool same = true;
  for (uint64_t round = 0; round < a->rounds; round++) {
    block blocks[HELD] = {0};
    pthread_barrier_wait(&a->barrier);
    for (int i = 0; i < HELD && status == KW_OK; i++) {
      blocks[i].tag = ((uint64_t)index + 1) << 48 | round << 8 | (uint64_t)i;
      status = allocate_and_mark(&blocks[i], i, stream);
    }
    if (status == KW_OK) status = KW_SLOT(stream, synchronize, stream, KW_WAIT_FOREVER);
    pthread_barrier_wait(&a->barrier);
    if (status == KW_OK && same) status = end_round(blocks, stream, &same);
  }
  if (status == KW_OK && same) return 0;
  snprintf(text, size, "allocating while others do %s%s",
           status == KW_OK ? "it was given memory that holds what it did not write" : "gave ",
           status == KW_OK ? "" : kw_status_name(status));
  return 1;
}

int kw_child_slots_allocating(void) {
  static allocating a;
  kw_bench_open();
  a.rounds = kw_soak_count(10, 1000, 20000);
  KW_NEED(pthread_barrier_init(&a.barrier, NULL, KW_TEST_THREADS) == 0, "barriers");
  for (int i = 0; i < KW_TEST_THREADS; i++) a.streams[i] = kw_bench_stream((uint64_t)i + 1);
  kw_test_run_threads(allocate, &a);
  pthread_barrier_destroy(&a.barrier);
  for (int i = 0; i < KW_TEST_THREADS; i++) kw_bench_end_stream(a.streams[i]);
  kw_bench_close();
  return 0;
}

/* Several threads allocate and free at once, none of them under a lock of Keyway's. */
void kw_contract_slots_threads_allocate(void **state) {
  (void)state;
  kw_test_child("slots_allocating");
}

/* ---- What a host gives during a call only ------------------------------------------------------------------------ */

static void fill(void *stream, kw_mem mem, uint32_t word) {
  static uint32_t pattern[4]; /* who reads it later finds the same each time */
  memcpy(pattern, (uint32_t[]){word, ~word, word + 1, word * 3}, sizeof pattern);
  KW_SLOT_OK(memory, fill, stream, mem, 0, SIZE / 16 * 16, pattern, sizeof pattern);
  memset(pattern, 0xa5, sizeof pattern); /* the slot's no longer */
}

int kw_child_slots_descriptors(void) {
  enum { FILLED = SIZE / 16 * 16 };
  static unsigned char sent[SIZE], got[SIZE];
  static uint32_t filled[FILLED / 4];
  kw_bench_open();
  kw_launch *launch = kw_launch_draw();
  void *stream = kw_bench_stream(1), *other = kw_bench_stream(2);
  const kw_mem mem = kw_bench_memory(SIZE), second = kw_bench_memory(SIZE);
  const kw_mem result = launch ? kw_launch_result(launch) : NULL;
  const bool fills = kw_bench.guest.memory->fill != NULL;
  kw_test_pattern(sent, SIZE, 1);
  kw_gate *gate = kw_bench_shut(stream);
  kw_bench_write(stream, mem, sent, SIZE); /* of all that is given here descriptors, lists and patterns do not last */
  kw_bench_read(stream, mem, got, SIZE);
  if (launch) kw_launch_run(launch, stream, result, 1);
  if (fills) fill(stream, second, 0x01020304);
  if (fills) kw_bench_read(stream, second, filled, FILLED);
  kw_bench_busy(other); /* in the places that they had is something else now */
  kw_gate_open(gate);
  kw_bench_wait(stream);
  kw_test_same(got, sent, SIZE, "what was copied by descriptors that were overwritten when the slot had returned");
  if (launch)
    kw_launch_expect(launch, other, result, "the result of a launch whose call was overwritten when it had returned");
  for (size_t i = 0; fills && i < FILLED / 4; i += 4) {
    const uint32_t want[4] = {0x01020304, ~0x01020304u, 0x01020305, 0x01020304u * 3};
    kw_test_same(&filled[i], want, sizeof want,
                 "what a pattern filled that was overwritten when the slot had returned");
  }
  if (launch) kw_bench_free(result);
  kw_launch_free(launch);
  kw_bench_free(mem);
  kw_bench_free(second);
  kw_bench_end_stream(stream);
  kw_bench_end_stream(other);
  kw_bench_close();
  return 0;
}

/* What a slot is given is the host's again when it has returned, however long the work waits: the descriptors of copies
 * and launches, with all that they point to, and the pattern of a fill. */
void kw_contract_slots_descriptors_end(void **state) {
  (void)state;
  kw_test_need(KW_NATIVE_CALL_HOST);
  kw_test_child("slots_descriptors");
}

/* ---- Names ------------------------------------------------------------------------------------------------------- */

static void check_stream_names(void) {
  void *streams[2] = {kw_bench_stream(1), kw_bench_stream(2)};
  kw_native_handle names[2] = {{.struct_size = sizeof names[0]}, {.struct_size = sizeof names[1]}};
  bool named = true;
  for (int i = 0; i < 2 && named; i++) {
    const kw_status status = KW_SLOT(interop, native_handle, KW_OBJECT_STREAM, streams[i], &names[i]);
    named = status != KW_ERR_UNSUPPORTED;
    if (named) kw_guest_expect(status, KW_OK, "interop.native_handle", "called directly");
  }
  KW_CHECK(!named || names[0].handle != names[1].handle, "two streams that live have one name");
  for (int i = 0; i < 2; i++) kw_bench_end_stream(streams[i]);
}

int kw_child_slots_names(void) {
  enum { PIECES = 8 };
  kw_mem pieces[PIECES];
  kw_native_handle names[PIECES];
  uint32_t named = 0;
  kw_bench_open();
  if (!kw_bench.guest.interop || !kw_bench.guest.interop->native_handle) kw_test_skip("the plugin names no memory");
  check_stream_names();
  for (uint32_t i = 0; i < PIECES; i++) {
    pieces[i] = kw_bench_memory(1000 * i + 1);
    names[i] = (kw_native_handle){.struct_size = sizeof names[i]};
    const kw_status status = KW_SLOT(interop, native_handle, KW_OBJECT_MEMORY, pieces[i], &names[i]);
    if (status == KW_ERR_UNSUPPORTED) break;
    kw_guest_expect(status, KW_OK, "interop.native_handle", "called directly");
    for (uint32_t k = 0; k < i; k++) {
      KW_CHECK(names[i].handle != names[k].handle, "two pieces of memory that live have one name");
    }
    named++;
  }
  for (uint32_t i = 0; i < PIECES && i <= named; i++) kw_bench_free(pieces[i]);
  kw_bench_close();
  if (named == 0) kw_test_skip("the plugin names no memory");
  return 0;
}

/* Each piece of memory has a name of its own, and each stream: an element lies so many bytes behind what its memory is
 * called. */
void kw_contract_slots_memory_names(void **state) {
  (void)state;
  kw_test_need(KW_NATIVE_INTEROP);
  kw_test_child("slots_names");
}
