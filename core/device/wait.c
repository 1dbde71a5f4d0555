/* SPDX-License-Identifier: Apache-2.0
 *
 * Every wait of the library for a stream: the plugin's synchronize or query, and around it the errors that only the
 * data show.
 */
#include "device/wait.h"

#include "base/error.h"
#include "base/trace.h"
#include "device/activity.h"
#include "device/host_memory.h"
#include "device/late_error.h"
#include "op/op.h"

#include <inttypes.h>
#include <stdio.h>

/* ---- Limits ------------------------------------------------------------------------------------------------------ */

kw_status kw_device_set_wait_limit(kw_device *device, uint64_t limit_ns) {
  if (!device) return kw_fail(KW_ERR_INVALID_ARGUMENT, "kw_device_set_wait_limit: argument device is NULL");
  if (limit_ns == 0) {
    return kw_fail(KW_ERR_INVALID_ARGUMENT,
                   "kw_device_set_wait_limit: a limit of 0 would fail every wait; pass nanoseconds, or "
                   "KW_WAIT_FOREVER for none");
  }
  atomic_store(&device->wait_limit, limit_ns);
  return KW_OK;
}

uint64_t kw_wait_left(uint64_t begin_ns, uint64_t timeout_ns) {
  if (timeout_ns == KW_WAIT_FOREVER || timeout_ns == 0) return timeout_ns;
  const uint64_t passed = kw_trace_now() - begin_ns;
  return passed < timeout_ns ? timeout_ns - passed : 0;
}

kw_status kw_wait_timed_out(kw_stream *stream, uint64_t timeout_ns, const char *what) {
  const kw_op *op = kw_op_by_id(kw_call_id_op(atomic_load_explicit(&stream->last_call, memory_order_relaxed)));
  const kw_device *device = stream->device;
  char limit[48] = "", name[64] = "the default stream";
  if (timeout_ns > 0 && timeout_ns != KW_WAIT_FOREVER)
    snprintf(limit, sizeof limit, " within %.6g ms", (double)timeout_ns / 1e6);
  if (!stream->is_default) snprintf(name, sizeof name, "stream %" PRIu64, stream->token);
  return kw_from_plugin(KW_ERR_TIMEOUT,
                        "%s%s of %s has not finished%s; the op enqueued on it last is %s. Wait again, or give the "
                        "device up: kw_device_abandon",
                        what, name, device->name, limit, op != NULL ? op->schema.name : "none");
}

/* ---- Streams ----------------------------------------------------------------------------------------------------- */

/* One wait of the plugin's. */
static kw_status synchronize(kw_stream *stream, uint64_t timeout_ns) {
  kw_device *device = stream->device;
  const uint64_t begin = kw_trace_begin();
  kw_status status = KW_ASK(device->slots, stream.synchronize, device->handle, stream->handle, timeout_ns);
  kw_trace_stream_span("sync", "stream", device->name, begin, stream->token, 0);
  kw_device_trace_memory(device);
  return status;
}

/* kw_stream_drain_for; *out_check has ended. */
static kw_status drain(kw_stream *stream, uint64_t timeout_ns, kw_word_check *out_check) {
  static const uint64_t brief = 1000000000; /* for the copy of a word on a stream that has just been idle */
  kw_device *device = stream->device;
  kw_status status = KW_OK;
  *out_check = (kw_word_check){0};
  if (atomic_load(&device->lost)) return KW_ERR_DEVICE_LOST;
  /* Copies of words are host memory that a wait which ends early leaves with the stream. So they are enqueued when the
   * rest has ended, however often somebody asks before. */
  if (timeout_ns != KW_WAIT_FOREVER && kw_error_words_used(stream)) {
    status = synchronize(stream, timeout_ns);
    if (status == KW_OK && timeout_ns < brief) timeout_ns = brief;
  }
  if (status == KW_OK) kw_error_words_begin_check(stream, out_check);
  const uint64_t wait = kw_host_memory_begin_wait(stream);
  if (status == KW_OK) status = synchronize(stream, timeout_ns);
  if (status == KW_OK) {
    kw_activity_collect(device);
    kw_host_memory_settle(stream, wait);
  } else if (status == KW_ERR_TIMEOUT) {
    kw_wait_timed_out(stream, timeout_ns, "");
  } else {
    status = kw_device_mark_if_lost(device, kw_from_plugin(status, "waiting for a stream of %s", device->name));
    const kw_status own = kw_error_detail(NULL);
    kw_late_error_keep(stream, own != KW_OK ? own : status, kw_error_message());
  }
  kw_error_words_end_check(stream, out_check, status == KW_OK);
  return status;
}

kw_status kw_stream_drain_for(kw_stream *stream, uint64_t timeout_ns) {
  kw_word_check check;
  return drain(stream, timeout_ns, &check);
}

/* The same for who tells the late errors. Another thread may have words in hand that nobody else looks at then. */
static kw_status drain_to_tell(kw_stream *stream, uint64_t timeout_ns) {
  const uint64_t begin = kw_trace_now();
  uint64_t left = timeout_ns;
  kw_word_check check;
  kw_status status;
  bool again = false;
  do {
    status = drain(stream, left, &check);
    left = kw_wait_left(begin, timeout_ns);
    if (status == KW_OK && !kw_error_words_let_end(stream, &check, left, &again))
      status = kw_wait_timed_out(stream, timeout_ns, "");
  } while (status == KW_OK && again);
  return status;
}

kw_status kw_stream_drain(kw_stream *stream) {
  return kw_stream_drain_for(stream, kw_wait_limit(stream->device));
}

kw_status kw_stream_let_pass(const char *function, kw_stream *stream) {
  kw_status status = kw_stream_may_wait(function);
  if (status != KW_OK) return status;
  if (kw_stream_drain(stream) == KW_ERR_TIMEOUT) return kw_wrap(KW_ERR_TIMEOUT, "%s", function);
  return kw_device_check(stream->device);
}

kw_status kw_stream_follow(const char *function, kw_stream *later, kw_stream *first) {
  kw_device *device = later->device;
  const kw_plugin *plugin = device->slots;
  const kw_event_info info = {.struct_size = sizeof info};
  void *event;
  if ((device->plugin->native & KW_NATIVE_EVENTS) == 0) return kw_stream_let_pass(function, first);
  kw_status status = KW_ASK(plugin, event.create, device->handle, &info, &event);
  if (status == KW_OK) {
    status = KW_ASK(plugin, event.record, device->handle, event, first->handle);
    if (status == KW_OK) status = KW_ASK(plugin, event.wait, device->handle, later->handle, event);
    KW_ASK(plugin, event.destroy, device->handle, event);
  }
  if (status == KW_OK) return KW_OK;
  return kw_device_mark_if_lost(
      device, kw_from_plugin(status, "%s: making a stream of %s wait for another", function, device->name));
}

kw_status kw_stream_wait_for(const char *function, kw_stream *stream, uint64_t timeout_ns, bool *out_passed) {
  *out_passed = false;
  kw_status status = kw_stream_may_wait(function);
  if (status == KW_OK) status = kw_stream_may_not_record(function, stream);
  if (status != KW_OK) return status;
  status = drain_to_tell(stream, timeout_ns);
  *out_passed = status == KW_OK;
  return status == KW_ERR_TIMEOUT ? kw_wrap(status, "%s", function) : kw_late_error_take(stream);
}

kw_status kw_stream_wait(const char *function, kw_stream *stream, bool *out_passed) {
  return kw_stream_wait_for(function, stream, kw_wait_limit(stream->device), out_passed);
}

kw_status kw_stream_synchronize(kw_stream *stream) {
  if (stream == NULL) return kw_fail(KW_ERR_INVALID_ARGUMENT, "kw_stream_synchronize: argument stream is NULL.");
  bool passed;
  return kw_stream_wait("kw_stream_synchronize", stream, &passed);
}

kw_status kw_stream_synchronize_for(kw_stream *stream, uint64_t timeout_ns) {
  if (stream == NULL) return kw_fail(KW_ERR_INVALID_ARGUMENT, "kw_stream_synchronize_for: argument stream is NULL.");
  bool passed;
  return kw_stream_wait_for("kw_stream_synchronize_for", stream, timeout_ns, &passed);
}

kw_status kw_stream_query(kw_stream *stream) {
  if (stream == NULL) return kw_fail(KW_ERR_INVALID_ARGUMENT, "kw_stream_query: argument stream is NULL.");
  kw_device *device = stream->device;
  kw_status status = kw_device_check(device);
  if (status == KW_OK) status = kw_stream_may_not_record("kw_stream_query", stream);
  if (status != KW_OK) return status;
  if ((device->plugin->native & KW_NATIVE_QUERY) == 0) {
    status = kw_stream_may_wait("kw_stream_query");
    if (status != KW_OK) return status;
    if (kw_stream_drain_for(stream, 0) != KW_ERR_TIMEOUT) return kw_device_check(device);
    kw_error_clear();
    return KW_ERR_NOT_READY;
  }
  status = KW_ASK(device->slots, stream.query, device->handle, stream->handle);
  if (status == KW_OK || status == KW_ERR_NOT_READY) return status;
  return kw_device_mark_if_lost(device, kw_from_plugin(status, "asking whether a stream of %s is idle", device->name));
}

/* ---- Devices ----------------------------------------------------------------------------------------------------- */

kw_status kw_stream_drain_all(kw_device *device) {
  const uint64_t begin = kw_trace_now(), timeout_ns = kw_wait_limit(device);
  kw_status status = KW_OK;
  for (kw_stream *stream = NULL; (stream = kw_stream_pin_next(device, stream)) != NULL;) {
    if (kw_stream_drain_for(stream, kw_wait_left(begin, timeout_ns)) == KW_ERR_TIMEOUT) status = KW_ERR_TIMEOUT;
  }
  return status;
}

/* A stream that records is waited for like any other: what it was given before the recording runs, and what is recorded
 * has not been enqueued anywhere. */
static kw_status wait_for_device(const char *function, kw_device *device, uint64_t timeout_ns) {
  if (!device) return kw_fail(KW_ERR_INVALID_ARGUMENT, "%s: argument device is NULL", function);
  kw_status status = kw_stream_may_wait(function);
  if (status != KW_OK) return status;
  const uint64_t begin = kw_trace_now();
  for (kw_stream *stream = NULL; (stream = kw_stream_pin_next(device, stream)) != NULL;) {
    kw_status waited = drain_to_tell(stream, kw_wait_left(begin, timeout_ns));
    if (status == KW_OK)
      status = waited == KW_ERR_TIMEOUT ? kw_wrap(waited, "%s", function) : kw_late_error_tell(stream);
  }
  return status;
}

kw_status kw_device_synchronize(kw_device *device) {
  return wait_for_device("kw_device_synchronize", device, device ? kw_wait_limit(device) : 0);
}

kw_status kw_device_synchronize_for(kw_device *device, uint64_t timeout_ns) {
  return wait_for_device("kw_device_synchronize_for", device, timeout_ns);
}
