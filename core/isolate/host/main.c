/* SPDX-License-Identifier: Apache-2.0
 *
 * `keyway-plugin-host FILE PARENT [ALLOWED...]`: started by the library, which gives it a socket and a segment
 * (wire.h). The main thread reads the socket; each lane that is used has a thread.
 */
#include "isolate/host/confine.h"
#include "isolate/host/host.h"

#include <fenv.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

/* ---- Lanes ------------------------------------------------------------------------------------------------------- */

static kw_status dispatch(kw_question *q) {
  if (!kw_hosted_plugin.open) return q->code == KW_CODE_OPEN ? kw_host_open(q) : KW_ERR_UNSUPPORTED;
  if (q->code == KW_CODE_interop_import_memory) return kw_host_import(q);
  if (q->code == KW_CODE_interop_export_memory) return kw_host_export(q);
  if (q->code < KW_CODE_OPEN) return kw_host_slot(q);
  switch (q->code) {
    case KW_CODE_INIT:
      return kw_host_init(q);
    case KW_CODE_SHUTDOWN:
      return kw_host_shutdown(q);
    case KW_CODE_COPY:
      return kw_host_copy(q);
    case KW_CODE_DRAIN:
      return kw_host_drain(q);
    case KW_CODE_DROP_BLOCK:
      return kw_host_drop_block(q);
    case KW_CODE_INFER:
    case KW_CODE_REFERENCE:
      return kw_host_op(q);
    default:
      return q->code < KW_CODE_INFER ? kw_host_kernel(q) : KW_ERR_UNSUPPORTED;
  }
}

/* Results come after status and texts, which are known last: they are made elsewhere. */
static void answer(kw_wire_lane *lane, kw_arena *arena, unsigned char *results) {
  kw_question q = {.code = (kw_wire_code)atomic_load_explicit(&lane->code, memory_order_relaxed),
                   .in = kw_lane_reader(lane),
                   .out = {results, results + KW_WIRE_LANE_SIZE, false},
                   .arena = arena};
  kw_host_begin_texts();
  const kw_status status = dispatch(&q);
  kw_message out = kw_lane_writer(lane);
  kw_put_u64(&out, (uint32_t)status);
  kw_host_put_texts(&out);
  kw_put_raw(&out, results, (uint64_t)(q.out.at - results));
  kw_arena_reset(arena);
  atomic_store_explicit(&lane->size, (uint32_t)(out.at - lane->payload), memory_order_relaxed);
  kw_lane_set(&lane->state, &lane->caller_sleeps, KW_LANE_ANSWERED);
}

static void *serve(void *user) {
  kw_wire_lane *lane = user;
  kw_arena arena = {0};
  unsigned char *results = malloc(KW_WIRE_LANE_SIZE);
  if (results == NULL) abort(); /* the application finds this process ended */
  fesetenv(FE_DFL_ENV);
  for (;;) {
    if (kw_lane_wait(&lane->state, &lane->server_sleeps, KW_LANE_ASKED, KW_WAIT_FOREVER)) answer(lane, &arena, results);
  }
  return NULL;
}

static void start_lane(uint32_t lane) {
  pthread_t thread;
  if (lane >= KW_WIRE_LANES || pthread_create(&thread, NULL, serve, &kw_host_wire->calls[lane]) != 0) abort();
  pthread_detach(thread);
}

/* ---- The socket -------------------------------------------------------------------------------------------------- */

/* False: the application has nothing more to say. */
static bool take_notice(void) {
  kw_wire_notice notice;
  int descriptor;
  const kw_arrival arrival = kw_notice_receive(KW_WIRE_SOCKET_FD, true, &notice, &descriptor);
  if (arrival == KW_ARRIVED_NOTHING) return true;
  if (arrival != KW_ARRIVED) return false;
  if (notice.what == KW_NOTICE_LANE) start_lane(notice.number);
  if (notice.what == KW_NOTICE_BLOCK && descriptor >= 0) kw_host_add_block(notice.number, notice.size, descriptor);
  if (notice.what == KW_NOTICE_DESCRIPTOR && descriptor >= 0) {
    kw_descriptors_add(&kw_host_descriptors, notice.number, descriptor);
  }
  return true;
}

/* A crash is a crash, whatever handlers a sanitizer installed; no core file of it; no life after the application's. */
static void prepare_process(const char *parent) {
  static const int ending[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
  for (size_t i = 0; i < sizeof ending / sizeof ending[0]; i++) signal(ending[i], SIG_DFL);
  const struct rlimit no_core = {0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != (pid_t)strtol(parent, NULL, 10)) _exit(EXIT_FAILURE); /* it ended before that */
}

#ifdef __SANITIZE_ADDRESS__
/* Looking for leaks takes tracing, which the process gives up. */
const char *__asan_default_options(void);
__attribute__((visibility("default"))) const char *__asan_default_options(void) {
  return "detect_leaks=0";
}
#endif

int main(int argc, char **argv) {
  if (argc < 3) {
    fprintf(stderr,
            "usage: %s FILE PARENT [ALLOWED...]\nRuns a Keyway plugin for the library, in a process of its own.\n",
            argv[0]);
    return 2;
  }
  prepare_process(argv[2]);
  void *wire = mmap(NULL, sizeof(kw_wire), PROT_READ | PROT_WRITE, MAP_SHARED, KW_WIRE_SEGMENT_FD, 0);
  if (wire == MAP_FAILED) return EXIT_FAILURE;
  close(KW_WIRE_SEGMENT_FD);
  kw_host_wire = wire;
  kw_descriptors_init(&kw_host_descriptors);
  if (!kw_confine(argv + 3, &kw_host_missing)) return EXIT_FAILURE;
  while (take_notice()) continue;
  return 0; /* the plugin's exit handlers run: a process that ends as others do */
}
