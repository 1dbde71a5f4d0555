/* SPDX-License-Identifier: Apache-2.0
 *
 * What a processor is called, from the lines that kernels write for x86-64, aarch64 and others.
 */
#include "cpu.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

/* The device's facts where /proc/cpuinfo holds `text`. */
static kw_device_info described(const char *text) {
  char path[] = "/tmp/keyway-model-XXXXXX";
  const int descriptor = mkstemp(path);
  assert_true(descriptor >= 0);
  FILE *file = fdopen(descriptor, "w");
  assert_non_null(file);
  fputs(text, file);
  fclose(file);
  kw_device_info info = {.struct_size = sizeof info};
  kw_cpu_describe(path, &info);
  unlink(path);
  return info;
}

static void expect(const char *text, const char *name, const char *vendor) {
  const kw_device_info info = described(text);
  assert_string_equal(info.name, name);
  assert_string_equal(info.vendor, vendor);
}

static void test_x86(void **state) {
  (void)state;
  expect("processor\t: 0\nvendor_id\t: GenuineIntel\nmodel\t\t: 143\nmodel name\t: Intel(R) Xeon(R) 8481C\n",
         "Intel(R) Xeon(R) 8481C", "GenuineIntel");
}

static void test_arm(void **state) {
  (void)state;
  expect("processor\t: 0\nBogoMIPS\t: 50.00\nCPU implementer\t: 0x41\nCPU part\t: 0xd40\nCPU revision\t: 1\n",
         "Arm CPU, part 0xd40", "Arm");
  expect("CPU implementer\t: 0xc0\nCPU part\t: 0xac3\n", "Ampere CPU, part 0xac3", "Ampere");
  expect("CPU implementer\t: 0xee\nCPU part\t: 0x001\n", "ARM CPU, part 0x001", "ARM");
  expect("CPU implementer\t: 0x4e\n", "CPU", "NVIDIA");
}

/* Some kernels name ARM's too. */
static void test_named(void **state) {
  (void)state;
  expect("model name\t: ARMv8 Processor rev 1 (v8l)\nCPU implementer\t: 0x41\nCPU part\t: 0xd08\n",
         "ARMv8 Processor rev 1 (v8l)", "");
}

static void test_nothing(void **state) {
  (void)state;
  expect("", "CPU", "");
  kw_device_info info = {.struct_size = sizeof info};
  kw_cpu_describe("/nowhere", &info);
  assert_string_equal(info.name, "CPU");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_x86),
      cmocka_unit_test(test_arm),
      cmocka_unit_test(test_named),
      cmocka_unit_test(test_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
