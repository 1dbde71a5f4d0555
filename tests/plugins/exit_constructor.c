/* SPDX-License-Identifier: Apache-2.0
 *
 * A plugin that prints two lines and ends the process while it is loaded.
 */
#include <stdio.h>
#include <unistd.h>

#define FIXTURE_KEY "exit_constructor"
#include "fixture.h"

__attribute__((constructor)) static void leave(void) {
  fprintf(stderr, "a warning\nthe licence has expired\n\n");
  _exit(3);
}

#include "fixture_plugin.h"
