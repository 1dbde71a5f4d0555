/* SPDX-License-Identifier: Apache-2.0
 *
 * A plugin's process: started, watched and collected by a thread of its own. It has to be that thread which starts it:
 * the process ends with the thread that is its parent.
 */
#include "isolate/link.h"

#include "base/error.h"
#include "base/thread.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define FIRST_FREE_FD 5   /* above those that the program has */
#define NOTICE_SECONDS 10 /* a process that does not take a notice for so long hangs */
#define END_SECONDS 10    /* how long a process may take to end by itself */

extern char **environ;

/* ---- The object -------------------------------------------------------------------------------------------------- */

void kw_link_ref(kw_link *link) {
  atomic_fetch_add(&link->refs, 1);
}

void kw_link_unref(kw_link *link) {
  if (link == NULL || atomic_fetch_sub(&link->refs, 1) != 1) return;
  link->owner->free(link);
  kw_descriptors_close(&link->descriptors);
  if (link->wire != NULL) munmap(link->wire, sizeof *link->wire);
  if (link->socket >= 0) close(link->socket);
  if (link->segment >= 0) close(link->segment);
  if (link->process >= 0) close(link->process);
  pthread_mutex_destroy(&link->lock);
  pthread_cond_destroy(&link->changed);
  free(link);
}

static int open_segment(void) {
  const int low = memfd_create("keyway-isolate", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (low < 0) return -1;
  const int segment = fcntl(low, F_DUPFD_CLOEXEC, FIRST_FREE_FD);
  close(low);
  if (segment < 0) return -1;
  if (ftruncate(segment, sizeof(kw_wire)) == 0 &&
      fcntl(segment, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0) {
    return segment;
  }
  close(segment);
  return -1;
}

kw_link *kw_link_make(const kw_link_owner *owner, void *user) {
  kw_link *link = calloc(1, sizeof *link);
  if (link != NULL) {
    atomic_init(&link->refs, 1);
    link->owner = owner;
    link->user = user;
    link->socket = link->process = -1;
    pthread_mutex_init(&link->lock, NULL);
    pthread_cond_init(&link->changed, NULL);
    kw_descriptors_init(&link->descriptors);
    link->segment = open_segment();
    void *wire = link->segment < 0 ? MAP_FAILED
                                   : mmap(NULL, sizeof(kw_wire), PROT_READ | PROT_WRITE, MAP_SHARED, link->segment, 0);
    link->wire = wire != MAP_FAILED ? wire : NULL;
  }
  if (link != NULL && link->wire != NULL) {
    link->calls.lanes = link->wire->calls;
    link->calls.by_thread = true;
    return link;
  }
  kw_link_unref(link);
  kw_fail(KW_ERR_OUT_OF_MEMORY, "no memory or descriptors for the process of a plugin");
  return NULL;
}

/* ---- The process ------------------------------------------------------------------------------------------------- */

typedef struct start_order {
  kw_link *link;
  const char *program, *file; /* the caller's, who waits; as the next */
  const char *const *words;
} start_order;

static int spawn_with(const posix_spawn_file_actions_t *actions, const start_order *order) {
  posix_spawnattr_t attributes;
  sigset_t none, all;
  char parent[16];
  int error = posix_spawnattr_init(&attributes);
  if (error != 0) return error;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  snprintf(parent, sizeof parent, "%d", (int)getpid());
  char *arguments[4 + KW_LINK_WORDS] = {(char *)order->program, (char *)order->file, parent};
  for (uint32_t i = 0; i < KW_LINK_WORDS && order->words[i] != NULL; i++) arguments[3 + i] = (char *)order->words[i];
  error = posix_spawn(&order->link->pid, order->program, actions, &attributes, arguments, environ);
  posix_spawnattr_destroy(&attributes);
  return error;
}

/* Its own process group, default signals, no descriptors but 0 to 4. Returns 0 or an errno. */
static int spawn(const start_order *order, int socket_end) {
  posix_spawn_file_actions_t actions;
  int error = posix_spawn_file_actions_init(&actions);
  if (error != 0) return error;
  error = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  if (error == 0) error = posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  if (error == 0) error = posix_spawn_file_actions_adddup2(&actions, socket_end, KW_WIRE_SOCKET_FD);
  if (error == 0) error = posix_spawn_file_actions_adddup2(&actions, order->link->segment, KW_WIRE_SEGMENT_FD);
  if (error == 0) error = posix_spawn_file_actions_addclosefrom_np(&actions, FIRST_FREE_FD);
  if (error == 0) error = spawn_with(&actions, order);
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

static int start_process(const start_order *order) {
  kw_link *link = order->link;
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return errno;
  const int high = fcntl(ends[1], F_DUPFD_CLOEXEC, FIRST_FREE_FD);
  int error = errno;
  close(ends[1]);
  link->socket = ends[0];
  if (high < 0) return error;
  const struct timeval limit = {.tv_sec = NOTICE_SECONDS};
  setsockopt(link->socket, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  error = spawn(order, high);
  close(high);
  if (error != 0) return error;
  link->process = pidfd_open(link->pid, 0);
  if (link->process >= 0) return 0;
  error = errno;
  kill(-link->pid, SIGKILL);
  while (waitpid(link->pid, NULL, 0) < 0 && errno == EINTR) continue;
  return error;
}

/* ---- Its end ----------------------------------------------------------------------------------------------------- */

static void say_end(kw_link *link, const siginfo_t *info) {
  pthread_mutex_lock(&link->lock);
  if (link->cause[0] != '\0') {
    /* killed, and why is said */
  } else if (info->si_code == CLD_EXITED) {
    snprintf(link->cause, sizeof link->cause, "ended itself with code %d", info->si_status);
  } else if (info->si_code == CLD_KILLED || info->si_code == CLD_DUMPED) {
    const char *name = sigabbrev_np(info->si_status);
    snprintf(link->cause, sizeof link->cause, "%s (SIG%s)",
             info->si_status == SIGKILL || info->si_status == SIGTERM ? "was killed" : "crashed",
             name != NULL ? name : "?");
  } else {
    snprintf(link->cause, sizeof link->cause, "ended, and somebody else collected how");
  }
  pthread_mutex_unlock(&link->lock);
}

/* Everybody who waits for the process finds it dead. */
static void let_go(kw_link *link) {
  atomic_store(&link->dead, true);
  kw_descriptors_end(&link->descriptors);
  for (uint32_t i = 0; i < KW_WIRE_LANES; i++) {
    kw_wire_lane *const both[] = {&link->wire->calls[i], &link->wire->services[i]};
    for (int j = 0; j < 2; j++) {
      if (j == 0 ? (atomic_load(&link->calls.announced) >> i & 1) == 0 : (link->services_started >> i & 1) == 0)
        continue;
      atomic_store(&both[j]->state, KW_LANE_CLOSED);
      kw_lane_wake(&both[j]->state);
    }
  }
  pthread_mutex_lock(&link->lock);
  link->stage = KW_LINK_ENDED;
  pthread_cond_broadcast(&link->changed);
  pthread_mutex_unlock(&link->lock);
}

static void collect(kw_link *link) {
  siginfo_t info = {0};
  kill(-link->pid, SIGKILL); /* what it left behind; while it is uncollected its number is no other group's */
  while (waitid(P_PIDFD, (id_t)link->process, &info, WEXITED) != 0 && errno == EINTR) continue;
  say_end(link, &info);
  link->owner->ending(link);
  let_go(link);
  link->owner->ended(link);
}

/* ---- The watcher ------------------------------------------------------------------------------------------------- */

static bool obey(kw_link *link, const kw_wire_notice *notice, int descriptor) {
  if (notice->what == KW_NOTICE_DESCRIPTOR && descriptor >= 0 && notice->number != 0) {
    return kw_descriptors_add(&link->descriptors, notice->number, descriptor);
  }
  if (descriptor >= 0) close(descriptor);
  if (notice->what != KW_NOTICE_LANE || notice->number >= KW_WIRE_LANES) return false;
  if ((link->services_started >> notice->number & 1) != 0) return false;
  link->services_started |= UINT64_C(1) << notice->number;
  return link->owner->serve(link, notice->number);
}

/* False: nothing more comes. */
static bool take_notice(kw_link *link) {
  kw_wire_notice notice;
  int descriptor;
  const kw_arrival arrival = kw_notice_receive(link->socket, false, &notice, &descriptor);
  if (arrival == KW_ARRIVED_NOTHING) return true;
  if (arrival == KW_ARRIVED_END) return false;
  if (arrival == KW_ARRIVED && obey(link, &notice, descriptor)) return true;
  kw_link_kill(link, "was ended: it sent what cannot be served");
  return false;
}

static void watch_process(kw_link *link) {
  struct pollfd fds[2] = {{.fd = link->process, .events = POLLIN}, {.fd = link->socket, .events = POLLIN}};
  for (;;) {
    if (poll(fds, 2, -1) < 0) continue;
    if (fds[0].revents != 0) return;
    if (fds[1].revents != 0 && !take_notice(link)) fds[1].fd = -1;
  }
}

static void *watch(void *user) {
  kw_link *link = ((start_order *)user)->link;
  const int error = start_process(user);
  pthread_mutex_lock(&link->lock);
  link->start_error = error;
  link->stage = error == 0 ? KW_LINK_RUNNING : KW_LINK_FAILED;
  pthread_cond_broadcast(&link->changed);
  pthread_mutex_unlock(&link->lock);
  if (error == 0) {
    watch_process(link);
    collect(link);
  }
  kw_link_unref(link);
  return NULL;
}

kw_status kw_link_start(kw_link *link, const char *program, const char *file, const char *const *words) {
  start_order order = {link, program, file, words};
  kw_link_ref(link); /* the watcher's */
  if (kw_thread_start(watch, &order, NULL) != 0) {
    kw_link_unref(link);
    return kw_fail(KW_ERR_OUT_OF_MEMORY, "no thread to watch the process of %s", file);
  }
  pthread_mutex_lock(&link->lock);
  while (link->stage == KW_LINK_STARTING) pthread_cond_wait(&link->changed, &link->lock);
  const int error = link->stage == KW_LINK_FAILED ? link->start_error : 0;
  pthread_mutex_unlock(&link->lock);
  if (error == 0) return KW_OK;
  return kw_fail(kw_errno_is_shortage(error) ? KW_ERR_OUT_OF_MEMORY : KW_ERR_IO,
                 "the process for it did not start: %s (%s). Reinstall Keyway if the file is missing", program,
                 strerror(error));
}

void kw_link_kill(kw_link *link, const char *why) {
  pthread_mutex_lock(&link->lock);
  if (link->cause[0] == '\0') snprintf(link->cause, sizeof link->cause, "%s", why);
  pthread_mutex_unlock(&link->lock);
  pidfd_send_signal(link->process, SIGKILL, NULL, 0);
}

void kw_link_end(kw_link *link) {
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += END_SECONDS;
  shutdown(link->socket, SHUT_WR); /* the program ends when nobody can ask any more */
  bool killed = false;
  pthread_mutex_lock(&link->lock);
  while (link->stage == KW_LINK_RUNNING) {
    if (killed) {
      pthread_cond_wait(&link->changed, &link->lock);
    } else if (pthread_cond_timedwait(&link->changed, &link->lock, &until) != 0) {
      killed = true;
      pidfd_send_signal(link->process, SIGKILL, NULL, 0);
    }
  }
  pthread_mutex_unlock(&link->lock);
}

bool kw_link_ends(kw_link *link) {
  pthread_mutex_lock(&link->lock);
  const bool ends = link->cause[0] != '\0';
  pthread_mutex_unlock(&link->lock);
  return ends;
}

kw_status kw_link_lost(kw_link *link) {
  char text[512];
  if (kw_error_offered(KW_ERR_DEVICE_LOST)) return KW_ERR_DEVICE_LOST; /* this thread's call has said it */
  pthread_mutex_lock(&link->lock);
  while (link->stage == KW_LINK_RUNNING) pthread_cond_wait(&link->changed, &link->lock); /* it is ending: how? */
  pthread_mutex_unlock(&link->lock);
  snprintf(text, sizeof text, "the plugin's process %s", link->cause);
  link->owner->explain(link->user, KW_ERR_DEVICE_LOST, text);
  return KW_ERR_DEVICE_LOST;
}

bool kw_link_notify(kw_link *link, const kw_wire_notice *notice, int descriptor) {
  if (kw_notice_send(link->socket, notice, descriptor)) return true;
  if (!kw_link_is_dead(link)) kw_link_kill(link, "was ended: it takes no notices any more");
  return false;
}
