/* SPDX-License-Identifier: Apache-2.0
 *
 * convolution has its results by fours where it has more than 64, and what is left over is not written. After
 * NVIDIA/Fuser issue 3963.
 */
#include "mutant.h"

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "convolution";
  mutant->element = kw_mutant_lose_channels;
}
