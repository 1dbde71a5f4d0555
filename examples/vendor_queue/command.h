/* SPDX-License-Identifier: Apache-2.0
 *
 * What a command of the chip's processors says, and the programs that there are.
 */
#ifndef ACME_COMMAND_H
#define ACME_COMMAND_H

#include "number.h"

#define COMMAND_INPUTS (KW_MAX_RANK + 2)

/* A tensor as programs see it: where its first element lies, and its strides in elements. */
typedef struct array {
  unsigned char *data; /* NULL: absent */
  kw_dtype dtype;
  uint32_t rank;
  int64_t numel, shape[KW_MAX_RANK], strides[KW_MAX_RANK];
} array;

typedef struct command {
  uint32_t program; /* a row of `programs` */
  uint32_t input_count;
  array out, inputs[COMMAND_INPUTS];
  number value;                  /* add.Tensor's alpha */
  int64_t dim;                   /* gather's and prod's; of random_.from the first number */
  uint32_t dims;                 /* sum's: bit d for dimension d */
  char mode;                     /* div's: 't', 'f' or 0; index_put's: 'a' to accumulate */
  uint64_t range;                /* random_.from's, 0 for 2^64 */
  uint64_t seed, offset, *state; /* its generator's */
  uint32_t *error_word, error_code;
} command;

/* Runs it. False, and what went wrong in `text`. */
bool command_run(const void *command, char text[160]);

/* Everything that the chip does, by ATen's names. */
typedef enum program {
  PROGRAM_COPY,
  PROGRAM_ADD,
  PROGRAM_MUL,
  PROGRAM_DIV,
  PROGRAM_POW,
  PROGRAM_EXP,
  PROGRAM_LOG,
  PROGRAM_SIN,
  PROGRAM_COS,
  PROGRAM_TANH,
  PROGRAM_ERF,
  PROGRAM_LE,
  PROGRAM_AND,
  PROGRAM_WHERE,
  PROGRAM_SUM,
  PROGRAM_PROD,
  PROGRAM_BMM,
  PROGRAM_GATHER,
  PROGRAM_INDEX_PUT,
  PROGRAM_RANDOM
} program;

kw_status register_kernels(const kw_host_api *host);

#endif /* ACME_COMMAND_H */
