/* SPDX-License-Identifier: Apache-2.0
 *
 * How long a process was kept from running: limits on what others answer do not count it, so that a busy machine makes
 * nobody late.
 */
#ifndef KEYWAY_CORE_CPU_WAIT_H
#define KEYWAY_CORE_CPU_WAIT_H

#include <stdint.h>
#include <sys/types.h>

/* Nanoseconds for which a thread of the process was ready to run and had no CPU since the last time, of the one that
 * waited longest; *io_last keeps what is known until then, and begins as 0. 0 where the kernel does not tell, and where
 * that thread has ended. It grows no faster than time goes. */
uint64_t kw_cpu_wait_since(pid_t pid, uint64_t *io_last);

#endif /* KEYWAY_CORE_CPU_WAIT_H */
