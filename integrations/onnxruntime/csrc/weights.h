/* SPDX-License-Identifier: Apache-2.0
 *
 * Initialisers in files of their own, mapped in place of copied.
 */
#ifndef KEYWAY_ORT_WEIGHTS_H
#define KEYWAY_ORT_WEIGHTS_H

#include "provider.h"

/* While a session begins: those of a graph, to be copied by the calling thread. */
OrtStatus *weights_note(const provider *provider, const OrtGraph *graph);
/* The session has begun, or ends. */
void weights_forget(const provider *provider);
/* Whether such an initialiser, whose bytes are about to be copied to a device, was mapped there. */
bool weights_map(const void *from, void *to, size_t size);

#endif
