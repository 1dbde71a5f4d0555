/* SPDX-License-Identifier: Apache-2.0
 *
 * Suite slots: slots that fail, once and, for suite soak, again and again; and slots that must wait for nobody.
 */
#include "bench.h"
#include "contract/hold.h"
#include "contract/scenarios.h"
#include "contract/soak/soak.h"

#include <unistd.h>

#define CRITICAL (UINT64_C(1) << 63) /* a flag that no version of this major has */

enum { KINDS = KW_MEM_MANAGED + 1 };

static char taken; /* what an out-parameter points to before a call */

/* What maps that are refused are asked for; NULL for a kind of memory that the device does not have. */
static struct {
  void *stream;
  kw_mem mems[KINDS];
} mapped;

static void open_bench(void) {
  kw_bench_open();
  if (!kw_bench.guest.memory->map || !kw_bench.guest.memory->unmap) return;
  mapped.stream = kw_bench_stream(1);
  for (kw_mem_kind kind = 0; kind < KINDS; kind++) mapped.mems[kind] = kw_bench_memory_of(kind, 64);
}

static void close_bench(void) {
  for (int kind = 0; kind < KINDS; kind++) {
    if (mapped.mems[kind]) kw_bench_free(mapped.mems[kind]);
  }
  if (mapped.stream) kw_bench_end_stream(mapped.stream);
  kw_bench_close();
}

/* Of a slot that has to refuse: its status, and what it left in its out-parameter. */
static void expect_refused(kw_status status, const void *out, const char *what) {
  kw_gate_check();
  KW_CHECK(status != KW_OK, "%s was not refused", what);
  KW_CHECK(out == &taken || out == NULL,
           "%s was refused with %s, and gave something all the same: on failure a slot leaves "
           "its out-parameters as they were, or NULL",
           what, kw_status_name(status));
}

/* The same of a slot that was given a flag which it does not know. */
static void expect_unsupported(kw_status status, const void *out, const char *what) {
  expect_refused(status, out, what);
  KW_CHECK(status == KW_ERR_UNSUPPORTED,
           "%s was refused with %s, not with KW_ERR_UNSUPPORTED, by which a host knows that it may go without", what,
           kw_status_name(status));
}

/* Alone, and beside flags that the plugin may know. */
static void refuse_flags(kw_alloc_info alloc) {
  static const uint64_t known[] = {0, KW_MEM_PEER, KW_MEM_EXPORTABLE, KW_MEM_IPC}, later[] = {CRITICAL, CRITICAL >> 13};
  for (size_t i = 0; i < sizeof known / sizeof *known * 2; i++) {
    void *out = &taken;
    alloc.flags = known[i / 2] | later[i % 2];
    expect_unsupported(KW_SLOT(memory, alloc, &alloc, (kw_mem *)&out), out,
                       known[i / 2] ? "memory.alloc with a critical flag of a later version beside one of today"
                                    : "memory.alloc with a critical flag of a later version");
  }
}

/* A map for reading, or writing, and for something else. */
static void refuse_map_flags(void) {
  static const uint64_t known[] = {KW_MAP_READ, KW_MAP_WRITE, KW_MAP_READ | KW_MAP_WRITE},
                        later[] = {CRITICAL, CRITICAL >> 13, KW_MAP_WRITE << 1};
  for (size_t i = 0; i < KINDS * 9; i++) {
    const kw_map_info info = {
        .struct_size = sizeof info, .flags = known[i / 3 % 3] | later[i % 3], .mem = mapped.mems[i / 9], .size = 64};
    void *out = &taken;
    if (!info.mem) continue;
    expect_unsupported(KW_SLOT(memory, map, mapped.stream, &info, &out), out,
                       "memory.map with a critical flag of a later version");
  }
}

/* A range that reaches far past what an export names, by that kind of name. */
static void have_import_refused(kw_handle_kind kind, uint64_t flags) {
  const kw_alloc_info alloc = {
      .struct_size = sizeof alloc, .kind = KW_MEM_DEVICE, .flags = flags, .size = 4096, .alignment = 1};
  kw_external_memory name = {.struct_size = sizeof name, .kind = kind, .size = 4096};
  uint32_t alignment = 0;
  kw_mem mem = NULL;
  void *out = &taken;
  if (KW_SLOT(memory, alloc, &alloc, &mem) != KW_OK) return; /* no such memory here */
  if (KW_SLOT(interop, export_memory, mem, &name) == KW_OK) {
    name.offset = UINT64_C(1) << 40;
    expect_refused(KW_SLOT(interop, import_memory, &name, (kw_mem *)&out, &alignment), out,
                   "interop.import_memory of a range past the memory's end");
    if (kind != KW_HANDLE_IPC) close((int)name.handle);
  }
  KW_SLOT_OK(memory, dealloc, mem);
}

static void have_all_refused(void) {
  kw_alloc_info alloc = {.struct_size = sizeof alloc, .kind = KW_MEM_DEVICE, .size = UINT64_C(1) << 62, .alignment = 1};
  kw_stream_info stream = {.struct_size = sizeof stream, .flags = CRITICAL, .token = 1};
  kw_event_info event = {.struct_size = sizeof event, .flags = CRITICAL};
  void *out = &taken;
  expect_refused(KW_SLOT(memory, alloc, &alloc, (kw_mem *)&out), out, "memory.alloc of 2^62 bytes");
  alloc.size = 64;
  refuse_flags(alloc);
  refuse_map_flags();
  alloc.kind = 0x7fff;
  out = &taken;
  expect_refused(KW_SLOT(memory, alloc, &alloc, (kw_mem *)&out), out, "memory.alloc of a kind that no device has");
  for (int i = 0; i < 2; i++) {
    out = &taken;
    stream.flags = CRITICAL >> i * 13 | (i ? KW_STREAM_DEFAULT : 0);
    expect_unsupported(KW_SLOT(stream, create, &stream, &out), out,
                       "stream.create with a critical flag of a later version");
  }
  if (kw_bench.guest.event) {
    out = &taken;
    expect_unsupported(KW_SLOT(event, create, &event, &out), out,
                       "event.create with a critical flag of a later version");
  }
  if (kw_bench.guest.interop && kw_bench.guest.interop->export_memory) {
    have_import_refused(KW_HANDLE_FD, KW_MEM_EXPORTABLE);
    have_import_refused(KW_HANDLE_DMABUF, KW_MEM_EXPORTABLE);
    have_import_refused(KW_HANDLE_IPC, KW_MEM_IPC);
  }
  if (kw_bench.guest.memory->alloc_host) {
    out = &taken;
    expect_refused(KW_SLOT(memory, alloc_host, UINT64_C(1) << 62, &out), out, "memory.alloc_host of 2^62 bytes");
  }
}

int kw_child_slots_refused(void) {
  open_bench();
  have_all_refused();
  kw_guest_use_opened(&kw_bench.guest, kw_bench.device, 1, "after slots that were refused");
  close_bench();
  return 0;
}

/* A slot that fails leaves its out-parameter as it was, or NULL. */
void kw_contract_slots_refused_give_nothing(void **state) {
  (void)state;
  kw_test_child("slots_refused");
}

static void run_refusals(void *user, uint64_t first, uint64_t count) {
  (void)user, (void)first;
  for (uint64_t i = 0; i < count; i++) have_all_refused();
}

int kw_child_soak_refused_slots(void) {
  const kw_soak_work work = {.objects = "rounds of slots that refuse what they are asked for",
                             .count = kw_soak_count(100, 500, 20000),
                             .block = 100,
                             .least = 64,
                             .run = run_refusals};
  open_bench();
  kw_soak_run(&work);
  close_bench();
  return 0;
}

/* Nor does it leave anything behind. */
void kw_contract_soak_refused_slots(void **state) {
  (void)state;
  kw_test_child("soak_refused_slots");
}

/* ---- Under a gate ------------------------------------------------------------------------------------------------ */

static void ask_device(void) {
  const kw_guest *g = &kw_bench.guest;
  kw_device_info info = {.struct_size = sizeof info};
  kw_attribute value = {.struct_size = sizeof value};
  uint64_t available = 0, total = 0;
  uint32_t count = 0;
  KW_SLOT_EXPECT(KW_OK, "device.count", g->device->count(kw_bench.plugin, &count));
  KW_SLOT_EXPECT(KW_OK, "device.info", g->device->info(kw_bench.plugin, 0, &info));
  kw_test_calls(__FILE__, __LINE__, "device.attribute");
  if (g->device->attribute) (void)g->device->attribute(kw_bench.plugin, 0, "unified_memory", &value);
  if (g->memory->usage) KW_SLOT_OK(memory, usage, &available, &total);
  kw_test_calls(__FILE__, __LINE__, "energy.read");
  if (g->energy) (void)KW_SLOT(energy, read, &total);
  kw_gate_check();
}

static void drain(void) {
  static kw_activity records[64];
  uint64_t here = 0, there = 0, dropped = 0;
  uint32_t count = 0;
  KW_SLOT_OK(activity, clock, &there, &here);
  KW_SLOT_OK(activity, drain, records, sizeof records[0], 64, &count, &dropped);
}

static void use_others(void *held, void *other, bool records) {
  void *event = kw_bench.guest.event ? kw_bench_event() : NULL;
  kw_gate *gate = kw_bench_shut(held);
  if (event) KW_SLOT_OK(event, record, event, held);
  ask_device();
  if (records) drain();
  if (kw_bench.guest.stream->query) KW_SLOT_STATUS(KW_ERR_NOT_READY, stream, query, held);
  if (event) {
    KW_SLOT_STATUS(KW_ERR_NOT_READY, event, query, event);
    KW_SLOT_STATUS(KW_ERR_TIMEOUT, event, synchronize, event, 0);
    KW_SLOT_STATUS(KW_ERR_TIMEOUT, event, synchronize, event, 1000000);
  }
  kw_bench_busy(other);
  kw_gate_open(gate);
  kw_bench_wait(held);
  if (event) KW_SLOT_OK(event, destroy, event);
  kw_bench_end_stream(held);
}

int kw_child_slots_held_up(void) {
  kw_bench_open();
  const bool records = kw_bench.guest.activity && KW_SLOT(activity, record, 1) == KW_OK;
  void *usual = kw_bench_default_stream(3), *other = kw_bench_stream(2);
  use_others(kw_bench_stream(1), other, records);
  if (usual) use_others(usual, other, records);
  kw_bench_end_stream(other);
  kw_bench_close();
  return 0;
}

/* Questions about the device, queries and waits with a limit return while a stream, the default one too, is held up,
 * and another goes on. */
void kw_contract_slots_others_while_held(void **state) {
  (void)state;
  kw_test_need(KW_NATIVE_CALL_HOST);
  kw_test_child("slots_held_up");
}
