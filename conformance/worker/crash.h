/* SPDX-License-Identifier: Apache-2.0
 *
 * Where a worker was when a signal killed it.
 */
#ifndef KEYWAY_CONFORMANCE_CRASH_H
#define KEYWAY_CONFORMANCE_CRASH_H

/* From now on, a signal that is about to kill this process for a fault of its own (SEGV, BUS, ILL, FPE, ABRT) first has
 * the call stack written to `fd`: "my_npu.so+0x1b2c < libkeyway.so.1+0x91f", innermost first, offsets as addr2line
 * takes them. The process dies of the same signal all the same. Signals that are handled already (by a sanitizer) are
 * left alone. Children made by fork write nothing. */
void kw_crash_report_to(int fd);

/* While output goes to the file `from`: what it ends with is then written to `to` first. -1, -1: no longer. */
void kw_crash_say_from(int from, int to);

#endif /* KEYWAY_CONFORMANCE_CRASH_H */
