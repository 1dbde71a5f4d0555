/* SPDX-License-Identifier: Apache-2.0
 *
 * What the helpers of contract tests and gates (contract_helpers.h) have to do with each other. A gate that is held
 * while the whole process does nothing for a while, and so waits for something that does not come, opens of itself, and
 * the test ends as a timeout that says what it waited for.
 */
#ifndef KEYWAY_CONTRACT_GATE_H
#define KEYWAY_CONTRACT_GATE_H

#include "contract_helpers.h"

/* Leaves the test if a gate has opened of itself. */
void kw_gate_check(void);
/* The stream gets the next number, by which texts name it. */
void kw_gate_name_stream(const kw_stream *stream);
/* The test's thread waits for this stream to go on; NULL: no longer. */
void kw_gate_expect(const kw_stream *stream);

void kw_gate_begin_test(void);
/* Opens what is shut. False when a gate had opened of itself: the test has failed then, whatever it found. */
bool kw_gate_end_test(void);

#endif /* KEYWAY_CONTRACT_GATE_H */
