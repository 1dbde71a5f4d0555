/* SPDX-License-Identifier: Apache-2.0
 *
 * Three fences: no new privileges; system calls by seccomp; files that may be written, device nodes, and signals and
 * traces to processes outside by Landlock.
 */
#include "isolate/host/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <linux/landlock.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef KEYWAY_HAVE_SECCOMP
#include <seccomp.h>
#endif

static bool has(kw_allowances allowed, const char *word) {
  while (*allowed != NULL && strcmp(*allowed, word) != 0) allowed++;
  return *allowed != NULL;
}

/* ---- System calls ------------------------------------------------------------------------------------------------ */

#ifdef KEYWAY_HAVE_SECCOMP

/* What no plugin has a use for: looking into other processes, changing the machine, other users, other name spaces, and
 * what goes around this filter. Calls that this machine does not have are passed over. */
static const char *const denied[] = {"ptrace",
                                     "process_vm_readv",
                                     "process_vm_writev",
                                     "process_madvise",
                                     "pidfd_getfd",
                                     "pidfd_send_signal",
                                     "kcmp",
                                     "mount",
                                     "umount",
                                     "umount2",
                                     "move_mount",
                                     "open_tree",
                                     "fsopen",
                                     "fsmount",
                                     "fsconfig",
                                     "fspick",
                                     "mount_setattr",
                                     "pivot_root",
                                     "chroot",
                                     "swapon",
                                     "swapoff",
                                     "reboot",
                                     "init_module",
                                     "finit_module",
                                     "delete_module",
                                     "bpf",
                                     "kexec_load",
                                     "kexec_file_load",
                                     "perf_event_open",
                                     "setuid",
                                     "setgid",
                                     "setreuid",
                                     "setregid",
                                     "setresuid",
                                     "setresgid",
                                     "setgroups",
                                     "setfsuid",
                                     "setfsgid",
                                     "unshare",
                                     "setns",
                                     "acct",
                                     "quotactl",
                                     "quotactl_fd",
                                     "add_key",
                                     "request_key",
                                     "keyctl",
                                     "io_uring_setup",
                                     "io_uring_enter",
                                     "io_uring_register",
                                     "userfaultfd",
                                     "name_to_handle_at",
                                     "open_by_handle_at",
                                     "settimeofday",
                                     "clock_settime",
                                     "adjtimex",
                                     "clock_adjtime",
                                     "sethostname",
                                     "setdomainname",
                                     "iopl",
                                     "ioperm",
                                     "syslog",
                                     "vhangup",
                                     "fanotify_init",
                                     "personality"};
static const char *const denied_programs[] = {"execve", "execveat"};
static const char *const denied_sockets[] = {"socket", "socketpair", "connect", "bind", "listen", "accept", "accept4"};

static bool deny(scmp_filter_ctx filter, const char *const *names, size_t count) {
  for (size_t i = 0; i < count; i++) {
    const int number = seccomp_syscall_resolve_name(names[i]);
    if (number == __NR_SCMP_ERROR) continue;
    const int error = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), number, 0);
    if (error != 0 && error != -EEXIST && error != -EDOM && error != -EINVAL) return false;
  }
  return true;
}
#define DENY(filter, names) deny((filter), (names), sizeof(names) / sizeof(names)[0])

/* New name spaces by clone; of clone3 the filter cannot see the flags, so that the C library falls back to clone. */
static bool deny_namespaces(scmp_filter_ctx filter) {
  static const uint64_t flags[] = {CLONE_NEWUSER, CLONE_NEWNS,  CLONE_NEWPID,   CLONE_NEWNET,
                                   CLONE_NEWIPC,  CLONE_NEWUTS, CLONE_NEWCGROUP};
  for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
    if (seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(clone), 1,
                         SCMP_A0(SCMP_CMP_MASKED_EQ, flags[i], flags[i])) != 0) {
      return false;
    }
  }
  return seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0) == 0;
}

static bool filter_calls(kw_allowances allowed) {
  scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
  if (filter == NULL) return false;
  bool good = DENY(filter, denied) && deny_namespaces(filter);
  if (good && !has(allowed, "execute")) good = DENY(filter, denied_programs);
  if (good && !has(allowed, "network")) good = DENY(filter, denied_sockets);
  if (good) good = seccomp_load(filter) == 0;
  seccomp_release(filter);
  return good;
}

#else

static bool filter_calls(kw_allowances allowed) {
  return has(allowed, "execute") || true;
}

#endif

/* ---- Files ------------------------------------------------------------------------------------------------------- */

/* The kernel's newer bits, which an older linux/landlock.h does not have. */
#define FS_REFER (UINT64_C(1) << 13)
#define FS_TRUNCATE (UINT64_C(1) << 14)
#define FS_IOCTL_DEV (UINT64_C(1) << 15)
#define SCOPE_ABSTRACT_SOCKET (UINT64_C(1) << 0)
#define SCOPE_SIGNAL (UINT64_C(1) << 1)

typedef struct ruleset_attr {
  uint64_t files, network, scoped;
} ruleset_attr;

/* Everything that changes a file or a folder. */
static uint64_t writing(int version) {
  uint64_t rights = LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE |
                    LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG |
                    LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_BLOCK |
                    LANDLOCK_ACCESS_FS_MAKE_SYM;
  if (version >= 2) rights |= FS_REFER;
  if (version >= 3) rights |= FS_TRUNCATE;
  if (version >= 5) rights |= FS_IOCTL_DEV;
  return rights;
}

static void allow_path(int ruleset, const char *path, uint64_t rights) {
  const int file = open(path, O_PATH | O_CLOEXEC);
  struct landlock_path_beneath_attr rule = {.allowed_access = rights, .parent_fd = file};
  if (file < 0) return; /* not there: nothing to allow */
  if (syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) != 0) {
    rule.allowed_access &= LANDLOCK_ACCESS_FS_WRITE_FILE | FS_TRUNCATE | FS_IOCTL_DEV; /* it is no folder */
    syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
  }
  close(file);
}

/* A path or a pattern of paths. */
static void allow_devices(int ruleset, const char *pattern, uint64_t rights) {
  glob_t found = {0};
  if (glob(pattern, GLOB_NOSORT, NULL, &found) == 0) {
    for (size_t i = 0; i < found.gl_pathc; i++) allow_path(ruleset, found.gl_pathv[i], rights);
  }
  globfree(&found);
}

/* Caches and temporary files are where everybody has them. */
static void allow_usual(int ruleset, uint64_t rights) {
  static const char *const usual[] = {"/tmp", "/var/tmp", "/dev/shm", "/dev/null", "/dev/zero", "/dev/full"};
  char cache[4096];
  for (size_t i = 0; i < sizeof usual / sizeof usual[0]; i++) allow_path(ruleset, usual[i], rights);
  if (getenv("TMPDIR") != NULL) allow_path(ruleset, getenv("TMPDIR"), rights);
  if (getenv("XDG_CACHE_HOME") != NULL) allow_path(ruleset, getenv("XDG_CACHE_HOME"), rights);
  if (getenv("HOME") == NULL) return;
  snprintf(cache, sizeof cache, "%s/.cache", getenv("HOME"));
  allow_path(ruleset, cache, rights);
}

/* KW_OK, or what is missing. */
static const char *fence_files(kw_allowances allowed) {
  const long version = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
  if (version < 1) return "this kernel has no Landlock: files and other processes of the user are open to it";
  ruleset_attr attr = {.files = writing((int)version)};
  if (version >= 6) attr.scoped = SCOPE_ABSTRACT_SOCKET | SCOPE_SIGNAL;
  const size_t size = version >= 6 ? sizeof attr : sizeof attr.files;
  const int ruleset = (int)syscall(SYS_landlock_create_ruleset, &attr, size, 0);
  if (ruleset < 0) return "Landlock refuses: files and other processes of the user are open to it";
  allow_usual(ruleset, attr.files);
  for (; *allowed != NULL; allowed++) {
    if (**allowed == '/') allow_devices(ruleset, *allowed, attr.files & (LANDLOCK_ACCESS_FS_WRITE_FILE | FS_IOCTL_DEV));
  }
  const bool done = syscall(SYS_landlock_restrict_self, ruleset, 0) == 0;
  close(ruleset);
  if (!done) return "Landlock refuses: files and other processes of the user are open to it";
  return version >= 6 ? "" : "this kernel's Landlock lets it send signals to other processes of the user";
}

bool kw_confine(kw_allowances allowed, const char **out_missing) {
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return false;
  *out_missing = fence_files(allowed);
#ifndef KEYWAY_HAVE_SECCOMP
  *out_missing = "this Keyway was built without libseccomp: all system calls are open to it";
#endif
  return filter_calls(allowed);
}
