/* SPDX-License-Identifier: Apache-2.0
 *
 * What tests of calls on the fixture's device begin with: the library with its plugin alone, a device for each test.
 */
#ifndef KEYWAY_CORE_TEST_DISPATCH_H
#define KEYWAY_CORE_TEST_DISPATCH_H

#include "testing/test_calls.h"

static kw_dispatch_fixture *fixture;
static const kw_op *add, *sub;

static int load(void **state) {
  (void)state;
  fixture = test_fixture_start(DISPATCH_FIXTURE);
  add = kw_op_find("add.Tensor");
  sub = kw_op_find("sub.Tensor");
  return fixture && add && sub ? 0 : -1;
}

/* Each test has a freshly opened device, so that no plan is left from another. */
static int open_device(void **state) {
  (void)state;
  memset(fixture, 0, sizeof *fixture);
  return kw_device_open("fixture:0", &device) == KW_OK ? 0 : -1;
}

static int close_device(void **state) {
  (void)state;
  return kw_device_close(device) == KW_OK ? 0 : -1;
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, open_device, close_device)

#endif /* KEYWAY_CORE_TEST_DISPATCH_H */
