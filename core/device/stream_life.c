/* SPDX-License-Identifier: Apache-2.0
 *
 * From a plugin's stream.create to its stream.destroy: kw_stream_create and kw_stream_destroy.
 */
#include "device/stream_life.h"

#include "base/error.h"
#include "base/fork.h"
#include "base/log.h"
#include "device/activity.h"
#include "device/allocator.h"
#include "device/host_call.h"
#include "device/host_memory.h"
#include "device/late_error.h"
#include "device/wait.h"

#include <stdlib.h>

static kw_status create(kw_device *device, bool is_default, kw_stream **out_stream) {
  kw_stream *stream = calloc(1, sizeof *stream);
  if (stream == NULL) return kw_fail(KW_ERR_OUT_OF_MEMORY, "kw_stream_create: the host is out of memory.");
  stream->device = device;
  stream->is_default = is_default;
  stream->token = kw_stream_new_token();
  pthread_mutex_init(&stream->mutex, NULL);
  kw_stream_info info = {
      .struct_size = sizeof info, .flags = is_default ? KW_STREAM_DEFAULT : 0, .token = stream->token};
  kw_status status = KW_ASK(device->slots, stream.create, device->handle, &info, &stream->handle);
  if (status != KW_OK) {
    status = kw_device_mark_if_lost(device, kw_from_plugin(status, "creating a stream on %s", device->name));
    pthread_mutex_destroy(&stream->mutex);
    free(stream);
    return status;
  }
  kw_error_words_init(stream);
  kw_stream_add(stream);
  kw_activity_name_stream(stream);
  *out_stream = stream;
  return KW_OK;
}

/* Everything but the free: the plugin's stream is gone, and the list has this one no more. KW_ERR_TIMEOUT: nothing has
 * happened. */
static kw_status close_stream(kw_stream *stream) {
  kw_device *device = stream->device;
  kw_stream_begin_closing(stream);
  kw_status status = kw_stream_drain(stream);
  if (status != KW_ERR_TIMEOUT && kw_stream_set_idle(stream)) status = kw_stream_drain(stream);
  if (status == KW_ERR_TIMEOUT) {
    kw_stream_stop_closing(stream);
    return status;
  }
  status = KW_ASK(device->slots, stream.destroy, device->handle, stream->handle);
  if (status != KW_OK) {
    status = kw_device_mark_if_lost(device, kw_from_plugin(status, "destroying a stream of %s", device->name));
  }
  kw_host_call_run_dropped(stream);
  kw_error_words_free(stream);
  kw_host_memory_free_held(stream);
  kw_stream_remove(stream);
  kw_late_error_log_untold(stream);
  return status;
}

static void free_stream(kw_stream *stream) {
  pthread_mutex_destroy(&stream->mutex);
  free(stream);
}

kw_status kw_stream_create_default(kw_device *device) {
  return create(device, true, &device->default_stream);
}

void kw_stream_destroy_default(kw_device *device) {
  if (device->default_stream == NULL) return;
  if (close_stream(device->default_stream) != KW_OK) kw_log(KW_LOG_WARN, "%s", kw_error_message());
  free_stream(device->default_stream);
  device->default_stream = NULL;
}

kw_status kw_stream_create(kw_device *device, kw_stream **out_stream) {
  if (device == NULL) return kw_fail(KW_ERR_INVALID_ARGUMENT, "kw_stream_create: argument device is NULL.");
  if (out_stream == NULL) return kw_fail(KW_ERR_INVALID_ARGUMENT, "kw_stream_create: argument out_stream is NULL.");
  kw_status status = kw_fork_check();
  if (status == KW_OK) status = kw_device_check(device);
  if (status == KW_OK) status = create(device, false, out_stream);
  if (status == KW_OK) kw_device_retain(device);
  return status;
}

kw_status kw_stream_destroy(kw_stream *stream) {
  if (stream == NULL) return KW_OK;
  kw_device *device = stream->device;
  if (stream->is_default) {
    return kw_fail(KW_ERR_INVALID_ARGUMENT,
                   "kw_stream_destroy: this is the default stream of %s, which lives as long as the device. Close the "
                   "device instead.",
                   device->name);
  }
  kw_status status = kw_stream_may_wait("kw_stream_destroy");
  if (status == KW_OK) status = kw_stream_may_not_record("kw_stream_destroy", stream);
  if (status != KW_OK) return status;
  if (kw_device_is_abandoned(device)) {
    kw_host_call_run_dropped(stream);
    kw_allocator_forget_stream(stream);
  } else {
    status = close_stream(stream);
    if (status == KW_ERR_TIMEOUT) return kw_wrap(status, "kw_stream_destroy");
    kw_allocator_forget_stream(stream);
    kw_device_tell_news(device); /* another stream may come to lie here */
    free_stream(stream);
  }
  kw_device_release(device);
  return status;
}
