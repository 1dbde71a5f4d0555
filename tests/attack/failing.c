/* SPDX-License-Identifier: Apache-2.0
 *
 * The functions that fail, in front of libc's: a counter of the calls from Keyway's files, and a list of the memory
 * that these hold.
 */
#include "failing.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <grp.h>
#include <link.h>
#include <locale.h>
#include <poll.h>
#include <pthread.h>
#include <pwd.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#pragma GCC visibility push(default)

/* ---- What fails -------------------------------------------------------------------------------------------------- */

enum {
  MEMORY,
  OPEN,
  OPENAT,
  FCNTL,
  FCLOSE,
  READ,
  WRITE,
#define FAILS(type, name, failure, error, parameters, arguments) FUNCTION_##name,
#define ENDS FAILS
#include "failing_functions.def"
#undef FAILS
#undef ENDS
  FUNCTIONS
};

static const char *const names[FUNCTIONS + 1] = {
    FAILING_MEMORY, "open", "openat", "fcntl", "fclose", "read", "write",
#define FAILS(type, name, failure, error, parameters, arguments) #name,
#define ENDS FAILS
#include "failing_functions.def"
#undef FAILS
#undef ENDS
};

_Static_assert(FUNCTIONS <= FAILING_FUNCTIONS, "a process has a count for each function");

static atomic_bool armed;
static int failing; /* of FUNCTIONS */
static long failing_at;
static bool is_lasting;
static atomic_long own_calls[FAILING_FUNCTIONS], failed;
static atomic_long *calls = own_calls; /* or those of the file */
static failing_file *file;             /* of KEYWAY_FAILING_FILE; NULL: a program that arms itself */

const char *failing_function(unsigned index) {
  return index < FUNCTIONS ? names[index] : NULL;
}

long failing_calls(unsigned index) {
  return calls[index];
}

void failing_arm(const char *function, long at, bool lasting) {
  failing = 0;
  while (failing < FUNCTIONS && strcmp(names[failing], function) != 0) failing++;
  failing_at = at;
  is_lasting = lasting;
  for (int i = 0; i < FUNCTIONS; i++) calls[i] = 0;
  failed = 0;
  armed = true;
}

long failing_disarm(void) {
  armed = false;
  return failed;
}

/* ---- Who calls --------------------------------------------------------------------------------------------------- */

static bool begins(const char *text, const char *with) {
  return strncmp(text, with, strlen(with)) == 0;
}

/* Whether code at this address is Keyway's: the test drivers are not, and in a program that is told by the environment
 * plugins are not: what they cannot do is their own failure. */
static bool is_keyways(void *address) {
  struct dl_find_object object;
  if (_dl_find_object(address, &object) != 0) return false;
  const char *path = object.dlfo_link_map->l_name, *slash = strrchr(path, '/');
  const char *name = path[0] == '\0' ? program_invocation_short_name : slash != NULL ? slash + 1 : path;
  if (strstr(name, "emulated") != NULL) return false;
  if (begins(name, "keyway_") || begins(name, "vendor_")) return file == NULL;
  return begins(name, "libkeyway.so") || begins(name, "libcjson.so") || strcmp(name, "keyway") == 0 ||
         strcmp(name, "keyway-probe") == 0 || strcmp(name, "keyway-worker") == 0 ||
         strcmp(name, "keyway-plugin-host") == 0;
}

/* Whether this call fails; errno then says why. */
static bool fails(int function, int error, void *caller) {
  if (!armed || !is_keyways(caller)) return false;
  const long call = ++calls[function];
  if (function != failing) return false;
  if (is_lasting ? call < failing_at : call != failing_at) return false;
  if (file != NULL && atomic_exchange(&file->failed, 1) != 0) return false;
  failed++;
  errno = error;
  return true;
}

/* The file, and this process's place in it; NULL where there is none. */
static failing_process *take_place(const char *path) {
  const int descriptor = path != NULL ? (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC, 0) : -1;
  if (descriptor < 0) return NULL;
  void *memory =
      (void *)syscall(SYS_mmap, NULL, sizeof *file, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, (off_t)0);
  syscall(SYS_close, descriptor);
  if (memory == MAP_FAILED) return NULL;
  file = memory;
  const unsigned place = atomic_fetch_add(&file->count, 1);
  return place < FAILING_PROCESSES ? &file->processes[place] : NULL;
}

/* The how manieth process of its program it is. */
static long number_of(const failing_process *process) {
  long number = 1;
  for (const failing_process *p = file->processes; p < process; p++)
    number += strcmp(p->program, process->program) == 0;
  return number;
}

__attribute__((constructor)) static void read_environment(void) {
  const char *plan = getenv("KEYWAY_FAILING");
  char program[64], function[64];
  long number, at;
  failing_process *process = take_place(getenv("KEYWAY_FAILING_FILE"));
  if (process == NULL) return;
  snprintf(process->program, sizeof process->program, "%s", program_invocation_short_name);
  calls = process->calls;
  const bool mine = plan != NULL && sscanf(plan, "%63[^:]:%ld:%63[^:]:%ld", program, &number, function, &at) == 4 &&
                    strcmp(program, process->program) == 0 && number == number_of(process);
  failing_arm(mine ? function : "", mine ? at : 0, false);
}

/* ---- Memory that Keyway holds ------------------------------------------------------------------------------------ */

/* Blocks by their addresses, a table with open addressing. */
#define SLOTS (UINT32_C(1) << 18)
typedef struct block {
  void *address, *caller;
  unsigned long number; /* in the order in which they were made */
} block;
static block blocks[SLOTS];
#define SHOWN_MOST 12
static atomic_flag lock = ATOMIC_FLAG_INIT;
static long live;
static unsigned long made;

static uint32_t home_of(const void *address) {
  return (uint32_t)(((uintptr_t)address >> 4) * UINT64_C(0x9E3779B97F4A7C15) >> 32) % SLOTS;
}

/* Where the block is, or would be. */
static uint32_t slot_of(const void *address) {
  uint32_t i = home_of(address);
  while (blocks[i].address != NULL && blocks[i].address != address) i = (i + 1) % SLOTS;
  return i;
}

/* Blocks behind an empty slot that do not find it in their way move up. */
static void empty_slot(uint32_t hole) {
  for (uint32_t i = (hole + 1) % SLOTS; blocks[i].address != NULL; i = (i + 1) % SLOTS) {
    const uint32_t way = (i - home_of(blocks[i].address)) % SLOTS, back = (i - hole) % SLOTS;
    if (way < back) continue;
    blocks[hole] = blocks[i];
    hole = i;
  }
  blocks[hole].address = NULL;
}

static void take_lock(void) {
  while (atomic_flag_test_and_set(&lock)) sched_yield();
}

/* Returns the address. */
static void *keep(void *address, void *caller) {
  if (address == NULL || !is_keyways(caller)) return address;
  take_lock();
  if (live < (long)SLOTS / 2) {
    blocks[slot_of(address)] = (block){address, caller, ++made};
    live++;
  }
  atomic_flag_clear(&lock);
  return address;
}

static void forget(void *address) {
  if (address == NULL) return;
  take_lock();
  const uint32_t slot = slot_of(address);
  if (blocks[slot].address != NULL) {
    empty_slot(slot);
    live--;
  }
  atomic_flag_clear(&lock);
}

long failing_live(void) {
  return live;
}

unsigned long failing_made(void) {
  return made;
}

void failing_show_live(unsigned long from) {
  int shown = 0;
  for (uint32_t i = 0; i < SLOTS && shown < SHOWN_MOST; i++) {
    Dl_info info;
    const block *b = &blocks[i];
    if (b->address == NULL || b->number <= from || !dladdr(b->caller, &info)) continue;
    shown++;
    fprintf(stderr, "    a block of %s+0x%tx\n", info.dli_fname, (char *)b->caller - (char *)info.dli_fbase - 1);
  }
}

/* ---- Functions that allocate ------------------------------------------------------------------------------------- */

/* What lies behind this library: a sanitizer's functions, where there is one, or libc's. */
#define BEHIND(type, name, parameters)                                          \
  extern type __interceptor_##name parameters __attribute__((weak));            \
  extern type __libc_##name parameters;                                         \
  static inline type(*behind_##name(void)) parameters {                         \
    return __interceptor_##name != NULL ? __interceptor_##name : __libc_##name; \
  }
BEHIND(void *, malloc, (size_t size))
BEHIND(void *, calloc, (size_t count, size_t size))
BEHIND(void *, realloc, (void *memory, size_t size))
BEHIND(void *, memalign, (size_t alignment, size_t size))
BEHIND(void, free, (void *memory))

#define CALLER __builtin_return_address(0)

void *malloc(size_t size) {
  return fails(MEMORY, ENOMEM, CALLER) ? NULL : keep(behind_malloc()(size), CALLER);
}

void *calloc(size_t count, size_t size) {
  return fails(MEMORY, ENOMEM, CALLER) ? NULL : keep(behind_calloc()(count, size), CALLER);
}

void *realloc(void *memory, size_t size) {
  if (fails(MEMORY, ENOMEM, CALLER)) return NULL;
  void *grown = behind_realloc()(memory, size);
  if (grown == NULL) return NULL;
  forget(memory);
  return keep(grown, CALLER);
}

void *reallocarray(void *memory, size_t count, size_t size) {
  size_t whole;
  if (fails(MEMORY, ENOMEM, CALLER) || __builtin_mul_overflow(count, size, &whole)) return NULL;
  void *grown = behind_realloc()(memory, whole);
  if (grown == NULL) return NULL;
  forget(memory);
  return keep(grown, CALLER);
}

void *aligned_alloc(size_t alignment, size_t size) {
  return fails(MEMORY, ENOMEM, CALLER) ? NULL : keep(behind_memalign()(alignment, size), CALLER);
}

int posix_memalign(void **out, size_t alignment, size_t size) {
  void *memory = fails(MEMORY, ENOMEM, CALLER) ? NULL : keep(behind_memalign()(alignment, size), CALLER);
  if (memory == NULL) return ENOMEM;
  *out = memory;
  return 0;
}

void free(void *memory) {
  forget(memory);
  behind_free()(memory);
}

static char *copy_text(const char *text, size_t length, void *caller) {
  char *copy = fails(MEMORY, ENOMEM, caller) ? NULL : keep(behind_malloc()(length + 1), caller);
  if (copy == NULL) return NULL;
  memcpy(copy, text, length);
  copy[length] = '\0';
  return copy;
}

char *strdup(const char *text) {
  return copy_text(text, strlen(text), CALLER);
}

char *strndup(const char *text, size_t most) {
  return copy_text(text, strnlen(text, most), CALLER);
}

static int print_text(char **out, const char *format, va_list arguments, void *caller) {
  va_list again;
  va_copy(again, arguments);
  int length = vsnprintf(NULL, 0, format, again);
  va_end(again);
  char *text = length < 0 || fails(MEMORY, ENOMEM, caller) ? NULL : keep(behind_malloc()((size_t)length + 1), caller);
  if (text == NULL) return -1;
  vsnprintf(text, (size_t)length + 1, format, arguments);
  *out = text;
  return length;
}

int vasprintf(char **out, const char *format, va_list arguments) {
  return print_text(out, format, arguments, CALLER);
}

int asprintf(char **out, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int length = print_text(out, format, arguments, CALLER);
  va_end(arguments);
  return length;
}

/* ---- Others ------------------------------------------------------------------------------------------------------ */

/* libc's function of that name. */
#define REAL(type, name, parameters) \
  static type(*real) parameters;     \
  if (real == NULL) *(void **)&real = dlsym(RTLD_NEXT, #name)

#define FAILS(type, name, failure, error, parameters, arguments)             \
  type name parameters;                                                      \
  type name parameters {                                                     \
    REAL(type, name, parameters);                                            \
    return fails(FUNCTION_##name, error, CALLER) ? failure : real arguments; \
  }
#define ENDS(type, name, failure, error, parameters, arguments)      \
  type name parameters;                                              \
  type name parameters {                                             \
    REAL(type, name, parameters);                                    \
    type result = real arguments;                                    \
    return fails(FUNCTION_##name, error, CALLER) ? failure : result; \
  }
#include "failing_functions.def"

int open(const char *path, int flags, ...) {
  REAL(int, open, (const char *, int, ...));
  va_list arguments;
  va_start(arguments, flags);
  mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  return fails(OPEN, EMFILE, CALLER) ? -1 : real(path, flags, mode);
}

int openat(int folder, const char *path, int flags, ...) {
  REAL(int, openat, (int, const char *, int, ...));
  va_list arguments;
  va_start(arguments, flags);
  mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  return fails(OPENAT, EMFILE, CALLER) ? -1 : real(folder, path, flags, mode);
}

int fcntl(int file, int command, ...) {
  REAL(int, fcntl, (int, int, ...));
  va_list arguments;
  va_start(arguments, command);
  void *argument = va_arg(arguments, void *);
  va_end(arguments);
  return fails(FCNTL, EMFILE, CALLER) ? -1 : real(file, command, argument);
}

/* It is closed, and then said to have failed; a text in memory has no file. */
int fclose(FILE *file) {
  REAL(int, fclose, (FILE *));
  const bool in_memory = fileno(file) < 0;
  const int result = real(file);
  return !in_memory && fails(FCLOSE, ENOSPC, CALLER) ? EOF : result;
}

/* Of a file as given; pipes and sockets have no errors but that a signal comes. */
static int transfer_error(int file, int error) {
  return syscall(SYS_lseek, file, (off_t)0, SEEK_CUR) < 0 ? EINTR : error;
}

ssize_t read(int file, void *bytes, size_t size) {
  REAL(ssize_t, read, (int, void *, size_t));
  return fails(READ, EIO, CALLER) ? (errno = transfer_error(file, EIO), -1) : real(file, bytes, size);
}

ssize_t write(int file, const void *bytes, size_t size) {
  REAL(ssize_t, write, (int, const void *, size_t));
  return fails(WRITE, ENOSPC, CALLER) ? (errno = transfer_error(file, ENOSPC), -1) : real(file, bytes, size);
}
