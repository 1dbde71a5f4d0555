/* SPDX-License-Identifier: Apache-2.0
 *
 * A worker process as the coordinator sees it.
 */
#ifndef KEYWAY_CONFORMANCE_PROCESS_H
#define KEYWAY_CONFORMANCE_PROCESS_H

#include "wire/device_facts.h"
#include "run/run.h"
#include "run/worker_wait.h"

#include <sys/types.h>

typedef struct kw_process {
  pid_t pid;            /* 0: not running */
  int fd;               /* the socket */
  int leash;            /* the writing end of KW_WORKER_LEASH; -1 */
  int life;             /* readable once the worker is dead; -1 where the system has no such thing */
  int crash;            /* the file that the worker writes when it crashes */
  int said;             /* the file that is its stderr */
  off_t passed_on;      /* of that, to our own */
  kw_worker_note *note; /* what the worker does; NULL where the system has no such memory */
  kw_wait_end wait_end; /* of the last kw_process_receive that took too long */
  uint64_t kills;       /* kw_host_memory_kills when it started */
  bool unborn;          /* kw_process_start: the machine did not let it start, which tells nothing of the device */
  bool killed;          /* kw_process_describe_end: by SIGKILL, which nobody here has sent */
} kw_process;

/* Starts a worker and reads its facts (the caller's to free). False: it could not start, or has no device; *out_text,
 * static or owned by facts, says why. */
bool kw_process_start(const kw_run_options *options, kw_process *out_process, kw_device_facts *out_facts,
                      char *out_text, size_t size);
/* The facts from a worker that is asked for nothing else. As above. */
bool kw_process_ask(const kw_run_options *options, kw_device_facts *out_facts, char *out_text, size_t size);
/* Waits for a frame from the worker, `limit` seconds of its own time, and up to build_limit while it may be building.
 */
kw_read kw_process_receive(kw_process *process, double limit, double build_limit, kw_frame *out_type,
                           kw_message *message);
/* Closes the socket and waits for the end. */
void kw_process_stop(kw_process *process);
/* Kills it and everything it started. */
void kw_process_kill(kw_process *process);
/* After the socket or the worker ended: waits for the end and describes it ("exit code 3", "signal 11 (SIGSEGV) in
 * a.so+0x1b2c; the last lines of stderr: ..."). */
void kw_process_describe_end(kw_process *process, char *out_text, size_t size);

#endif /* KEYWAY_CONFORMANCE_PROCESS_H */
