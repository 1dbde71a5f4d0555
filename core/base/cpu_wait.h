/* SPDX-License-Identifier: Apache-2.0
 *
 * How long a process was kept from running: limits on what others answer do not count it, so that a busy machine makes
 * nobody late.
 */
#ifndef KEYWAY_CORE_CPU_WAIT_H
#define KEYWAY_CORE_CPU_WAIT_H

#include <stdint.h>
#include <sys/types.h>

/* Nanoseconds for which the thread of the process that waited longest was ready to run and had no CPU, since it began;
 * 0 where the kernel does not tell. It grows no faster than time goes. */
uint64_t kw_cpu_wait(pid_t pid);

#endif /* KEYWAY_CORE_CPU_WAIT_H */
