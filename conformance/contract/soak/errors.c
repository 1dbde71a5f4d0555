/* SPDX-License-Identifier: Apache-2.0
 *
 * Suite soak: launches that fail late, one after another. What each of them told leaves nothing behind.
 */
#include "contract/child.h"
#include "contract/fault.h"
#include "contract/scenarios.h"
#include "soak.h"

#include <keyway/test.h>

enum { BLOCK = 50, LEAST = 64 };

static kw_soak_call call;

/* Each fails, and the same again goes well. */
static void run_errors(void *user, uint64_t first, uint64_t count) {
  kw_stream *stream = user;
  kw_soak_call_clear(&call, count);
  for (uint64_t i = 0; i < count; i++) {
    kw_fault_check_order(kw_device_order_fault(kw_contract.device, KW_FAULT_LATE, 1), KW_FAULT_LATE,
                         kw_error_message());
    KW_CHECK_OK(kw_soak_call_run(&call, stream, i));
    const kw_status status = kw_stream_synchronize(stream);
    KW_CHECK(status == KW_ERR_INTERNAL, "launch %s was to fail late; the wait for it gave %s, not %s",
             kw_soak_number(first + i + 1), kw_status_name(status), kw_status_name(KW_ERR_INTERNAL));
    KW_CHECK_OK(kw_soak_call_run(&call, stream, i));
    KW_CHECK_OK(kw_stream_synchronize(stream));
  }
  kw_soak_call_check(&call, count, "launch", first);
}

/* Late error after late error, by order. */
void kw_contract_soak_late_errors(void **state) {
  (void)state;
  kw_fault_run("soak_late_errors");
}

int kw_child_soak_late_errors(void) {
  kw_child_open_device_with(KW_INIT_TEST);
  kw_soak_call_make(BLOCK, &call);
  kw_stream *stream = kw_test_stream();
  const kw_soak_work work = {.objects = "launches that failed late",
                             .count = kw_soak_count(50, 500, 20000),
                             .block = BLOCK,
                             .least = LEAST,
                             .run = run_errors,
                             .user = stream};
  kw_soak_run(&work);
  KW_CHECK_OK(kw_stream_destroy(stream));
  kw_soak_call_free(&call);
  KW_CHECK_OK(kw_device_close(kw_contract.device));
  return 0;
}
