/* SPDX-License-Identifier: Apache-2.0
 *
 * Loads the plugin of dispatch_fixture.h into a test, and hands out what that plugin shares with it.
 */
#ifndef KEYWAY_CORE_TEST_FIXTURE_H
#define KEYWAY_CORE_TEST_FIXTURE_H

#include "testing/dispatch_fixture.h"

#include <keyway/keyway.h>

#include <dlfcn.h>
#include <stdio.h>

/* Loads the fixture's plugin and finds what it shares with the test; NULL, and why on stderr, when it does not load. */
static inline kw_dispatch_fixture *test_fixture_load(const char *path) {
  if (kw_plugin_load(path) != KW_OK) {
    fprintf(stderr, "%s\n", kw_error_message());
    return NULL;
  }
  void *library = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
  return library ? dlsym(library, KW_DISPATCH_FIXTURE_SYMBOL) : NULL;
}

/* Starts the library with no other plugin than the fixture's. Otherwise as test_fixture_load. */
static inline kw_dispatch_fixture *test_fixture_start(const char *path) {
  const kw_init_options options = {.struct_size = sizeof options, .flags = KW_INIT_NO_DISCOVERY};
  if (kw_init(&options) == KW_OK) return test_fixture_load(path);
  fprintf(stderr, "%s\n", kw_error_message());
  return NULL;
}

#endif /* KEYWAY_CORE_TEST_FIXTURE_H */
