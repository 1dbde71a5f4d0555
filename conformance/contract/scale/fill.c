/* SPDX-License-Identifier: Apache-2.0
 *
 * Suite scale: the plugin's own fill of more than 2^32 bytes, called directly: through the library only ops that the
 * device has no kernel for lead to it.
 */
#include "contract/child.h"
#include "contract/guest.h"
#include "contract/scale/scale.h"
#include "contract/scenarios.h"

#include <stdio.h>

#define SIZE (4 * KW_GIB + 3 * KW_MIB + 12344)
#define FILL_OK(call) KW_GUEST_OK("filling more than 2^32 bytes", call)

enum { WINDOW = 64 };
static const unsigned char pattern[4] = {0x5b, 0x17, 0xc4, 0x09};

/* The filled memory, and the stream of all that is done to it. */
typedef struct filled {
  const kw_guest *g;
  void *device, *stream;
  kw_mem mem;
} filled;

static void move_window(const filled *f, kw_copy_kind kind, uint64_t at, unsigned char *bytes) {
  kw_copy_info info = {.struct_size = sizeof info, .kind = kind, .size = WINDOW};
  if (kind == KW_COPY_HOST_TO_DEVICE) {
    info.src_host = bytes;
    info.dst_mem = f->mem;
    info.dst_offset = at;
  } else {
    info.dst_host = bytes;
    info.src_mem = f->mem;
    info.src_offset = at;
  }
  FILL_OK(f->g->memory->copy(f->device, f->stream, &info));
  FILL_OK(f->g->stream->synchronize(f->device, f->stream, KW_WAIT_FOREVER));
}

static void fill_and_check(const filled *f) {
  static unsigned char nothing[WINDOW], got[WINDOW];
  int64_t places[KW_SCALE_PLACES] = {0};
  const uint32_t count = kw_scale_places((int64_t)(SIZE - WINDOW), places);
  for (uint32_t i = 0; i < count; i++) move_window(f, KW_COPY_HOST_TO_DEVICE, (uint64_t)places[i], nothing);
  FILL_OK(f->g->memory->fill(f->device, f->stream, f->mem, 0, SIZE, pattern, sizeof pattern));
  FILL_OK(f->g->stream->synchronize(f->device, f->stream, KW_WAIT_FOREVER));
  for (uint32_t i = 0; i < count; i++) {
    move_window(f, KW_COPY_DEVICE_TO_HOST, (uint64_t)places[i], got);
    for (int k = 0; k < WINDOW; k++) {
      const uint64_t at = (uint64_t)places[i] + (uint64_t)k;
      KW_CHECK(got[k] == pattern[at % 4], "a fill of %llu bytes: byte %llu is 0x%02x, not 0x%02x",
               (unsigned long long)SIZE, (unsigned long long)at, got[k], pattern[at % 4]);
    }
  }
}

int kw_child_scale_fill(void) {
  const kw_init_info init = {.struct_size = sizeof init};
  const kw_open_info open = {.struct_size = sizeof open};
  const kw_stream_info stream = {.struct_size = sizeof stream, .token = 1};
  const kw_alloc_info alloc = {.struct_size = sizeof alloc, .kind = KW_MEM_DEVICE, .size = SIZE, .alignment = 64};
  static kw_host_api host;
  const kw_guest g = kw_guest_load();
  filled f = {.g = &g};
  void *plugin = NULL;
  host = kw_guest_host_for(&g);
  FILL_OK(g.desc->init(&host, &init, &plugin));
  FILL_OK(g.device->open(plugin, 0, &open, &f.device));
  FILL_OK(g.stream->create(f.device, &stream, &f.stream));
  const kw_status status = g.memory->alloc(f.device, &alloc, &f.mem);
  if (status == KW_ERR_OUT_OF_MEMORY) {
    fprintf(stderr, "scale needs %.2f GiB of the device; it refused them, though it said that so much is free",
            (double)SIZE / (double)KW_GIB);
    return KW_CHILD_NOT_TRIED;
  }
  FILL_OK(status);
  fill_and_check(&f);
  FILL_OK(g.memory->dealloc(f.device, f.mem));
  FILL_OK(g.stream->destroy(f.device, f.stream));
  FILL_OK(g.device->close(f.device));
  FILL_OK(g.desc->shutdown(plugin));
  return 0;
}

void kw_contract_scale_plugin_fill_beyond_4_gib(void **state) {
  (void)state;
  kw_test_need(KW_NATIVE_FILL);
  kw_scale_need(SIZE, SIZE, 0);
  kw_test_child("scale_fill");
}
