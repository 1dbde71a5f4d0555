/* SPDX-License-Identifier: Apache-2.0
 *
 * What the queue kit keeps of devices, streams, commands and events. A device's lock guards all of them.
 */
#ifndef KEYWAY_QUEUE_KIT_H
#define KEYWAY_QUEUE_KIT_H

#include <keyway/queue.h>
#include <pthread.h>
#include <time.h>

#define KW_QUEUE_BLOCKS 2 /* staging blocks of a device: one is filled or read while the other travels */

typedef enum kw_queue_kind {
  KW_QUEUE_WORK,
  KW_QUEUE_COPY,      /* within the device */
  KW_QUEUE_TO_DEVICE, /* by pieces of a staging block */
  KW_QUEUE_TO_HOST,
  KW_QUEUE_CALLBACK,
  KW_QUEUE_RECORD,
  KW_QUEUE_WAIT
} kw_queue_kind;

typedef struct kw_queue_stream kw_queue_stream;
typedef struct kw_queue_mark kw_queue_mark;
typedef struct kw_queue_block kw_queue_block;
typedef struct kw_queue_command kw_queue_command;

/* What a hardware queue has been given and has not finished: a command, or a piece of one in a staging block. */
typedef struct kw_queue_flight {
  struct kw_queue_flight *next;
  uint64_t ticket;
  kw_queue_command *command;
  kw_queue_block *block; /* NULL: the command itself */
  bool failed;
} kw_queue_flight;

struct kw_queue_command {
  kw_queue_command *next;
  kw_queue_stream *stream;
  kw_queue_kind kind;
  uint64_t call_id;
  uint64_t ends;            /* commands whose end this one's is: it, and later ones that had nothing to wait for */
  kw_queue_failure failure; /* the first; its status KW_OK: none */
  kw_queue_flight flight;
  kw_copy_info copy;            /* of copies */
  uint64_t submitted, finished; /* bytes of it */
  kw_queue_mark *mark;          /* of RECORD and WAIT; one reference */
  uint64_t token;               /* of CALLBACK */
  size_t size;                  /* of WORK */
  _Alignas(16) unsigned char bytes[];
};

struct kw_queue_block {
  void *memory;
  bool used;
  uint64_t size;
  void *host; /* where its bytes go when they have come from the device; NULL */
  kw_queue_flight flight;
};

typedef struct kw_queue_hardware {
  kw_queue_flight *first, *last;
  uint64_t next_ticket; /* from 1 */
} kw_queue_hardware;

typedef struct kw_queue_device {
  const kw_queue_driver *driver;
  const kw_host_api *host;
  void *chip;
  pthread_mutex_t lock;
  pthread_cond_t work;    /* for the engine: something is to do */
  pthread_cond_t changed; /* for those who wait: a command, an event, a callback has ended */
  pthread_t engine;
  bool closing;
  bool lost; /* the chip is asked for nothing any more */
  bool full; /* a hardware queue has said so since the engine looked last */
  kw_queue_stream *streams;
  uint32_t next_queue; /* of the next stream */
  uint32_t flying;     /* commands and pieces on all hardware queues */
  kw_queue_hardware queues[KW_QUEUE_LIMIT];
  kw_queue_block blocks[KW_QUEUE_BLOCKS];
  kw_queue_command *failed, **last_failed; /* ended; to be reported when the lock is free */
  bool reporting;                          /* the engine tells the host of some */
} kw_queue_device;

struct kw_queue_stream {
  kw_queue_stream *next;
  kw_queue_device *device;
  uint64_t token;
  uint32_t queue;
  kw_queue_command *first, **last; /* waiting, in order */
  kw_queue_command *newest;        /* of those that a hardware queue has, wholly or in part; NULL: none */
  uint32_t flying;                 /* its part of the device's */
  uint32_t to_host;                /* of those, pieces that are on their way to host memory */
  uint64_t enqueued, finished;     /* commands: from the first, without a gap */
  kw_queue_command *callback;      /* that its thread runs: nothing else starts */
  bool ending, has_thread;
  pthread_t thread;
  pthread_cond_t called;
};

/* A command for a stream, zeroed but for kind and stream; NULL, with the error's text, when there is no host memory. */
kw_queue_command *kw_queue_command_make(kw_queue_stream *stream, kw_queue_kind kind, size_t size);
/* Enqueues it, and starts what can start. */
kw_status kw_queue_command_put(kw_queue_command *command);
/* The same under the lock. */
void kw_queue_command_put_locked(kw_queue_command *command);
/* Starts what can start of a stream; under the lock. Whether anything did. */
bool kw_queue_advance(kw_queue_stream *stream);
/* The device's thread: looks what has finished, starts what waited for that, reports errors. */
void *kw_queue_engine_main(void *device);
typedef void *kw_queue_thread(void *argument);
/* Starts a thread that takes no signals and rounds as usual. */
int kw_queue_start_thread(pthread_t *thread, kw_queue_thread *function, void *argument);
typedef struct kw_queue_deadline {
  bool forever;
  struct timespec end;
} kw_queue_deadline;
kw_queue_deadline kw_queue_deadline_in(uint64_t timeout_ns);
/* Whether all that went wrong so far has been reported: nobody learns before that a command has finished. */
static inline bool kw_queue_all_told(const kw_queue_device *device) {
  return !device->failed && !device->reporting;
}
/* Waits on device->changed; false when the deadline is over. Under the lock. */
bool kw_queue_wait_changed(kw_queue_device *device, const kw_queue_deadline *deadline);

/* Where an event was recorded last. Guarded by the device's lock, as all here. */
struct kw_queue_mark {
  uint32_t references;
  bool passed;
};
void kw_queue_mark_release(kw_queue_mark *mark);

extern const kw_memory_api kw_queue_memory_slots;
extern const kw_stream_api kw_queue_stream_slots;
extern const kw_event_api kw_queue_event_slots;
extern const kw_device_api kw_queue_device_slots;

/* What the one driver of this library is: kw_queue_query has set it. */
extern const kw_queue_driver *kw_queue_the_driver;
/* What kw_queue_fail said last in this thread, until it is forgotten. */
extern _Thread_local char kw_queue_said[256];
kw_status kw_queue_check_critical(const kw_host_api *host, uint64_t flags, const kw_ext *next);

#endif /* KEYWAY_QUEUE_KIT_H */
