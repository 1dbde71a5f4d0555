/* SPDX-License-Identifier: Apache-2.0
 *
 * The side that touches the plugin: runs cases and contract tests, ships what came out, judges nothing.
 */
#ifndef KEYWAY_CONFORMANCE_WORKER_H
#define KEYWAY_CONFORMANCE_WORKER_H

#include "wire/device_facts.h"
#include "wire/case_run.h"

#include <keyway/keyway.h>

typedef struct kw_worker {
  kw_device *device;
  kw_stream *stream;       /* of run 1; run 0 uses the default stream */
  kw_generator *generator; /* of cases that name one; the others use the device's default */
  uint64_t seed;
  kw_device_facts facts;
  kw_suite_op *ops; /* facts.ops' ops */
} kw_worker;

/* Loads the plugins, opens the device, fills worker->facts but its contract tests: on failure facts.status and
 * facts.text say why. */
void kw_worker_open(kw_worker *worker, const char *device, char *const *plugins, uint32_t plugin_count, uint64_t seed);

/* Makes the stream and the generator, if they are not there. */
kw_status kw_worker_hold(kw_worker *worker);
/* Gives up all that holds the device open but the one open; the next run of a case makes it anew. */
void kw_worker_let_go(kw_worker *worker);

/* Runs a case once and packs its result (case_run.h). */
void kw_worker_run(kw_worker *worker, const char *id, uint32_t run, kw_message *out_message);

#endif /* KEYWAY_CONFORMANCE_WORKER_H */
