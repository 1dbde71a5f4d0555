/* SPDX-License-Identifier: Apache-2.0
 *
 * Every part of the process's state that is changed is named, and looking changes none.
 */
#include "base/process_state.h"

#include <fenv.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static void change_float(void) {
  fesetround(FE_UPWARD);
}

static void flush_subnormals(void) {
#if defined(__x86_64__)
  __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8040u); /* FTZ and DAZ */
#else
  fesetround(FE_DOWNWARD);
#endif
}

static void change_thread_locale(void) {
  uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0));
}

static void block_signal(void) {
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, SIGUSR1);
  sigprocmask(SIG_BLOCK, &one, NULL);
}

static void set_handler(void) {
  signal(SIGUSR2, SIG_IGN);
}

static void change_locale(void) {
  assert_non_null(setlocale(LC_NUMERIC, "C.UTF-8"));
}

static void change_directory(void) {
  assert_int_equal(chdir("/proc"), 0);
}

static void change_umask(void) {
  umask(umask(0) ^ 01);
}

static void set_variable(void) {
  setenv("KW_PROCESS_STATE_TEST", "1", 1);
}

static const struct {
  kw_process_part part;
  void (*change)(void);
  bool of_thread; /* seen by the quick look, too */
} changes[] = {{KW_PROCESS_FLOAT, change_float, true},          {KW_PROCESS_FLOAT, flush_subnormals, true},
               {KW_PROCESS_BLOCKED, block_signal, false},       {KW_PROCESS_HANDLER, set_handler, false},
               {KW_PROCESS_LOCALE, change_locale, false},       {KW_PROCESS_THREAD_LOCALE, change_thread_locale, true},
               {KW_PROCESS_DIRECTORY, change_directory, false}, {KW_PROCESS_UMASK, change_umask, false},
               {KW_PROCESS_ENVIRONMENT, set_variable, false}};

static void each_change_is_named(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
    kw_process_state before, quick_before, after, quick_after;
    kw_process_state_take(&before, true);
    kw_process_state_take(&quick_before, false);
    changes[i].change();
    kw_process_state_take(&after, true);
    kw_process_state_take(&quick_after, false);
    assert_int_equal(kw_process_state_change(&before, &after), changes[i].part);
    assert_int_equal(kw_process_state_change(&quick_before, &quick_after),
                     changes[i].of_thread ? changes[i].part : KW_PROCESS_SAME);
  }
}

static void looking_changes_nothing(void **state) {
  (void)state;
  kw_process_state before, after;
  const mode_t mask = umask(026);
  kw_process_state_take(&before, true);
  kw_process_state_take(&after, true);
  assert_int_equal(kw_process_state_change(&before, &after), KW_PROCESS_SAME);
  assert_int_equal(before.mask, 026);
  assert_int_equal(umask(mask), 026);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(looking_changes_nothing),
      cmocka_unit_test(each_change_is_named),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
