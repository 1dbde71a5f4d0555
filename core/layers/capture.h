/* SPDX-License-Identifier: Apache-2.0
 *
 * The capture layer.
 */
#ifndef KEYWAY_CORE_CAPTURE_H
#define KEYWAY_CORE_CAPTURE_H

#include "layers/layer.h"

extern kw_layer kw_capture_layer;

#endif /* KEYWAY_CORE_CAPTURE_H */
