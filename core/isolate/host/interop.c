/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory of others by descriptors, which go over the socket and are named by numbers in the calls.
 */
#include "isolate/host/host.h"
#include "isolate/wire/slot_codec.h"

#include <unistd.h>

kw_descriptors kw_host_descriptors;

static bool is_descriptor(kw_handle_kind kind) {
  return kind == KW_HANDLE_FD || kind == KW_HANDLE_DMABUF;
}

kw_status kw_host_import(kw_question *q) {
  void *device, **out_mem;
  const kw_external_memory *given;
  uint32_t *out_alignment;
  kw_take_handle(&q->in, q->arena, &device);
  kw_take_kw_external_memory(&q->in, q->arena, &given);
  kw_take_place_handle(&q->in, q->arena, &out_mem);
  kw_take_place_number(&q->in, q->arena, &out_alignment);
  if (q->in.broken) return KW_ERR_INVALID_ARGUMENT;
  kw_external_memory info = *given;
  int descriptor = -1;
  if (is_descriptor(info.kind)) {
    descriptor = kw_descriptors_take(&kw_host_descriptors, (uint32_t)info.handle);
    info.handle = (uint64_t)descriptor;
  }
  const kw_status status = kw_hosted_plugin.answer.interop.import_memory(device, &info, out_mem, out_alignment);
  if (descriptor >= 0) close(descriptor); /* the plugin has one of its own */
  if (status == KW_OK) {
    kw_give_handle(&q->out, out_mem);
    kw_give_number(&q->out, out_alignment);
  }
  return status;
}

kw_status kw_host_export(kw_question *q) {
  static _Atomic uint32_t numbers;
  void *device, *mem;
  kw_external_memory *info;
  kw_take_handle(&q->in, q->arena, &device);
  kw_take_handle(&q->in, q->arena, &mem);
  kw_take_place_external(&q->in, q->arena, &info);
  if (q->in.broken) return KW_ERR_INVALID_ARGUMENT;
  const kw_status status = kw_hosted_plugin.answer.interop.export_memory(device, mem, info);
  if (status != KW_OK) return status;
  if (is_descriptor(info->kind)) {
    const int descriptor = (int)info->handle;
    const kw_wire_notice notice = {.what = KW_NOTICE_DESCRIPTOR, .number = atomic_fetch_add(&numbers, 1) + 1};
    const bool sent = kw_notice_send(KW_WIRE_SOCKET_FD, &notice, descriptor);
    close(descriptor);
    if (!sent) return KW_ERR_IO;
    info->handle = notice.number;
  }
  kw_give_external(&q->out, info);
  return KW_OK;
}
