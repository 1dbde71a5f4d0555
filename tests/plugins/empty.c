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

static kw_status can_embed(const kw_call *call) {
  return kw_call_is_known(call, (kw_dtype_mask){{KW_DTYPES_ANY, 0}}) ? KW_OK : KW_ERR_NOT_IMPLEMENTED;
}

static const kw_graph_api empty_graph_table = {.struct_size = sizeof(kw_graph_api),
                                               .begin = begin_nothing,
                                               .end = end_nothing,
                                               .launch = graph_nothing,
                                               .destroy = destroy_nothing};

static kw_status init_empty(const kw_host_api *host, const kw_init_info *info, void **out_plugin) {
  (void)info;
  fixture_host = host;
  *out_plugin = &fixture_state;
  kw_kernel_desc kernel = {.struct_size = sizeof kernel,
                           .op = "add.Tensor",
                           .name = "nothing",
                           .flags = KW_KERNEL_CAPTURABLE,
                           .dtypes = {{KW_DTYPE_BIT(KW_F32), 0}},
                           .known_args = 2,
                           .can_implement = fixture_can_add,
                           .launch = launch_nothing};
  kw_status status = host->register_kernel(host->ctx, &kernel);
  kernel.op = "mul.Tensor";
  kernel.flags = 0; /* graphs with it are core's to replay */
  if (status == KW_OK) status = host->register_kernel(host->ctx, &kernel);
  kernel.op = "embedding";
  kernel.flags = KW_KERNEL_CAPTURABLE | KW_KERNEL_MIXED_DTYPES | KW_KERNEL_DATA_ERRORS;
  kernel.can_implement = can_embed;
  return status == KW_OK ? host->register_kernel(host->ctx, &kernel) : status;
}

#define FIXTURE_INIT init_empty
#define FIXTURE_MORE_GROUPS {KW_GROUP_GRAPH, &empty_graph_table},
#include "fixture_plugin.h"
