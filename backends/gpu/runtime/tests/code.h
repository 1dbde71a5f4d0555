/* SPDX-License-Identifier: Apache-2.0
 *
 * What the test compiler gives and the test driver loads: this, then a module of the execution engine.
 */
#ifndef KEYWAY_TEST_CODE_H
#define KEYWAY_TEST_CODE_H

#include <stdint.h>

typedef struct code_header {
  char magic[8];
  uint64_t size; /* of the module, bytes */
} code_header;

static const char code_magic[8] = "KWTESTCO";

#endif /* KEYWAY_TEST_CODE_H */
