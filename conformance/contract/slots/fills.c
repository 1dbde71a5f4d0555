/* SPDX-License-Identifier: Apache-2.0
 *
 * Suite slots: fills that are called directly: at every kind of place and of every kind of pattern, larger than a
 * driver may do at once, and more of them than it may keep.
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

/* Fills by a graph. False where the slots do not take that: hosts do without. */
static bool fill_by_graph(void *recorder, void *stream, kw_mem mem, uint64_t size, const void *pattern,
                          uint32_t pattern_size) {
  const kw_capture_info info = {.struct_size = sizeof info};
  const kw_graph_launch_info launch = {.struct_size = sizeof launch, .call_id = 1};
  void *graph = NULL;
  if (KW_SLOT(graph, begin, recorder, &info) != KW_OK) return false;
  const kw_status status = KW_SLOT(memory, fill, recorder, mem, EDGE, size, pattern, pattern_size);
  const kw_status ended = KW_SLOT(graph, end, recorder, status == KW_OK ? &graph : NULL);
  if (status != KW_OK || ended != KW_OK) return false;
  KW_SLOT_OK(graph, launch, graph, stream, &launch);
  kw_bench_wait(stream);
  KW_SLOT_OK(graph, destroy, graph);
  return true;
}

/* Fills about `about` bytes, as many as the pattern goes into, and looks at all of them. recorder: the fill is recorded
 * there; NULL: it runs at once. */
static void fill_large(void *stream, void *recorder, uint64_t about, uint32_t pattern_size) {
  static const unsigned char pattern[16] = {0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88,
                                            0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xf1, 0x5e};
  const uint64_t size = about / pattern_size * pattern_size, whole = size + 2 * EDGE;
  kw_mem mem = NULL;
  if (!try_memory(whole, &mem)) return;
  unsigned char *bytes = kw_test_memory(whole), *filled = bytes + EDGE;
  kw_bench_write(stream, mem, bytes, whole);
  kw_bench_wait(stream);
  if (recorder && !fill_by_graph(recorder, stream, mem, size, pattern, pattern_size)) {
    kw_bench_free(mem);
    free(bytes);
    return;
  }
  if (!recorder) KW_SLOT_OK(memory, fill, stream, mem, EDGE, size, pattern, pattern_size);
  kw_bench_wait(stream);
  memset(bytes, 0x0f, whole);
  kw_bench_read(stream, mem, bytes, whole);
  kw_bench_wait(stream);
  KW_CHECK(
      memcmp(filled, pattern, pattern_size) == 0 && memcmp(filled, filled + pattern_size, size - pattern_size) == 0,
      "memory.fill of %llu bytes with a pattern of %u%s left other bytes there", (unsigned long long)size,
      (unsigned)pattern_size, recorder ? ", recorded in a graph," : "");
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
  void *stream = kw_bench_stream(1), *recorder = kw_bench.guest.graph ? kw_bench_stream(2) : NULL;
  for (uint64_t about = 2000; recorder && about < 8 * MIB; about *= 7)
    fill_large(stream, recorder, about, about < 100000 ? 16 : 4);
  fill_large(stream, NULL, MIB + 3, 1);
  fill_large(stream, NULL, 5000, 16);
  if (kw_contract.effort >= KW_EFFORT_NORMAL) {
    fill_large(stream, NULL, 8 * MIB + 3, 1);
    fill_large(stream, NULL, 17 * MIB + 1, 1); /* more than 65,535 blocks of 256 */
    fill_large(stream, NULL, 17 * MIB + 50, 16);
    fill_large(stream, NULL, 33 * MIB + 12, 4);
  }
  for (uint32_t size = 1; size <= 16 && kw_contract.effort == KW_EFFORT_THOROUGH; size *= 2) {
    fill_large(stream, NULL, 16 * MIB + 5 * size, size);
    fill_large(stream, NULL, 64 * MIB + 3 * size, size);
    fill_large(stream, NULL, 257 * MIB + size, size);
  }
  if (recorder) kw_bench_end_stream(recorder);
  kw_bench_end_stream(stream);
  kw_bench_close();
  return 0;
}

/* A fill fills all that it was told to, and nothing else, however much that is, with each byte of its pattern,
 * at once and in a graph. */
void kw_contract_slots_large_fills(void **state) {
  (void)state;
  kw_test_child("slots_large_fills");
}

/* ---- Patterns and places ----------------------------------------------------------------------------------------- */

enum { LARGEST_PATTERN = 16, MOST_FILLS = 256, PATTERN_KINDS = 6 };

/* Fills of one pattern, each in a place of its own of one piece of memory. */
static struct {
  unsigned char pattern[LARGEST_PATTERN];
  uint32_t pattern_size, count;
  uint64_t end; /* of the last place */
  struct {
    uint64_t place, offset, size; /* where its place begins, and what is filled */
  } fills[MOST_FILLS];
} swept;

/* Drivers have ways of their own for patterns that a narrower one would do for, and for those that are 0. */
static void make_pattern(int kind, uint32_t size) {
  for (uint32_t i = 0; i < LARGEST_PATTERN; i++) {
    const unsigned char different = (unsigned char)(0x11 + 0x0f * i);
    const unsigned char by_kind[PATTERN_KINDS] = {
        different,                                                      /* no two bytes alike */
        0x6b,                                                           /* all alike */
        i < size / 2 ? 0 : different,                                   /* the first half 0, as of 1.0 */
        i < size / 2 ? different : 0,                                   /* the other one */
        (unsigned char)(0x11 + 0x0f * (i % (size > 1 ? size / 2 : 1))), /* both halves alike */
        (unsigned char)(i + 1 == size ? 0x80 : 0),                      /* one byte alone, as of -0.0 */
    };
    swept.pattern[i] = by_kind[kind];
  }
  swept.pattern_size = size;
  swept.count = 0;
  swept.end = 0;
}

/* So many bytes at a place of its own, which begins at a multiple of 64; there are EDGE bytes before and behind it. */
static void add_fill(uint64_t offset, uint64_t size) {
  if (swept.count == MOST_FILLS || size == 0) return;
  const uint64_t place = swept.end, at = place + EDGE + offset;
  swept.fills[swept.count].place = place;
  swept.fills[swept.count].offset = at;
  swept.fills[swept.count++].size = size;
  swept.end = (at + size + 2 * EDGE - 1) / EDGE * EDGE;
}

/* Does all of them, and looks at every byte of their places. */
static void fill_swept(void *stream) {
  const kw_mem mem = kw_bench_memory_of(KW_MEM_DEVICE, swept.end);
  unsigned char *want = kw_test_memory(2 * swept.end), *got = want + swept.end;
  const uint32_t n = swept.pattern_size;
  memset(want, 0xc3, swept.end); /* in none of the patterns */
  kw_bench_write(stream, mem, want, swept.end);
  for (uint32_t i = 0; i < swept.count; i++) {
    const uint64_t offset = swept.fills[i].offset, size = swept.fills[i].size;
    KW_SLOT_OK(memory, fill, stream, mem, offset, size, swept.pattern, n);
  }
  kw_bench_read(stream, mem, got, swept.end);
  kw_bench_wait(stream);
  for (uint32_t i = 0; i < swept.count; i++) {
    for (uint64_t b = 0; b < swept.fills[i].size; b += n) memcpy(want + swept.fills[i].offset + b, swept.pattern, n);
  }
  for (uint32_t i = 0; i < swept.count; i++) {
    const uint64_t place = swept.fills[i].place, end = i + 1 < swept.count ? swept.fills[i + 1].place : swept.end;
    if (memcmp(got + place, want + place, end - place) == 0) continue;
    uint64_t at = place;
    while (got[at] == want[at]) at++;
    const bool beside = at < swept.fills[i].offset || at >= swept.fills[i].offset + swept.fills[i].size;
    KW_FAIL(
        "memory.fill of %llu bytes, %llu past a multiple of 64, with a pattern of %u %s: byte %lld of it is 0x%02x, "
        "not 0x%02x",
        (unsigned long long)swept.fills[i].size, (unsigned long long)(swept.fills[i].offset % 64), (unsigned)n,
        beside ? "wrote beside them" : "left other bytes there", (long long)(at - swept.fills[i].offset), got[at],
        want[at]);
  }
  kw_bench_free(mem);
  free(want);
}

int kw_child_slots_fill_patterns(void) {
  static const uint64_t offsets[] = {0, 1, 2, 3, 5, 7, 8, 15}, large[] = {4096, 65536, 1 << 20};
  static const uint64_t counts[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 13, 15, 16, 17, 31, 33};
  enum { OFFSETS = sizeof offsets / sizeof *offsets, COUNTS = sizeof counts / sizeof *counts };
  kw_bench_open();
  if (!kw_bench.guest.memory->fill) kw_test_skip("the plugin has no memory.fill");
  void *stream = kw_bench_stream(1);
  const int sizes = (int)kw_soak_count(1, 2, 3);
  for (uint32_t pattern_size = 1; pattern_size <= LARGEST_PATTERN; pattern_size *= 2) {
    for (int kind = 0; kind < PATTERN_KINDS; kind++) {
      make_pattern(kind, pattern_size);
      for (int i = 0; i < OFFSETS * COUNTS; i++) {
        add_fill(offsets[i % OFFSETS] * pattern_size, counts[i / OFFSETS] * pattern_size);
      }
      fill_swept(stream);
      if (kind % 3 != 0 && kw_contract.effort != KW_EFFORT_THOROUGH) continue;
      make_pattern(kind, pattern_size);
      for (int i = 0; i < sizes * 4; i++) { /* around each size, by single elements */
        const uint64_t count = large[i / 4] / pattern_size + (uint64_t)(i % 4);
        add_fill(offsets[(i + kind) % OFFSETS] * pattern_size, (count - 1) * pattern_size);
      }
      fill_swept(stream);
    }
  }
  kw_bench_end_stream(stream);
  kw_bench_close();
  return 0;
}

/* Whatever its pattern, wherever it begins and however many times the pattern goes into it, a fill leaves the pattern
 * there and what is beside it as it was. */
void kw_contract_slots_fill_patterns(void **state) {
  (void)state;
  kw_test_child("slots_fill_patterns");
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

/* ---- Imports ----------------------------------------------------------------------------------------------------- */

/* A range that begins `shift` bytes into a page, filled with patterns of this size: right, or refused, and nothing
 * beside the range has changed. */
static void fill_import(void *stream, uint64_t shift, uint32_t pattern_size) {
  enum { PAGE = 4096, LENGTH = 1024, TIMES = 20 };
  static _Alignas(4096) unsigned char page[PAGE];
  static unsigned char want[PAGE], got[LENGTH], pattern[16];
  const kw_external_memory memory = {
      .struct_size = sizeof memory, .kind = KW_HANDLE_HOST, .size = LENGTH, .host = page + shift};
  const uint64_t begin = 3 * pattern_size, size = TIMES * (uint64_t)pattern_size;
  uint32_t alignment = 0;
  kw_mem import = NULL;
  kw_test_pattern(page, PAGE, 1);
  kw_test_pattern(want, PAGE, 1);
  kw_test_pattern(pattern, sizeof pattern, 2);
  if (KW_SLOT(interop, import_memory, &memory, &import, &alignment) != KW_OK) return;
  for (uint64_t at = 0; at <= begin; at += begin) { /* from its start, and from further on */
    if (KW_SLOT(memory, fill, stream, import, at, size, pattern, pattern_size) != KW_OK) continue;
    kw_bench_wait(stream);
    for (uint64_t i = 0; i < size; i++) want[shift + at + i] = pattern[i % pattern_size];
  }
  kw_bench_read(stream, import, got, LENGTH);
  kw_bench_wait(stream);
  kw_test_same(got, want + shift, LENGTH, "imported memory that was filled");
  KW_SLOT_OK(interop, release_memory, import);
  kw_test_same(page, want, PAGE, "the host's page, of which a part was imported and filled,");
}

int kw_child_slots_import_fills(void) {
  static const uint64_t shifts[] = {0, 1, 2, 3, 4, 8, 61, 64, 1000};
  kw_bench_open();
  if (!kw_bench.guest.interop || !kw_bench.guest.memory->fill) kw_test_skip("the plugin fills no imported memory");
  void *stream = kw_bench_stream(1);
  for (size_t i = 0; i < sizeof shifts / sizeof shifts[0]; i++) {
    for (uint32_t pattern_size = 1; pattern_size <= 16; pattern_size *= 2) fill_import(stream, shifts[i], pattern_size);
  }
  kw_bench_end_stream(stream);
  kw_bench_close();
  return 0;
}

/* Imported memory is filled like any other, wherever it begins. */
void kw_contract_slots_fills_of_imports(void **state) {
  (void)state;
  kw_test_need(KW_NATIVE_INTEROP);
  kw_test_child("slots_import_fills");
}

/* Without Keyway's own work around them, so that by default as many come and go as a table of 16 bits has places for.
 */
static void run_imports(void *user, uint64_t first, uint64_t count) {
  static _Alignas(4096) unsigned char page[4096];
  const kw_external_memory memory = {
      .struct_size = sizeof memory, .kind = KW_HANDLE_HOST, .size = sizeof page, .host = page};
  (void)user;
  for (uint64_t i = 0; i < count; i++) {
    uint32_t alignment = 0;
    kw_mem import = NULL;
    const kw_status status = KW_SLOT(interop, import_memory, &memory, &import, &alignment);
    if (status == KW_ERR_UNSUPPORTED && first + i == 0) kw_test_skip("the plugin takes no host memory");
    KW_CHECK(status == KW_OK, "import %s, the others before it having ended, gave %s", kw_soak_number(first + i + 1),
             kw_status_name(status));
    KW_SLOT_OK(interop, release_memory, import);
  }
}

int kw_child_soak_direct_imports(void) {
  const kw_soak_work work = {.objects = "imports of host memory",
                             .count = kw_soak_count(2500, 70000, 150000),
                             .block = 1000,
                             .least = 16,
                             .run = run_imports};
  kw_bench_open();
  if (!kw_bench.guest.interop) kw_test_skip("the plugin takes no host memory");
  kw_soak_run(&work);
  kw_bench_close();
  return 0;
}

/* Imports that end leave their places to others. */
void kw_contract_soak_direct_imports(void **state) {
  (void)state;
  kw_test_need(KW_NATIVE_INTEROP);
  kw_test_child("soak_direct_imports");
}
