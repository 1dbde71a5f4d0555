/* SPDX-License-Identifier: Apache-2.0
 *
 * The fault layer (KEYWAY_LAYERS=fault, KEYWAY_FAULT=RULES): a plugin's slots fail, late or at once, or take longer, as
 * layers/fault_rule.h says. What fails does not reach the plugin. A device that was lost stays so until it is closed.
 */
#include "layers/fault_rule.h"

#include "base/error.h"
#include "base/fork.h"
#include "base/log.h"
#include "device/late_error.h"
#include "layers/layer.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

extern kw_layer kw_fault_layer;
static kw_layer *const self = &kw_fault_layer;

static kw_fault_rule rules[KW_FAULT_RULES];
static uint32_t rule_count;

/* ---- What is kept ------------------------------------------------------------------------------------------------ */

typedef enum fact_kind { LOST, STREAM, MEMORY } fact_kind;

/* A device that is lost; a stream, with its token; memory, with its size. */
typedef struct fact {
  fact_kind kind;
  const void *device, *object;
  uint64_t value;
  struct fact *next;
} fact;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static fact *facts;

static fact **find(fact_kind kind, const void *device, const void *object) {
  fact **at = &facts;
  while (*at != NULL && ((*at)->kind != kind || (*at)->device != device || (*at)->object != object)) at = &(*at)->next;
  return at;
}

static void keep(fact_kind kind, const void *device, const void *object, uint64_t value) {
  fact *new = malloc(sizeof *new);
  if (new == NULL) return;
  pthread_mutex_lock(&mutex);
  *new = (fact){kind, device, object, value, facts};
  facts = new;
  pthread_mutex_unlock(&mutex);
}

/* 0: there is no such. */
static uint64_t look_up(fact_kind kind, const void *device, const void *object) {
  pthread_mutex_lock(&mutex);
  const fact *found = *find(kind, device, object);
  const uint64_t value = found != NULL ? found->value : 0;
  pthread_mutex_unlock(&mutex);
  return value;
}

static void forget(fact_kind kind, const void *device, const void *object) {
  pthread_mutex_lock(&mutex);
  fact **at = find(kind, device, object), *found = *at;
  if (found != NULL) *at = found->next;
  pthread_mutex_unlock(&mutex);
  free(found);
}

static uint64_t memory_of(const void *device) {
  uint64_t sum = 0;
  pthread_mutex_lock(&mutex);
  for (const fact *at = facts; at != NULL; at = at->next)
    if (at->kind == MEMORY && at->device == device) sum += at->value;
  pthread_mutex_unlock(&mutex);
  return sum;
}

/* ---- Faults ------------------------------------------------------------------------------------------------------ */

static void delay(uint64_t ns) {
  struct timespec left = {.tv_sec = (time_t)(ns / 1000000000), .tv_nsec = (long)(ns % 1000000000)};
  while (nanosleep(&left, &left) != 0 && errno == EINTR) {
  }
}

/* What ends something goes through on a lost device, too. */
static bool is_end(const char *what) {
  static const char *const ends[] = {".close", ".dealloc", ".destroy", ".free_host", ".unmap", ".release_memory"};
  const char *name = strchr(what, '.');
  for (size_t i = 0; name != NULL && i < sizeof ends / sizeof ends[0]; ++i)
    if (strcmp(name, ends[i]) == 0) return true;
  return false;
}

/* Before a call: whether it is let through, and which late error it is to have (NULL: none). */
static kw_status meet(const void *of, const char *what, const kw_fault_rule **out_late) {
  kw_status status = KW_OK;
  if (!is_end(what) && look_up(LOST, of, NULL) != 0)
    return kw_error_offer(kw_fail(KW_ERR_DEVICE_LOST, "%s: the fault layer has lost this device before", what));
  for (uint32_t i = 0; i < rule_count; ++i) {
    uint64_t number;
    if (!kw_fault_rule_meets(&rules[i], what, &number)) continue;
    if (rules[i].kind == KW_FAULT_RULE_DELAY) delay(rules[i].amount);
    if (rules[i].kind == KW_FAULT_RULE_LATE && out_late != NULL) *out_late = &rules[i];
    if (rules[i].kind != KW_FAULT_RULE_STATUS || status != KW_OK) continue;
    status = kw_error_offer(kw_fail(rules[i].status, "the fault layer lets %s fail, call %" PRIu64 " of '%s'", what,
                                    number, rules[i].text));
    if (status == KW_ERR_DEVICE_LOST) keep(LOST, of, NULL, 1);
  }
  return status;
}

/* After a call that went well. */
static void report(const void *device, const void *stream, uint64_t call_id, const kw_fault_rule *late) {
  char text[192];
  if (late == NULL) return;
  snprintf(text, sizeof text, "the fault layer reports this late error: '%s'", late->text);
  kw_late_error_report(look_up(STREAM, device, stream), call_id, late->status, text);
}

/* ---- Slots ------------------------------------------------------------------------------------------------------- */

#define FIRST(...) FIRST_OF(__VA_ARGS__, )
#define FIRST_OF(first, ...) first
#define KW_SLOT(group, name, since, required, parameters, arguments)    \
  static kw_status fault_##group##_##name parameters {                  \
    kw_status status = meet(FIRST arguments, #group "." #name, NULL);   \
    if (status != KW_OK) return status;                                 \
    return kw_slots_below(self, FIRST arguments)->group.name arguments; \
  }
#include "slots.def"

static kw_status close_device(void *device) {
  kw_status status = fault_device_close(device);
  forget(LOST, device, NULL);
  return status;
}

static kw_status alloc(void *device, const kw_alloc_info *info, kw_mem *out_mem) {
  for (uint32_t i = 0; i < rule_count; ++i) {
    const uint64_t used = rules[i].kind == KW_FAULT_RULE_MEMORY ? memory_of(device) : 0;
    if (rules[i].kind != KW_FAULT_RULE_MEMORY || used + info->size <= rules[i].amount) continue;
    return kw_error_offer(kw_fail(KW_ERR_OUT_OF_MEMORY,
                                  "the fault layer has no %" PRIu64 " bytes: %" PRIu64 " are in use ('%s')", info->size,
                                  used, rules[i].text));
  }
  kw_status status = fault_memory_alloc(device, info, out_mem);
  if (status == KW_OK) keep(MEMORY, device, *out_mem, info->size);
  return status;
}

static kw_status dealloc(void *device, kw_mem mem) {
  kw_status status = fault_memory_dealloc(device, mem);
  if (status == KW_OK) forget(MEMORY, device, mem);
  return status;
}

static kw_status create_stream(void *device, const kw_stream_info *info, void **out_stream) {
  kw_status status = fault_stream_create(device, info, out_stream);
  if (status == KW_OK) keep(STREAM, device, *out_stream, info->token);
  return status;
}

static kw_status destroy_stream(void *device, void *stream) {
  kw_status status = fault_stream_destroy(device, stream);
  if (status == KW_OK) forget(STREAM, device, stream);
  return status;
}

static kw_status copy(void *device, void *stream, const kw_copy_info *info) {
  const kw_fault_rule *late = NULL;
  kw_status status = meet(device, "memory.copy", &late);
  if (status == KW_OK) status = kw_slots_below(self, device)->memory.copy(device, stream, info);
  if (status == KW_OK) report(device, stream, 0, late);
  return status;
}

static kw_status launch_graph(void *device, void *graph, void *stream, const kw_graph_launch_info *info) {
  const kw_fault_rule *late = NULL;
  kw_status status = meet(device, "graph.launch", &late);
  if (status == KW_OK) status = kw_slots_below(self, device)->graph.launch(device, graph, stream, info);
  if (status == KW_OK) report(device, stream, info->call_id, late);
  return status;
}

static kw_status launch(const kw_call *call) {
  const kw_fault_rule *late = NULL;
  char what[96];
  snprintf(what, sizeof what, "launch/%s", call->op);
  kw_status status = meet(call->device, what, &late);
  if (status == KW_OK) status = kw_kernel_below(self, call->user)->launch(call);
  if (status == KW_OK) report(call->device, call->stream, call->call_id, late);
  return status;
}

/* ---- The layer --------------------------------------------------------------------------------------------------- */

static void start(void) {
  const char *text = secure_getenv("KEYWAY_FAULT");
  char message[320];
  kw_fork_hold(&mutex);
  if (text == NULL || text[0] == 0) {
    kw_log(KW_LOG_WARN, "the layer fault does nothing: KEYWAY_FAULT has its rules, and is not set");
  } else if (!kw_fault_rules_parse(text, rules, &rule_count, message, sizeof message)) {
    kw_log(KW_LOG_ERROR, "the layer fault does nothing: KEYWAY_FAULT: %s", message);
  }
}

static void wrap_slots(kw_slots *slots) {
  if (rule_count == 0) return;
#define KW_SLOT(slot_group, name, since, required, parameters, arguments) \
  slots->slot_group.name = fault_##slot_group##_##name;
#include "slots.def"
  slots->device.close = close_device;
  slots->memory.alloc = alloc;
  slots->memory.dealloc = dealloc;
  slots->memory.copy = copy;
  slots->stream.create = create_stream;
  slots->stream.destroy = destroy_stream;
  slots->graph.launch = launch_graph;
}

static void wrap_kernel(kw_kernel_desc *kernel) {
  if (rule_count > 0 && kernel->launch != NULL) kernel->launch = launch;
}

kw_layer kw_fault_layer = {.start = start, .wrap_slots = wrap_slots, .wrap_kernel = wrap_kernel};
