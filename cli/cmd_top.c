/* SPDX-License-Identifier: Apache-2.0
 *
 * `keyway top`: what the user's processes do on devices, of those that show it (KEYWAY_TOP=1).
 */
#include "base/need.h"
#include "commands.h"
#include "live_reader.h"
#include "table.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#define SILENT 3.0 /* seconds after which a process is said to be silent */

/* ---- Tables ------------------------------------------------------------------------------------------------------ */

static void add_bytes(kw_cli_table *table, uint64_t bytes) {
  char text[24];
  kw_cli_table_add(table, "%s", bytes > 0 ? kw_cli_bytes(bytes, text) : "-");
}

static void add_busy(kw_cli_table *table, double busy) {
  kw_cli_table_add(table, "%.0f %%", 100 * busy);
}

/* Each device once, with what all processes do there together. */
static void print_devices(const kw_live_process *all, uint32_t count) {
  static const char *const headings[] = {"DEVICE",      ">PROCESSES", ">OPS/S", ">BUSY",
                                         ">IN TENSORS", ">HELD",      ">OF",    NULL};
  kw_cli_table *table = kw_cli_table_create(headings);
  kw_live_device *sums = kw_need(1);
  uint32_t *users = kw_need(1), sum_count = 0;
  for (uint32_t p = 0; p < count; ++p) {
    for (uint32_t d = 0; d < all[p].device_count; ++d) {
      const kw_live_device *device = &all[p].devices[d];
      uint32_t s = 0;
      while (s < sum_count && strcmp(sums[s].name, device->name) != 0) ++s;
      if (s == sum_count) {
        sums = realloc(sums, (sum_count + 1u) * sizeof *sums);
        users = realloc(users, (sum_count + 1u) * sizeof *users);
        if (sums == NULL || users == NULL) kw_out_of_memory();
        sums[sum_count] = *device;
        users[sum_count++] = 1;
        continue;
      }
      ++users[s];
      sums[s].launches_per_second += device->launches_per_second;
      sums[s].busy += device->busy;
      sums[s].allocated += device->allocated;
      sums[s].held += device->held;
    }
  }
  for (uint32_t s = 0; s < sum_count; ++s) {
    kw_cli_table_add(table, "%s", sums[s].name);
    kw_cli_table_add(table, "%u", users[s]);
    kw_cli_table_add(table, "%.0f", sums[s].launches_per_second);
    add_busy(table, sums[s].busy);
    add_bytes(table, sums[s].allocated);
    add_bytes(table, sums[s].held);
    add_bytes(table, sums[s].total);
  }
  kw_cli_table_print(table);
  free(sums);
  free(users);
}

static void print_processes(const kw_live_process *all, uint32_t count) {
  static const char *const headings[] = {">PID",  "PROGRAM",    "DEVICE",   ">OPS/S",     ">BUSY", ">IN TENSORS",
                                         ">HELD", ">TO DEVICE", ">TO HOST", ">FALLBACKS", NULL};
  kw_cli_table *table = kw_cli_table_create(headings);
  for (uint32_t p = 0; p < count; ++p) {
    for (uint32_t d = 0; d < all[p].device_count; ++d) {
      const kw_live_device *device = &all[p].devices[d];
      kw_cli_table_add(table, "%d", all[p].id);
      kw_cli_table_add(table, "%s", all[p].program);
      kw_cli_table_add(table, "%s", device->name);
      kw_cli_table_add(table, "%.0f", device->launches_per_second);
      add_busy(table, device->busy);
      add_bytes(table, device->allocated);
      add_bytes(table, device->held);
      add_bytes(table, device->bytes_to_device);
      add_bytes(table, device->bytes_to_host);
      kw_cli_table_add(table, "%" PRIu64, device->fallbacks);
    }
    if (all[p].age > SILENT) kw_cli_table_note(table, "silent for %.0f s", all[p].age);
  }
  kw_cli_table_print(table);
}

static void print_all(const kw_live_process *all, uint32_t count) {
  if (count == 0) {
    puts("No process shows itself. Start programs with KEYWAY_TOP=1 in their environment.");
    return;
  }
  print_devices(all, count);
  putchar('\n');
  print_processes(all, count);
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

static void add_device(cJSON *list, const kw_live_device *device) {
  cJSON *json = cJSON_CreateObject();
  cJSON_AddStringToObject(json, "name", device->name);
  cJSON_AddNumberToObject(json, "launches", (double)device->launches);
  cJSON_AddNumberToObject(json, "decomposed", (double)device->decomposed);
  cJSON_AddNumberToObject(json, "fallbacks", (double)device->fallbacks);
  cJSON_AddNumberToObject(json, "bytes_to_device", (double)device->bytes_to_device);
  cJSON_AddNumberToObject(json, "bytes_to_host", (double)device->bytes_to_host);
  cJSON_AddNumberToObject(json, "allocated", (double)device->allocated);
  cJSON_AddNumberToObject(json, "held", (double)device->held);
  if (device->total > 0) cJSON_AddNumberToObject(json, "total", (double)device->total);
  cJSON_AddNumberToObject(json, "launches_per_second", device->launches_per_second);
  cJSON_AddNumberToObject(json, "busy", device->busy);
  cJSON_AddItemToArray(list, json);
}

static bool print_json(const kw_live_process *all, uint32_t count) {
  cJSON *json = cJSON_CreateObject(), *processes = cJSON_AddArrayToObject(json, "processes");
  for (uint32_t p = 0; p < count; ++p) {
    cJSON *process = cJSON_CreateObject();
    cJSON_AddNumberToObject(process, "pid", all[p].id);
    cJSON_AddStringToObject(process, "program", all[p].program);
    cJSON_AddNumberToObject(process, "age_seconds", all[p].age);
    cJSON *devices = cJSON_AddArrayToObject(process, "devices");
    for (uint32_t d = 0; d < all[p].device_count; ++d) add_device(devices, &all[p].devices[d]);
    cJSON_AddItemToArray(processes, process);
  }
  return kw_cli_json_print(json);
}

/* ---- The terminal ------------------------------------------------------------------------------------------------ */

static volatile sig_atomic_t ended; /* the signal that ends it */

static void note_end(int number) {
  ended = number;
}

/* What it was before. */
typedef struct screen {
  struct termios keys;
  sigset_t blocked;
} screen;

/* Keys come at once, without an echo, Ctrl-C among them; the screen is another one until the end. Signals that end the
 * program come while it waits for keys, and at no other time. */
static void begin_screen(screen *out_before) {
  static const int ends[] = {SIGINT, SIGTERM, SIGHUP};
  const struct sigaction action = {.sa_handler = note_end};
  sigset_t signals;
  sigemptyset(&signals);
  for (size_t i = 0; i < sizeof ends / sizeof ends[0]; ++i) {
    sigaction(ends[i], &action, NULL);
    sigaddset(&signals, ends[i]);
  }
  sigprocmask(SIG_BLOCK, &signals, &out_before->blocked);
  tcgetattr(STDIN_FILENO, &out_before->keys);
  struct termios keys = out_before->keys;
  keys.c_lflag &= ~(tcflag_t)(ICANON | ECHO | ISIG);
  tcsetattr(STDIN_FILENO, TCSANOW, &keys);
  fputs("\033[?1049h\033[?25l", stdout);
}

static void end_screen(const screen *before) {
  fputs("\033[?25h\033[?1049l", stdout);
  fflush(stdout);
  tcsetattr(STDIN_FILENO, TCSANOW, &before->keys);
}

/* Waits for a period, in which signals come that were not blocked before. False: somebody wants it to end. */
static bool wait_for_keys(const screen *before) {
  struct pollfd keys = {.fd = STDIN_FILENO, .events = POLLIN};
  char key;
  const int ready = ppoll(&keys, 1, &(struct timespec){.tv_nsec = KW_LIVE_PERIOD_MS * 1000000L}, &before->blocked);
  if (ended || ready < 0) return !ended && errno == EINTR;
  if (ready == 0) return true;
  if (read(STDIN_FILENO, &key, 1) != 1) return false; /* the terminal is gone */
  return key != 'q' && key != 'Q' && key != '\003';
}

/* ---- The command ------------------------------------------------------------------------------------------------- */

static bool show_once(bool as_json) {
  uint32_t count;
  kw_live_process *all = kw_live_read(&count);
  bool good = true;
  if (as_json) {
    good = print_json(all, count);
  } else {
    print_all(all, count);
  }
  kw_live_free(all, count);
  return good;
}

static int run_top(const kw_cli_args *args) {
  const bool as_json = kw_cli_args_has(args, "--json");
  if (as_json || kw_cli_args_has(args, "--once") || !isatty(STDOUT_FILENO) || !isatty(STDIN_FILENO)) {
    return show_once(as_json) ? KW_CLI_OK : KW_CLI_FAILED;
  }
  screen before;
  begin_screen(&before);
  do {
    fputs("\033[H\033[J", stdout);
    show_once(false);
    fputs("\nq ends it\n", stdout);
    fflush(stdout);
  } while (wait_for_keys(&before));
  end_screen(&before);
  return ended == SIGTERM || ended == SIGHUP ? 128 + ended : KW_CLI_OK;
}

static const kw_cli_option options[] = {
    {"--once", NULL, "print it once, as where stdout is no terminal"},
    KW_CLI_OPTION_JSON,
};

const kw_cli_command kw_cli_top = {
    .name = "top",
    .synopsis = "[--once] [--json]",
    .summary = "Show what running processes do on devices: calls, memory, how busy they are",
    .details =
        "Shows the processes of this user that were started with KEYWAY_TOP=1 in their environment, twice a second, "
        "until\nq or Ctrl-C. OPS/S are kernels launched per second. BUSY is the share of looks, 50 a second, at which "
        "a stream of\nthe device had work that had not ended; of cpu devices the processors that the process uses. "
        "HELD "
        "is what the\nprocess has taken of the device's memory, caches included; TO DEVICE and TO HOST is what it has "
        "copied so far.\nThe files in which processes write this are in $XDG_RUNTIME_DIR/keyway, readable to this user "
        "alone.\n",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .main = run_top,
};
