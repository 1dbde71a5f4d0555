/* SPDX-License-Identifier: Apache-2.0
 *
 * Contract suites: tests of what a plugin promises apart from numbers. Each is a cmocka test that runs inside
 * keyway-worker, alone, against kw_contract.device; its case id is "suite/test" ("memory/zero_size").
 *
 * A test may do anything that a program may, but leaves the device as it found it. After a failed test the worker is
 * replaced by a fresh one. A test for something that this device does not have calls kw_contract_skip with the reason:
 * it is then reported as not applicable, never as passed.
 */
#ifndef KEYWAY_CONFORMANCE_CONTRACT_H
#define KEYWAY_CONFORMANCE_CONTRACT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <keyway/keyway.h>

typedef struct kw_contract_env {
  kw_device *device; /* open; tests close only what they opened */
  const char *device_name;
  const char *plugin_path; /* file of the device's plugin */
  uint64_t seed;
} kw_contract_env;
extern kw_contract_env kw_contract;

typedef struct kw_contract_suite {
  const char *name; /* "abi", "lifecycle", "memory", "stream", "event", "copy", "error" */
  const struct CMUnitTest
      *tests; /* names without the suite: "zero_size" (cmocka_unit_test gives the function's name) */
  size_t count;
} kw_contract_suite;
extern const kw_contract_suite kw_contract_suites[];
extern const size_t kw_contract_suite_count;

/* Ends the running test as not applicable; `reason` is static text. */
void kw_contract_set_skip_reason(const char *reason);
#define kw_contract_skip(reason)           \
  do {                                     \
    kw_contract_set_skip_reason((reason)); \
    skip();                                \
  } while (0)

#endif /* KEYWAY_CONFORMANCE_CONTRACT_H */
