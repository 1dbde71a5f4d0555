/* SPDX-License-Identifier: Apache-2.0
 *
 * Contract tests in a worker, one at a time through cmocka.
 */
#ifndef KEYWAY_CONFORMANCE_CONTRACT_SIDE_H
#define KEYWAY_CONFORMANCE_CONTRACT_SIDE_H

#include "base/effort.h"
#include "worker/worker.h"

/* Sets up kw_contract and lists the tests in the facts of a worker that has its device open. */
void kw_worker_contract_open(kw_worker *worker);

/* Runs one contract test and packs id, outcome, text. `patience`, `effort`: kw_contract_env. */
void kw_worker_contract(kw_worker *worker, const char *id, double patience, kw_effort effort, kw_message *out_message);

#endif /* KEYWAY_CONFORMANCE_CONTRACT_SIDE_H */
