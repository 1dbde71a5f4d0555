/* SPDX-License-Identifier: Apache-2.0
 *
 * What CUDA has beside the driver API: energy by NVML, kernels by cuDNN.
 */
#ifndef KEYWAY_CUDA_H
#define KEYWAY_CUDA_H

#include "vendor_library.h"

/* Energy by NVML, where that is installed. */
extern const kw_energy_api cuda_energy_api;

/* cuDNN's convolutions, as kernels that are off. */
kw_status cuda_cudnn_register(const kw_host_api *host);

#endif /* KEYWAY_CUDA_H */
