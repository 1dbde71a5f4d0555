/* SPDX-License-Identifier: Apache-2.0
 *
 * Events: the runtime's own do what plugin.h asks for.
 */
#include "runtime.h"

static const kw_rt_runtime *const runtime = &kw_rt_backend_runtime;

static kw_status event_create(void *device, const kw_event_info *info, void **out_event) {
  kw_status status = kw_gpu_check_critical(((kw_gpu_device *)device)->host, info->flags, info->next);
  if (status != KW_OK) return status;
  void *before = runtime->enter(device);
  int error = kw_rt.event_create(out_event, 0);
  runtime->leave(before);
  return kw_rt_check(device, KW_RT_event_create, error);
}

static kw_status event_destroy(void *device, void *event) {
  void *before = runtime->enter(device);
  int error = kw_rt.event_destroy(event);
  runtime->leave(before);
  return kw_rt_check(device, KW_RT_event_destroy, error);
}

static kw_status event_record(void *device, void *event, void *stream) {
  void *before = runtime->enter(device);
  int error = kw_rt.event_record(event, ((kw_gpu_stream *)stream)->handle);
  runtime->leave(before);
  return kw_rt_check(device, KW_RT_event_record, error);
}

static kw_status event_query(void *device, void *event) {
  void *before = runtime->enter(device);
  int error = kw_rt.event_query(event);
  runtime->leave(before);
  if (kw_rt_status(error) == KW_ERR_NOT_READY) return KW_ERR_NOT_READY;
  return kw_rt_check(device, KW_RT_event_query, error);
}

kw_status kw_rt_event_poll(void *event) {
  return kw_rt_status(kw_rt.event_query(event)) == KW_ERR_NOT_READY ? KW_ERR_NOT_READY : KW_OK;
}

static kw_status event_synchronize(void *device, void *event, uint64_t timeout_ns) {
  void *before = runtime->enter(device);
  kw_status status = timeout_ns == KW_WAIT_FOREVER ? KW_OK : kw_gpu_poll(kw_rt_event_poll, event, timeout_ns);
  int error = status == KW_OK ? kw_rt.event_synchronize(event) : 0;
  runtime->leave(before);
  return status == KW_OK ? kw_rt_check(device, KW_RT_event_synchronize, error) : status;
}

static kw_status event_wait(void *device, void *stream, void *event) {
  void *before = runtime->enter(device);
  int error = kw_rt.stream_wait(((kw_gpu_stream *)stream)->handle, event, 0);
  runtime->leave(before);
  return kw_rt_check(device, KW_RT_stream_wait, error);
}

static kw_status event_elapsed(void *device, void *start, void *end, uint64_t *out_ns) {
  float ms = 0;
  void *before = runtime->enter(device);
  int error = kw_rt.event_elapsed(&ms, start, end);
  runtime->leave(before);
  if (error) {
    kw_rt_check(device, KW_RT_event_elapsed, error);
    return KW_ERR_UNSUPPORTED;
  }
  *out_ns = ms > 0 ? (uint64_t)((double)ms * 1e6) : 0;
  return KW_OK;
}

const kw_event_api kw_rt_event_api = {
    .struct_size = sizeof kw_rt_event_api,
    .create = event_create,
    .destroy = event_destroy,
    .record = event_record,
    .query = event_query,
    .synchronize = event_synchronize,
    .wait = event_wait,
    .elapsed = event_elapsed,
};
