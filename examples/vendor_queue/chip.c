/* SPDX-License-Identifier: Apache-2.0
 *
 * The emulated chip: rings and their processors.
 */
#include "chip.h"

#include <fenv.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct place {
  uint64_t ticket;
  chip_program program;
  bool failed;
  char text[160];
  _Alignas(16) unsigned char parameters[CHIP_COMMAND];
} place;

typedef struct queue {
  struct chip *chip;
  pthread_t processor;
  pthread_cond_t filled;
  uint64_t put, taken, told; /* commands so far: appended, finished, and looked through for failures */
  uint64_t done;             /* ticket */
  bool news;                 /* since chip_done was asked */
  place ring[CHIP_RING];     /* command number n is at n % CHIP_RING */
} queue;

struct chip {
  pthread_mutex_t lock;
  pthread_cond_t finished;
  bool ending;
  uint64_t used; /* bytes */
  queue queues[CHIP_QUEUES];
};

static void *processor_main(void *state) {
  queue *queue = state;
  chip *chip = queue->chip;
  fesetenv(FE_DFL_ENV); /* whatever the thread that opened the chip has set */
  pthread_mutex_lock(&chip->lock);
  while (!chip->ending || queue->taken < queue->put) {
    if (queue->taken == queue->put) {
      pthread_cond_wait(&queue->filled, &chip->lock);
      continue;
    }
    place *place = &queue->ring[queue->taken % CHIP_RING];
    pthread_mutex_unlock(&chip->lock);
    place->failed = !place->program(place->parameters, place->text);
    pthread_mutex_lock(&chip->lock);
    ++queue->taken;
    queue->done = place->ticket;
    queue->news = true;
    pthread_cond_broadcast(&chip->finished);
  }
  pthread_mutex_unlock(&chip->lock);
  return NULL;
}

static bool start(queue *queue) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const int error = pthread_create(&queue->processor, NULL, processor_main, queue);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return error == 0;
}

static void stop(chip *chip, uint32_t running) {
  pthread_mutex_lock(&chip->lock);
  chip->ending = true;
  for (uint32_t q = 0; q < CHIP_QUEUES; q++) pthread_cond_signal(&chip->queues[q].filled);
  pthread_mutex_unlock(&chip->lock);
  for (uint32_t q = 0; q < running; q++) pthread_join(chip->queues[q].processor, NULL);
  for (uint32_t q = 0; q < CHIP_QUEUES; q++) pthread_cond_destroy(&chip->queues[q].filled);
  pthread_cond_destroy(&chip->finished);
  pthread_mutex_destroy(&chip->lock);
  free(chip);
}

chip *chip_open(void) {
  chip *chip = calloc(1, sizeof *chip);
  if (chip == NULL) return NULL;
  pthread_condattr_t monotonic;
  pthread_condattr_init(&monotonic);
  pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
  pthread_mutex_init(&chip->lock, NULL);
  pthread_cond_init(&chip->finished, &monotonic);
  pthread_condattr_destroy(&monotonic);
  uint32_t running = 0;
  for (uint32_t q = 0; q < CHIP_QUEUES; q++) {
    chip->queues[q].chip = chip;
    pthread_cond_init(&chip->queues[q].filled, NULL);
  }
  while (running < CHIP_QUEUES && start(&chip->queues[running])) running++;
  if (running == CHIP_QUEUES) return chip;
  stop(chip, running);
  return NULL;
}

void chip_close(chip *chip) {
  stop(chip, CHIP_QUEUES);
}

typedef struct allocation {
  _Alignas(CHIP_ALIGNMENT) uint64_t size;
  _Alignas(CHIP_ALIGNMENT) unsigned char bytes[];
} allocation;

void *chip_alloc(chip *chip, uint64_t size) {
  pthread_mutex_lock(&chip->lock);
  const bool fits = size <= CHIP_MEMORY && chip->used <= CHIP_MEMORY - size;
  if (fits) chip->used += size;
  pthread_mutex_unlock(&chip->lock);
  const uint64_t whole = (sizeof(allocation) + size + CHIP_ALIGNMENT - 1) / CHIP_ALIGNMENT * CHIP_ALIGNMENT;
  allocation *made = fits ? aligned_alloc(CHIP_ALIGNMENT, whole) : NULL;
  if (made != NULL) {
    made->size = size;
    return made->bytes;
  }
  pthread_mutex_lock(&chip->lock);
  if (fits) chip->used -= size;
  pthread_mutex_unlock(&chip->lock);
  return NULL;
}

void chip_free(chip *chip, void *memory) {
  allocation *made = (allocation *)(void *)((unsigned char *)memory - offsetof(allocation, bytes));
  pthread_mutex_lock(&chip->lock);
  chip->used -= made->size;
  pthread_mutex_unlock(&chip->lock);
  free(made);
}

bool chip_submit(chip *chip, uint32_t number, uint64_t ticket, chip_program program, const void *parameters,
                 size_t size) {
  queue *queue = &chip->queues[number];
  pthread_mutex_lock(&chip->lock);
  const bool room = queue->put - queue->told < CHIP_RING;
  if (room) {
    place *place = &queue->ring[queue->put % CHIP_RING];
    place->ticket = ticket;
    place->program = program;
    memcpy(place->parameters, parameters, size);
    ++queue->put;
    pthread_cond_signal(&queue->filled);
  }
  pthread_mutex_unlock(&chip->lock);
  return room;
}

uint64_t chip_done(chip *chip, uint32_t queue) {
  pthread_mutex_lock(&chip->lock);
  const uint64_t done = chip->queues[queue].done;
  chip->queues[queue].news = false;
  pthread_mutex_unlock(&chip->lock);
  return done;
}

bool chip_next_failure(chip *chip, uint32_t number, uint64_t *out_ticket, char text[160]) {
  queue *queue = &chip->queues[number];
  bool found = false;
  pthread_mutex_lock(&chip->lock);
  while (!found && queue->told < queue->taken) {
    const place *place = &queue->ring[queue->told++ % CHIP_RING];
    found = place->failed;
    *out_ticket = place->ticket;
    if (found) memcpy(text, place->text, sizeof place->text);
  }
  pthread_mutex_unlock(&chip->lock);
  return found;
}

void chip_wait(chip *chip, uint64_t timeout_ns) {
  struct timespec end;
  clock_gettime(CLOCK_MONOTONIC, &end);
  const uint64_t ns = (uint64_t)end.tv_nsec + timeout_ns;
  end.tv_sec += (time_t)(ns / 1000000000u);
  end.tv_nsec = (long)(ns % 1000000000u);
  pthread_mutex_lock(&chip->lock);
  bool news = false;
  for (uint32_t q = 0; q < CHIP_QUEUES; q++) news = news || chip->queues[q].news;
  if (!news) pthread_cond_timedwait(&chip->finished, &chip->lock, &end);
  pthread_mutex_unlock(&chip->lock);
}
