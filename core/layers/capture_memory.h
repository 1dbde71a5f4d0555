/* SPDX-License-Identifier: Apache-2.0
 *
 * What the capture layer knows of memory: which buffers have which numbers, and whether their contents are in the file.
 */
#ifndef KEYWAY_CORE_CAPTURE_MEMORY_H
#define KEYWAY_CORE_CAPTURE_MEMORY_H

#include "tensor/tensor.h"

/* Once, before anything else. */
void kw_capture_memory_start(void);

/* The number of a tensor's buffer, which is known. */
uint64_t kw_capture_buffer(const kw_tensor *tensor);
/* A buffer that a call has just made; one that was at the same place before has ended. told: the call's own record
 * tells of it. */
void kw_capture_new_buffer(const kw_tensor *tensor, bool told);
/* A buffer whose contents come from elsewhere. */
void kw_capture_forget_buffer(const kw_tensor *tensor);
/* Before a call uses it: unless the file has it, its contents are read and written there. overwrites: the call writes
 * every element of the tensor, so what is outside of it matters alone. */
void kw_capture_know(const kw_tensor *tensor, bool overwrites);

/* A map that the application may write through, by its pointer. end: whether there is one, which ends. */
void kw_capture_begin_writing(const void *pointer);
bool kw_capture_end_writing(const void *pointer);

uint64_t kw_capture_new_graph(const kw_graph *graph);
/* 0: recorded before, or NULL. */
uint64_t kw_capture_graph(const kw_graph *graph);

#endif /* KEYWAY_CORE_CAPTURE_MEMORY_H */
