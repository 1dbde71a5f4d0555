/* SPDX-License-Identifier: Apache-2.0
 *
 * A kernel that does nothing, and graphs that do nothing, for measuring the way to them.
 */
#define FIXTURE_KEY "empty"
#include "fixture.h"

static kw_status launch_nothing(const kw_call *call) {
  (void)call;
  return KW_OK;
}

static kw_status begin_nothing(void *device, void *stream, const kw_capture_info *info) {
  (void)device, (void)stream, (void)info;
  return KW_OK;
}

static kw_status end_nothing(void *device, void *stream, void **out_graph) {
  if (out_graph) *out_graph = stream;
  (void)device;
  return KW_OK;
}

static kw_status graph_nothing(void *device, void *graph, void *stream, const kw_graph_launch_info *info) {
  (void)device, (void)graph, (void)stream, (void)info;
  return KW_OK;
}

static kw_status destroy_nothing(void *device, void *graph) {
  (void)device, (void)graph;
  return KW_OK;
}

static const kw_graph_api empty_graph_table = {.struct_size = sizeof(kw_graph_api),
                                               .begin = begin_nothing,
                                               .end = end_nothing,
                                               .launch = graph_nothing,
                                               .destroy = destroy_nothing};

#define FIXTURE_LAUNCH launch_nothing
#define FIXTURE_KERNEL_FLAGS KW_KERNEL_CAPTURABLE
#define FIXTURE_MORE_GROUPS {KW_GROUP_GRAPH, &empty_graph_table},
#include "fixture_plugin.h"
