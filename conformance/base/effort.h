/* SPDX-License-Identifier: Apache-2.0
 *
 * How much a run of the suite takes upon itself. The effort decides how many cases there are and how often a test
 * repeats what it does, never how a result is judged.
 */
#ifndef KEYWAY_CONFORMANCE_EFFORT_H
#define KEYWAY_CONFORMANCE_EFFORT_H

typedef enum kw_effort {
  KW_EFFORT_QUICK,    /* a sample, in seconds, for somebody who has just changed a kernel */
  KW_EFFORT_NORMAL,   /* all cases of ops; of what has no end (scale, counts, programs) a good part */
  KW_EFFORT_THOROUGH, /* all that the suite can do, in minutes to hours */
} kw_effort;

#endif /* KEYWAY_CONFORMANCE_EFFORT_H */
