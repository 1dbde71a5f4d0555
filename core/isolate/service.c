/* SPDX-License-Identifier: Apache-2.0
 *
 * One thread for each lane of services. Every number is held against what the link knows: a plugin blames and runs what
 * is its own.
 */
#include "isolate/service.h"

#include "base/error.h"
#include "base/thread.h"
#include "base/utf8.h"
#include "isolate/objects.h"
#include "isolate/pending.h"
#include "isolate/proxy.h"

#include <stdlib.h>

#define SLICE_NS UINT64_C(10000000000)

typedef struct service {
  kw_link *link;
  uint32_t lane;
} service;

static kw_proxy *proxy_of(kw_link *link) {
  return link->user;
}

/* ---- The services ------------------------------------------------------------------------------------------------ */

static kw_status serve_log(kw_proxy *proxy, kw_message *in) {
  char text[1024];
  const kw_log_level level = kw_take_u32(in);
  kw_take_text(in, text, sizeof text);
  return proxy->host->log(proxy->host->ctx, level > KW_LOG_DEBUG ? KW_LOG_ERROR : level, text);
}

static kw_status serve_report(kw_link *link, kw_message *in) {
  char text[1024];
  const uint64_t token = kw_take_u64(in), call_id = kw_take_u64(in);
  const kw_status status = (kw_status)kw_take_u32(in);
  kw_take_text(in, text, sizeof text);
  if (in->broken || !kw_objects_has_token(link->objects, token)) return KW_ERR_NOT_FOUND;
  const kw_host_api *host = proxy_of(link)->host;
  return host->report_async_error(host->ctx, token, call_id, status, text);
}

static kw_status run_function(kw_link *link, uint64_t token) {
  const kw_host_api *host = proxy_of(link)->host;
  if (!kw_pending_take_function(link->pending, token)) {
    return kw_fail(KW_ERR_NOT_FOUND, "run_callback: there is no host function with this token");
  }
  atomic_fetch_add(&link->callbacks, 1);
  const kw_status status = host->run_callback(host->ctx, token);
  atomic_fetch_sub(&link->callbacks, 1);
  return status;
}

static kw_status serve_callback(kw_link *link, kw_message *in) {
  const uint64_t token = kw_take_u64(in);
  return (token & KW_TOKEN_COPY) != 0 ? kw_pending_copy(link->pending, token) : run_function(link, token);
}

static kw_status serve_build(kw_link *link, kw_message *in) {
  char module[256];
  const kw_host_api *host = proxy_of(link)->host;
  kw_target *device = kw_objects_device(link->objects, kw_take_u64(in));
  const uint64_t ns = kw_take_u64(in);
  const bool cached = kw_take_u64(in) != 0;
  kw_take_text(in, module, sizeof module);
  return host->report_build(host->ctx, device, module, ns, cached);
}

/* *out_number: what register_kernel and define_op answer beside the status. */
static kw_status serve(kw_link *link, uint32_t code, kw_message *in, uint64_t *out_number) {
  kw_proxy *proxy = proxy_of(link);
  if (proxy->host == NULL) return KW_ERR_UNSUPPORTED; /* before init there are none */
  switch (code) {
    case KW_CODE_LOG:
      return serve_log(proxy, in);
    case KW_CODE_REGISTER_KERNEL:
      return kw_proxy_register_kernel(proxy, in, out_number);
    case KW_CODE_DEFINE_OP:
      return kw_proxy_define_op(proxy, in, out_number);
    case KW_CODE_REPORT_ASYNC_ERROR:
      return serve_report(link, in);
    case KW_CODE_RUN_CALLBACK:
      return serve_callback(link, in);
    case KW_CODE_REPORT_BUILD:
      return serve_build(link, in);
    case KW_CODE_DEVICES_CHANGED:
      return proxy->host->devices_changed(proxy->host->ctx);
    default:
      return KW_ERR_UNSUPPORTED;
  }
}

/* ---- The thread -------------------------------------------------------------------------------------------------- */

static void answer(kw_link *link, kw_wire_lane *lane) {
  kw_message in = kw_lane_reader(lane), out = kw_lane_writer(lane);
  const uint32_t code = atomic_load_explicit(&lane->code, memory_order_relaxed);
  uint64_t number = 0;
  kw_error_clear();
  const kw_status status = serve(link, code, &in, &number);
  kw_put_u64(&out, (uint32_t)status);
  kw_put_u64(&out, number);
  kw_put_text(&out, status != KW_OK ? kw_error_message() : "");
  atomic_store_explicit(&lane->size, (uint32_t)(out.at - lane->payload), memory_order_relaxed);
  if (!kw_link_is_dead(link)) kw_lane_set(&lane->state, &lane->caller_sleeps, KW_LANE_ANSWERED);
}

static void *run(void *user) {
  service *s = user;
  kw_wire_lane *lane = &s->link->wire->services[s->lane];
  while (!kw_link_is_dead(s->link)) {
    if (kw_lane_wait(&lane->state, &lane->server_sleeps, KW_LANE_ASKED, SLICE_NS)) answer(s->link, lane);
  }
  kw_link_unref(s->link);
  free(s);
  return NULL;
}

bool kw_service_start(kw_link *link, uint32_t lane) {
  service *s = malloc(sizeof *s);
  if (s == NULL) return false;
  *s = (service){link, lane};
  kw_link_ref(link);
  if (kw_thread_start(run, s, NULL) == 0) return true;
  kw_link_unref(link);
  free(s);
  return false;
}
