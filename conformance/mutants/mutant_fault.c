/* SPDX-License-Identifier: Apache-2.0
 *
 * The group keyway.test/1: what was ordered, and the slots where it comes about.
 */
#include "mutant_fault.h"

#include <pthread.h>

enum { STREAMS = 64 };

static kw_mutant_faults defect;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t released = PTHREAD_COND_INITIALIZER;
static kw_fault ordered;
static uint64_t left; /* until it comes about */
static bool held, lost;
static struct {
  void *stream;
  uint64_t token;
} streams[STREAMS];           /* those that are there */
static uint64_t first_stream; /* the token of the first of all */
static uint64_t last_call;    /* the id of the last launch */
static bool refused;          /* an allocation, since the last launch */
static bool failed;           /* late, since the device was opened */
static bool told;             /* since somebody has waited */
static kw_status (*open_on)(void *plugin, uint32_t index, const kw_open_info *info, void **out_device);
static kw_status (*close_on)(void *device);
static struct {
  uint64_t token, call_id;
  kw_status status; /* KW_OK: nothing is to be told */
} untold;

/* Whether a piece of work that `fault` counts is the n-th. */
static bool comes_about(kw_fault fault) {
  pthread_mutex_lock(&lock);
  const bool now = ordered == fault && left > 0 && --left == 0;
  if (now && fault == KW_FAULT_HOLD) held = !defect.lets_go;
  if (now && defect.stays) left = 1;
  pthread_mutex_unlock(&lock);
  return now;
}

static void wait_until_released(void *user) {
  (void)user;
  pthread_mutex_lock(&lock);
  while (held) pthread_cond_wait(&released, &lock);
  pthread_mutex_unlock(&lock);
}

/* Before work is enqueued. */
static kw_status hold_if_ordered(void *device, void *stream) {
  (void)comes_about(KW_FAULT_HOLD);
  pthread_mutex_lock(&lock);
  const bool hold = held;
  pthread_mutex_unlock(&lock);
  return hold ? kw_mutant_enqueue(device, stream, wait_until_released, NULL) : KW_OK;
}

static kw_status order(void *device, kw_fault fault, uint64_t nth) {
  (void)device;
  if (fault > KW_FAULT_HOLD && !defect.takes_unknown) return KW_ERR_UNSUPPORTED;
  pthread_mutex_lock(&lock);
  const bool launch = fault == KW_FAULT_LATE || fault == KW_FAULT_LOSE;
  ordered = fault;
  if (!defect.counts_on) left = 0;
  if (fault != KW_FAULT_NONE) left += nth + (defect.off_by_one && launch);
  held = false;
  pthread_cond_broadcast(&released);
  pthread_mutex_unlock(&lock);
  return KW_OK;
}

static kw_status alloc(void *device, const kw_alloc_info *info, kw_mem *out_mem) {
  if (defect.hold_blocks) wait_until_released(NULL);
  if (!comes_about(KW_FAULT_ALLOC)) return kw_mutant_real.memory.alloc(device, info, out_mem);
  kw_mem kept = NULL;
  refused = true;
  if (defect.alloc_keeps) kw_mutant_real.memory.alloc(device, info, &kept);
  if (defect.alloc_gives) *out_mem = (kw_mem)&ordered;
  return kw_mutant_host->set_error(kw_mutant_host->ctx, defect.alloc_internal ? KW_ERR_INTERNAL : KW_ERR_OUT_OF_MEMORY,
                                   "no memory: ordered");
}

static kw_status copy(void *device, void *stream, const kw_copy_info *info) {
  kw_status status = hold_if_ordered(device, stream);
  return status == KW_OK ? kw_mutant_real.memory.copy(device, stream, info) : status;
}

static uint64_t token_of(const void *stream) {
  uint64_t token = 0;
  pthread_mutex_lock(&lock);
  for (int i = 0; i < STREAMS; i++) {
    if (streams[i].stream == stream) token = streams[i].token;
  }
  pthread_mutex_unlock(&lock);
  return token;
}

static kw_status tell(uint64_t token, uint64_t call_id, kw_status status) {
  if (defect.late_is_swallowed) return KW_OK;
  if (defect.tells_first_alone && told) return KW_OK;
  told = true;
  if (defect.cuts_token) token &= 0xff;
  if (defect.blames_first) token = first_stream;
  if (defect.blames_launch) call_id = last_call;
  if (defect.late_is_lost) status = KW_ERR_DEVICE_LOST;
  if (defect.lost_is_late) status = KW_ERR_INTERNAL;
  return kw_mutant_host->report_async_error(kw_mutant_host->ctx, token, call_id, status, "failed: ordered");
}

static void tell_untold(void) {
  if (untold.status != KW_OK) tell(untold.token, untold.call_id, untold.status);
  untold.status = KW_OK;
}

static kw_status launch(const kw_call *call) {
  const bool was_held = held;
  kw_status status = hold_if_ordered(call->device, call->stream), late = KW_OK;
  if (comes_about(KW_FAULT_LATE)) late = KW_ERR_INTERNAL;
  if (comes_about(KW_FAULT_LOSE) || ((defect.opens_lost || defect.loses_all) && lost)) late = KW_ERR_DEVICE_LOST;
  if (status != KW_OK) return status;
  const bool shortage = refused && defect.alloc_lasts;
  refused = false;
  if (shortage) return kw_mutant_host->set_error(kw_mutant_host->ctx, KW_ERR_OUT_OF_MEMORY, "no memory: ordered");
  const uint64_t token = token_of(call->stream);
  const bool tells_later =
      defect.tells_at_end || defect.blames_newest || (defect.tells_lost_at_wait && late == KW_ERR_DEVICE_LOST);
  if (!tells_later) tell_untold();
  if (late != KW_OK) {
    failed = true;
    if (defect.late_keeps) kw_mutant_lose_memory(4096);
    lost = lost || late == KW_ERR_DEVICE_LOST;
    if (!tells_later) status = tell(token, call->call_id, late);
    if (tells_later || defect.tells_twice) {
      untold.token = token;
      untold.call_id = call->call_id;
      untold.status = late;
    }
  } else if (!defect.hold_drops || !was_held) {
    status = kw_mutant_launch_real(call);
  }
  last_call = call->call_id;
  return status;
}

static kw_status create(void *device, const kw_stream_info *info, void **out_stream) {
  kw_status status = kw_mutant_real.stream.create(device, info, out_stream);
  if (status != KW_OK) return status;
  pthread_mutex_lock(&lock);
  if (first_stream == 0) first_stream = info->token;
  for (int i = 0; i < STREAMS; i++) {
    if (streams[i].stream) continue;
    streams[i].stream = *out_stream;
    streams[i].token = info->token;
    break;
  }
  pthread_mutex_unlock(&lock);
  return status;
}

static kw_status destroy(void *device, void *stream) {
  if (defect.streams_stay && lost)
    return kw_mutant_host->set_error(kw_mutant_host->ctx, KW_ERR_DEVICE_LOST,
                                     "a lost device's stream is not destroyed");
  if (defect.tells_at_end && untold.token == token_of(stream)) tell_untold();
  pthread_mutex_lock(&lock);
  for (int i = 0; i < STREAMS; i++) {
    if (streams[i].stream == stream) streams[i].stream = NULL;
  }
  pthread_mutex_unlock(&lock);
  return kw_mutant_real.stream.destroy(device, stream);
}

static kw_status synchronize(void *device, void *stream, uint64_t timeout_ns) {
  const kw_status status = kw_mutant_real.stream.synchronize(device, stream, timeout_ns);
  if (defect.blames_newest) untold.call_id = last_call;
  if (defect.tells_lost_at_wait || (defect.blames_newest && untold.token == token_of(stream))) tell_untold();
  told = false;
  return status;
}

static kw_status open_device(void *plugin, uint32_t index, const kw_open_info *info, void **out_device) {
  if (!lost || defect.opens_lost) {
    failed = false;
    return open_on(plugin, index, info, out_device);
  }
  return kw_mutant_host->set_error(kw_mutant_host->ctx, KW_ERR_BUSY, "the device is open");
}

static kw_status close_device(void *device) {
  if (lost && defect.lost_stays)
    return kw_mutant_host->set_error(kw_mutant_host->ctx, KW_ERR_DEVICE_LOST, "a lost device is not closed");
  if (failed && defect.closes_not)
    return kw_mutant_host->set_error(kw_mutant_host->ctx, KW_ERR_BUSY, "work of the device has failed");
  lost = lost && defect.opens_lost;
  first_stream = 0;
  return close_on(device);
}

bool kw_mutant_has_failed(void) {
  return failed;
}

void kw_mutant_fault_group(kw_mutant *mutant, kw_mutant_faults defects) {
  static const kw_test_api api = {.struct_size = sizeof api, .order = order};
  defect = defects;
  kw_mutant_add_group(mutant, KW_GROUP_TEST, &api);
  mutant->memory.alloc = alloc;
  mutant->memory.copy = copy;
  mutant->stream.create = create;
  mutant->stream.destroy = destroy;
  mutant->stream.synchronize = synchronize;
  open_on = mutant->device.open;
  close_on = mutant->device.close;
  mutant->device.open = open_device;
  mutant->device.close = close_device;
  mutant->op = "*";
  mutant->launch = launch;
}
