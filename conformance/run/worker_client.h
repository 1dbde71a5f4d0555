/* SPDX-License-Identifier: Apache-2.0
 *
 * A worker process as the server of one thread: cases are sent to it one after the other, and judged as they come back.
 */
#ifndef KEYWAY_CONFORMANCE_WORKER_CLIENT_H
#define KEYWAY_CONFORMANCE_WORKER_CLIENT_H

#include "run/process.h"
#include "run/run.h"

/* Makes sure that a worker runs; false after several failed starts, with the last reason. */
bool kw_worker_client_start(const kw_run *run, kw_process *process, char *out_text, size_t size);

/* What then is said of a case: where the machine did not let a worker start, nothing against the device. */
void kw_worker_client_mark_unstarted(const kw_process *process, kw_run_case *c, const char *text);

/* Sends one run of a case, or a contract test; answers come in the order of what was sent. */
bool kw_worker_client_send(const kw_run *run, const kw_process *process, const kw_run_case *c, uint32_t case_run,
                           kw_message *message);

/* Waits for the answer to that and puts it into the case; counters go into `run`. What is wrong is returned. */
kw_read kw_worker_client_receive(kw_run *run, kw_process *process, kw_run_case *c, uint32_t case_run,
                                 kw_message *message);

/* After kw_worker_client_receive failed: ends the worker and puts the blame on the case, unless the run is asked to
 * end: that says nothing about it. */
void kw_worker_client_blame(const kw_run *run, kw_process *process, kw_run_case *c, kw_read why);

#endif /* KEYWAY_CONFORMANCE_WORKER_CLIENT_H */
