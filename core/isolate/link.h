/* SPDX-License-Identifier: Apache-2.0
 *
 * A link: one process of an isolated plugin, from its start to its end. Calls go through exchanges; when the process
 * ends, however it does, each of them is KW_ERR_DEVICE_LOST from then on, with a text that says how it ended.
 */
#ifndef KEYWAY_CORE_LINK_H
#define KEYWAY_CORE_LINK_H

#include "isolate/wire/descriptors.h"
#include "isolate/wire/lane.h"

#include <pthread.h>
#include <sys/types.h>

struct kw_link;

/* What the owner of a link does; a link knows nothing of plugins. */
typedef struct kw_link_owner {
  void (*explain)(void *user, kw_status status, const char *text); /* the text of a call's failure */
  bool (*serve)(struct kw_link *link, uint32_t lane); /* the process uses this lane of services: false, nobody can */
  void (*ending)(struct kw_link *link);               /* it has ended: before calls find that out */
  void (*ended)(struct kw_link *link);                /* after that */
  void (*free)(struct kw_link *link);                 /* nobody has it any more */
} kw_link_owner;

typedef struct kw_link {
  atomic_uint refs;
  const kw_link_owner *owner;
  void *user;                 /* the owner's; lives as long as the library */
  struct kw_blocks *blocks;   /* block.c; the owner's, as the following */
  struct kw_pending *pending; /* pending.c */
  struct kw_objects *objects; /* objects.c */
  kw_wire *wire;
  kw_lanes calls;
  int socket;
  int segment; /* descriptor, until the process has started */
  int process; /* pidfd */
  pid_t pid;
  atomic_bool dead;
  char cause[320]; /* how it ended; constant once dead */
  pthread_mutex_t lock;
  pthread_cond_t changed;
  enum { KW_LINK_STARTING, KW_LINK_RUNNING, KW_LINK_FAILED, KW_LINK_ENDED } stage; /* under the lock */
  int start_error;                                                                 /* errno, of KW_LINK_FAILED */
  kw_descriptors descriptors;                                                      /* from the process */
  atomic_uint sent_descriptors;
  uint64_t services_started; /* lanes; of the watcher */
  atomic_uint callbacks;     /* functions of the application that run for the plugin: no watchdog meanwhile */
} kw_link;

/* A link without a process, with a reference; NULL with an error when memory or descriptors are short. */
kw_link *kw_link_make(const kw_link_owner *owner, void *user);
#define KW_LINK_WORDS 40u
/* Starts its process, `program` with the argument `file` and at most KW_LINK_WORDS of `words` (ended by NULL): what it
 * is allowed (host/confine.h). Nothing is loaded there yet. */
kw_status kw_link_start(kw_link *link, const char *program, const char *file, const char *const *words);
void kw_link_ref(kw_link *link);
void kw_link_unref(kw_link *link); /* NULL is ignored */

/* Ends the process by a signal, if it has not ended; `why` becomes its cause unless it has one. Any thread. */
void kw_link_kill(kw_link *link, const char *why);
/* Lets the process end by itself, kills it where it does not, and returns when it is gone. */
void kw_link_end(kw_link *link);

static inline bool kw_link_is_dead(const kw_link *link) {
  return atomic_load_explicit(&link->dead, memory_order_acquire);
}

/* Whether the process has ended or was told to. */
bool kw_link_ends(kw_link *link);

/* KW_ERR_DEVICE_LOST with the text that says how the process ended, or ends: a call waits for that moment. */
kw_status kw_link_lost(kw_link *link);

/* Sends a notice, with a descriptor unless that is -1. False: the link is dead, or has been killed for not reading. */
bool kw_link_notify(kw_link *link, const kw_wire_notice *notice, int descriptor);

/* ---- Exchanges --------------------------------------------------------------------------------------------------- */

/* How long an answer may take. */
typedef enum kw_pace {
  KW_PACE_QUICK, /* KEYWAY_ISOLATE_TIMEOUT_MS */
  KW_PACE_WORK   /* ten times that: what may compute, compile, wait for work before it */
} kw_pace;

typedef struct kw_exchange {
  kw_link *link;
  uint32_t lane;
  kw_pace pace;
  const char *what; /* for people: "memory.alloc" */
  kw_wire_lane *at;
  kw_message out; /* the question, to be written after begin */
  kw_message in;  /* the answer, after a run that was KW_OK */
} kw_exchange;

/* Takes a lane. KW_ERR_DEVICE_LOST: the link is dead, and there is no exchange. */
kw_status kw_exchange_begin(kw_exchange *x, kw_link *link, kw_wire_code code, kw_pace pace, const char *what);
/* Asks, and waits for the answer: the status that the other side gave, its texts attached. */
kw_status kw_exchange_run(kw_exchange *x);
/* Gives the lane back; an answer that could not be read to its end kills the process. The status to return. */
kw_status kw_exchange_end(kw_exchange *x, kw_status status);

#endif /* KEYWAY_CORE_LINK_H */
