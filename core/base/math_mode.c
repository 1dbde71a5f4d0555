/* SPDX-License-Identifier: Apache-2.0
 *
 * The application's math mode and determinism, and the public functions that set them.
 */
#include "base/math_mode.h"

#include "base/error.h"
#include "base/log.h"

#include <keyway/keyway.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static _Atomic kw_math setting; /* of the application */
static pthread_once_t once = PTHREAD_ONCE_INIT;
__thread const _Atomic kw_math *kw_math_current = &setting;

/* From the least to the most. */
static const struct {
  kw_math_mode mode;
  const char *name;
} modes[] = {{KW_MATH_HIGHEST, "highest"}, {KW_MATH_TF32, "tf32"}, {KW_MATH_FAST, "fast"}};
enum { MODE_COUNT = sizeof modes / sizeof modes[0] };

static void change(kw_math mask, kw_math value) {
  kw_math old = atomic_load(&setting);
  while (!atomic_compare_exchange_weak(&setting, &old, (old & ~mask) | value)) {
  }
}

static void read_environment(void) {
  const char *mode = secure_getenv("KEYWAY_MATH"), *only = secure_getenv("KEYWAY_DETERMINISTIC");
  if (mode && mode[0] != '\0') {
    size_t named = 0;
    while (named < MODE_COUNT && strcmp(modes[named].name, mode) != 0) ++named;
    if (named < MODE_COUNT) change(KW_MATH_MODE_MASK, modes[named].mode);
    if (named == MODE_COUNT) kw_log_misset("KEYWAY_MATH", mode, "highest", "highest, tf32 or fast");
  }
  if (!only || only[0] == '\0' || strcmp(only, "0") == 0) return;
  if (strcmp(only, "1") == 0) {
    change(KW_MATH_DETERMINISTIC, KW_MATH_DETERMINISTIC);
  } else {
    kw_log_misset("KEYWAY_DETERMINISTIC", only, "0", "0 or 1");
  }
}

void kw_math_start(void) {
  pthread_once(&once, read_environment);
}

KW_API const char *kw_math_mode_name(kw_math_mode mode) {
  for (size_t i = 0; i < MODE_COUNT; ++i) {
    if (modes[i].mode == mode) return modes[i].name;
  }
  return "";
}

KW_API kw_status kw_math_mode_set(kw_math_mode mode) {
  if (kw_math_mode_name(mode)[0] == '\0') {
    return kw_fail(KW_ERR_INVALID_ARGUMENT,
                   "kw_math_mode_set: %u is no mode; give KW_MATH_HIGHEST, KW_MATH_TF32 or KW_MATH_FAST", mode);
  }
  kw_math_start();
  change(KW_MATH_MODE_MASK, mode);
  return KW_OK;
}

KW_API kw_math_mode kw_math_mode_get(void) {
  kw_math_start();
  return atomic_load(&setting) & KW_MATH_MODE_MASK;
}

KW_API void kw_deterministic_set(bool only) {
  kw_math_start();
  change(KW_MATH_DETERMINISTIC, only ? KW_MATH_DETERMINISTIC : 0);
}

KW_API bool kw_deterministic_get(void) {
  kw_math_start();
  return (atomic_load(&setting) & KW_MATH_DETERMINISTIC) != 0;
}

kw_math_mode kw_math_needed(const kw_kernel_desc *kernel) {
  for (size_t i = 0; i < MODE_COUNT; ++i) {
    if ((kernel->math_needs & ~modes[i].mode) == 0) return modes[i].mode;
  }
  return kernel->math_needs;
}

kw_status kw_math_refuse(const char *call, const kw_kernel_desc *kernel, kw_math math) {
  const kw_math_mode mode = math & KW_MATH_MODE_MASK;
  const char *needed = kw_math_mode_name(kw_math_needed(kernel));
  if (needed[0] == '\0') {
    return kw_fail(KW_ERR_NOT_IMPLEMENTED,
                   "%s: kernel '%s' needs the math mode 0x%x, which this Keyway does not have; install a later one",
                   call, kernel->name, kernel->math_needs);
  }
  if (kernel->math_needs & ~mode) {
    return kw_fail(KW_ERR_NOT_IMPLEMENTED,
                   "%s: kernel '%s' needs the math mode %s, and it is %s; call kw_math_mode_set, or set KEYWAY_MATH=%s",
                   call, kernel->name, needed, kw_math_mode_name(mode), needed);
  }
  return kw_fail(KW_ERR_NOT_IMPLEMENTED,
                 "%s: kernel '%s' is not deterministic, and only such kernels are wanted (kw_deterministic_set, "
                 "KEYWAY_DETERMINISTIC); allow others, or choose another device",
                 call, kernel->name);
}
