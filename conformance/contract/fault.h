/* SPDX-License-Identifier: Apache-2.0
 *
 * What the tests of suite fault share: an order that a plugin may not know.
 */
#ifndef KEYWAY_CONTRACT_FAULT_H
#define KEYWAY_CONTRACT_FAULT_H

#include "contract_helpers.h"

/* Runs a scenario (child.h) where the plugin has keyway.test/1; otherwise the test is not tried. */
void kw_fault_run(const char *scenario);

/* In a scenario: what an order has given. A fault that the plugin does not know makes the test one that is not tried;
 * `reason` is what the plugin says about it. */
void kw_fault_check_order(kw_status status, kw_fault fault, const char *reason);

#endif /* KEYWAY_CONTRACT_FAULT_H */
