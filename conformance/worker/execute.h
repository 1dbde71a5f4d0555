/* SPDX-License-Identifier: Apache-2.0
 *
 * One run of a program on the device, through keyway.h as an application uses it.
 */
#ifndef KEYWAY_CONFORMANCE_EXECUTE_H
#define KEYWAY_CONFORMANCE_EXECUTE_H

#include "program/order.h"
#include "program/program_run.h"

#include <keyway/keyway.h>

/* What a run leaves on the host; ends with kw_execution_free. */
typedef struct kw_execution {
  void *read[KW_PROGRAM_ACTS];     /* by act that reads */
  void *held[KW_PROGRAM_STORAGES]; /* what the storages held at the end; NULL: released before, or not there */
  bool refused[KW_PROGRAM_CALLS];  /* the device does not take the call */
  /* waited run, dense: what a call had, and what it gave */
  void *inputs[KW_PROGRAM_CALLS][KW_CASE_TENSORS], *results[KW_PROGRAM_CALLS][KW_SUITE_RESULTS];
  char untried[400];  /* why the program could not be run: no second device; "" */
  char failure[1200]; /* a call that failed; "" */
} kw_execution;

/* Runs it freely, or with a wait for the device after each act; `second` is the name of the other device, for programs
 * that have two. */
void kw_execute(kw_device *device, const char *second, const kw_program *program, const kw_program_order *order,
                bool waited, kw_execution *out);
void kw_execution_free(kw_execution *execution);

/* Bytes of a dense tensor. */
size_t kw_program_dense_size(const kw_case_tensor *tensor);
/* Its elements from a storage's bytes, row-major; the caller frees them. */
void *kw_program_gather(const kw_case_tensor *tensor, const void *storage);

#endif /* KEYWAY_CONFORMANCE_EXECUTE_H */
