/* SPDX-License-Identifier: Apache-2.0
 *
 * Suite soak: what is told of work: profile ranges, windows of energy, records of activity.
 */
#include "contract/child.h"
#include "contract/scenarios.h"
#include "soak.h"

#include <stdio.h>

enum { BLOCK = 1000, LEAST = 16 };

static void run_ranges(void *user, uint64_t first, uint64_t count) {
  (void)user;
  for (uint64_t i = 0; i < count; i++) {
    char name[32];
    snprintf(name, sizeof name, "range %llu", (unsigned long long)(first + i));
    KW_CHECK_OK(kw_profile_push(name));
    KW_CHECK_OK(kw_profile_pop());
  }
}

/* Ranges with ever new names. */
void kw_contract_soak_ranges(void **state) {
  (void)state;
  kw_test_need(KW_NATIVE_PROFILE);
  const kw_soak_work work = {.objects = "profile ranges",
                             .count = kw_soak_count(2500, 70000, 150000),
                             .block = BLOCK,
                             .least = LEAST,
                             .run = run_ranges};
  kw_soak_run(&work);
}

static void run_windows(void *user, uint64_t first, uint64_t count) {
  (void)user, (void)first;
  for (uint64_t i = 0; i < count; i++) {
    kw_energy_window *window = NULL;
    kw_energy energy = {.struct_size = sizeof energy};
    KW_CHECK_OK(kw_energy_begin(kw_contract.device, &window));
    KW_CHECK_OK(kw_energy_end(window, &energy));
  }
}

/* Windows of energy. */
void kw_contract_soak_energy(void **state) {
  (void)state;
  kw_test_need_energy();
  const kw_soak_work work = {.objects = "windows of energy",
                             .count = kw_soak_count(250, 5000, 70000),
                             .block = BLOCK / 10,
                             .least = LEAST,
                             .run = run_windows};
  kw_soak_run(&work);
}

/* Launches whose activity is recorded and asked for: what was given is not kept. */
void kw_contract_soak_activity(void **state) {
  (void)state;
  kw_test_need(KW_NATIVE_ACTIVITY);
  kw_test_child("soak_activity");
}

int kw_child_soak_activity(void) {
  enum { LAUNCHES = 20000 };
  if (setenv("KEYWAY_TRACE", "/dev/null", 1) != 0) return 2;
  kw_child_open_device();
  kw_soak_launches(0, LAUNCHES);
  KW_CHECK_OK(kw_device_close(kw_contract.device));
  return 0;
}
