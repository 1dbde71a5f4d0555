/* SPDX-License-Identifier: Apache-2.0
 *
 * `keyway-worker`: a process of its own for a plugin under test. Started by `keyway conform` with a socket as file
 * descriptor 3; not meant to be run by hand.
 *
 *     keyway-worker SEED DEVICE [PLUGIN]...
 */
#include "base/worker_note.h"
#include "contract/scenarios.h"
#include "worker/contract_side.h"
#include "worker/crash.h"
#include "worker/program_side.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

static bool serve(kw_worker *w, kw_frame type, kw_message *in, kw_message *out) {
  kw_message_clear(out);
  kw_worker_note_begin();
  if (type == KW_FRAME_RUN) {
    uint32_t run = kw_message_get_u32(in);
    const char *id = kw_message_get_string(in);
    if (in->bad) return false;
    kw_worker_run(w, id, run, out);
    return kw_frame_send(KW_WORKER_SOCKET, KW_FRAME_RESULT, out);
  }
  if (type == KW_FRAME_CONTRACT) {
    const char *id = kw_message_get_string(in);
    double patience = kw_message_get_f64(in);
    uint32_t effort = kw_message_get_u32(in);
    if (in->bad || effort > KW_EFFORT_THOROUGH) return false;
    kw_worker_contract(w, id, patience, (kw_effort)effort, out);
    return kw_frame_send(KW_WORKER_SOCKET, KW_FRAME_CONTRACT_END, out);
  }
  if (type == KW_FRAME_PROGRAM) {
    const char *id = kw_message_get_string(in);
    if (in->bad) return false;
    kw_worker_program(w, id, out);
    return kw_frame_send(KW_WORKER_SOCKET, KW_FRAME_PROGRAM_END, out);
  }
  return false;
}

/* However the coordinator ends, the kernel then closes its end of the pipe and kills all of this process group: the
 * worker and what a plugin has started. That the parent's end kills by itself is left out, as it would come first and
 * reach the worker alone. */
static void be_leashed(void) {
  struct pollfd end = {.fd = KW_WORKER_LEASH, .events = POLLIN};
  if (fcntl(KW_WORKER_LEASH, F_SETFD, FD_CLOEXEC) != 0 || fcntl(KW_WORKER_LEASH, F_SETSIG, SIGKILL) != 0 ||
      fcntl(KW_WORKER_LEASH, F_SETOWN, -getpgrp()) != 0 || fcntl(KW_WORKER_LEASH, F_SETFL, O_ASYNC) != 0)
    return;
  prctl(PR_SET_PDEATHSIG, 0);
  if (poll(&end, 1, 0) != 0) kill(0, SIGKILL); /* it ended before that */
}

int main(int argc, char **argv) {
  prctl(PR_SET_PDEATHSIG, SIGKILL); /* no orphan that hangs in a driver, of a worker neither */
  if (argc > 1 && strcmp(argv[1], "child") == 0) return kw_child_main(argc, argv);
  if (argc < 3) {
    fprintf(stderr, "keyway-worker is started by `keyway conform`; run that instead\n");
    return 2;
  }
  be_leashed();
  fcntl(KW_WORKER_SOCKET, F_SETFD, FD_CLOEXEC); /* not for processes that contract tests start */
  kw_crash_report_to(KW_WORKER_CRASH);          /* before a plugin may compare signal handlers */
  kw_worker_note_open(KW_WORKER_NOTE);
  kw_worker_note_set(KW_WORKER_CALLS, "kw_device_open");
  dup2(STDERR_FILENO, STDOUT_FILENO); /* reports own stdout */
  kw_worker w;
  kw_worker_open(&w, argv[2], argv + 3, (uint32_t)(argc - 3), strtoull(argv[1], NULL, 10));
  if (w.facts.status == KW_OK) kw_worker_contract_open(&w);
  kw_message in = {0}, out = {0};
  kw_device_facts_write(&w.facts, &out);
  bool up = kw_frame_send(KW_WORKER_SOCKET, KW_FRAME_HELLO, &out) && w.facts.status == KW_OK;
  kw_frame type;
  while (up && kw_frame_receive(KW_WORKER_SOCKET, -1, -1, &type, &in) == KW_READ_OK) up = serve(&w, type, &in, &out);
  kw_message_free(&in);
  kw_message_free(&out);
  if (w.facts.status == KW_OK) {
    kw_worker_let_go(&w);
    kw_device_close(w.device);
  }
  free(w.ops);
  kw_device_facts_free(&w.facts);
  return 0;
}
