/* SPDX-License-Identifier: Apache-2.0
 *
 * Suite soak: many objects that live at the same time, where others come and go.
 */
#include "soak.h"

#include "base/host_memory.h"
#include "base/worker_note.h"
#include "contract/contract_helpers.h"

#include <stdio.h>

enum { SIZE = 64, STEP = 1000, LEAST_FREE = 1 << 30, NEIGHBOURS = 8 };

/* Whether the device and the host say that there is plenty: then nobody is short of memory for small things. */
static bool is_plenty(void) {
  uint64_t unused = 0, total = 0;
  const kw_status status = kw_memory_get_usage(kw_contract.device, &unused, &total);
  kw_error_clear();
  return status == KW_OK && unused > total / 4 && kw_host_memory_available() > LEAST_FREE;
}

/* Whether an object of so many is looked at: a few at the beginning and at the end, and as many behind each number at
 * which tables and fields of numbers end; what is kept there in place of one of the first shows in both. */
static bool is_looked_at(uint64_t i, uint64_t count) {
  bool chosen = i < NEIGHBOURS || i + NEIGHBOURS >= count;
  for (uint64_t end = 16; end <= i && !chosen; end *= 2) chosen = i < end + NEIGHBOURS && i + 1 >= end;
  for (uint64_t end = 100; end <= i && !chosen; end *= 10) chosen = i % end < NEIGHBOURS && i / end < 10;
  return chosen;
}

/* Of an object that could not be had beside so many others. */
static void refuse(kw_status status, const char *object, uint64_t number) {
  char text[200];
  snprintf(text, sizeof text, "%.190s", kw_error_message());
  if (status == KW_ERR_OUT_OF_MEMORY && !is_plenty()) {
    kw_contract_not_tried("many live objects: not tried; the device or the host is short of memory");
  }
  KW_FAIL("%s %s, the others before it being there, gave %s, while a quarter of the memory is free at least: %s",
          object, kw_soak_number(number), kw_status_name(status), text);
}

/* ---- Events ------------------------------------------------------------------------------------------------------ */

/* Each passed later than those before it, but for what two readings of a clock may differ by. */
static void check_order(kw_event *const *events, uint64_t count) {
  enum { BLUR_NS = 20000 };
  uint64_t latest = 0, ns = 0;
  for (uint64_t i = 1; i < count; i++) {
    const kw_status status = kw_event_elapsed(events[0], events[i], &ns);
    if (status == KW_ERR_UNSUPPORTED) return;
    KW_CHECK(status == KW_OK, "of %s live events the time from the first to number %s gave %s: %s",
             kw_soak_number(count), kw_soak_number(i + 1), kw_status_name(status), kw_error_message());
    KW_CHECK(
        ns + BLUR_NS >= latest,
        "of %s live events of one stream one passed earlier, by its time, than another that was recorded before it",
        kw_soak_number(count));
    if (ns > latest) latest = ns;
  }
}

/* Many events at once, all recorded: each is done when its stream is, and keeps its time. */
void kw_contract_soak_live_events(void **state) {
  (void)state;
  const uint64_t count = kw_soak_count(1500, 10000, 70000);
  kw_event **events = kw_test_memory(count * sizeof *events);
  kw_stream *stream = kw_test_stream();
  for (uint64_t i = 0; i < count; i++) {
    kw_status status = kw_event_create(kw_contract.device, &events[i]);
    if (status == KW_OK) status = kw_event_record(events[i], stream);
    if (status != KW_OK) refuse(status, "live event", i + 1);
    if (i % STEP == 0) kw_worker_note_step();
  }
  KW_CHECK_OK(kw_stream_synchronize(stream));
  for (uint64_t i = 0; i < count; i++) {
    const kw_status status = kw_event_query(events[i]);
    KW_CHECK(status == KW_OK, "of %s live events number %s gave %s when its stream had been waited for",
             kw_soak_number(count), kw_soak_number(i + 1), kw_status_name(status));
  }
  check_order(events, count);
  for (uint64_t i = 0; i < count; i++) KW_CHECK_OK(kw_event_destroy(events[i]));
  KW_CHECK_OK(kw_stream_destroy(stream));
  free(events);
}

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

static kw_status make_small(kw_tensor **out_tensor) {
  const kw_memory_options options = {.struct_size = sizeof options, .kind = KW_MEM_DEVICE};
  return kw_tensor_create_in(kw_contract.device, &options, KW_U8, 1, (int64_t[]){SIZE}, out_tensor);
}

/* Many small pieces of the plugin's memory at once; those at which numbers end are written and read. */
void kw_contract_soak_live_allocations(void **state) {
  (void)state;
  const uint64_t count = kw_soak_count(1500, 20000, 40000);
  static unsigned char bytes[SIZE];
  kw_tensor **tensors = kw_test_memory(count * sizeof *tensors);
  for (uint64_t i = 0; i < count; i++) {
    const kw_status status = make_small(&tensors[i]);
    if (status != KW_OK) refuse(status, "live allocation", i + 1);
    if (i % STEP == 0) kw_worker_note_step();
  }
  for (uint64_t i = 0; i < count; i++) {
    if (!is_looked_at(i, count)) continue;
    kw_test_pattern(bytes, SIZE, i);
    KW_CHECK_OK(kw_tensor_write(tensors[i], bytes));
  }
  for (uint64_t i = 0; i < count; i++) {
    if (is_looked_at(i, count)) kw_test_expect_bytes(tensors[i], i, "one of many small allocations");
  }
  for (uint64_t i = 0; i < count; i++) kw_tensor_release(tensors[i]);
  KW_CHECK_OK(kw_memory_trim(kw_contract.device));
  free(tensors);
}

/* Many small pieces of host memory at once: each is one of its own, and can be given back. */
void kw_contract_soak_live_host_memory(void **state) {
  (void)state;
  enum { WORD = sizeof(uint64_t) };
  const uint64_t count = kw_soak_count(300, 2200, 20000);
  uint64_t **pieces = kw_test_memory(count * sizeof *pieces);
  for (uint64_t i = 0; i < count; i++) {
    void *piece = NULL;
    const kw_status status = kw_host_alloc(kw_contract.device, SIZE, &piece);
    if (status != KW_OK) refuse(status, "live piece of host memory", i + 1);
    pieces[i] = piece;
    for (int word = 0; word < SIZE / WORD; word++) pieces[i][word] = i;
    if (i % STEP == 0) kw_worker_note_step();
  }
  for (uint64_t i = 0; i < count; i++) {
    for (int word = 0; word < SIZE / WORD; word++) {
      KW_CHECK(pieces[i][word] == i, "of %s live pieces of host memory number %s holds what was written to another",
               kw_soak_number(count), kw_soak_number(i + 1));
    }
  }
  for (uint64_t i = 0; i < count; i++) KW_CHECK_OK(kw_host_free(kw_contract.device, pieces[i]));
  free(pieces);
}
