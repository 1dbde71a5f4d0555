/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls: running one, and copies, with all that they point to, which outlive the launch.
 */
#ifndef KEYWAY_CPU_CALL_H
#define KEYWAY_CPU_CALL_H

#include <keyway/plugin.h>

/* A kernel's table, which its calls' `user` is an entry of. */
typedef enum kw_cpu_table { KW_CPU_REFERENCE, KW_CPU_FAST } kw_cpu_table;

/* Computes a call of a kernel of that table, on the calling thread and the host's. */
kw_status kw_cpu_call_run(const kw_host_api *host, const kw_call *call, kw_cpu_table table);

/* Packs an argument of a call of a fast kernel at `to`, in the same way. */
kw_status kw_cpu_call_pack(const kw_host_api *host, const kw_call *call, uint32_t arg, void *to);

/* Bytes for what `call` points to. */
size_t kw_cpu_call_room(const kw_call *call);
/* A copy of `call` that points into `room`, which is aligned to 16 bytes. */
kw_call kw_cpu_call_copy(const kw_call *call, void *room);

#endif /* KEYWAY_CPU_CALL_H */
