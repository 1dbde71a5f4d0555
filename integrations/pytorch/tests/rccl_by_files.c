/* SPDX-License-Identifier: Apache-2.0
 *
 * A library of RCCL's names for the emulated hip device, whose memory is the host's: ranks meet in a file that all of
 * them map. For test_distributed.py, which compiles it; every call waits for the stream, then for the other ranks.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SLOT = 1 << 20, RANKS = 4, OK = 0, FAILED = 2, BAD_ARGUMENT = 4 };

typedef struct {
  char bytes[128];
} unique_id;

typedef struct {
  atomic_int arrived, round;
  char slots[RANKS][SLOT];
} board;

typedef struct {
  int rank, size;
  board *board;
} communicator;

int ncclGetUniqueId(unique_id *id) {
  const char *folder = getenv("RCCL_BY_FILES"); /* how the test knows that it was called, too */
  return folder != NULL && snprintf(id->bytes, sizeof id->bytes, "%s/%d", folder, (int)getpid()) > 0 ? OK : FAILED;
}

int ncclCommInitRank(communicator **out, int size, unique_id id, int rank) {
  const int file = open(id.bytes, O_RDWR | O_CREAT, 0600);
  if (size > RANKS || file < 0 || ftruncate(file, sizeof(board)) != 0) return FAILED;
  void *shared = mmap(NULL, sizeof(board), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  *out = malloc(sizeof **out);
  if (shared == MAP_FAILED || *out == NULL) return FAILED;
  **out = (communicator){rank, size, shared};
  return OK;
}

int ncclCommDestroy(communicator *c) {
  munmap(c->board, sizeof *c->board);
  free(c);
  return OK;
}

const char *ncclGetErrorString(int result) {
  return result == BAD_ARGUMENT ? "invalid argument" : "unhandled error";
}

static void meet(communicator *c) {
  const int round = atomic_load(&c->board->round);
  if (atomic_fetch_add(&c->board->arrived, 1) + 1 == c->size) {
    atomic_store(&c->board->arrived, 0);
    atomic_fetch_add(&c->board->round, 1);
  }
  while (atomic_load(&c->board->round) == round) sched_yield();
}

static int wait_for(void *stream) {
  void *runtime = dlopen("libamdhip64.so.7", RTLD_NOW | RTLD_NOLOAD); /* the emulated one */
  int (*synchronize)(void *) = runtime != NULL ? (int (*)(void *))dlsym(runtime, "hipStreamSynchronize") : NULL;
  return synchronize != NULL ? synchronize(stream) : FAILED;
}

static size_t size_of(int dtype) {
  static const size_t sizes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2};
  return sizes[dtype];
}

/* Everybody's numbers on the board; the next call may write there after all have left. */
static int show(communicator *c, const void *from, size_t bytes, void *stream) {
  if (bytes > SLOT) return BAD_ARGUMENT;
  const int status = wait_for(stream);
  memcpy(c->board->slots[c->rank], from, bytes);
  meet(c);
  return status;
}

static double combine(double a, double b, int op) {
  if (op == 1) return a * b;
  if (op == 2) return a > b ? a : b;
  if (op == 3) return a < b ? a : b;
  return a + b;
}

/* Of f32 and i64, which the test has: element by element from `first` on. */
static int combine_all(communicator *c, void *to, size_t first, size_t count, int dtype, int op) {
  if (dtype != 7 && dtype != 4) return BAD_ARGUMENT;
  for (size_t i = 0; i < count; i++) {
    double sum = 0;
    for (int r = 0; r < c->size; r++) {
      const char *slot = c->board->slots[r];
      const double x = dtype == 7 ? ((const float *)slot)[first + i] : (double)((const long *)slot)[first + i];
      sum = r == 0 ? x : combine(sum, x, op);
    }
    if (op == 4) sum /= c->size;
    if (dtype == 7) ((float *)to)[i] = (float)sum;
    if (dtype == 4) ((long *)to)[i] = (long)sum;
  }
  return OK;
}

int ncclAllReduce(const void *from, void *to, size_t count, int dtype, int op, communicator *c, void *stream) {
  int status = show(c, from, count * size_of(dtype), stream);
  if (status == OK) status = combine_all(c, to, 0, count, dtype, op);
  meet(c);
  return status;
}

int ncclReduce(const void *from, void *to, size_t count, int dtype, int op, int root, communicator *c, void *stream) {
  int status = show(c, from, count * size_of(dtype), stream);
  if (status == OK && c->rank == root) status = combine_all(c, to, 0, count, dtype, op);
  meet(c);
  return status;
}

int ncclReduceScatter(const void *from, void *to, size_t count, int dtype, int op, communicator *c, void *stream) {
  int status = show(c, from, (size_t)c->size * count * size_of(dtype), stream);
  if (status == OK) status = combine_all(c, to, (size_t)c->rank * count, count, dtype, op);
  meet(c);
  return status;
}

int ncclBroadcast(const void *from, void *to, size_t count, int dtype, int root, communicator *c, void *stream) {
  const int status = show(c, from, count * size_of(dtype), stream);
  if (status == OK) memcpy(to, c->board->slots[root], count * size_of(dtype));
  meet(c);
  return status;
}

int ncclAllGather(const void *from, void *to, size_t count, int dtype, communicator *c, void *stream) {
  const size_t bytes = count * size_of(dtype);
  const int status = show(c, from, bytes, stream);
  for (int r = 0; r < c->size && status == OK; r++) memcpy((char *)to + (size_t)r * bytes, c->board->slots[r], bytes);
  meet(c);
  return status;
}
