/* SPDX-License-Identifier: Apache-2.0
 *
 * A driver that changes the order of what is enqueued, as those with several hardware queues do: each stream holds one
 * command back, and lets those behind it go first until one comes that conflicts with it (one of the two writes what
 * the other reads or writes), or a slot that has to see it done. A mutant overlooks conflicts of one kind. Nothing of
 * this depends on time: what is overlooked shows each time.
 */
#ifndef KEYWAY_MUTANT_ORDER_H
#define KEYWAY_MUTANT_ORDER_H

#include "mutant.h"

typedef enum kw_mutant_command_kind { KW_MUTANT_LAUNCH, KW_MUTANT_COPY, KW_MUTANT_FILL } kw_mutant_command_kind;

typedef struct kw_mutant_command {
  kw_mutant_command_kind kind;
  void *device, *stream;
  void *src_device;   /* of a copy from another device; otherwise NULL */
  kw_call *call;      /* KW_MUTANT_LAUNCH: a copy of the command's own */
  kw_copy_info copy;  /* KW_MUTANT_COPY */
  kw_map_info filled; /* KW_MUTANT_FILL: mem, offset and size */
  uint8_t pattern[16];
  uint32_t pattern_size;
} kw_mutant_command;

/* Memory that a command reads or writes. */
typedef struct kw_mutant_range {
  const kw_mutant_command *command;
  const char *begin, *end;
  bool written;
  bool result;                 /* one of the call's results, otherwise an argument or none of both */
  bool listed;                 /* an entry of a list of tensors */
  uint32_t place;              /* which argument or result */
  const kw_tensor_ref *tensor; /* NULL: none, as in copies, fills, and the workspace of a call */
} kw_mutant_range;

typedef struct kw_mutant_order {
  /* Whether the driver overlooks that two ranges, which conflict, do. NULL: it overlooks none. */
  bool (*overlooks)(const kw_mutant_range *held, const kw_mutant_range *next);
  kw_status (*run)(const kw_call *call);           /* launches a call when it is let go; NULL: kw_mutant_launch_real */
  bool (*holds)(const kw_mutant_command *command); /* which are held back; NULL: all */
  bool record_passes;                              /* an event counts as passed although a command is held */
  bool callback_passes;                            /* a host function runs although a command is held */
} kw_mutant_order;

/* Makes the mutant such a driver. `order` lives as long as the library. */
void kw_mutant_change_order(kw_mutant *mutant, const kw_mutant_order *order);

/* Puts what `stream` holds back into the real queue. */
kw_status kw_mutant_let_go(void *stream);

#endif /* KEYWAY_MUTANT_ORDER_H */
