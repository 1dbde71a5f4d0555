/* SPDX-License-Identifier: Apache-2.0
 *
 * Devices, streams and what waits: the slots after which the proxy knows what lives in the plugin's process.
 */
#include "base/error.h"
#include "base/trace.h"
#include "isolate/block.h"
#include "isolate/objects.h"
#include "isolate/pending.h"
#include "isolate/proxy_slots.h"

#include "isolate/wire/slot_codec.h"

#include <fcntl.h>
#include <stdlib.h>

#define WAIT_SLICE_NS UINT64_C(1000000000) /* a wait without end is many: a plugin that hangs in one is found out */

static uint64_t number_of(const void *handle) {
  return (uintptr_t)handle;
}

static kw_status refuse(const kw_target *target, const char *text) {
  kw_proxy_explain(target->proxy, KW_ERR_UNSUPPORTED, text);
  return KW_ERR_UNSUPPORTED;
}

static kw_status no_memory(const kw_target *target) {
  kw_proxy_explain(target->proxy, KW_ERR_OUT_OF_MEMORY, "the host has no memory for what is known of an object");
  return KW_ERR_OUT_OF_MEMORY;
}

/* ---- Devices ----------------------------------------------------------------------------------------------------- */

static kw_status device_count(void *plugin, uint32_t *out_count) {
  kw_proxy *proxy = ((kw_target *)plugin)->proxy;
  uint32_t count = 0;
  kw_status status = kw_send_device_count(plugin, &count);
  if (status == KW_ERR_DEVICE_LOST) status = KW_OK; /* the next process has as many */
  pthread_mutex_lock(&proxy->lock);
  if (status == KW_OK && count > proxy->devices) proxy->devices = count;
  if (status == KW_OK) *out_count = count > proxy->devices ? count : proxy->devices; /* it never shrinks */
  pthread_mutex_unlock(&proxy->lock);
  return status;
}

/* On the process of now, which a device keeps until its close. */
static kw_status device_open(void *plugin, uint32_t index, const kw_open_info *info, void **out_device) {
  const kw_target *of_plugin = plugin;
  kw_target *device = malloc(sizeof *device);
  kw_link *link;
  if (device == NULL) return no_memory(of_plugin);
  kw_status status = kw_proxy_link(of_plugin, true, &link);
  if (status != KW_OK) {
    free(device);
    return status;
  }
  void *handle = NULL;
  kw_target at = {of_plugin->proxy, link, 0};
  status = kw_send_device_open(&at, index, info, &handle);
  *device = (kw_target){of_plugin->proxy, link, number_of(handle)};
  if (status == KW_OK && !kw_objects_add_device(link->objects, device)) {
    kw_send_device_close(device);
    status = no_memory(of_plugin);
  }
  if (status == KW_OK) {
    *out_device = device;
  } else {
    kw_link_unref(link);
    free(device);
  }
  return status;
}

static kw_status device_close(void *object) {
  kw_target *device = object;
  const kw_status status = KW_PROXY_END(device, kw_send_device_close(device));
  if (status != KW_OK) return status;
  kw_objects_remove_device(device->link->objects, device);
  kw_link_unref(device->link);
  free(device);
  return KW_OK;
}

/* ---- Streams ----------------------------------------------------------------------------------------------------- */

static kw_status stream_create(void *object, const kw_stream_info *info, void **out_stream) {
  const kw_target *device = object;
  void *stream = NULL;
  const kw_status status = kw_send_stream_create(object, info, &stream);
  if (status != KW_OK) return status;
  if (!kw_objects_add_stream(device->link->objects, number_of(stream), info->token)) {
    kw_send_stream_destroy(object, stream);
    return no_memory(device);
  }
  *out_stream = stream;
  return KW_OK;
}

static kw_status stream_destroy(void *object, void *stream) {
  const kw_target *device = object;
  const uint64_t last = kw_pending_last(device->link->pending);
  const kw_status status = KW_PROXY_END(object, kw_send_stream_destroy(object, stream));
  if (status != KW_OK) return status;
  kw_pending_end_copies(device->link->pending, number_of(stream), last);
  kw_objects_remove_stream(device->link->objects, number_of(stream));
  return KW_OK;
}

/* Waits in slices. */
static kw_status wait_for(kw_status (*wait)(void *, void *, uint64_t), void *device, void *awaited,
                          uint64_t timeout_ns) {
  const uint64_t begin = timeout_ns > WAIT_SLICE_NS ? kw_trace_now() : 0;
  for (;;) {
    uint64_t left = timeout_ns;
    if (timeout_ns > WAIT_SLICE_NS && timeout_ns != KW_WAIT_FOREVER) {
      const uint64_t passed = kw_trace_now() - begin;
      left = passed < timeout_ns ? timeout_ns - passed : 0;
    }
    const uint64_t slice = left < WAIT_SLICE_NS ? left : WAIT_SLICE_NS;
    const kw_status status = wait(device, awaited, slice);
    if (status != KW_ERR_TIMEOUT || slice == left) return status;
  }
}

static kw_status stream_synchronize(void *object, void *stream, uint64_t timeout_ns) {
  struct kw_pending *pending = ((kw_target *)object)->link->pending;
  const uint64_t last = kw_pending_last(pending);
  const kw_status status = wait_for(kw_send_stream_synchronize, object, stream, timeout_ns);
  if (status != KW_OK) return status;
  kw_pending_end_copies(pending, number_of(stream), last);
  kw_staging_trim(((kw_target *)object)->link);
  return KW_OK;
}

static kw_status stream_query(void *object, void *stream) {
  struct kw_pending *pending = ((kw_target *)object)->link->pending;
  const uint64_t last = kw_pending_last(pending);
  const kw_status status = kw_send_stream_query(object, stream);
  if (status == KW_OK) kw_pending_end_copies(pending, number_of(stream), last);
  return status;
}

static kw_status stream_call_host(void *object, void *stream, uint64_t token) {
  const kw_target *device = object;
  struct kw_pending *pending = device->link->pending;
  if (!kw_pending_add_function(pending, token)) return no_memory(device);
  const kw_status status = kw_send_stream_call_host(object, stream, token);
  if (status != KW_OK) kw_pending_take_function(pending, token);
  return status;
}

static kw_status event_synchronize(void *device, void *event, uint64_t timeout_ns) {
  const kw_status status = wait_for(kw_send_event_synchronize, device, event, timeout_ns);
  if (status == KW_OK) kw_staging_trim(((kw_target *)device)->link);
  return status;
}

static kw_status event_destroy(void *device, void *event) {
  return KW_PROXY_END(device, kw_send_event_destroy(device, event));
}

static kw_status graph_destroy(void *device, void *graph) {
  return KW_PROXY_END(device, kw_send_graph_destroy(device, graph));
}

/* ---- Others ------------------------------------------------------------------------------------------------------ */

static bool is_descriptor(kw_handle_kind kind) {
  return kind == KW_HANDLE_FD || kind == KW_HANDLE_DMABUF;
}

/* Descriptors go over the socket. Pointers are good in one process only, and by bytes a plugin reaches into another
 * process, which the fences do not let it (host/confine.c). */
static kw_status import_memory(void *object, const kw_external_memory *info, kw_mem *out_mem, uint32_t *out_alignment) {
  const kw_target *device = object;
  kw_external_memory there = *info;
  if (is_descriptor(info->kind)) {
    const kw_wire_notice notice = {.what = KW_NOTICE_DESCRIPTOR,
                                   .number = atomic_fetch_add(&device->link->sent_descriptors, 1) + 1};
    if (fcntl((int)info->handle, F_GETFD) < 0) {
      kw_proxy_explain(device->proxy, KW_ERR_INVALID_ARGUMENT, "the handle is no open descriptor");
      return KW_ERR_INVALID_ARGUMENT;
    }
    if (kw_link_is_dead(device->link) || !kw_link_notify(device->link, &notice, (int)info->handle)) {
      return kw_link_lost(device->link);
    }
    there.handle = notice.number;
  } else {
    return refuse(device, "the plugin runs in its own process, which takes in memory by descriptors only");
  }
  there.host = NULL;
  return kw_send_interop_import_memory(object, &there, out_mem, out_alignment);
}

static kw_status export_memory(void *object, kw_mem mem, kw_external_memory *inout_info) {
  const kw_target *device = object;
  kw_external_memory info = *inout_info;
  if (!is_descriptor(info.kind)) {
    return refuse(device, "the plugin runs in its own process, which gives memory by descriptors only");
  }
  const kw_status status = kw_send_interop_export_memory(object, mem, &info);
  if (status != KW_OK) return status;
  const int descriptor = kw_descriptors_take(&device->link->descriptors, (uint32_t)info.handle);
  if (descriptor < 0) {
    kw_link_kill(device->link, "was ended: it named a descriptor that it has not sent");
    return kw_link_lost(device->link);
  }
  inout_info->handle = (uint64_t)descriptor;
  inout_info->offset = info.offset;
  return KW_OK;
}

static kw_status release_memory(void *device, kw_mem mem) {
  return KW_PROXY_END(device, kw_send_interop_release_memory(device, mem));
}

static kw_status native_handle(void *device, kw_object_kind kind, void *object, kw_native_handle *out_handle) {
  (void)kind, (void)object, (void)out_handle;
  return refuse(device, "the plugin runs in its own process: what its runtime calls things means nothing in this one");
}

/* As many questions as it takes: one answer has room for so many records. */
static kw_status drain(void *object, void *out, uint32_t record_size, uint32_t capacity, uint32_t *out_count,
                       uint64_t *out_dropped) {
  const kw_target *device = object;
  uint32_t done = 0;
  uint64_t dropped = 0;
  kw_status status = KW_OK;
  for (bool more = true; status == KW_OK && more && done < capacity;) {
    kw_exchange x;
    const uint32_t wanted = capacity - done < KW_DRAIN_LIMIT ? capacity - done : KW_DRAIN_LIMIT;
    status = kw_exchange_begin(&x, device->link, KW_CODE_DRAIN, KW_PACE_QUICK, "activity.drain");
    if (status != KW_OK) break;
    kw_put_u64(&x.out, device->handle);
    kw_put_u64(&x.out, wanted);
    status = kw_exchange_run(&x);
    if (status == KW_OK) {
      dropped += kw_take_u64(&x.in);
      const uint32_t count = kw_take_u32(&x.in);
      if (count > wanted) x.in.broken = true;
      for (uint32_t i = 0; i < count && !x.in.broken; i++) {
        kw_activity record;
        kw_take_raw(&x.in, &record, sizeof record);
        kw_activity_store(out, record_size, done++, &record);
      }
      more = count == wanted;
    }
    status = kw_exchange_end(&x, status);
  }
  if (status != KW_OK) return status;
  *out_count = done;
  *out_dropped = dropped;
  return KW_OK;
}

void kw_proxy_fill_objects(kw_plugin_answer *answer) {
  answer->device.count = device_count;
  answer->device.open = device_open;
  answer->device.close = device_close;
  answer->stream.create = stream_create;
  answer->stream.destroy = stream_destroy;
  answer->stream.synchronize = stream_synchronize;
  answer->stream.query = stream_query;
  answer->stream.call_host = stream_call_host;
  answer->event.synchronize = event_synchronize;
  answer->event.destroy = event_destroy;
  answer->graph.destroy = graph_destroy;
  answer->interop.import_memory = import_memory;
  answer->interop.release_memory = release_memory;
  answer->interop.export_memory = export_memory;
  answer->interop.native_handle = native_handle;
  answer->activity.drain = drain;
}
