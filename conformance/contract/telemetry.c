/* SPDX-License-Identifier: Apache-2.0
 *
 * Suites energy and profile: counters and ranges for people who measure. They apply to plugins that have the group.
 */
#include "contract_helpers.h"

enum { COUNT = 4096, READINGS = 200 };

static void work(void) {
  kw_tensor *bytes = kw_test_bytes(COUNT, 1);
  kw_test_expect_bytes(bytes, 1, "what was written while energy is measured");
  kw_tensor_release(bytes);
}

/* energy.read never gives less than before: a window that holds another one holds at least its energy. */
void kw_contract_energy_never_decreases(void **state) {
  (void)state;
  kw_test_need_energy();
  kw_energy_window *outer, *inner;
  kw_energy all = {.struct_size = sizeof all};
  double sum = 0;
  KW_CHECK_OK(kw_energy_begin(kw_contract.device, &outer));
  for (int i = 0; i < READINGS; i++) {
    kw_energy part = {.struct_size = sizeof part};
    KW_CHECK_OK(kw_energy_begin(kw_contract.device, &inner));
    work();
    KW_CHECK_OK(kw_energy_end(inner, &part));
    KW_CHECK(part.joules >= 0, "a window used %g J", part.joules);
    sum += part.joules;
  }
  KW_CHECK_OK(kw_energy_end(outer, &all));
  KW_CHECK(all.joules >= sum * (1 - 1e-9), "%d windows one after the other used %g J, the one around them %g J",
           READINGS, sum, all.joules);
}

static int read_body(int index, void *user, char *text, size_t size) {
  (void)index, (void)user;
  for (int i = 0; i < 20; i++) {
    kw_energy_window *window;
    kw_energy energy = {.struct_size = sizeof energy};
    if (kw_test_note(kw_energy_begin(kw_contract.device, &window), "kw_energy_begin", text, size)) return 1;
    if (kw_test_note(kw_energy_end(window, &energy), "kw_energy_end", text, size)) return 1;
  }
  return 0;
}

/* energy.read may be called from any thread. */
void kw_contract_energy_from_any_thread(void **state) {
  (void)state;
  kw_test_need_energy();
  kw_test_run_threads(read_body, NULL);
}

static int range_body(int index, void *user, char *text, size_t size) {
  (void)index, (void)user;
  for (int i = 0; i < 50; i++) {
    for (int depth = 0; depth < 8; depth++) {
      if (kw_test_note(kw_profile_push(depth % 2 ? "a \"range\" of \xc3\xa9tude" : ""), "kw_profile_push", text, size))
        return 1;
    }
    for (int depth = 0; depth < 8; depth++) {
      if (kw_test_note(kw_profile_pop(), "kw_profile_pop", text, size)) return 1;
    }
  }
  return 0;
}

/* profile.push and pop nest in each thread, whatever the name, and nothing else changes. */
void kw_contract_profile_ranges_nest(void **state) {
  (void)state;
  kw_test_need(KW_NATIVE_PROFILE);
  kw_test_run_threads(range_body, NULL);
  KW_CHECK_OK(kw_profile_push("around work"));
  work();
  KW_CHECK_OK(kw_profile_pop());
}
