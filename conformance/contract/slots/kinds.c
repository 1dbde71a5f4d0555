/* SPDX-License-Identifier: Apache-2.0
 *
 * Suite slots: fills and copies of memory of each kind that the device has, enqueued where the first cannot begin yet.
 * Of memory that the host reaches, a driver is tempted to do them itself and at once.
 */
#include "bench.h"

#include "contract/hold.h"
#include "contract/scenarios.h"
#include "contract/soak/soak.h"

enum { STEPS = 6, PATTERN = 4 };

/* What is done to one piece of memory, step by step, each time all of it, and what it holds after each. */
typedef struct in_order {
  kw_mem mem, other; /* of the kind, and the device's */
  uint64_t size;
  unsigned char *sent[STEPS], *got[STEPS]; /* what it is to hold after a step, and what was read then */
} in_order;

static const char *const step_names[STEPS] = {"a fill",
                                              "a copy from the host",
                                              "a fill again",
                                              "a copy from other memory",
                                              "a copy from the host again",
                                              "a copy from other memory again"};

static bool is_fill(int step) {
  return step == 0 || step == 2;
}

static void make(in_order *t, kw_mem mem, kw_mem other, uint64_t size, uint64_t tag) {
  *t = (in_order){.mem = mem, .other = other, .size = size};
  for (int i = 0; i < STEPS; i++) {
    t->sent[i] = kw_test_memory(size);
    t->got[i] = kw_test_memory(size);
    kw_test_pattern(t->sent[i], size, tag * STEPS + (uint64_t)i);
    for (uint64_t b = PATTERN; is_fill(i) && b < size; b++) t->sent[i][b] = t->sent[i][b - PATTERN];
  }
}

static void copy_within(void *stream, kw_mem to, kw_mem from, uint64_t size) {
  kw_bench_copy(stream, (kw_copy_info){.kind = KW_COPY_DEVICE_TO_DEVICE, .dst_mem = to, .src_mem = from, .size = size});
}

/* Where there is no fill a copy from the host stands in, as Keyway does it. */
static void enqueue(const in_order *t, int step, void *stream) {
  if (is_fill(step) && kw_bench.guest.memory->fill) {
    unsigned char pattern[PATTERN];
    memcpy(pattern, t->sent[step], PATTERN);
    KW_SLOT_OK(memory, fill, stream, t->mem, 0, t->size, pattern, PATTERN);
  } else if (step == 3 || step == 5) {
    kw_bench_write(stream, t->other, t->sent[step], t->size);
    copy_within(stream, t->mem, t->other, t->size);
  } else {
    kw_bench_write(stream, t->mem, t->sent[step], t->size);
  }
  kw_bench_read(stream, t->mem, t->got[step], t->size);
}

static void do_in_order(kw_mem_kind kind, uint64_t size, void *stream) {
  static const char *const kinds[] = {"device memory", "memory that the host reaches", "memory of the host",
                                      "managed memory"};
  const kw_mem mem = kw_bench_memory_of(kind, size), other = kw_bench_memory_of(KW_MEM_DEVICE, size);
  in_order t;
  make(&t, mem, other, size, size + kind);
  atomic_int *all_enqueued = kw_test_memory(sizeof *all_enqueued);
  kw_gate *gate = kw_bench_shut(stream);
  kw_bench_open_when_stuck_or(gate, all_enqueued); /* a driver may wait for its turn where memory is not page-locked */
  for (int i = 0; i < STEPS; i++) enqueue(&t, i, stream);
  atomic_store(all_enqueued, 1);
  kw_bench_wait(stream);
  free(all_enqueued);
  for (int i = 0; i < STEPS; i++) {
    KW_CHECK(
        memcmp(t.got[i], t.sent[i], size) == 0,
        "of fills and copies of %llu bytes of %s, enqueued before the first could begin, what was read behind %s is "
        "not what that has left: was one of them done out of turn?",
        (unsigned long long)size, kinds[kind], step_names[i]);
    free(t.sent[i]);
    free(t.got[i]);
  }
  kw_bench_free(mem);
  kw_bench_free(other);
}

int kw_child_slots_in_order(void) {
  static const uint64_t sizes[] = {4, 64, 20, 256, 1024, 4096, 20000, 70000, 300000};
  kw_bench_open();
  void *stream = kw_bench_stream(1);
  const uint64_t count = kw_soak_count(3, sizeof sizes / sizeof *sizes, sizeof sizes / sizeof *sizes);
  for (kw_mem_kind kind = KW_MEM_DEVICE; kind <= KW_MEM_MANAGED; kind++) {
    const kw_mem mem = kw_bench_memory_of(kind, 64);
    if (!mem) continue;
    kw_bench_free(mem);
    for (uint64_t i = 0; i < count; i++) do_in_order(kind, sizes[i], stream);
  }
  kw_bench_end_stream(stream);
  kw_bench_close();
  return 0;
}

/* Fills and copies are done in their turn, however small, whatever kind of memory they are for. */
void kw_contract_slots_kinds_in_order(void **state) {
  (void)state;
  kw_test_need(KW_NATIVE_CALL_HOST);
  kw_test_child("slots_in_order");
}
