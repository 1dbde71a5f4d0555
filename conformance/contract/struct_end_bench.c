/* SPDX-License-Identifier: Apache-2.0
 *
 * For the check abi/structs_end: memory that ends, and a device under a small host whose structs end there.
 */
#include "struct_end.h"

#include <sys/mman.h>
#include <unistd.h>

static kw_ends ends;

/* A copy of a struct with struct_size that is as short as it may be. */
#define SHORT(struct_, min) kw_end_put(&ends, &(struct_), (min))
#define OK(call) KW_GUEST_OK(KW_AT_END, call)

void *kw_end_put(kw_ends *into, const void *from, size_t size) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE), room = (size + page - 1) / page * page;
  unsigned char *pages = mmap(NULL, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  KW_CHECK(pages != MAP_FAILED && mprotect(pages + room, page, PROT_NONE) == 0, "no memory");
  KW_CHECK(into->count < sizeof into->pages / sizeof into->pages[0], "the check has no room for so many structs");
  into->pages[into->count].begin = pages;
  into->pages[into->count++].size = room + page;
  return size ? memcpy(pages + room - size, from, size) : pages + room;
}

void kw_end_take_away(kw_ends *from) {
  while (from->count > 0) {
    from->count--;
    munmap(from->pages[from->count].begin, from->pages[from->count].size);
  }
}

bool kw_end_is_done(kw_status status, const char *call) {
  if (KW_STATUS_CLASS(status) == KW_CLASS_REFUSED || status == KW_ERR_UNSUPPORTED) return false;
  kw_guest_expect(status, KW_OK, call, KW_AT_END);
  return true;
}

void kw_end_open(kw_end_bench *b) {
  const kw_open_info open = {.struct_size = KW_OPEN_INFO_MIN};
  const kw_init_info init = {.struct_size = KW_INIT_INFO_MIN};
  const kw_device_info empty = {.struct_size = KW_DEVICE_INFO_MIN};
  kw_query_info query = {
      .struct_size = KW_QUERY_INFO_MIN, .abi_min = KW_ABI_VERSION_MIN, .abi_max = KW_ABI_VERSION, .host_version = "1"};
  static kw_host_api host;
  static kw_ends for_ever; /* the host's table */
  const char *reason = NULL;
  b->guest = kw_guest_load();
  const kw_guest *g = &b->guest;
  OK(g->query(SHORT(query, KW_QUERY_INFO_MIN), &b->guest.desc, &reason));
  host = kw_guest_host_for(g);
  host.struct_size = KW_HOST_API_MIN;
  host.register_kernel = kw_guest_keep_kernel;
  OK(g->desc->init(kw_end_put(&for_ever, &host, KW_HOST_API_MIN), SHORT(init, KW_INIT_INFO_MIN), &b->plugin));
  kw_device_info *info = SHORT(empty, KW_DEVICE_INFO_MIN);
  OK(g->device->info(b->plugin, 0, info));
  b->alignment = info->mem_alignment < 4096 ? info->mem_alignment : 4096;
  OK(g->device->open(b->plugin, 0, SHORT(open, KW_OPEN_INFO_MIN), &b->device));
  kw_end_take_away(&ends);
}

void *kw_end_stream(const kw_end_bench *b, uint64_t token) {
  const kw_stream_info info = {.struct_size = KW_STREAM_INFO_MIN, .token = token};
  void *stream = NULL;
  OK(b->guest.stream->create(b->device, SHORT(info, KW_STREAM_INFO_MIN), &stream));
  kw_end_take_away(&ends);
  return stream;
}

void kw_end_wait(const kw_end_bench *b) {
  OK(b->guest.stream->synchronize(b->device, b->stream, KW_WAIT_FOREVER));
  kw_end_take_away(&ends);
}

bool kw_end_alloc_as(const kw_end_bench *b, kw_mem_kind kind, uint64_t flags, uint64_t size, kw_mem *out_mem) {
  const kw_alloc_info info = {
      .struct_size = KW_ALLOC_INFO_MIN, .kind = kind, .size = size, .alignment = 1, .flags = flags};
  const bool done = KW_END_IS_DONE(b->guest.memory->alloc(b->device, SHORT(info, KW_ALLOC_INFO_MIN), out_mem));
  kw_end_take_away(&ends);
  return done;
}

void kw_end_copy(const kw_end_bench *b, kw_copy_kind kind, kw_mem mem, unsigned char *host) {
  const bool is_write = kind == KW_COPY_HOST_TO_DEVICE;
  const kw_copy_info info = {.struct_size = KW_COPY_INFO_MIN,
                             .kind = kind,
                             .dst_host = is_write ? NULL : host,
                             .dst_mem = is_write ? mem : NULL,
                             .src_host = is_write ? host : NULL,
                             .src_mem = is_write ? NULL : mem,
                             .size = KW_END_BYTES};
  OK(b->guest.memory->copy(b->device, b->stream, SHORT(info, KW_COPY_INFO_MIN)));
  kw_end_take_away(&ends);
}

void kw_end_clear(const kw_end_bench *b, kw_mem mem) {
  static unsigned char zeroes[KW_END_BYTES];
  kw_end_copy(b, KW_COPY_HOST_TO_DEVICE, mem, zeroes);
}

kw_mem kw_end_alloc(const kw_end_bench *b) {
  kw_mem mem = NULL;
  KW_CHECK(kw_end_alloc_as(b, KW_MEM_DEVICE, 0, KW_END_BYTES, &mem), "device memory was refused");
  kw_end_clear(b, mem);
  return mem;
}
