/* SPDX-License-Identifier: Apache-2.0
 *
 * The smallest variant of a failing case that fails as well.
 */
#ifndef KEYWAY_CONFORMANCE_SHRINK_H
#define KEYWAY_CONFORMANCE_SHRINK_H

#include "run/run.h"

/* Looks for it in worker processes of its own, with a bounded number of tries: as few elements as will do along one
 * dimension after the other (bisection, which takes a case that fails at some size to fail at larger ones). Whatever is
 * found has failed in a fresh process. Sets failed->smallest and smallest_tensors when there is one; leaves everything
 * else alone. Threads may do this for different cases at the same time. */
void kw_shrink_case(const kw_run *run, kw_run_case *failed);

/* The same for a program: as few acts and streams as will do, found by leaving out ever smaller parts. A program that
 * fails only now and then is tried more than once. smallest_tensors says how many calls are left. */
void kw_shrink_program(const kw_run *run, kw_run_case *failed);

#endif /* KEYWAY_CONFORMANCE_SHRINK_H */
