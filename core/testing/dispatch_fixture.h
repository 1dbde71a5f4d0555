/* SPDX-License-Identifier: Apache-2.0
 *
 * What dispatch_test, generator_test, graph_test and their plugin share: knobs for the kernels and a record of what
 * they saw.
 */
#ifndef KEYWAY_CORE_DISPATCH_FIXTURE_H
#define KEYWAY_CORE_DISPATCH_FIXTURE_H

#include <keyway/plugin.h>

typedef struct kw_dispatch_fixture {
  /* Knobs. */
  bool fast_refuses;       /* the kernel "fast" of add.Tensor says no in can_implement */
  bool fast_gives_up;      /* "fast" asks for workspace, prepares, and then refuses */
  kw_status launch_status; /* what launches return; KW_OK = they run */
  bool cat_refuses;        /* the kernel of cat says no in can_implement */
  void (*on_can)(void);    /* called in can_implement of "fast" and of cat's kernel */
  kw_status late_status;   /* what add.Tensor reports after it was enqueued */
  uint64_t workspace;      /* bytes that add.Tensor's "plain" asks for */
  kw_status begin_status, capture_status, end_status, graph_status; /* what recording and launching graphs returns */

  uint64_t microjoules;    /* what the energy group reads ... */
  kw_status energy_status; /* ... when this is KW_OK */

  /* Record. */
  const char *last_kernel;
  kw_call last_call;
  kw_call_extra last_extra; /* of the last call that had one */
  kw_value last_args[4];
  kw_tensor_ref last_tensors[4]; /* by argument */
  uint32_t prepares, releases, pure_calls_with_memory, launches;
  uint32_t captured;       /* launches and fills that the graph group recorded */
  uint32_t graphs;         /* of the graph group, alive */
  uint32_t graph_launches; /* of these */
  char ranges[256];        /* what the profile group heard: "+name" for push, "-" for pop, one after the other */
} kw_dispatch_fixture;

/* The plugin's instance, found with dlsym. */
#define KW_DISPATCH_FIXTURE_SYMBOL "kw_dispatch_fixture_instance"

#endif /* KEYWAY_CORE_DISPATCH_FIXTURE_H */
