/* SPDX-License-Identifier: Apache-2.0
 *
 * What an application and the process of an isolated plugin share: one segment of memory with lanes, and a socket.
 *
 * A lane carries one call at a time: the caller writes a message, the server of the lane, a thread of the other
 * process, answers where the message was. Lanes of KW_WIRE_CALLS are for what core asks of the plugin, those of
 * KW_WIRE_SERVICES for what the plugin asks of its host. The server of a lane is started when the caller says on the
 * socket that it uses it; so one lane's calls all run on one thread. The socket also carries the descriptors of shared
 * blocks of memory (block.h).
 *
 * The segment's size is sealed. The application trusts nothing that the other process writes: it reads each field once
 * (message.h), and every wait for it ends when that process does.
 */
#ifndef KEYWAY_CORE_WIRE_H
#define KEYWAY_CORE_WIRE_H

#include <keyway/plugin.h>

#include <stdatomic.h>

#define KW_WIRE_SOCKET_FD 3 /* of that program */
#define KW_WIRE_SEGMENT_FD 4

#define KW_WIRE_LANES 64u
#define KW_WIRE_LANE_SIZE (UINT32_C(1) << 20) /* bytes; only those that messages touch take memory */

/* CLOSED: the process has ended. */
enum { KW_LANE_IDLE = 0, KW_LANE_ASKED = 1, KW_LANE_ANSWERED = 2, KW_LANE_CLOSED = 3 };

typedef struct kw_wire_lane {
  _Atomic uint32_t state;         /* KW_LANE_*; a futex */
  _Atomic uint32_t caller_sleeps; /* who changes the state wakes */
  _Atomic uint32_t server_sleeps;
  _Atomic uint32_t code; /* of the question: kw_wire_code */
  _Atomic uint32_t size; /* bytes of the message in `payload` */
  uint32_t unused[11];
  unsigned char payload[KW_WIRE_LANE_SIZE - 64];
} kw_wire_lane;

typedef struct kw_wire {
  kw_wire_lane calls[KW_WIRE_LANES];
  kw_wire_lane services[KW_WIRE_LANES];
} kw_wire;

/* What is asked for. An answer starts with a status and the texts that explain it (kw_answer_put). */
typedef enum kw_wire_code {
/* Every slot, its arguments as slot_codec.h says. */
#define KW_SLOT(group, name, since, required, parameters, arguments) KW_CODE_##group##_##name,
#include "slots.def"
  KW_CODE_OPEN, /* path -> what the plugin is */
  KW_CODE_INIT, /* options */
  KW_CODE_SHUTDOWN,
  KW_CODE_COPY,  /* memory.copy, whose host end is a place in a block (kw_wire_copy) */
  KW_CODE_DRAIN, /* activity.drain: device, capacity (KW_DRAIN_LIMIT) -> dropped, count, records */
  KW_CODE_DROP_BLOCK,
  /* Of kernels: the kernel's number, then the call (call_codec.h) */
  KW_CODE_CAN_IMPLEMENT,
  KW_CODE_WORKSPACE_SIZE,
  KW_CODE_PREPARE,
  KW_CODE_LAUNCH,
  KW_CODE_RELEASE, /* kernel, prepared */
  KW_CODE_PACKED_SIZE,
  KW_CODE_PACK,
  /* Of a vendor's ops: the op's number, then the call */
  KW_CODE_INFER,
  KW_CODE_REFERENCE,
  /* Services of the host */
  KW_CODE_LOG,
  KW_CODE_REGISTER_KERNEL, /* -> the number that the host gave it */
  KW_CODE_DEFINE_OP,       /* the same */
  KW_CODE_REPORT_ASYNC_ERROR,
  KW_CODE_RUN_CALLBACK,
  KW_CODE_REPORT_BUILD,
  KW_CODE_DEVICES_CHANGED,
  KW_CODE_COUNT
} kw_wire_code;

/* Which functions a kernel has. */
enum {
  KW_KERNEL_HAS_CAN_IMPLEMENT = 1,
  KW_KERNEL_HAS_WORKSPACE_SIZE = 2,
  KW_KERNEL_HAS_PREPARE = 4,
  KW_KERNEL_HAS_LAUNCH = 8,
  KW_KERNEL_HAS_PACKED_SIZE = 16,
  KW_KERNEL_HAS_PACK = 32
};

/* How many slots there are, and the bit of each in a set of them. */
#define KW_WIRE_SLOTS ((uint32_t)KW_CODE_OPEN)
_Static_assert(KW_CODE_OPEN <= 64, "a set of slots is 64 bits");

#define KW_DRAIN_LIMIT 8192u /* records in one answer */

/* What the socket carries, one packet each. */
typedef struct kw_wire_notice {
  uint32_t what; /* KW_NOTICE_* */
  uint32_t number;
  uint64_t size;
} kw_wire_notice;
enum {
  KW_NOTICE_LANE = 1,      /* lane `number` of the sender's is used from now on */
  KW_NOTICE_BLOCK = 2,     /* to the plugin: block `number` of `size` bytes, with its descriptor */
  KW_NOTICE_DESCRIPTOR = 3 /* a descriptor of memory, which import_memory or export_memory calls by `number` */
};

/* Tokens for stream.call_host that are no function of the application's. */
#define KW_TOKEN_COPY                                                                                                 \
  (UINT64_C(1) << 63)                      /* the host end of a copy: bytes to bring to a block or to take out of one \
                                            */
#define KW_TOKEN_BLOCK (UINT64_C(1) << 62) /* the block with this number is passed: its first word becomes 1 */

/* The first bytes of a block for one copy; what it carries follows. */
#define KW_BLOCK_HEAD 64u

/* The host end of a copy. */
typedef struct kw_wire_copy {
  kw_copy_info copy; /* without host pointers */
  uint64_t block;    /* number; 0: no host end */
  uint64_t offset;   /* in the block */
  uint64_t before;   /* token that the stream runs before the copy, which brings the contents; 0: they are there */
  uint64_t after;    /* token that the stream runs after it; 0: none */
} kw_wire_copy;

#endif /* KEYWAY_CORE_WIRE_H */
