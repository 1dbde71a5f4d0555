/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KEYWAY_CUDA_H
#define KEYWAY_CUDA_H

#include "runtime.h"

/* Energy by NVML, where that is installed. */
extern const kw_energy_api cuda_energy_api;

#endif /* KEYWAY_CUDA_H */
