/* SPDX-License-Identifier: Apache-2.0
 *
 * One call to the plugin's process: the lane that it takes, the wait for the answer, and the watchdog.
 */
#include "base/cpu_wait.h"
#include "base/error.h"
#include "base/fork.h"
#include "base/log.h"
#include "base/trace.h"
#include "isolate/link.h"

#include <stdio.h>
#include <stdlib.h>

#define SLICE_NS UINT64_C(100000000) /* how often a waiting call looks whether the process is there */
#define DEFAULT_LIMIT_MS 60000u
#define TIMEOUT_VARIABLE "KEYWAY_ISOLATE_TIMEOUT_MS"
#define TEXTS_LIMIT 16u /* explanations in one answer */

static uint64_t limit_ms;
static pthread_once_t limit_once = PTHREAD_ONCE_INIT;

static void read_limit(void) {
  const char *text = secure_getenv(TIMEOUT_VARIABLE);
  limit_ms = DEFAULT_LIMIT_MS;
  if (text == NULL || text[0] == '\0' || kw_option_number(text, 0, UINT32_MAX, &limit_ms)) return;
  kw_log_misset(TIMEOUT_VARIABLE, text, "what it is by default", "a number of milliseconds; 0 is for ever");
}

/* Nanoseconds that an answer may take; KW_WAIT_FOREVER for no limit. */
static uint64_t limit_of(kw_pace pace) {
  pthread_once(&limit_once, read_limit);
  if (limit_ms == 0) return KW_WAIT_FOREVER;
  return limit_ms * 1000000u * (pace == KW_PACE_WORK ? 10 : 1);
}

kw_status kw_exchange_begin(kw_exchange *x, kw_link *link, kw_wire_code code, kw_pace pace, const char *what) {
  if (kw_fork_happened()) return kw_fork_refuse();
  if (kw_link_is_dead(link)) return kw_link_lost(link);
  bool is_new;
  const uint32_t lane = kw_lanes_take(&link->calls, &is_new);
  *x = (kw_exchange){.link = link, .lane = lane, .pace = pace, .what = what, .at = &link->calls.lanes[lane]};
  if (is_new && !kw_link_notify(link, &(kw_wire_notice){.what = KW_NOTICE_LANE, .number = lane}, -1)) {
    kw_lanes_give(&link->calls, lane);
    return kw_link_lost(link);
  }
  atomic_store_explicit(&x->at->code, code, memory_order_relaxed);
  x->out = kw_lane_writer(x->at);
  return KW_OK;
}

/* Until the answer is there. False: the process has ended. */
static bool wait_for_answer(kw_exchange *x) {
  kw_link *link = x->link;
  uint64_t begin = 0, waited = 0;
  const uint64_t limit = limit_of(x->pace);
  while (!kw_lane_wait(&x->at->state, &x->at->caller_sleeps, KW_LANE_ANSWERED, SLICE_NS)) {
    if (kw_link_is_dead(link)) return false;
    const uint64_t now = kw_trace_now();
    if (begin == 0 || atomic_load(&link->callbacks) > 0) { /* the application's own time does not count */
      begin = now;
      kw_cpu_wait_since(link->pid, &waited);
    }
    if (limit == KW_WAIT_FOREVER || now <= begin + limit) continue;
    begin += kw_cpu_wait_since(link->pid, &waited); /* nor does time without a CPU */
    if (now <= begin + limit) continue;
    char why[160];
    snprintf(why, sizeof why, "was ended: it hung in %s for over %.6g s (%sKEYWAY_ISOLATE_TIMEOUT_MS)", x->what,
             (double)limit / 1e9, x->pace == KW_PACE_WORK ? "ten times " : "");
    kw_link_kill(link, why);
  }
  return true;
}

/* The texts that the plugin has set are those of this thread's call. */
static kw_status read_status(kw_exchange *x) {
  const kw_status status = (kw_status)kw_take_u32(&x->in);
  const uint32_t count = kw_take_u32(&x->in);
  if (count > TEXTS_LIMIT) x->in.broken = true;
  for (uint32_t i = 0; i < count && !x->in.broken; i++) {
    char text[1024];
    const kw_status of = (kw_status)kw_take_u32(&x->in);
    kw_take_text(&x->in, text, sizeof text);
    x->link->owner->explain(x->link->user, of, text);
  }
  return status;
}

kw_status kw_exchange_run(kw_exchange *x) {
  if (x->out.broken) {
    x->link->owner->explain(x->link->user, KW_ERR_UNSUPPORTED,
                            "the call has more arguments than go to a plugin in its own process: 1 MiB of them");
    return KW_ERR_UNSUPPORTED;
  }
  atomic_store_explicit(&x->at->size, (uint32_t)(x->out.at - x->at->payload), memory_order_relaxed);
  kw_lane_set(&x->at->state, &x->at->server_sleeps, KW_LANE_ASKED);
  if (!wait_for_answer(x)) return kw_link_lost(x->link);
  x->in = kw_lane_reader(x->at);
  return read_status(x);
}

kw_status kw_exchange_end(kw_exchange *x, kw_status status) {
  if (x->in.broken) {
    kw_link_kill(x->link, "was ended: its answers make no sense");
    kw_link_end(x->link);
    status = kw_link_lost(x->link);
  }
  atomic_store_explicit(&x->at->state, KW_LANE_IDLE, memory_order_relaxed);
  kw_lanes_give(&x->link->calls, x->lane);
  return status;
}
