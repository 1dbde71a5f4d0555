/* SPDX-License-Identifier: Apache-2.0
 *
 * Suite slots: streams that come, get work, and are destroyed with it. Keyway waits first; other hosts do not.
 */
#include "launch.h"

#include "contract/scenarios.h"
#include "contract/soak/resources.h"
#include "contract/soak/soak.h"

#include <stdio.h>

enum { ROUNDS = 4, MOST = 5000, SIZE = 64, LAUNCHES = 8 };

static struct {
  kw_mem mem;
  kw_launch *launch; /* NULL: copies alone */
  kw_mem results[LAUNCHES];
  unsigned char sent[MOST * SIZE], got[MOST * SIZE];
} streams;

/* So many, one after the other; nothing of them is in flight in the end, and what they did is there. */
static void use_and_destroy(uint64_t count, uint64_t tag) {
  void *last = kw_bench_stream(1), *event = kw_bench.guest.event ? kw_bench_event() : NULL;
  kw_test_pattern(streams.sent, count * SIZE, tag);
  for (uint64_t i = 0; i < count; i++) {
    void *stream = kw_bench_stream(tag * MOST + i + 2);
    KW_SLOT_EXPECT(KW_OK, "memory.copy",
                   kw_bench_try_write(stream, streams.mem, i * SIZE, streams.sent + i * SIZE, SIZE));
    if (streams.launch && i < LAUNCHES) kw_launch_run(streams.launch, stream, streams.results[i], 1 + i);
    if (event) {
      KW_SLOT_OK(event, record, event, stream);
      KW_SLOT_OK(event, wait, last, event);
    } else {
      kw_bench_wait(stream);
    }
    kw_bench_end_stream(stream);
  }
  kw_bench_read(last, streams.mem, streams.got, count * SIZE);
  kw_bench_wait(last);
  if (event) KW_SLOT_OK(event, destroy, event);
  kw_bench_end_stream(last);
  kw_test_same(streams.got, streams.sent, count * SIZE, "what streams wrote that were destroyed with it");
}

static int64_t used_memory(void) {
  uint64_t unused = 0, total = 0;
  if (!kw_bench.guest.memory->usage || KW_SLOT(memory, usage, &unused, &total) != KW_OK) return -1;
  return (int64_t)(total - unused);
}

/* What each of so many has to leave at least to be called growth. */
static int64_t least(kw_resource resource, uint64_t count) {
  const int64_t some = (int64_t)count / 16 > 8 ? (int64_t)count / 16 : 8;
  return resource == KW_RESOURCE_HEAP || resource == KW_RESOURCE_DEVICE ? (int64_t)count * 64 : some;
}

int kw_child_slots_streams_end(void) {
  const uint64_t count = kw_soak_count(50, 300, MOST);
  kw_resources held[ROUNDS + 1];
  kw_bench_open();
  streams.mem = kw_bench_memory(count * SIZE);
  streams.launch = kw_launch_draw();
  for (int i = 0; i < LAUNCHES && streams.launch; i++) streams.results[i] = kw_launch_result(streams.launch);
  for (int round = 0; round <= ROUNDS; round++) {
    use_and_destroy(count, (uint64_t)round);
    kw_resources_take(round > 0 ? &held[round - 1] : NULL, &held[round]);
    held[round].held[KW_RESOURCE_DEVICE] = used_memory(); /* Keyway has no device here to ask */
  }
  for (kw_resource r = KW_RESOURCE_DESCRIPTORS; r <= KW_RESOURCE_HEAP; r++) {
    bool grows = !kw_resource_is_memory(r) || kw_resource_memory_tells();
    for (int i = 1; i <= ROUNDS; i++)
      grows = grows && held[i - 1].held[r] >= 0 && held[i].held[r] - held[i - 1].held[r] >= least(r, count);
    KW_CHECK(
        !grows,
        "%s streams that were destroyed with work in flight kept about %s %s each; their work finishes, and "
        "nothing stays",
        kw_soak_number(ROUNDS * count),
        kw_soak_number(kw_soak_rounded((double)(held[ROUNDS].held[r] - held[0].held[r]) / (double)(ROUNDS * count))),
        kw_resource_name(r));
  }
  for (int i = 0; i < LAUNCHES && streams.launch; i++) kw_bench_free(streams.results[i]);
  kw_launch_free(streams.launch);
  kw_bench_free(streams.mem);
  kw_bench_close();
  return 0;
}

/* Streams that are destroyed with work in flight leave nothing: no descriptor, thread, mapping or memory. */
void kw_contract_slots_streams_leave_nothing(void **state) {
  (void)state;
  kw_test_child("slots_streams_end");
}
