/* SPDX-License-Identifier: Apache-2.0
 *
 * Programs in a worker: each is run twice, and what the host could see of it is sent.
 */
#ifndef KEYWAY_CONFORMANCE_PROGRAM_SIDE_H
#define KEYWAY_CONFORMANCE_PROGRAM_SIDE_H

#include "worker/worker.h"

/* Runs the program of this id and packs what came of it (program_run.h). */
void kw_worker_program(kw_worker *worker, const char *id, kw_message *out_message);

#endif /* KEYWAY_CONFORMANCE_PROGRAM_SIDE_H */
