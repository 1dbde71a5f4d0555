/* SPDX-License-Identifier: Apache-2.0
 *
 * The contract suites as the runner sees them.
 */
#include "contract_helpers.h"
#include "contract_suites.h"
#include "scale/scale.h"

#define DECLARE(suite, test) void kw_contract_##suite##_##test(void **state);
#define ENTRY(suite, test) {#test, kw_contract_##suite##_##test, kw_test_setup, kw_test_teardown, NULL},

#define LARGE(suite, test) {#test, kw_contract_##suite##_##test, kw_scale_setup, kw_scale_teardown, NULL},

#define SUITE(suite, TESTS) \
  TESTS(DECLARE)            \
  static const struct CMUnitTest suite##_tests[] = {TESTS(ENTRY)};

#define OP_TESTS(suite, TESTS) \
  TESTS(DECLARE)               \
  static const struct CMUnitTest suite##_op_tests[] = {TESTS(ENTRY)};

SUITE(abi, KW_ABI_TESTS)
SUITE(environment, KW_ENVIRONMENT_TESTS)
SUITE(lifecycle, KW_LIFECYCLE_TESTS)
SUITE(memory, KW_MEMORY_TESTS)
SUITE(stream, KW_STREAM_TESTS)
SUITE(launch, KW_LAUNCH_TESTS)
SUITE(event, KW_EVENT_TESTS)
SUITE(slots, KW_SLOTS_TESTS)
SUITE(copy, KW_COPY_TESTS)
SUITE(constant, KW_CONSTANT_TESTS)
SUITE(thread, KW_THREAD_TESTS)
SUITE(error, KW_ERROR_TESTS)
SUITE(rng, KW_RNG_TESTS)
SUITE(graph, KW_GRAPH_TESTS)
SUITE(energy, KW_ENERGY_TESTS)
SUITE(profile, KW_PROFILE_TESTS)
SUITE(interop, KW_INTEROP_TESTS)
SUITE(activity, KW_ACTIVITY_TESTS)
SUITE(exit, KW_EXIT_TESTS)
SUITE(fault, KW_FAULT_TESTS)
SUITE(soak, KW_SOAK_TESTS)
SUITE(models, KW_MODELS_TESTS)
OP_TESTS(error, KW_ERROR_OP_TESTS)
OP_TESTS(determinism, KW_DETERMINISM_OP_TESTS)
OP_TESTS(graph, KW_GRAPH_OP_TESTS)

KW_SCALE_TESTS(DECLARE)
KW_SCALE_OP_TESTS(DECLARE)
static const struct CMUnitTest scale_tests[] = {KW_SCALE_TESTS(LARGE)};
static const struct CMUnitTest scale_op_tests[] = {KW_SCALE_OP_TESTS(LARGE)};

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define ROW(suite) \
  { #suite, suite##_tests, COUNT(suite##_tests), NULL, 0, NULL }
#define ROW_OF_OPS(suite) \
  { #suite, NULL, 0, suite##_op_tests, COUNT(suite##_op_tests), NULL }
#define ROW_WITH_OPS(suite) \
  { #suite, suite##_tests, COUNT(suite##_tests), suite##_op_tests, COUNT(suite##_op_tests), NULL }

const kw_contract_suite kw_contract_suites[] = {
    ROW(abi),
    ROW(environment),
    ROW(lifecycle),
    ROW(memory),
    ROW(stream),
    ROW(launch),
    ROW(event),
    ROW(slots),
    ROW(copy),
    ROW(constant),
    ROW(thread),
    ROW_WITH_OPS(error),
    ROW_OF_OPS(determinism),
    ROW(rng),
    ROW_WITH_OPS(graph),
    ROW(energy),
    ROW(profile),
    ROW(interop),
    ROW(activity),
    ROW(exit),
    ROW(fault),
    ROW(soak),
    {"scale", scale_tests, COUNT(scale_tests), scale_op_tests, COUNT(scale_op_tests), kw_scale_wants},
    ROW(models),
};
const size_t kw_contract_suite_count = COUNT(kw_contract_suites);
