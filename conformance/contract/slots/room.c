/* SPDX-License-Identifier: Apache-2.0
 *
 * Suite slots: how much memory there is, by a plugin's own account, held against what it gives. Keyway asks for no more
 * than a device says it has; the slots are called directly here. No page of what is allocated is touched.
 */
#include "base/host_memory.h"
#include "bench.h"
#include "contract/scenarios.h"

#include <sys/mman.h>
#include <time.h>

enum {
  TRIES = 3,
  LOOKS = 5,
  SMALL = 1 << 16,
  PAGE = 4096,
  MIB = 1 << 20,
  MOST_BLOCKS = 8,
  MOST_PIECES = 256,
  COUNTED = 64 << 20
};

static char taken; /* what an out-parameter points to before a call */

/* Others may use the device, too: what is missing now may be there in a while. */
static void let_others_go(void) {
  const struct timespec wait = {.tv_nsec = 200000000};
  nanosleep(&wait, NULL);
}

static uint64_t free_now(uint64_t *out_total) {
  uint64_t unused = 0;
  KW_SLOT_OK(memory, usage, &unused, out_total);
  KW_CHECK(unused <= *out_total, "memory.usage says that %llu bytes are free, of %llu", (unsigned long long)unused,
           (unsigned long long)*out_total);
  return unused;
}

static kw_status allocate(uint64_t size, kw_mem *out_mem) {
  const kw_alloc_info info = {.struct_size = sizeof info, .kind = KW_MEM_DEVICE, .size = size, .alignment = 1};
  kw_test_calls(__FILE__, __LINE__, "memory.alloc");
  return KW_SLOT(memory, alloc, &info, out_mem);
}

/* The most that one allocation may be, in whole pages. */
static uint64_t most_in_one(uint64_t total) {
  const uint64_t most = kw_bench.info.max_alloc ? kw_bench.info.max_alloc : kw_bench.info.total_memory;
  return (most && most < total ? most : total) / PAGE * PAGE;
}

/* Whether the host itself would give so much: it may be the device's memory, too. */
static bool host_has(uint64_t size) {
  if (size > kw_host_memory_available() / 4) return false;
  void *room = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (room != MAP_FAILED) munmap(room, size);
  return room != MAP_FAILED;
}

static void need_usage(void) {
  if (!kw_bench.guest.memory->usage) kw_test_skip("the plugin does not tell how much memory is free");
}

/* ---- Half of what is free ---------------------------------------------------------------------------------------- */

/* Whether it is refused although it is there; what cannot be tried is not. */
static bool refuses_half(void) {
  uint64_t total = 0, unused = free_now(&total), size = most_in_one(total);
  const uint64_t available = kw_host_memory_available() / 8; /* half of what host_has allows: others take some, too */
  kw_mem mem = NULL;
  if (size > unused) size = unused;
  size = (size / 2 < available ? size / 2 : available) / PAGE * PAGE;
  if (size == 0 || !host_has(size)) {
    kw_contract_not_tried("a large allocation: not tried; the host has no memory for it now");
  }
  const kw_status status = allocate(size, &mem);
  if (status == KW_OK) KW_SLOT_OK(memory, dealloc, mem);
  if (status == KW_OK) return false;
  kw_guest_expect(status, KW_ERR_OUT_OF_MEMORY, "memory.alloc of half of what is free", "called directly");
  return free_now(&total) >= size && host_has(size);
}

int kw_child_slots_half(void) {
  kw_bench_open();
  need_usage();
  bool refused = true;
  for (int i = 0; i < TRIES && refused; i++) {
    if (i > 0) let_others_go();
    refused = refuses_half();
  }
  KW_CHECK(!refused,
           "memory.usage says that memory is free, and one allocation of half of it, or of half of max_alloc where "
           "that is less, is KW_ERR_OUT_OF_MEMORY, %d times in a row; say max_alloc in device.info where one "
           "allocation cannot be so large",
           TRIES);
  kw_bench_close();
  return 0;
}

/* What is free can be had: half of it, or of max_alloc where that is less, in one allocation. */
void kw_contract_slots_half_of_what_is_free(void **state) {
  (void)state;
  kw_test_child("slots_half");
}

/* ---- More than is free ------------------------------------------------------------------------------------------- */

static struct {
  kw_mem mems[MOST_BLOCKS];
  uint32_t count;
} blocks;

/* Takes memory until less than `size` is free. False where that would take too much. */
static bool make_scarce(uint64_t size, uint64_t *out_free) {
  uint64_t total = 0, taken_in_all = 0;
  while ((*out_free = free_now(&total)) >= size) {
    uint64_t block = *out_free - size + MIB;
    if (block > size) block = size;
    taken_in_all += block;
    if (blocks.count == MOST_BLOCKS || !host_has(taken_in_all)) return false;
    if (allocate(block, &blocks.mems[blocks.count]) != KW_OK) return false;
    blocks.count++;
  }
  return true;
}

static void give_blocks_back(void) {
  while (blocks.count > 0) KW_SLOT_OK(memory, dealloc, blocks.mems[--blocks.count]);
}

static bool gives_small(void) {
  kw_mem mem = NULL;
  if (allocate(SMALL, &mem) != KW_OK) return false;
  KW_SLOT_OK(memory, dealloc, mem);
  return true;
}

/* Asks for more than is free; who gives it all the same has more than it says. */
static bool is_refused(uint64_t size) {
  void *out = &taken;
  const kw_status status = allocate(size, (kw_mem *)&out);
  if (status == KW_OK) KW_SLOT_OK(memory, dealloc, out);
  if (status == KW_OK) return false;
  kw_guest_expect(status, KW_ERR_OUT_OF_MEMORY, "memory.alloc of more than is free", "called directly");
  KW_CHECK(out == &taken || out == NULL,
           "memory.alloc of more than is free, and no more than there is, was refused and gave something all the same: "
           "on failure a slot leaves its out-parameters as they were, or NULL");
  return true;
}

/* How much can be had now, in pieces of at most `largest` that get smaller down to a MiB; nothing of it is kept. */
static uint64_t capacity(uint64_t largest) {
  static kw_mem pieces[MOST_PIECES];
  uint32_t count = 0;
  uint64_t sum = 0, piece = largest / PAGE * PAGE;
  while (piece >= MIB && count < MOST_PIECES) {
    if (allocate(piece, &pieces[count]) == KW_OK) {
      sum += piece;
      count++;
    } else {
      piece = piece / 2 / PAGE * PAGE;
    }
  }
  while (count > 0) KW_SLOT_OK(memory, dealloc, pieces[--count]);
  return sum;
}

/* What could be had before can be had after refusal upon refusal, whatever memory.usage says. */
static void expect_capacity(uint64_t size, uint64_t unused) {
  enum { REFUSALS = 48, LOST = 12 * MIB };
  int lost = 0;
  if (!host_has(unused)) return;
  for (int round = 0; round < TRIES && lost == round; round++) { /* others may take some: not in every round as much */
    const uint64_t before = capacity(unused / 2);
    for (int i = 0; i < REFUSALS; i++) (void)is_refused(size);
    lost += capacity(unused / 2) + LOST <= before;
  }
  KW_CHECK(
      lost < TRIES,
      "of the memory that could be had, 12 MiB and more could not after %d allocations that were refused, %d times "
      "in a row, though nothing else was allocated meanwhile: what is refused takes no memory",
      REFUSALS, TRIES);
}

/* After a refusal, when all that was allocated is given back. */
static void expect_room(uint64_t before, uint64_t refused) {
  uint64_t total = 0;
  bool small = false, told = false;
  for (int i = 0; i < LOOKS && !(small && told); i++) {
    if (i > 0) let_others_go();
    small = gives_small();
    const uint64_t now = free_now(&total);
    told = refused < total / 2 || now + refused / 4 * 3 >= before; /* of less, others may have taken as much */
  }
  KW_CHECK(small,
           "since an allocation of more than was free was refused, one of 64 KiB is refused too, though nothing is "
           "allocated, and one went well before: what is refused takes no memory");
  KW_CHECK(told,
           "since an allocation of more than was free was refused, memory.usage counts its size as taken, though "
           "nothing is allocated");
}

/* Where the plugin does not tell what is free: all that there is and a little of it cannot both be had. */
static void expect_capacity_of_all(void) {
  const uint64_t total = kw_bench.info.total_memory, size = most_in_one(total);
  const uint64_t rest = total - size + MIB;
  kw_mem mem = NULL;
  if (rest > size || !host_has(total)) kw_test_skip("the plugin does not tell how much memory is free");
  if (allocate(rest, &mem) != KW_OK) return;
  if (is_refused(size)) expect_capacity(size, size);
  KW_SLOT_OK(memory, dealloc, mem);
}

int kw_child_slots_room(void) {
  kw_bench_open();
  if (!kw_bench.guest.memory->usage) {
    expect_capacity_of_all();
    kw_bench_close();
    return 0;
  }
  uint64_t total = 0, unused = 0;
  const uint64_t before = free_now(&total), size = most_in_one(total);
  if (size < before / 2) kw_test_skip("one allocation takes less than half of what is free");
  if (!gives_small() || !make_scarce(size, &unused)) {
    kw_contract_not_tried("an allocation of more than is free: not tried; the rest of the memory is not to be had");
  }
  bool refused = false;
  for (int i = 0; i < TRIES; i++) refused = is_refused(size) || refused;
  KW_CHECK(
      !refused || unused < 16 * MIB || gives_small() || free_now(&total) < 16 * MIB,
      "since an allocation of more than is free was refused, one of 64 KiB is refused too, though memory.usage says "
      "that 16 MiB and more are free");
  if (refused) expect_capacity(size, unused);
  give_blocks_back();
  if (refused) expect_room(before, size);
  kw_guest_use_opened(&kw_bench.guest, kw_bench.device, 1, "after an allocation of more than is free");
  kw_bench_close();
  return 0;
}

/* An allocation that is larger than what is free, though not than what there is, takes nothing when it is refused. */
void kw_contract_slots_refused_takes_nothing(void **state) {
  (void)state;
  kw_test_child("slots_room");
}

/* ---- Of two devices ---------------------------------------------------------------------------------------------- */

/* By how much allocating so much on one device, for these uses, lessens what the other says is free. */
static kw_status lessens(void *from, void *seen, uint64_t flags, uint64_t *out_lessens) {
  const kw_memory_api *memory = kw_bench.guest.memory;
  const kw_alloc_info info = {
      .struct_size = sizeof info, .kind = KW_MEM_DEVICE, .flags = flags, .size = COUNTED, .alignment = 1};
  uint64_t before = 0, now = 0, total = 0;
  kw_mem mem = NULL;
  KW_SLOT_EXPECT(KW_OK, "memory.usage", memory->usage(seen, &before, &total));
  const kw_status status = memory->alloc(from, &info, &mem);
  if (status != KW_OK) return status;
  KW_SLOT_EXPECT(KW_OK, "memory.usage", memory->usage(seen, &now, &total));
  KW_SLOT_EXPECT(KW_OK, "memory.dealloc", memory->dealloc(from, mem));
  *out_lessens = now < before ? before - now : 0;
  return KW_OK;
}

static bool counts(void *from, void *seen) {
  uint64_t less = 0;
  if (lessens(from, seen, 0, &less) != KW_OK) kw_test_skip("a device gives no 64 MiB");
  return less >= COUNTED / 2;
}

int kw_child_slots_usage(void) {
  kw_bench_open();
  need_usage();
  const kw_open_info info = {.struct_size = sizeof info};
  uint32_t count = 0;
  void *second = NULL;
  KW_SLOT_EXPECT(KW_OK, "device.count", kw_bench.guest.device->count(kw_bench.plugin, &count));
  if (count < 2) kw_test_skip("the plugin has one device");
  if (kw_bench.guest.device->open(kw_bench.plugin, 1, &info, &second) != KW_OK) {
    kw_test_skip("the plugin's second device does not open");
  }
  int confused = 0;
  for (int i = 0; i < TRIES; i++) {
    confused += counts(kw_bench.device, second) && !counts(second, second);
  }
  KW_CHECK(confused < TRIES,
           "memory.usage of the plugin's second device counts what is allocated on the first, and not what is "
           "allocated on the second");
  KW_SLOT_EXPECT(KW_OK, "device.close", kw_bench.guest.device->close(second));
  kw_bench_close();
  return 0;
}

/* Each device tells of its own memory. */
void kw_contract_slots_usage_is_its_devices(void **state) {
  (void)state;
  kw_test_child("slots_usage");
}

/* ---- What adds up ------------------------------------------------------------------------------------------------ */

enum { MOVED = 16 << 20, MOVES = 8 }; /* bytes that come and go each time, and how often */
enum { ODD = 8192 };                  /* how often one byte comes and goes */

/* What lives is not free. Who takes pages only as they are written has to count those that are. */
static void expect_sum(void *stream, kw_mem live, const char *when) {
  uint64_t total = 0, unused = free_now(&total);
  if (unused <= total && COUNTED <= total - unused) return;
  unsigned char *bytes = kw_test_memory(COUNTED);
  memset(bytes, 1, COUNTED);
  kw_bench_write(stream, live, bytes, COUNTED);
  kw_bench_wait(stream);
  free(bytes);
  unused = free_now(&total);
  KW_CHECK(unused <= total && COUNTED <= total - unused,
           "memory.usage says that %llu bytes are free, of %llu, while an allocation of %llu bytes lives, all of which "
           "was written%s: what lives is not free",
           (unsigned long long)unused, (unsigned long long)total, (unsigned long long)COUNTED, when);
}

/* Each moves something of MOVED bytes there and back, or asks for what is refused; false where that cannot be had. */
static bool move_import(void) {
  const kw_interop_api *interop = kw_bench.guest.interop;
  uint32_t alignment = 0;
  kw_mem mem = NULL;
  if (!interop || !host_has(MOVED)) return false;
  void *host = mmap(NULL, MOVED, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const kw_external_memory range = {.struct_size = sizeof range, .kind = KW_HANDLE_HOST, .size = MOVED, .host = host};
  const bool taken = host != MAP_FAILED && KW_SLOT(interop, import_memory, &range, &mem, &alignment) == KW_OK;
  if (taken) KW_SLOT_OK(interop, release_memory, mem);
  if (host != MAP_FAILED) munmap(host, MOVED);
  return taken;
}

static bool move_host_memory(void) {
  const kw_memory_api *memory = kw_bench.guest.memory;
  void *host = NULL;
  if (!memory->alloc_host || !memory->free_host || !host_has(MOVED)) return false;
  if (KW_SLOT(memory, alloc_host, MOVED, &host) != KW_OK) return false;
  KW_SLOT_OK(memory, free_host, host);
  return true;
}

static bool move_refused(void) {
  kw_mem mem = NULL;
  return allocate(UINT64_C(1) << 62, &mem) != KW_OK;
}

static bool move_memory(void) {
  kw_mem mem = NULL;
  if (allocate(MOVED, &mem) != KW_OK) return false;
  KW_SLOT_OK(memory, dealloc, mem);
  return true;
}

/* One byte takes as much as it gives back, whatever it is rounded to. Others take and give back memory, too: so it has
 * to look wrong in the same way at many moments. */
static void expect_no_drift(void) {
  enum { LEAST = 32, MOMENTS = 8 }; /* bytes that each would be wrong by */
  int gains = 0, losses = 0;
  for (int try = 0; try < MOMENTS && (gains == try || losses == try); try++) {
    if (try > 0) let_others_go();
    uint64_t total = 0;
    const uint64_t before = free_now(&total);
    for (int i = 0; i < ODD; i++) {
      kw_mem mem = NULL;
      if (allocate(1, &mem) != KW_OK) return;
      KW_SLOT_OK(memory, dealloc, mem);
    }
    const uint64_t now = free_now(&total);
    gains += now >= before + ODD * LEAST;
    losses += now + ODD * LEAST <= before;
  }
  KW_CHECK(gains < MOMENTS && losses < MOMENTS,
           "memory.usage says that %s is free since one byte was allocated and freed %d times, %d times in a row: "
           "what is taken is not what is given back",
           gains < MOMENTS ? "less" : "more", ODD, MOMENTS);
}

/* Others may give back as much meanwhile: not each time. */
static void expect_no_more_free(bool (*move)(void), const char *what) {
  int gains = 0;
  for (int try = 0; try < TRIES && gains == try; try++) {
    uint64_t total = 0;
    const uint64_t before = free_now(&total);
    for (int i = 0; i < MOVES; i++) {
      if (!move()) return;
    }
    gains += free_now(&total) >= before + MOVES / 2 * (uint64_t)MOVED;
  }
  KW_CHECK(gains < TRIES, "memory.usage says that more is free since %s of %d MiB came and went, %d times", what,
           MOVED / MIB, MOVES);
}

int kw_child_slots_sum(void) {
  static const struct {
    bool (*move)(void);
    const char *what, *when;
  } moves[] = {{move_memory, "memory", " and another one came and went"},
               {move_import, "an import", " and an import of host memory has ended"},
               {move_host_memory, "host memory", " and host memory was freed"},
               {move_refused, "allocations that were refused, each", " and another one was refused"}};
  kw_bench_open();
  need_usage();
  kw_mem live = NULL;
  void *stream = kw_bench_stream(1);
  if (!host_has(COUNTED) || allocate(COUNTED, &live) != KW_OK) kw_test_skip("the device gives no 64 MiB");
  expect_sum(stream, live, "");
  for (size_t i = 0; i < sizeof moves / sizeof *moves; i++) {
    expect_no_more_free(moves[i].move, moves[i].what);
    expect_sum(stream, live, moves[i].when);
  }
  expect_no_drift();
  kw_bench_free(live);
  kw_bench_end_stream(stream);
  kw_bench_close();
  return 0;
}

/* What lives and what is free come to no more than there is, and what comes and goes frees nothing else. */
void kw_contract_slots_usage_adds_up(void **state) {
  (void)state;
  kw_test_child("slots_sum");
}

/* ---- For others -------------------------------------------------------------------------------------------------- */

int kw_child_slots_counted(void) {
  static const uint64_t flags[] = {KW_MEM_PEER, KW_MEM_EXPORTABLE, KW_MEM_IPC};
  static const char *const names[] = {"other devices", "others by a descriptor", "other processes"};
  kw_bench_open();
  need_usage();
  for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
    int uncounted = 0;
    for (int try = 0; try < TRIES; try++) {
      uint64_t less = COUNTED;
      if (lessens(kw_bench.device, kw_bench.device, flags[i], &less) != KW_OK) break; /* not on this device */
      uncounted += less < COUNTED / 2 && counts(kw_bench.device, kw_bench.device);
    }
    KW_CHECK(uncounted < TRIES,
             "memory.usage counts 64 MiB of memory as taken, and not 64 MiB of memory that is for %s as well",
             names[i]);
  }
  kw_bench_close();
  return 0;
}

/* What is allocated is taken, whatever it is for. */
void kw_contract_slots_usage_counts_all(void **state) {
  (void)state;
  kw_test_child("slots_counted");
}
