/* SPDX-License-Identifier: Apache-2.0
 *
 * Changes the floating-point state of the thread that loads it, as libraries linked with -ffast-math do.
 */
#include <fenv.h>

#define FIXTURE_KEY "fpu_constructor"
#include "fixture.h"

__attribute__((constructor)) static void round_upward(void) {
  fesetround(FE_UPWARD);
}

#include "fixture_plugin.h"
