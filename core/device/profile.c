/* SPDX-License-Identifier: Apache-2.0
 *
 * Named ranges of each thread: kw_profile_push and kw_profile_pop, for traces and the vendors' tools.
 */
#include "base/error.h"
#include "base/fork.h"
#include "base/thread_own.h"
#include "base/trace.h"
#include "plugin/plugin.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define MAX_DEPTH 64

typedef struct open_range {
  char *name;        /* NULL when nothing is traced */
  uint64_t begin_ns; /* of the trace */
  uint32_t plugins;  /* how many there were: a plugin that was loaded later gets no pop for it */
} open_range;

typedef struct open_ranges {
  uint32_t depth;
  open_range ranges[MAX_DEPTH];
} open_ranges;

static __thread open_ranges *mine __attribute__((tls_model("initial-exec")));
static kw_thread_key cleanup_key;

static void end_thread(void *pointer) {
  open_ranges *ranges = pointer;
  while (ranges->depth > 0) free(ranges->ranges[--ranges->depth].name);
  free(ranges);
  mine = NULL;
}

static open_ranges *begin_thread(void) {
  return mine = kw_thread_own(&cleanup_key, end_thread, calloc(1, sizeof(open_ranges)));
}

static bool listens(const kw_plugin *plugin) {
  return plugin && plugin->native & KW_NATIVE_PROFILE;
}

KW_API kw_status kw_profile_push(const char *name) {
  if (!name) return kw_fail(KW_ERR_INVALID_ARGUMENT, "kw_profile_push: argument name is NULL.");
  kw_status status = kw_fork_check();
  if (status != KW_OK) return status;
  open_ranges *ranges = mine ? mine : begin_thread();
  if (!ranges) return kw_fail(KW_ERR_OUT_OF_MEMORY, "no host memory for a thread's profile ranges");
  if (ranges->depth == MAX_DEPTH) {
    return kw_fail(
        KW_ERR_INVALID_ARGUMENT,
        "kw_profile_push: %d ranges are open in this thread, the first one '%s': is a kw_profile_pop missing?",
        MAX_DEPTH, ranges->ranges[0].name ? ranges->ranges[0].name : "");
  }
  open_range range = {.begin_ns = kw_trace_begin(), .plugins = kw_plugin_open_count()};
  if (kw_trace_on() && !(range.name = strdup(name))) {
    return kw_fail(KW_ERR_OUT_OF_MEMORY, "no host memory for the name of a profile range");
  }
  for (uint32_t i = 0; i < range.plugins; ++i) {
    const kw_plugin *plugin = kw_plugin_open_at(i);
    if (listens(plugin)) plugin->profile.push(plugin->state, name);
  }
  ranges->ranges[ranges->depth++] = range;
  return KW_OK;
}

KW_API kw_status kw_profile_pop(void) {
  kw_status status = kw_fork_check();
  if (status != KW_OK) return status;
  if (!mine || mine->depth == 0) {
    return kw_fail(KW_ERR_INVALID_ARGUMENT, "kw_profile_pop: no range is open in this thread");
  }
  const open_range range = mine->ranges[--mine->depth];
  for (uint32_t i = range.plugins; i-- > 0;) {
    const kw_plugin *plugin = kw_plugin_open_at(i);
    if (listens(plugin)) plugin->profile.pop(plugin->state);
  }
  if (range.name) kw_trace_span("range", range.name, NULL, range.begin_ns);
  free(range.name);
  return KW_OK;
}
