/* SPDX-License-Identifier: Apache-2.0
 *
 * Suite soak: many objects that live at the same time, where others come and go.
 */
#include "soak.h"

#include "base/host_memory.h"
#include "base/worker_note.h"
#include "contract/contract_helpers.h"

#include <stdio.h>

enum { SIZE = 64, STEP = 1000, LEAST_FREE = 1 << 30 };

/* Whether the device and the host say that there is plenty: then nobody is short of memory for small things. */
static bool is_plenty(void) {
  uint64_t unused = 0, total = 0;
  const kw_status status = kw_memory_get_usage(kw_contract.device, &unused, &total);
  kw_error_clear();
  return status == KW_OK && unused > total / 4 && kw_host_memory_available() > LEAST_FREE;
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

/* Many events at once, all recorded: each is done when its stream is. */
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
    KW_CHECK_OK(kw_event_destroy(events[i]));
  }
  KW_CHECK_OK(kw_stream_destroy(stream));
  free(events);
}

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

static kw_status make_small(kw_tensor **out_tensor) {
  const kw_memory_options options = {.struct_size = sizeof options, .kind = KW_MEM_DEVICE};
  return kw_tensor_create_in(kw_contract.device, &options, KW_U8, 1, (int64_t[]){SIZE}, out_tensor);
}

/* Many small pieces of the plugin's memory at once; some of them, among the first and the last, are written and read.
 */
void kw_contract_soak_live_allocations(void **state) {
  (void)state;
  const uint64_t count = kw_soak_count(1500, 20000, 40000), looked_at = count / 50;
  static unsigned char bytes[SIZE];
  kw_tensor **tensors = kw_test_memory(count * sizeof *tensors);
  for (uint64_t i = 0; i < count; i++) {
    const kw_status status = make_small(&tensors[i]);
    if (status != KW_OK) refuse(status, "live allocation", i + 1);
    if (i % STEP == 0) kw_worker_note_step();
  }
  for (uint64_t i = 0; i < count; i += looked_at) {
    kw_test_pattern(bytes, SIZE, i);
    KW_CHECK_OK(kw_tensor_write(tensors[i], bytes));
  }
  for (uint64_t i = 0; i < count; i += looked_at) {
    kw_test_expect_bytes(tensors[i], i, "one of many small allocations");
  }
  for (uint64_t i = 0; i < count; i++) kw_tensor_release(tensors[i]);
  KW_CHECK_OK(kw_memory_trim(kw_contract.device));
  free(tensors);
}
