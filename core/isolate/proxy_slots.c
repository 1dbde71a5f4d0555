/* SPDX-License-Identifier: Apache-2.0
 *
 * Every slot of slots.def as a call to the plugin's process.
 */
#include "isolate/proxy_slots.h"

#include "isolate/wire/slot_codec.h"

/* What works, or waits for work: the others are documented to return soon. */
static kw_pace pace_of(kw_wire_code code) {
  switch (code) {
    case KW_CODE_device_open:
    case KW_CODE_device_close:
    case KW_CODE_memory_copy:
    case KW_CODE_memory_fill:
    case KW_CODE_memory_copy_peer:
    case KW_CODE_stream_destroy:
    case KW_CODE_stream_call_host:
    case KW_CODE_graph_begin:
    case KW_CODE_graph_end:
    case KW_CODE_graph_launch:
      return KW_PACE_WORK;
    default:
      return KW_PACE_QUICK;
  }
}

/* The link of the object that a slot is called with, whose place among the arguments the plugin's own handle takes. */
static kw_status begin_call(kw_exchange *x, void **object, kw_wire_code code, const char *name) {
  const kw_target *target = *object;
  const bool starts = code == KW_CODE_device_info || code == KW_CODE_device_attribute;
  kw_link *link;
  kw_status status = kw_proxy_link(target, starts, &link);
  if (status != KW_OK) return status;
  status = kw_exchange_begin(x, link, code, pace_of(code), name);
  if (status != KW_OK) kw_link_unref(link);
  *object = (void *)(uintptr_t)target->handle;
  return status;
}

static kw_status end_call(kw_exchange *x, kw_status status) {
  status = kw_exchange_end(x, status);
  kw_link_unref(x->link);
  return status;
}

#define PUT(argument) KW_PUT_ARGUMENT(&x.out, argument);
#define GET(argument) KW_GET_RESULT(&x.in, argument);
#define KW_SLOT(group, name, since, required, parameters, arguments)                                    \
  kw_status KW_CALL kw_send_##group##_##name parameters {                                               \
    kw_exchange x;                                                                                      \
    kw_status status = begin_call(&x, &KW_FIRST arguments, KW_CODE_##group##_##name, #group "." #name); \
    if (status != KW_OK) return status;                                                                 \
    KW_EACH(PUT, arguments)                                                                             \
    status = kw_exchange_run(&x);                                                                       \
    if (status == KW_OK) {                                                                              \
      KW_EACH(GET, arguments)                                                                           \
    }                                                                                                   \
    return end_call(&x, status);                                                                        \
  }
#include "slots.def"

void kw_proxy_fill_slots(kw_plugin_answer *answer) {
#define KW_SLOT(group, name, since, required, parameters, arguments) answer->group.name = kw_send_##group##_##name;
#include "slots.def"
}
