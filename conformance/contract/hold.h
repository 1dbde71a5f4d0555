/* SPDX-License-Identifier: Apache-2.0
 *
 * What lies behind gates (contract_helpers.h). A gate that is held while the whole process does nothing for a while,
 * and so waits for something that does not come, opens of itself, and the test ends as a timeout that says what it
 * waited for.
 */
#ifndef KEYWAY_CONTRACT_HOLD_H
#define KEYWAY_CONTRACT_HOLD_H

#include "contract_helpers.h"

/* A gate for a stream, whose address is all that is looked at: a plugin's will do. NULL when all are in use.
 * kw_gate_wait is to be put on the stream, with the gate, and kw_gate_await to be called by the thread that did so: it
 * returns when the stream has come there, or did not in time (kw_gate_check). False: the function ran at once, on this
 * thread. */
kw_gate *kw_gate_take(const void *stream);
/* The same for something else that holds work up: "what a test has ordered". */
kw_gate *kw_gate_take_for(const char *holder);
void kw_gate_wait(void *gate);
bool kw_gate_await(kw_gate *gate);
void kw_gate_let_go(kw_gate *gate);

/* Leaves the test if a gate has opened of itself, or was not reached. */
void kw_gate_check(void);
/* The stream gets the next number, by which texts name it. */
void kw_gate_name_stream(const void *stream);
/* The test's thread waits for this stream to go on; NULL: no longer. */
void kw_gate_expect(const void *stream);

void kw_gate_begin_test(void);
/* Opens what is shut. False when a gate had opened of itself: the test has failed then, whatever it found. */
bool kw_gate_end_test(void);

#endif /* KEYWAY_CONTRACT_HOLD_H */
