/* SPDX-License-Identifier: Apache-2.0
 *
 * The kernel pack as SPIR-V, made by spirv.sh when Keyway is built.
 */
#ifndef KEYWAY_GPU_SPIRV_H
#define KEYWAY_GPU_SPIRV_H

typedef struct kw_gpu_binary {
  const char *name; /* what module_build is told; NULL ends the table */
  const char *begin, *end;
} kw_gpu_binary;

extern const kw_gpu_binary kw_gpu_spirv[];
extern const char kw_gpu_spirv_sum[]; /* a checksum of all of it, as text */

/* For spirv.c: the bytes of a file, and their line of the table. */
#define KW_GPU_INCLUDE(number, path)                                                                           \
  __asm__(".pushsection .rodata\n.balign 4\nkw_spirv_" #number ": .incbin \"" path "\"\nkw_spirv_end_" #number \
          ": .popsection");                                                                                    \
  extern const char kw_spirv_##number[], kw_spirv_end_##number[];
#define KW_GPU_ENTRY(number, name) {name, kw_spirv_##number, kw_spirv_end_##number},

#endif /* KEYWAY_GPU_SPIRV_H */
