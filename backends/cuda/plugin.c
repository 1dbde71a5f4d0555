/* SPDX-License-Identifier: Apache-2.0
 *
 * The CUDA backend: every NVIDIA GPU, through the plugin kit, with kernels compiled by NVRTC. The driver and NVRTC are
 * opened at run time; what is used of them is declared in gpu/runtime and here.
 */
#include "cuda.h"
#include "product.h"

static kw_status register_kernels(const kw_host_api *host, bool has_f64) {
  (void)has_f64;
  kw_status status = kw_gpu_register_matrix(host);
  if (status == KW_OK) status = kw_rt_products_register(host);
  if (status == KW_OK) status = kw_rt_linear_register(host);
  return status == KW_OK ? cuda_cudnn_register(host) : status;
}

static const kw_group groups[] = {
    {KW_GROUP_EVENT, &kw_rt_event_api},
    {KW_GROUP_GRAPH, &kw_rt_graph_api},
    {KW_GROUP_TEST, &kw_rt_test_api},
    {KW_GROUP_ENERGY, &cuda_energy_api},
};

static const kw_gpu_driver driver = {
    KW_RT_DRIVER,
    .key = "cuda",
    .description = "NVIDIA GPUs through the CUDA driver, with portable kernels",
    .register_kernels = register_kernels,
    .groups = groups,
    .group_count = sizeof groups / sizeof groups[0],
};

kw_status keyway_plugin_query(const kw_query_info *host, const kw_plugin_desc **out_plugin, const char **out_reason) {
  return kw_gpu_query(&driver, host, out_plugin, out_reason);
}
