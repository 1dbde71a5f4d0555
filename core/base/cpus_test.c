/* SPDX-License-Identifier: Apache-2.0
 *
 * CPUs by the mask, where the kernel's is larger than usual, and by quotas of cgroups in forged trees of files.
 */
#include "base/cpus.h"

#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- The mask ---------------------------------------------------------------------------------------------------- */

static const int in_mask[] = {5, 1500, 4095};
static int kernel_cpus; /* that the kernel has bits for; 0: it refuses for another reason */

int sched_getaffinity(pid_t pid, size_t size, cpu_set_t *out_set) {
  assert_int_equal(pid, 0);
  if (kernel_cpus == 0 || size * CHAR_BIT < (size_t)kernel_cpus) {
    errno = kernel_cpus == 0 ? ENOSYS : EINVAL;
    return -1;
  }
  CPU_ZERO_S(size, out_set);
  for (size_t i = 0; i < sizeof in_mask / sizeof in_mask[0]; i++) CPU_SET_S((size_t)in_mask[i], size, out_set);
  return 0;
}

static void the_mask_counts_on_large_machines(void **state) {
  (void)state;
  const uint32_t quota = kw_cpus_quota(""); /* where the test runs */
  kernel_cpus = 4096;
  assert_int_equal(kw_cpus_count(), quota < 3 ? quota : 3);
}

static void without_a_mask_there_is_one(void **state) {
  (void)state;
  kernel_cpus = 0;
  assert_in_range(kw_cpus_count(), 1, kw_cpus_quota(""));
  kernel_cpus = INT_MAX; /* always too small */
  assert_in_range(kw_cpus_count(), 1, kw_cpus_quota(""));
}

/* ---- Quotas ------------------------------------------------------------------------------------------------------ */

#define V1 "33 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,nosuid shared:9 - cgroup cgroup rw,cpu,cpuacct\n"
#define V1_CONTAINER "33 31 0:29 /docker/ab /sys/fs/cgroup/cpu,cpuacct ro - cgroup cgroup rw,cpu,cpuacct\n"
#define V1_SETS "34 31 0:30 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"
#define V2 "31 23 0:28 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n"
#define V2_CONTAINER "31 23 0:28 /pods/ab /sys/fs/cgroup rw,nosuid shared:1 master:2 - cgroup2 cgroup2 rw\n"
#define V2_BESIDE "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"
#define DISK "22 1 8:1 / / rw,noatime - ext4 /dev/sda1 rw\n"

typedef struct file {
  const char *path, *text;
} file;

typedef struct tree {
  const char *mounts, *cgroups;
  file files[4]; /* below /sys/fs/cgroup */
  uint32_t cpus;
} tree;

static const tree trees[] = {
    /* Version 2: of the own cgroup, of those above it, of the top of a container that sees no further. */
    {DISK V2, "0::/a/b\n", {{"a/b/cpu.max", "200000 100000\n"}}, 2},
    {DISK V2, "0::/a/b\n", {{"a/b/cpu.max", "400000 100000\n"}, {"a/cpu.max", "300000 100000\n"}}, 3},
    {DISK V2, "0::/a/b\n", {{"a/b/cpu.max", "max 100000\n"}, {"cpu.max", "1000000 50000"}}, 20},
    {DISK V2, "0::/a/b\n", {{"a/b/cpu.max", "max 100000\n"}, {"a/cpu.max", "max 100000\n"}}, KW_CPUS_ALL},
    {DISK V2, "0::/a/b\n", {{"a/c/cpu.max", "200000 100000\n"}, {"b/cpu.max", "200000 100000\n"}}, KW_CPUS_ALL},
    {DISK V2, "0::/\n", {{"cpu.max", "200000 100000\n"}}, 2},
    {DISK V2, "0::/a:b c\n", {{"a:b c/cpu.max", "200000 100000\n"}}, 2},
    {DISK V2, "0::/../elsewhere\n", {{"cpu.max", "200000 100000\n"}}, 2},
    {V2_CONTAINER, "0::/pods/ab/x\n", {{"x/cpu.max", "200000 100000\n"}, {"cpu.max", "300000 100000\n"}}, 2},
    {V2_CONTAINER, "0::/pods/ab\n", {{"cpu.max", "300000 100000\n"}}, 3},
    {V2_CONTAINER, "0::/pods/abc\n", {{"cpu.max", "300000 100000\n"}, {"c/cpu.max", "100000 100000\n"}}, 3},
    /* Whole CPUs, at least one. */
    {V2, "0::/a\n", {{"a/cpu.max", "299999 100000\n"}}, 2},
    {V2, "0::/a\n", {{"a/cpu.max", "1000 100000\n"}}, 1},
    /* What is none. */
    {V2, "0::/a\n", {{"a/cpu.max", ""}}, KW_CPUS_ALL},
    {V2, "0::/a\n", {{"a/cpu.max", "max\n"}}, KW_CPUS_ALL},
    {V2, "0::/a\n", {{"a/cpu.max", "200000\n"}}, KW_CPUS_ALL},
    {V2, "0::/a\n", {{"a/cpu.max", "200000 \n"}}, KW_CPUS_ALL},
    {V2, "0::/a\n", {{"a/cpu.max", "200000 0\n"}}, KW_CPUS_ALL},
    {V2, "0::/a\n", {{"a/cpu.max", "200000 -100000\n"}}, KW_CPUS_ALL},
    {V2, "0::/a\n", {{"a/cpu.max", "-200000 100000\n"}}, KW_CPUS_ALL},
    {V2, "0::/a\n", {{"a/cpu.max", "200000 100000 1\n"}}, KW_CPUS_ALL},
    {V2, "0::/a\n", {{"a/cpu.max", "200000 100000x\n"}}, KW_CPUS_ALL},
    {V2, "0::/a\n", {{"a/cpu.max", "99999999999999999999 1\n"}}, KW_CPUS_ALL},
    {V2, "0::/a\n", {{"a/cpu.max", "9223372036854775807 1\n"}}, KW_CPUS_ALL},
    {V2, "0:/a\n0\n\n1::/a\n", {{"a/cpu.max", "200000 100000\n"}}, KW_CPUS_ALL},
    {"- cgroup2\n - cgroup2 x\n - cgroup2 x y\n1 2 3 /\n\n", "0::/\n", {{"cpu.max", "200000 100000\n"}}, KW_CPUS_ALL},
    /* Version 1: two files. */
    {V1_SETS V1,
     "3:cpuset:/set\n2:cpu,cpuacct:/a\n",
     {{"cpu,cpuacct/a/cpu.cfs_quota_us", "250000\n"}, {"cpu,cpuacct/a/cpu.cfs_period_us", "100000\n"}},
     2},
    {V1,
     "2:cpuacct,cpu:/a/b\n",
     {{"cpu,cpuacct/a/b/cpu.cfs_quota_us", "-1\n"},
      {"cpu,cpuacct/a/b/cpu.cfs_period_us", "100000\n"},
      {"cpu,cpuacct/cpu.cfs_quota_us", "300000\n"},
      {"cpu,cpuacct/cpu.cfs_period_us", "100000\n"}},
     3},
    {V1, "2:cpu,cpuacct:/a\n", {{"cpu,cpuacct/a/cpu.cfs_quota_us", "200000\n"}}, KW_CPUS_ALL},
    {V1,
     "2:cpu,cpuacct:/a\n",
     {{"cpu,cpuacct/a/cpu.cfs_quota_us", "2 1\n"}, {"cpu,cpuacct/a/cpu.cfs_period_us", "1\n"}},
     KW_CPUS_ALL},
    {V1_CONTAINER,
     "2:cpu,cpuacct:/docker/ab/x\n",
     {{"cpu,cpuacct/x/cpu.cfs_quota_us", "200000\n"}, {"cpu,cpuacct/x/cpu.cfs_period_us", "100000\n"}},
     2},
    {V1_CONTAINER,
     "2:cpu,cpuacct:/other\n",
     {{"cpu,cpuacct/cpu.cfs_quota_us", "200000\n"}, {"cpu,cpuacct/cpu.cfs_period_us", "100000\n"}},
     2},
    {V1_SETS, "3:cpuset:/\n", {{"cpuset/cpu.cfs_quota_us", "1\n"}, {"cpuset/cpu.cfs_period_us", "1\n"}}, KW_CPUS_ALL},
    /* Both at once. */
    {V1 V2_BESIDE,
     "2:cpu,cpuacct:/\n0::/a\n",
     {{"cpu,cpuacct/cpu.cfs_quota_us", "500000\n"},
      {"cpu,cpuacct/cpu.cfs_period_us", "100000\n"},
      {"unified/a/cpu.max", "400000 100000\n"}},
     4},
};

static char root[] = "cpus_test_XXXXXX";

static void write_file(const char *folder, const char *name, const char *text) {
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s/%s/%s", root, folder, name);
  for (char *at = strchr(path, '/'); at != NULL; at = strchr(at + 1, '/')) {
    *at = '\0';
    assert_true(mkdir(path, 0700) == 0 || errno == EEXIST);
    *at = '/';
  }
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  assert_true(fputs(text, file) >= 0);
  assert_int_equal(fclose(file), 0);
}

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *at) {
  (void)status;
  (void)type;
  (void)at;
  return remove(path);
}

static int remove_root(void **state) {
  (void)state;
  return nftw(root, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

static int make_root(void **state) {
  (void)state;
  memcpy(root + sizeof root - 7, "XXXXXX", 6);
  return mkdtemp(root) != NULL ? 0 : -1;
}

static void quotas_are_read(void **state) {
  for (size_t i = 0; i < sizeof trees / sizeof trees[0]; i++) {
    const tree *t = &trees[i];
    write_file("proc/self", "mountinfo", t->mounts);
    write_file("proc/self", "cgroup", t->cgroups);
    for (size_t k = 0; k < 4 && t->files[k].path != NULL; k++) {
      write_file("sys/fs/cgroup", t->files[k].path, t->files[k].text);
    }
    const uint32_t cpus = kw_cpus_quota(root);
    if (cpus != t->cpus) print_error("tree %zu, of %s", i, t->cgroups);
    assert_int_equal(cpus, t->cpus);
    assert_int_equal(remove_root(state) + make_root(state), 0);
  }
}

static void without_files_there_is_no_quota(void **state) {
  (void)state;
  assert_int_equal(kw_cpus_quota(root), KW_CPUS_ALL);
  write_file("proc/self", "mountinfo", V1 V2);
  assert_int_equal(kw_cpus_quota(root), KW_CPUS_ALL);
  write_file("proc/self", "cgroup", "2:cpu,cpuacct:/\n0::/\n");
  assert_int_equal(kw_cpus_quota(root), KW_CPUS_ALL);
  write_file("sys/fs/cgroup", "cpu.max", "200000 100000\n");
  assert_int_equal(kw_cpus_quota(root), 2);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_mask_counts_on_large_machines),
      cmocka_unit_test(without_a_mask_there_is_one),
      cmocka_unit_test_setup_teardown(quotas_are_read, make_root, remove_root),
      cmocka_unit_test_setup_teardown(without_files_there_is_no_quota, make_root, remove_root),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
