/* SPDX-License-Identifier: Apache-2.0
 *
 * keyway-plugin-host: the process of an isolated plugin. It opens the plugin as the library would, gives it a host
 * table whose services ask the application, and runs what the application asks for, each lane's calls on one thread.
 */
#ifndef KEYWAY_ISOLATE_HOST_H
#define KEYWAY_ISOLATE_HOST_H

#include "isolate/wire/arena.h"
#include "isolate/wire/descriptors.h"
#include "isolate/wire/lane.h"
#include "plugin/negotiate.h"

/* The one plugin here. Its tables are constant once it is open. */
typedef struct kw_hosted {
  kw_plugin_answer answer;
  void *state; /* what init returned */
  bool open;
} kw_hosted;
extern kw_hosted kw_hosted_plugin;
extern kw_wire *kw_host_wire;
extern const char *kw_host_missing; /* what there is not of the process's confinement; "" */

/* One question: the rest of it, the answer's message behind status and texts, and memory for both. */
typedef struct kw_question {
  kw_wire_code code;
  kw_message in;
  kw_message out;
  kw_arena *arena;
} kw_question;

/* Each runs one kind of question and writes results behind what the caller has put; main.c has the order. */
kw_status kw_host_slot(kw_question *q);
kw_status kw_host_kernel(kw_question *q);
kw_status kw_host_op(kw_question *q);
kw_status kw_host_copy(kw_question *q);
kw_status kw_host_import(kw_question *q);
kw_status kw_host_export(kw_question *q);
kw_status kw_host_drain(kw_question *q);
kw_status kw_host_drop_block(kw_question *q);
kw_status kw_host_open(kw_question *q);
kw_status kw_host_init(kw_question *q);
kw_status kw_host_shutdown(kw_question *q);

/* ---- Blocks ------------------------------------------------------------------------------------------------------ */

/* A block has arrived. */
void kw_host_add_block(uint32_t number, uint64_t size, int descriptor);
/* Its bytes from `offset` on, of which there are `size`; waits for a block that is on its way. NULL: not so many. */
unsigned char *kw_host_block(uint64_t number, uint64_t offset, uint64_t size);
/* Marks a block as passed by its copy. */
void kw_host_pass_block(uint64_t number);

/* Descriptors of memory, from the application. */
extern kw_descriptors kw_host_descriptors;

/* ---- Services ---------------------------------------------------------------------------------------------------- */

extern kw_host_api kw_host_table;

/* What the slot that runs on this thread has said of its failure goes into its answer. */
void kw_host_begin_texts(void);
void kw_host_put_texts(kw_message *out);

/* A kernel or op that the plugin has registered, by the number that the application gave it; NULL when there is none.
 */
const kw_kernel_desc *kw_host_find_kernel(uint64_t number);
const kw_op_desc *kw_host_find_op(uint64_t number);

/* Runs what a stream has come to: a function of the application's, or what a copy needs. */
kw_status kw_host_run_token(uint64_t token);

#endif /* KEYWAY_ISOLATE_HOST_H */
