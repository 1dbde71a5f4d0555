/* SPDX-License-Identifier: Apache-2.0
 *
 * Suite slots: copies between two devices of a plugin, called directly. Keyway waits for the source before it calls;
 * the order of the destination is the plugin's.
 */
#include "bench.h"

#include "contract/hold.h"
#include "contract/scenarios.h"
#include "contract/soak/soak.h"

enum { SIZE = 10000 };

/* `to` is written on a stream that is held, and then copied to from another device; what follows on the stream, and on
 * one that waits for it, comes behind that, and the source is free again when it has been waited for. */
static void copy_behind(void *src_device, kw_mem from, const unsigned char *sent, void *stream, void *behind,
                        kw_mem to) {
  static unsigned char before[SIZE], got[SIZE], elsewhere[SIZE], after[SIZE];
  kw_copy_info info = {
      .struct_size = sizeof info, .kind = KW_COPY_DEVICE_TO_DEVICE, .dst_mem = to, .src_mem = from, .size = SIZE};
  void *event = kw_bench.guest.event ? kw_bench_event() : NULL;
  memset(before, 0x5a, SIZE);
  memset(got, 0, SIZE);
  memset(elsewhere, 0, SIZE);
  memset(after, 0, SIZE);
  kw_gate *gate = kw_bench_shut(stream);
  kw_bench_write(stream, to, before, SIZE);
  kw_bench_open_when_stuck(gate);
  kw_test_calls(__FILE__, __LINE__, "memory.copy_peer");
  const kw_status status = KW_SLOT(memory, copy_peer, stream, src_device, &info);
  if (status == KW_ERR_UNSUPPORTED) kw_test_skip("the plugin does not copy between its first two devices");
  kw_guest_expect(status, KW_OK, "memory.copy_peer", "called directly");
  memset(&info, 0xa5, sizeof info); /* the slot's no longer */
  if (event) {
    KW_SLOT_OK(event, record, event, stream);
    KW_SLOT_OK(event, wait, behind, event);
    kw_bench_read(behind, to, elsewhere, SIZE);
    kw_bench_wait(behind);
    KW_SLOT_OK(event, destroy, event);
    kw_test_same(elsewhere, sent, SIZE, "memory that was copied to from another device, read behind an event");
  }
  kw_bench_read(stream, to, got, SIZE);
  kw_bench_write(stream, to, before, SIZE);
  kw_bench_read(stream, to, after, SIZE);
  kw_bench_wait(stream);
  kw_test_same(got, sent, SIZE, "memory that its stream wrote, and then copied to from another device,");
  kw_test_same(after, before, SIZE, "memory that its stream wrote behind a copy from another device");
}

/* Memory of the host's, imported on the other device, is copied from like any other, at odd places too. */
static void copy_import(void *src_device, void *stream, kw_mem to) {
  enum { PLACE = 133, PART = SIZE - 1000 };
  static _Alignas(4096) unsigned char range[3 * 4096];
  static unsigned char got[PART];
  const kw_interop_api *interop = kw_bench.guest.interop;
  const kw_external_memory memory = {
      .struct_size = sizeof memory, .kind = KW_HANDLE_HOST, .size = sizeof range, .host = range};
  uint32_t alignment = 0;
  kw_mem import = NULL;
  kw_test_pattern(range, sizeof range, 7);
  if (!interop || interop->import_memory(src_device, &memory, &import, &alignment) != KW_OK) return;
  for (uint64_t place = 0; place <= PLACE; place += PLACE) {
    const kw_copy_info info = {.struct_size = sizeof info,
                               .kind = KW_COPY_DEVICE_TO_DEVICE,
                               .dst_mem = to,
                               .src_mem = import,
                               .src_offset = place,
                               .size = PART};
    memset(got, 0, PART);
    const kw_status status = KW_SLOT(memory, copy_peer, stream, src_device, &info);
    if (status == KW_ERR_UNSUPPORTED) break;
    kw_guest_expect(status, KW_OK, "memory.copy_peer from an import", "called directly");
    kw_bench_read(stream, to, got, PART);
    kw_bench_wait(stream);
    kw_test_same(got, range + place, PART, "what was copied from memory that the other device has imported");
  }
  kw_guest_expect(interop->release_memory(src_device, import), KW_OK, "interop.release_memory", "called directly");
}

static void copy_one_way(void *dst_device, void *src_device, uint64_t tag) {
  static unsigned char sent[SIZE];
  kw_bench.device = src_device; /* the bench is the source's, then the destination's */
  void *there = kw_bench_stream(10 * tag);
  const kw_mem from = kw_bench_memory(SIZE);
  kw_bench.device = dst_device;
  void *stream = kw_bench_stream(10 * tag + 1), *behind = kw_bench_stream(10 * tag + 2);
  const kw_mem to = kw_bench_memory(SIZE);
  for (uint64_t round = 0; round < kw_soak_count(1, 3, 50); round++) {
    kw_bench.device = src_device;
    kw_test_pattern(sent, SIZE, 100 * tag + round);
    kw_bench_write(there, from, sent, SIZE);
    kw_bench_wait(there);
    kw_bench.device = dst_device;
    copy_behind(src_device, from, sent, stream, behind, to);
  }
  copy_import(src_device, stream, to);
  kw_bench_free(to);
  kw_bench_end_stream(stream);
  kw_bench_end_stream(behind);
  kw_bench.device = src_device;
  kw_bench_free(from);
  kw_bench_end_stream(there);
}

int kw_child_slots_peer(void) {
  const kw_open_info open = {.struct_size = sizeof open};
  void *other = NULL;
  kw_bench_open();
  void *first = kw_bench.device;
  const kw_device_api *device = kw_bench.guest.device;
  uint32_t count = 0;
  KW_SLOT_EXPECT(KW_OK, "device.count", device->count(kw_bench.plugin, &count));
  if (count < 2 || !kw_bench.guest.memory->copy_peer) kw_test_skip("the plugin copies between no two devices");
  if (device->open(kw_bench.plugin, 1, &open, &other) != KW_OK) kw_test_skip("the second device is not to be had");
  copy_one_way(first, other, 1);
  copy_one_way(other, first, 2);
  KW_SLOT_EXPECT(KW_OK, "device.close", device->close(other));
  kw_bench.device = first;
  kw_bench_close();
  return 0;
}

/* A copy from another device has its turn on its stream, in either direction: what the stream did to the destination
 * before has happened, and what comes behind it, on streams that wait for it as well, finds it done. */
void kw_contract_slots_peer_copies_in_order(void **state) {
  (void)state;
  kw_test_need(KW_NATIVE_CALL_HOST);
  kw_test_child("slots_peer");
}
