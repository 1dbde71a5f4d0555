/* SPDX-License-Identifier: Apache-2.0
 *
 * Judging programs: what the host saw of the free run has to be what it saw of the waited one, bit for bit where bits
 * are defined, and elsewhere what the oracle makes of the inputs.
 */
#ifndef KEYWAY_CONFORMANCE_PROGRAM_JUDGE_H
#define KEYWAY_CONFORMANCE_PROGRAM_JUDGE_H

#include "judge/result.h"
#include "program/program_run.h"

/* Judges what a worker sent about a program of the device with these facts. False: that cannot be what came of it. */
bool kw_judge_program(const kw_device_facts *facts, const kw_program_run *run, uint64_t seed,
                      kw_case_result *io_result);

#endif /* KEYWAY_CONFORMANCE_PROGRAM_JUDGE_H */
