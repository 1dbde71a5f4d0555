/* SPDX-License-Identifier: Apache-2.0
 *
 * For tests in a process of their own: the plugin as the guest of a small host, which calls its slots directly.
 */
#ifndef KEYWAY_CONTRACT_GUEST_H
#define KEYWAY_CONTRACT_GUEST_H

#include "contract_helpers.h"

#include <keyway/plugin.h>

/* What the host has heard; a test clears it. */
typedef struct kw_guest_record {
  uint32_t kernels, ops; /* offered */
  char error[512];       /* the last set_error's */
} kw_guest_record;
extern kw_guest_record kw_guest_seen;

/* The small host. It takes every kernel and op and forgets it, and fails the test at a late error. Its ctx is the
 * record that it writes to, NULL for kw_guest_seen. Of the newest version: kw_guest_host_for makes the table that a
 * plugin gets. */
extern const kw_host_api kw_guest_host;

/* For register_kernel of a test's own table: keeps the kernel, its texts too, and counts it as kw_guest_host does. What
 * its descriptor does not reach is zero. */
kw_status kw_guest_keep_kernel(void *ctx, const kw_kernel_desc *kernel);
/* Those kept, in the order in which they were offered. They move while init runs. */
extern kw_kernel_desc *kw_guest_kernels;
extern uint32_t kw_guest_kernel_count;

/* A value that no option has but one that takes any text. */
#define KW_GUEST_STRANGE_VALUE "\x7f no such value"

typedef struct kw_guest {
  kw_query_fn query;
  const kw_plugin_desc *desc;
  const kw_device_api *device;
  const kw_memory_api *memory;
  const kw_stream_api *stream;
  const kw_event_api *event;       /* NULL without the group */
  const kw_graph_api *graph;       /* NULL without the group */
  const kw_activity_api *activity; /* NULL without the group */
  const kw_interop_api *interop;   /* NULL without the group */
  const kw_energy_api *energy;     /* NULL without the group */
  const kw_test_api *test;         /* NULL without the group */
} kw_guest;

/* Opens kw_contract.plugin_path and asks it. */
kw_guest kw_guest_load(void);

/* kw_guest_host of the version that was agreed on with this plugin. */
kw_host_api kw_guest_host_for(const kw_guest *g);

/* Copies something to an open device and back. `when` begins what is said about a failure. */
void kw_guest_use_opened(const kw_guest *g, void *device, uint64_t seed, const char *when);

/* Opens device 0, copies something there and back, and closes it. `when` begins what is said about a failure. */
void kw_guest_use_device(const kw_guest *g, void *plugin, uint64_t seed, const char *when);

/* Fails the test unless a slot's status is the one wanted. */
void kw_guest_expect(kw_status status, kw_status want, const char *call, const char *when);
#define KW_GUEST_OK(when, call) \
  (kw_test_calls(__FILE__, __LINE__, #call), kw_guest_expect((call), KW_OK, #call, (when)))

#endif /* KEYWAY_CONTRACT_GUEST_H */
