/* SPDX-License-Identifier: Apache-2.0
 *
 * An event whose stream has been destroyed never passes. After rmm issue 649, where an event of a destroyed stream was
 * still not ready after all had finished, and ROCm clr issue 157: the stream that an event remembers dangles.
 */
#include "mutant_event.h"

static void *gone_streams[256];
static unsigned gone_count;

static bool is_dead(const void *event) {
  const void *stream = kw_mutant_event_stream(event);
  for (unsigned i = 0; i < gone_count && stream; i++) {
    if (gone_streams[i] == stream) return true;
  }
  return false;
}

static kw_status query(void *device, void *event) {
  return is_dead(event) ? KW_ERR_NOT_READY : kw_mutant_real.event.query(device, event);
}

static kw_status synchronize(void *device, void *event, uint64_t timeout_ns) {
  if (!is_dead(event)) return kw_mutant_real.event.synchronize(device, event, timeout_ns);
  return timeout_ns == KW_WAIT_FOREVER
             ? kw_mutant_host->set_error(kw_mutant_host->ctx, KW_ERR_INTERNAL, "the event's stream is gone")
             : KW_ERR_TIMEOUT;
}

static kw_status create(void *device, const kw_stream_info *info, void **out_stream) {
  kw_status status = kw_mutant_real.stream.create(device, info, out_stream);
  for (unsigned i = 0; i < gone_count && status == KW_OK; i++) {
    if (gone_streams[i] == *out_stream) gone_streams[i] = NULL;
  }
  return status;
}

static kw_status destroy(void *device, void *stream) {
  if (gone_count < sizeof gone_streams / sizeof gone_streams[0]) gone_streams[gone_count++] = stream;
  return kw_mutant_real.stream.destroy(device, stream);
}

void kw_mutant_change(kw_mutant *mutant) {
  kw_mutant_watch_events(mutant);
  mutant->event.query = query;
  mutant->event.synchronize = synchronize;
  mutant->stream.create = create;
  mutant->stream.destroy = destroy;
}
