/* SPDX-License-Identifier: Apache-2.0
 *
 * The layer `validation`: an application's misuses of the library by name, and what plugins do that they must not.
 */
#include "layers/layer.h"
#include "layers/validation/arguments.h"
#include "layers/validation/calls.h"
#include "layers/validation/lives.h"
#include "layers/validation/objects.h"
#include "layers/validation/slots.h"
#include "layers/validation/waits.h"

#include <stdlib.h>

extern kw_layer kw_validation_layer;

static void start(void) {
  kw_report_start();
  kw_objects_start();
  kw_slot_checks_start(&kw_validation_layer);
  atexit(kw_objects_report_leaks);
}

/* The checks of arguments are first, so that all others find what they are given as it has to be. */
static void wrap_api(kw_api *api) {
  const kw_api below = *api;
  kw_waits_wrap(api);
  kw_calls_wrap(api);
  kw_lives_wrap(api);
  kw_arguments_wrap(api, &below);
}

kw_layer kw_validation_layer = {
    .start = start, .wrap_api = wrap_api, .wrap_slots = kw_slot_checks_wrap, .wrap_kernel = kw_slot_checks_wrap_kernel};
