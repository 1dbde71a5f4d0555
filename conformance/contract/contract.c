/* SPDX-License-Identifier: Apache-2.0
 *
 * The contract suites as the runner sees them.
 */
#include "contract_helpers.h"
#include "contract_suites.h"

#define DECLARE(suite, test) void kw_contract_##suite##_##test(void **state);
#define ENTRY(suite, test) {#test, kw_contract_##suite##_##test, kw_test_setup, kw_test_teardown, NULL},

#define SUITE(suite, TESTS) \
  TESTS(DECLARE)            \
  static const struct CMUnitTest suite##_tests[] = {TESTS(ENTRY)};

SUITE(abi, KW_ABI_TESTS)
SUITE(lifecycle, KW_LIFECYCLE_TESTS)
SUITE(memory, KW_MEMORY_TESTS)
SUITE(stream, KW_STREAM_TESTS)
SUITE(event, KW_EVENT_TESTS)
SUITE(copy, KW_COPY_TESTS)
SUITE(error, KW_ERROR_TESTS)

const kw_contract_suite kw_contract_suites[] = {
    {"abi", abi_tests, sizeof abi_tests / sizeof abi_tests[0]},
    {"lifecycle", lifecycle_tests, sizeof lifecycle_tests / sizeof lifecycle_tests[0]},
    {"memory", memory_tests, sizeof memory_tests / sizeof memory_tests[0]},
    {"stream", stream_tests, sizeof stream_tests / sizeof stream_tests[0]},
    {"event", event_tests, sizeof event_tests / sizeof event_tests[0]},
    {"copy", copy_tests, sizeof copy_tests / sizeof copy_tests[0]},
    {"error", error_tests, sizeof error_tests / sizeof error_tests[0]},
};
const size_t kw_contract_suite_count = sizeof kw_contract_suites / sizeof kw_contract_suites[0];
