/* SPDX-License-Identifier: Apache-2.0
 *
 * Suite stream: a stream is destroyed while it has work. Keyway waits before it destroys one, so a small host does it.
 */
#include "child.h"
#include "guest.h"
#include "scenarios.h"

#include <sched.h>
#include <stdatomic.h>

#define WHEN "on a stream that is destroyed at once"

static atomic_int done;

static kw_status note_end(void *ctx, uint64_t token) {
  (void)ctx, (void)token;
  atomic_store(&done, 1);
  return KW_OK;
}

int kw_child_destroy_finishes(void) {
  enum { SIZE = 1 << 20 };
  static unsigned char sent[SIZE], got[SIZE];
  const kw_init_info init = {.struct_size = sizeof init};
  const kw_open_info open = {.struct_size = sizeof open};
  const kw_stream_info info = {.struct_size = sizeof info, .token = 1};
  const kw_alloc_info alloc = {.struct_size = sizeof alloc, .kind = KW_MEM_DEVICE, .size = SIZE, .alignment = 1};
  static kw_host_api host;
  void *plugin = NULL, *device = NULL, *stream = NULL;
  kw_mem mem = NULL;
  kw_guest g = kw_guest_load();
  host = kw_guest_host_for(&g);
  host.run_callback = note_end;
  KW_GUEST_OK(WHEN, g.desc->init(&host, &init, &plugin));
  KW_GUEST_OK(WHEN, g.device->open(plugin, 0, &open, &device));
  KW_GUEST_OK(WHEN, g.memory->alloc(device, &alloc, &mem));
  kw_test_pattern(sent, SIZE, 3);
  const kw_copy_info there = {
      .struct_size = sizeof there, .kind = KW_COPY_HOST_TO_DEVICE, .dst_mem = mem, .src_host = sent, .size = SIZE};
  const kw_copy_info here = {
      .struct_size = sizeof here, .kind = KW_COPY_DEVICE_TO_HOST, .dst_host = got, .src_mem = mem, .size = SIZE};
  for (int round = 0; round < 3; round++) {
    memset(got, 0, SIZE);
    atomic_store(&done, 0);
    KW_GUEST_OK(WHEN, g.stream->create(device, &info, &stream));
    KW_GUEST_OK(WHEN, g.memory->copy(device, stream, &there));
    KW_GUEST_OK(WHEN, g.memory->copy(device, stream, &here));
    KW_GUEST_OK(WHEN, g.stream->call_host(device, stream, 1));
    KW_GUEST_OK(WHEN, g.stream->destroy(device, stream));
    kw_test_waits("work that was queued on a stream when it was destroyed"); /* destroy need not have waited for it */
    while (!atomic_load(&done)) sched_yield();
    kw_test_same(got, sent, SIZE, "what was copied on a stream that was destroyed at once");
  }
  KW_GUEST_OK(WHEN, g.memory->dealloc(device, mem));
  KW_GUEST_OK(WHEN, g.device->close(device));
  KW_GUEST_OK(WHEN, g.desc->shutdown(plugin));
  return 0;
}

/* Work in flight finishes when its stream is destroyed. */
void kw_contract_stream_destroy_finishes(void **state) {
  (void)state;
  kw_test_need(KW_NATIVE_CALL_HOST);
  kw_test_child("destroy_finishes");
}
