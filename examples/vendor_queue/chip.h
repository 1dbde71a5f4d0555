/* SPDX-License-Identifier: Apache-2.0
 *
 * The chip, emulated: two command queues, each with a ring of places and a processor (a thread) that runs its commands
 * in order, a copy engine, and memory of its own. With hardware this is the vendor's driver; nothing else here changes.
 */
#ifndef ACME_CHIP_H
#define ACME_CHIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CHIP_QUEUES 2u
#define CHIP_RING 64u                   /* places of a queue */
#define CHIP_COMMAND 8192u              /* bytes of a command at most */
#define CHIP_MEMORY (UINT64_C(2) << 30) /* bytes */
#define CHIP_ALIGNMENT 64u

typedef struct chip chip;

chip *chip_open(void); /* NULL: no host memory or no threads */
void chip_close(chip *chip);

/* Device memory: where it lies is the chip's business, here in the host's. NULL: none is left. */
void *chip_alloc(chip *chip, uint64_t size);
void chip_free(chip *chip, void *memory);

/* What a queue runs: a program of the chip's, with its parameters. It says what went wrong in `text` (160 bytes) and
 * returns false. */
typedef bool (*chip_program)(const void *parameters, char *text);

/* False: the ring is full. */
bool chip_submit(chip *chip, uint32_t queue, uint64_t ticket, chip_program program, const void *parameters,
                 size_t size);

/* The newest ticket that has finished. */
uint64_t chip_done(chip *chip, uint32_t queue);
/* The next command of the queue that went wrong. */
bool chip_next_failure(chip *chip, uint32_t queue, uint64_t *out_ticket, char text[160]);
/* Sleeps until something finishes that chip_done has not told of, or timeout_ns. */
void chip_wait(chip *chip, uint64_t timeout_ns);

#endif /* ACME_CHIP_H */
