/* SPDX-License-Identifier: Apache-2.0
 *
 * Suite slots: fills that are called directly, larger than a driver may do at once and more of them than it may keep.
 */
#include "bench.h"

#include "contract/hold.h"
#include "contract/scenarios.h"
#include "contract/soak/soak.h"

#define MIB (UINT64_C(1) << 20)

/* ---- Large ------------------------------------------------------------------------------------------------------- */

enum { EDGE = 64 }; /* bytes before and behind what is filled */

/* False where the device has no memory of this size now. */
static bool try_memory(uint64_t size, kw_mem *out_mem) {
  const kw_alloc_info info = {.struct_size = sizeof info, .kind = KW_MEM_DEVICE, .size = size, .alignment = EDGE};
  *out_mem = NULL;
  if (kw_bench.info.total_memory && size > kw_bench.info.total_memory / 4) return false;
  if (kw_bench.info.max_alloc && size > kw_bench.info.max_alloc) return false;
  const kw_status status = KW_SLOT(memory, alloc, &info, out_mem);
  KW_CHECK(status == KW_OK || status == KW_ERR_OUT_OF_MEMORY, "memory.alloc of %llu bytes gave %s",
           (unsigned long long)size, kw_status_name(status));
  return status == KW_OK;
}

/* Fills about `about` bytes, as many as the pattern goes into, and looks at all of them. */
static void fill_large(void *stream, uint64_t about, uint32_t pattern_size) {
  static const unsigned char pattern[16] = {0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88,
                                            0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xf1, 0x5e};
  const uint64_t size = about / pattern_size * pattern_size, whole = size + 2 * EDGE;
  kw_mem mem = NULL;
  if (!try_memory(whole, &mem)) return;
  unsigned char *bytes = kw_test_memory(whole), *filled = bytes + EDGE;
  kw_bench_write(stream, mem, bytes, whole);
  KW_SLOT_OK(memory, fill, stream, mem, EDGE, size, pattern, pattern_size);
  kw_bench_wait(stream);
  memset(bytes, 0x0f, whole);
  kw_bench_read(stream, mem, bytes, whole);
  kw_bench_wait(stream);
  KW_CHECK(
      memcmp(filled, pattern, pattern_size) == 0 && memcmp(filled, filled + pattern_size, size - pattern_size) == 0,
      "memory.fill of %llu bytes with a pattern of %u left other bytes there", (unsigned long long)size,
      (unsigned)pattern_size);
  for (uint64_t i = 0; i < EDGE; i++) {
    KW_CHECK(bytes[i] == 0 && filled[size + i] == 0, "memory.fill of %llu bytes wrote beside them",
             (unsigned long long)size);
  }
  kw_bench_free(mem);
  free(bytes);
}

int kw_child_slots_large_fills(void) {
  kw_bench_open();
  if (!kw_bench.guest.memory->fill) kw_test_skip("the plugin has no memory.fill");
  void *stream = kw_bench_stream(1);
  fill_large(stream, MIB + 3, 1);
  fill_large(stream, 5000, 16);
  if (kw_contract.effort >= KW_EFFORT_NORMAL) {
    fill_large(stream, 8 * MIB + 3, 1);
    fill_large(stream, 17 * MIB + 50, 16);
    fill_large(stream, 33 * MIB + 12, 4);
  }
  for (uint32_t size = 1; size <= 16 && kw_contract.effort == KW_EFFORT_THOROUGH; size *= 2) {
    fill_large(stream, 16 * MIB + 5 * size, size);
    fill_large(stream, 64 * MIB + 3 * size, size);
    fill_large(stream, 257 * MIB + size, size);
  }
  kw_bench_end_stream(stream);
  kw_bench_close();
  return 0;
}

/* A fill fills all that it was told to, and nothing else, however much that is, with each byte of its pattern. */
void kw_contract_slots_large_fills(void **state) {
  (void)state;
  kw_test_child("slots_large_fills");
}

/* ---- Many -------------------------------------------------------------------------------------------------------- */

enum { FILLED = 64 }; /* bytes */

/* The value of fill number i; no two are equal. */
static uint32_t word_of(uint64_t i) {
  return (uint32_t)(i + 1) * 2654435761u;
}

int kw_child_slots_many_fills(void) {
  static atomic_int all_enqueued;
  static uint32_t pattern;
  const uint64_t count = kw_soak_count(300, 2000, 20000);
  kw_bench_open();
  if (!kw_bench.guest.memory->fill) kw_test_skip("the plugin has no memory.fill");
  void *stream = kw_bench_stream(1);
  const kw_mem mem = kw_bench_memory(count * FILLED);
  uint32_t *words = kw_test_memory(count * FILLED);
  kw_bench_write(stream, mem, words, count * FILLED);
  kw_bench_wait(stream);
  kw_gate *gate = kw_bench_shut(stream);
  kw_bench_open_when_stuck_or(gate, &all_enqueued); /* a driver with a short queue waits for its turn */
  for (uint64_t i = 0; i < count; i++) {
    pattern = word_of(i);
    KW_SLOT_OK(memory, fill, stream, mem, i * FILLED, FILLED, &pattern, sizeof pattern);
    pattern = 0xa5a5a5a5; /* the slot's no longer */
  }
  atomic_store(&all_enqueued, 1);
  kw_bench_read(stream, mem, words, count * FILLED);
  kw_bench_wait(stream);
  for (uint64_t i = 0; i < count * FILLED / sizeof *words; i++) {
    const uint64_t fill = i * sizeof *words / FILLED;
    KW_CHECK(words[i] == word_of(fill),
             "of %s fills of different values that were enqueued before the first could begin, "
             "some left another value than their own",
             kw_soak_number(count));
  }
  free(words);
  kw_bench_free(mem);
  kw_bench_end_stream(stream);
  kw_bench_close();
  return 0;
}

/* A fill keeps its pattern until it is its turn, however many are ahead. */
void kw_contract_slots_many_fills(void **state) {
  (void)state;
  kw_test_need(KW_NATIVE_CALL_HOST);
  kw_test_child("slots_many_fills");
}
