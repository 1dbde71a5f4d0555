/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory. Host memory of the device (alloc_host) both processes have; a copy to or from there names the place. Any
 * other memory of the application's the plugin's process does not have: such a copy goes through a block. Into a device
 * the bytes are taken at once, unless a copy of the device's that is still to come stores to them: then the stream asks
 * for them when it comes to it. Out of a device the stream asks for them to be stored, and goes on when they are.
 */
#include "base/error.h"
#include "base/struct.h"
#include "isolate/pending.h"
#include "isolate/proxy_slots.h"

#include "isolate/wire/slot_codec.h"

/* Nor is there a place to share with a process that ends. */
static kw_status no_memory(const kw_target *device, const char *what) {
  if (kw_link_ends(device->link)) return kw_link_lost(device->link);
  kw_proxy_explain(device->proxy, KW_ERR_OUT_OF_MEMORY, what);
  return KW_ERR_OUT_OF_MEMORY;
}

/* ---- Copies ------------------------------------------------------------------------------------------------------ */

/* *out_done: the stream was waited for, and the host function of `after` has to be run by the caller. */
static kw_status send_copy(const kw_target *device, void *stream, const kw_wire_copy *order, bool *out_done) {
  kw_exchange x;
  kw_status status = kw_exchange_begin(&x, device->link, KW_CODE_COPY, KW_PACE_WORK, "memory.copy");
  if (status != KW_OK) return status;
  kw_put_u64(&x.out, device->handle);
  kw_put_u64(&x.out, (uintptr_t)stream);
  kw_put_raw(&x.out, order, sizeof *order);
  status = kw_exchange_run(&x);
  *out_done = status == KW_OK && kw_take_u64(&x.in) != 0;
  return kw_exchange_end(&x, status);
}

/* Where the host end of a copy is, as the plugin's process has it. */
static kw_wire_copy describe(const kw_copy_info *copy, const kw_block_place *place) {
  kw_wire_copy order = {.block = place->number, .offset = place->offset};
  kw_struct_read(&order.copy, sizeof order.copy, copy);
  order.copy.dst_host = NULL;
  order.copy.src_host = NULL;
  return order;
}

static kw_status copy_in(const kw_target *device, void *stream, const kw_copy_info *copy) {
  struct kw_pending *pending = device->link->pending;
  bool done;
  uint64_t bring = 0;
  const kw_block_place place = kw_staging_get(device->link, copy->size);
  if (place.number == 0) return no_memory(device, "no memory for a copy to the plugin's process");
  kw_wire_copy order = describe(copy, &place);
  if (kw_pending_stores_to(pending, copy->src_host, copy->size)) {
    bring =
        kw_pending_add_copy(pending, (uintptr_t)stream, (void *)(uintptr_t)copy->src_host, &place, copy->size, false);
    if (bring == 0) {
      kw_staging_back(device->link, place.number);
      return no_memory(device, "no memory for a copy to the plugin's process");
    }
  } else {
    memcpy(place.bytes, copy->src_host, copy->size);
  }
  order.before = bring;
  order.after = KW_TOKEN_BLOCK | place.number;
  const kw_status status = send_copy(device, stream, &order, &done);
  if (status != KW_OK) kw_pending_drop_copy(pending, bring);
  if (status == KW_OK && bring != 0) kw_pending_enqueued(pending, bring);
  if (status != KW_OK || done) kw_staging_back(device->link, place.number);
  return status;
}

static kw_status copy_out(const kw_target *device, void *stream, const kw_copy_info *copy) {
  struct kw_pending *pending = device->link->pending;
  bool done;
  const kw_block_place place = kw_staging_get(device->link, copy->size);
  if (place.number == 0) return no_memory(device, "no memory for a copy from the plugin's process");
  kw_wire_copy order = describe(copy, &place);
  order.after = kw_pending_add_copy(pending, (uintptr_t)stream, copy->dst_host, &place, copy->size, true);
  kw_status status = order.after != 0 ? send_copy(device, stream, &order, &done)
                                      : no_memory(device, "no memory for a copy from the plugin's process");
  if (status != KW_OK) kw_pending_drop_copy(pending, order.after);
  if (status == KW_OK && done) status = kw_pending_copy(pending, order.after);
  if (status == KW_OK && !done) kw_pending_enqueued(pending, order.after);
  if (status != KW_OK) kw_staging_back(device->link, place.number);
  return status;
}

static kw_status copy(void *object, void *stream, const kw_copy_info *copy) {
  const kw_target *device = object;
  const bool in = copy->kind == KW_COPY_HOST_TO_DEVICE, out = copy->kind == KW_COPY_DEVICE_TO_HOST;
  bool done;
  kw_block_place place = {0};
  if ((in || out) && !kw_block_find(device->link, in ? copy->src_host : copy->dst_host, copy->size, &place)) {
    return (in ? copy_in : copy_out)(device, stream, copy);
  }
  const kw_wire_copy order = describe(copy, &place);
  return send_copy(device, stream, &order, &done);
}

static kw_status copy_peer(void *object, void *stream, void *src_device, const kw_copy_info *copy) {
  const kw_target *device = object, *source = src_device;
  if (source->link == device->link) {
    return kw_send_memory_copy_peer(object, stream, (void *)(uintptr_t)source->handle, copy);
  }
  kw_proxy_explain(device->proxy, KW_ERR_UNSUPPORTED, "the two devices live in different processes of the plugin");
  return KW_ERR_UNSUPPORTED;
}

static kw_status fill(void *device, void *stream, kw_mem mem, uint64_t offset, uint64_t size, const void *pattern,
                      uint32_t pattern_size) {
  unsigned char padded[16] = {0};
  memcpy(padded, pattern, pattern_size < sizeof padded ? pattern_size : sizeof padded);
  return kw_send_memory_fill(device, stream, mem, offset, size, padded, pattern_size);
}

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

static kw_status dealloc(void *device, kw_mem mem) {
  return KW_PROXY_END(device, kw_send_memory_dealloc(device, mem));
}

static kw_status alloc_host(void *object, uint64_t size, void **out_memory) {
  const kw_target *device = object;
  if (kw_link_is_dead(device->link)) return kw_link_lost(device->link);
  void *memory = kw_block_alloc(device->link, size);
  if (memory == NULL) return no_memory(device, "there is no host memory to share with the plugin's process");
  *out_memory = memory;
  return KW_OK;
}

static kw_status free_host(void *object, void *memory) {
  const kw_target *device = object;
  if (kw_block_dealloc(device->link, memory)) return KW_OK;
  kw_proxy_explain(device->proxy, KW_ERR_INVALID_ARGUMENT, "free_host: this is no host memory of the device's");
  return KW_ERR_INVALID_ARGUMENT;
}

/* The host does not reach the plugin's process: it maps a copy. */
static kw_status map(void *device, void *stream, const kw_map_info *info, void **out_pointer) {
  (void)device, (void)stream, (void)info, (void)out_pointer;
  return KW_ERR_UNSUPPORTED;
}

void kw_proxy_fill_memory(kw_plugin_answer *answer) {
  answer->memory.dealloc = dealloc;
  answer->memory.copy = copy;
  answer->memory.copy_peer = copy_peer;
  answer->memory.fill = fill;
  answer->memory.alloc_host = alloc_host;
  answer->memory.free_host = free_host;
  answer->memory.map = map;
}
