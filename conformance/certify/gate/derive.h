/* SPDX-License-Identifier: Apache-2.0
 *
 * Must-pass lists as they follow from this tree: what frozen ones are held against, and made of.
 */
#ifndef KEYWAY_CONFORMANCE_DERIVE_H
#define KEYWAY_CONFORMANCE_DERIVE_H

#include "run/run.h"

#include <stdio.h>

/* Writes a list of ops, and of contract tests made of such: those of the level alone. */
void kw_derive_ops(const kw_run *run, kw_level level, FILE *out);
/* Writes the list of contract tests, and of numbered cases beside them, that runs have on any device: two runs of the
 * highest level with all families of ops, of which the thorough one has more. */
void kw_derive_contract(const kw_run *normal, const kw_run *thorough, FILE *out);

#endif /* KEYWAY_CONFORMANCE_DERIVE_H */
