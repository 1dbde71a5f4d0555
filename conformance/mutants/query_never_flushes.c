/* SPDX-License-Identifier: Apache-2.0
 *
 * The mark of an event reaches the queue with the next call that waits or enqueues: who only asks whether it has passed
 * asks for ever. After OpenCL-Docs issue 1067: whether a marker needs a flush before its event can complete was
 * unclear, and Mesa and others differ.
 */
#include "mutant.h"

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct { void *device, *event, *stream; } ahead; /* the mark that is not in the queue yet */

static kw_status flush(void) {
  kw_status status = KW_OK;
  pthread_mutex_lock(&lock);
  if (ahead.event) status = kw_mutant_real.event.record(ahead.device, ahead.event, ahead.stream);
  ahead.event = NULL;
  pthread_mutex_unlock(&lock);
  return status;
}

static kw_status record(void *device, void *event, void *stream) {
  kw_status status = flush();
  pthread_mutex_lock(&lock);
  ahead.device = device;
  ahead.event = event;
  ahead.stream = stream;
  pthread_mutex_unlock(&lock);
  return status;
}

static kw_status query(void *device, void *event) {
  pthread_mutex_lock(&lock);
  const bool is_ahead = ahead.event == event;
  pthread_mutex_unlock(&lock);
  return is_ahead ? KW_ERR_NOT_READY : kw_mutant_real.event.query(device, event);
}

static kw_status synchronize(void *device, void *event, uint64_t timeout_ns) {
  kw_status status = flush();
  return status == KW_OK ? kw_mutant_real.event.synchronize(device, event, timeout_ns) : status;
}

static kw_status wait(void *device, void *stream, void *event) {
  kw_status status = flush();
  return status == KW_OK ? kw_mutant_real.event.wait(device, stream, event) : status;
}

static kw_status elapsed(void *device, void *start, void *end, uint64_t *out_ns) {
  kw_status status = flush();
  return status == KW_OK ? kw_mutant_real.event.elapsed(device, start, end, out_ns) : status;
}

static kw_status destroy(void *device, void *event) {
  kw_status status = flush();
  return status == KW_OK ? kw_mutant_real.event.destroy(device, event) : status;
}

static kw_status launch(const kw_call *call) {
  kw_status status = flush();
  return status == KW_OK ? kw_mutant_launch_real(call) : status;
}

static kw_status copy(void *device, void *stream, const kw_copy_info *info) {
  kw_status status = flush();
  return status == KW_OK ? kw_mutant_real.memory.copy(device, stream, info) : status;
}

static kw_status call_host(void *device, void *stream, uint64_t token) {
  kw_status status = flush();
  return status == KW_OK ? kw_mutant_real.stream.call_host(device, stream, token) : status;
}

static kw_status synchronize_stream(void *device, void *stream, uint64_t timeout_ns) {
  kw_status status = flush();
  return status == KW_OK ? kw_mutant_real.stream.synchronize(device, stream, timeout_ns) : status;
}

static kw_status destroy_stream(void *device, void *stream) {
  kw_status status = flush();
  return status == KW_OK ? kw_mutant_real.stream.destroy(device, stream) : status;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "*";
  mutant->launch = launch;
  mutant->memory.copy = copy;
  mutant->stream.call_host = call_host;
  mutant->stream.synchronize = synchronize_stream;
  mutant->stream.destroy = destroy_stream;
  mutant->event.record = record;
  mutant->event.query = query;
  mutant->event.synchronize = synchronize;
  mutant->event.wait = wait;
  mutant->event.elapsed = elapsed;
  mutant->event.destroy = destroy;
}
