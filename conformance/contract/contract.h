/* SPDX-License-Identifier: Apache-2.0
 *
 * Contract suites: tests of what a plugin promises apart from numbers. Each is a cmocka test that runs inside
 * keyway-worker, alone, against kw_contract.device; its case id is "suite/test" ("memory/zero_size").
 *
 * A test may do anything that a program may, but leaves the device as it found it. After a failed test the worker is
 * replaced by a fresh one. A test for something that this device does not have calls kw_contract_skip with the reason:
 * it is then reported as not applicable, never as passed. A test that could not be made
 * although the device may well have what it is about calls kw_contract_not_tried.
 */
#ifndef KEYWAY_CONFORMANCE_CONTRACT_H
#define KEYWAY_CONFORMANCE_CONTRACT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <keyway/keyway.h>

#include "base/effort.h"

typedef struct kw_contract_env {
  kw_device *device; /* open; tests close only what they opened */
  const char *device_name;
  const char *plugin_path; /* file of the device's plugin */
  uint64_t seed;
  const kw_op *op;  /* of a test that runs once per op */
  double patience;  /* by what the limits of waits are multiplied */
  kw_effort effort; /* how often to repeat what shows only now and then, or after many times */
  bool is_child;    /* this process was started for one scenario of a test (child.h) */
} kw_contract_env;
extern kw_contract_env kw_contract;

/* Names of tests are without the suite: "zero_size". A test of `op_tests` runs once for each op that the device has, as
 * kw_contract.op; its case id is "suite/test/op" ("error/op/add.Tensor"). */
typedef struct kw_contract_suite {
  const char *name;
  const struct CMUnitTest *tests;
  size_t count;
  const struct CMUnitTest *op_tests;
  size_t op_count;
  /* Whether a test is there at all, for this op where it is one of op_tests (otherwise `op` is NULL), and with which
   * effort at least it is made; NULL: all are, with each effort. */
  bool (*wants)(const char *test, const kw_op *op, kw_effort *out_effort);
} kw_contract_suite;
extern const kw_contract_suite kw_contract_suites[];
extern const size_t kw_contract_suite_count;

/* What the running test found, for the report; the text is copied. */
void kw_contract_set_failure(const char *text);

/* The same of a test that waited in vain: `text` says for what. */
void kw_contract_set_timeout(const char *text);

/* Ends the running test as one that did. */
void kw_contract_time_out(const char *text) __attribute__((noreturn));

/* Ends the running test as not applicable; `reason` is static text. */
void kw_contract_set_skip_reason(const char *reason);
#define kw_contract_skip(reason)           \
  do {                                     \
    kw_contract_set_skip_reason((reason)); \
    skip();                                \
  } while (0)

/* Ends the running test as not tried; the text is copied. It stands in the verdict line, up to the first ';' of it and
 * once for all tests that say the same or the same with other numbers: "scale needs 12 GiB; 3.1 GiB are free". */
void kw_contract_not_tried(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

/* The same where the machine does not give what the test itself needs: "thread", "process". */
#define KW_NEED(condition, what)                                                 \
  do {                                                                           \
    if (!(condition)) kw_contract_not_tried("the machine gives no more: " what); \
  } while (0)

/* With what a child ends that does not fail: stderr has the text for the test which started it. */
enum { KW_CHILD_SKIPS = 77, KW_CHILD_NOT_TRIED = 78, KW_CHILD_WAITED = 79 };

#endif /* KEYWAY_CONFORMANCE_CONTRACT_H */
