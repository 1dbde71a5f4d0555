/* SPDX-License-Identifier: Apache-2.0
 *
 * A stream's late error: one status and its text, under the stream's mutex.
 */
#include "device/late_error.h"

#include "base/error.h"
#include "base/log.h"
#include "base/utf8.h"
#include "op/op.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The first one stays; later ones are consequences more often than news. One after a wait for the device has returned
 * the first is news to the next such wait. */
void kw_late_error_keep(kw_stream *stream, kw_status status, const char *text) {
  pthread_mutex_lock(&stream->mutex);
  atomic_fetch_add(&stream->late_errors, 1);
  if (atomic_load(&stream->late_status) == KW_OK) {
    snprintf(stream->late_text, sizeof stream->late_text, "%s", text);
    stream->late_told = false;
    stream->later_status = KW_OK;
    atomic_store(&stream->late_status, status);
  } else {
    if (stream->late_told && stream->later_status == KW_OK) {
      snprintf(stream->later_text, sizeof stream->later_text, "%s", text);
      stream->later_status = status;
    }
    kw_log(KW_LOG_INFO, "a further late error on a stream of %s: %s", stream->device->name, text);
  }
  pthread_mutex_unlock(&stream->mutex);
}

kw_status kw_late_error_report(uint64_t token, uint64_t call_id, kw_status status, const char *message) {
  if (status == KW_OK) {
    return kw_fail(KW_ERR_INVALID_ARGUMENT, "report_async_error: status is KW_OK. Report failures only.");
  }
  kw_status canonical = kw_status_canonical(status);
  if (message == NULL || message[0] == 0) {
    message = canonical == status ? kw_status_name(status) : "the plugin gave no text";
  }
  const kw_op *op = kw_op_by_id(kw_call_id_op(call_id));
  kw_stream *stream = kw_stream_pin_until_removed(token);
  if (stream == NULL) {
    kw_log(KW_LOG_WARN, "a late error of a stream that does not exist any more (token %" PRIu64 ", %s): %s", token,
           op != NULL ? op->schema.name : "unknown op", message);
    return KW_OK;
  }
  char number[64] = "";
  if (canonical != status) snprintf(number, sizeof number, " (%s)", kw_status_name(status));
  kw_device_mark_if_lost(stream->device, canonical);
  char text[sizeof stream->late_text];
  char mended[600];
  kw_utf8_mend(mended, sizeof mended, message);
  snprintf(text, sizeof text, "%s failed on %s after it was enqueued%s: %s\n%s",
           op != NULL ? op->schema.name : "an unknown operation", stream->device->name, number, mended,
           canonical == KW_ERR_DEVICE_LOST
               ? "The device is lost: release its tensors, close it and open it again."
               : "What this stream wrote since its last synchronise is not to be trusted; the stream is usable again.");
  kw_late_error_keep(stream, status, text);
  kw_stream_unpin(stream);
  return KW_OK;
}

static bool is_lost(kw_status status) {
  return kw_status_canonical(status) == KW_ERR_DEVICE_LOST;
}

/* The stream's late error as its plugin gave it, its text into `text`, which has room for any; KW_OK when there is none
 * for the asker. */
static kw_status read_error(kw_stream *stream, bool for_device, char *text) {
  pthread_mutex_lock(&stream->mutex);
  kw_status status = atomic_load(&stream->late_status);
  const char *from = stream->late_text;
  if (for_device && stream->late_told && status != KW_OK && !is_lost(status)) {
    status = stream->later_status;
    from = stream->later_text;
    stream->later_status = KW_OK;
  } else if (for_device) {
    stream->late_told = true;
  } else if (!is_lost(status)) {
    atomic_store(&stream->late_status, KW_OK);
  }
  if (status != KW_OK) memcpy(text, from, sizeof stream->late_text);
  pthread_mutex_unlock(&stream->mutex);
  return status;
}

static kw_status surface(kw_stream *stream, bool for_device) {
  char text[sizeof stream->late_text];
  kw_status status = atomic_load(&stream->late_status) == KW_OK ? KW_OK : read_error(stream, for_device, text);
  if (status == KW_OK) return kw_device_check(stream->device);
  const kw_status canonical = kw_fail(kw_status_canonical(status), "%s", text);
  if (canonical != status) {
    char name[KW_PLUGIN_NAME_SIZE];
    kw_error_set_detail(status, kw_plugin_name(stream->device->plugin, name));
  }
  return canonical;
}

kw_status kw_late_error_take(kw_stream *stream) {
  return surface(stream, false);
}

kw_status kw_late_error_tell(kw_stream *stream) {
  return surface(stream, true);
}

void kw_late_error_log_untold(const kw_stream *stream) {
  if (atomic_load(&stream->late_status) == KW_OK || atomic_load(&stream->device->lost)) return;
  if (stream->late_told && stream->later_status == KW_OK) return;
  kw_log(KW_LOG_WARN, "a stream of %s is destroyed with a late error that nobody asked for: %s", stream->device->name,
         stream->late_told ? stream->later_text : stream->late_text);
}
