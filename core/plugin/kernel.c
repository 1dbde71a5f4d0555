/* SPDX-License-Identifier: Apache-2.0
 *
 * A plugin's kernels by op: registering them, and the order in which they are tried.
 */
#include "plugin/kernel.h"

#include "base/dtype.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/struct.h"
#include "base/utf8.h"
#include "op/op.h"

#include <fnmatch.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Critical flags of kernels that this library follows: none yet. */
#define KNOWN_FLAGS UINT64_C(0)

/* What registration needs besides the kernels: their names, to refuse a second one of an op. */
typedef struct kw_kernel_registration {
  kw_kernel **by_name; /* open addressing by op and name; NULL is empty */
  uint32_t capacity;   /* a power of two, at least twice plugin->kernel_count */
} kw_kernel_registration;

/* Guards plugin->registration, and the kernels while that is there: a plugin may register from several threads. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- Registration ------------------------------------------------------------------------------------------------ */

kw_status kw_kernels_open(kw_plugin *plugin) {
  kw_kernel_registration *registration = calloc(1, sizeof *registration);
  if (registration == NULL) return kw_fail(KW_ERR_OUT_OF_MEMORY, "no memory for the plugin's kernels");
  pthread_mutex_lock(&lock);
  plugin->registration = registration;
  pthread_mutex_unlock(&lock);
  return KW_OK;
}

bool kw_kernels_are_open(const kw_plugin *plugin) {
  pthread_mutex_lock(&lock);
  bool open = plugin->registration != NULL;
  pthread_mutex_unlock(&lock);
  return open;
}

static void close_registration(kw_plugin *plugin) {
  pthread_mutex_lock(&lock);
  if (plugin->registration != NULL) free(plugin->registration->by_name);
  free(plugin->registration);
  plugin->registration = NULL;
  pthread_mutex_unlock(&lock);
}

/* The bucket of the kernel of this op and name, or the empty one where it would go. */
static kw_kernel **find_name(const kw_kernel_registration *registration, const kw_op *op, const char *name) {
  for (uint32_t i = kw_hash_text(KW_HASH_INIT ^ op->id, name);; ++i) {
    kw_kernel **bucket = &registration->by_name[i & (registration->capacity - 1)];
    if (*bucket == NULL || ((*bucket)->op == op && strcmp((*bucket)->desc.name, name) == 0)) return bucket;
  }
}

/* Room for one more kernel and its name. Both double, so that n registrations take time in proportion to n. */
static bool grow(kw_plugin *plugin) {
  kw_kernel_registration *registration = plugin->registration;
  const uint32_t capacity = registration->capacity;
  if (plugin->kernel_count < capacity / 2) return true;
  const uint32_t larger = capacity != 0 ? 2 * capacity : 64;
  kw_kernel **kernels = realloc(plugin->kernels, larger / 2 * sizeof *kernels);
  if (kernels == NULL) return false;
  plugin->kernels = kernels;
  kw_kernel **by_name = calloc(larger, sizeof *by_name);
  if (by_name == NULL) return false;
  free(registration->by_name);
  *registration = (kw_kernel_registration){by_name, larger};
  for (uint32_t i = 0; i < plugin->kernel_count; i++) {
    *find_name(registration, kernels[i]->op, kernels[i]->desc.name) = kernels[i];
  }
  return true;
}

static void free_kernel(kw_kernel *kernel) {
  free((char *)kernel->desc.op);
  free((char *)kernel->desc.name);
  free(kernel);
}

static kw_kernel *make_kernel(kw_plugin *plugin, const kw_op *op, const kw_kernel_desc *desc) {
  kw_kernel *kernel = calloc(1, sizeof *kernel);
  if (kernel == NULL) return NULL;
  *kernel = (kw_kernel){.desc = *desc, .plugin = plugin, .op = op};
  kernel->desc.next = NULL;
  kernel->desc.op = strdup(desc->op);
  kernel->desc.name = strdup(desc->name);
  if (kernel->desc.op != NULL && kernel->desc.name != NULL) return kernel;
  free_kernel(kernel);
  return NULL;
}

/* Under the lock. Takes the kernel over on KW_OK. */
static kw_status add_kernel(kw_plugin *plugin, kw_kernel *kernel) {
  const kw_kernel_desc *desc = &kernel->desc;
  if (plugin->registration == NULL) {
    return kw_fail(KW_ERR_INVALID_ARGUMENT, "register_kernel: called outside init; register kernels there");
  }
  if (!grow(plugin)) return kw_fail(KW_ERR_OUT_OF_MEMORY, "no memory for kernel %s of %s", desc->name, desc->op);
  kw_kernel **bucket = find_name(plugin->registration, kernel->op, desc->name);
  if (*bucket != NULL) {
    return kw_fail(KW_ERR_INVALID_ARGUMENT, "%s has a kernel named %s already; give this one another name", desc->op,
                   desc->name);
  }
  kernel->order = plugin->kernel_count;
  plugin->kernels[plugin->kernel_count++] = *bucket = kernel;
  return KW_OK;
}

kw_status kw_kernel_register(kw_plugin *plugin, const kw_kernel_desc *given) {
  if (given == NULL) return kw_fail(KW_ERR_INVALID_ARGUMENT, "register_kernel: argument kernel is NULL");
  kw_status status = kw_struct_check("a kw_kernel_desc", given->struct_size, KW_KERNEL_DESC_MIN);
  if (status != KW_OK) return status;
  kw_kernel_desc desc;
  kw_struct_read(&desc, sizeof desc, given);
  if (desc.op == NULL || desc.name == NULL || desc.launch == NULL) {
    return kw_fail(KW_ERR_INVALID_ARGUMENT, "a kernel for op %s has no %s", desc.op != NULL ? desc.op : "(none)",
                   desc.op == NULL     ? "op"
                   : desc.name == NULL ? "name"
                                       : "launch");
  }
  if (!kw_ascii_identifies(desc.name, "")) {
    return kw_fail(KW_ERR_INVALID_ARGUMENT, "kernel '%s' of %s: a name is printable ASCII without blanks", desc.name,
                   desc.op);
  }
  if (desc.flags & KW_FLAGS_CRITICAL & ~KNOWN_FLAGS) {
    return kw_fail(
        KW_ERR_UNSUPPORTED,
        "kernel %s of %s: this Keyway does not know what its flags 0x%llx ask for; the plugin does without it",
        desc.name, desc.op, (unsigned long long)(desc.flags & KW_FLAGS_CRITICAL & ~KNOWN_FLAGS));
  }
  if ((status = kw_chain_check("a kw_kernel_desc", desc.next)) != KW_OK) return status;
  status = kw_dtype_mask_check("its dtypes", plugin->desc.abi_version, &desc.dtypes);
  if (status != KW_OK) return kw_wrap(status, "kernel %s of %s", desc.name, desc.op);
  const kw_op *op = kw_op_find(desc.op);
  if (op == NULL) {
    return kw_wrap(KW_ERR_NOT_FOUND,
                   "kernel %s: this Keyway knows no op %s; a vendor's own op is defined first, with define_op",
                   desc.name, desc.op);
  }
  if (desc.known_args == 0 && op->schema.arg_count > 0) {
    return kw_fail(
        KW_ERR_INVALID_ARGUMENT,
        "kernel %s of %s: known_args is 0; say how many arguments it understands, up to the %u of the schema "
        "(kw_known_args in keyway/known_args.h)",
        desc.name, desc.op, op->schema.arg_count);
  }
  if (desc.flags & KW_KERNEL_MIXED_DTYPES && desc.can_implement == NULL) {
    return kw_fail(
        KW_ERR_INVALID_ARGUMENT,
        "kernel %s of %s: KW_KERNEL_MIXED_DTYPES without can_implement; it has to refuse what a later version "
        "may send (kw_call_is_known)",
        desc.name, desc.op);
  }
  if (desc.packable != 0 && (desc.packed_size == NULL || desc.pack == NULL)) {
    return kw_fail(KW_ERR_INVALID_ARGUMENT, "kernel %s of %s: it packs arguments and has no %s", desc.name, desc.op,
                   desc.packed_size == NULL ? "packed_size" : "pack");
  }
  kw_kernel *kernel = make_kernel(plugin, op, &desc);
  if (kernel == NULL) return kw_fail(KW_ERR_OUT_OF_MEMORY, "no memory for kernel %s of %s", desc.name, desc.op);
  pthread_mutex_lock(&lock);
  status = add_kernel(plugin, kernel);
  pthread_mutex_unlock(&lock);
  if (status != KW_OK) free_kernel(kernel);
  return status;
}

/* ---- Order ------------------------------------------------------------------------------------------------------- */

static char *preferences; /* KEYWAY_KERNELS as at start: "op=name,op=name" */
static pthread_once_t preferences_once = PTHREAD_ONCE_INIT;

static void read_preferences(void) {
  const char *text = secure_getenv("KEYWAY_KERNELS");
  if (text == NULL || text[0] == '\0') return;
  preferences = strdup(text);
}

/* Of "op=name", whose op may be a glob: why no kernel can be meant; false when some plugin may have one. */
static bool is_misspelt(const char *pair, char *why, size_t size) {
  char op[256];
  if (strchr(pair, '=') == NULL) {
    snprintf(why, size, "op=name is expected");
    return true;
  }
  snprintf(op, sizeof op, "%.*s", (int)strcspn(pair, "="), pair);
  if (strpbrk(op, "*?[\\") != NULL || strstr(op, "::") != NULL || kw_op_find(op) != NULL) return false;
  kw_error_sentence(why, size);
  kw_error_clear();
  return true;
}

void kw_kernels_start(void) {
  const char *text = secure_getenv("KEYWAY_KERNELS");
  while (text != NULL && *text != '\0') {
    char pair[512], why[512];
    const size_t length = strcspn(text, ",");
    snprintf(pair, sizeof pair, "%.*s", (int)length, text);
    if (is_misspelt(pair, why, sizeof why)) kw_log(KW_LOG_WARN, "KEYWAY_KERNELS: '%s' is ignored: %s", pair, why);
    text += length + (text[length] == ',');
  }
}

/* Whether "op=name" of `length` characters, both globs, means the kernel. */
static bool is_meant(const char *pair, size_t length, const kw_kernel *kernel) {
  char globs[256];
  if (length >= sizeof globs) return false;
  memcpy(globs, pair, length);
  globs[length] = '\0';
  char *name = strchr(globs, '=');
  if (name == NULL) return false;
  *name++ = '\0';
  return fnmatch(globs, kernel->desc.op, 0) == 0 && fnmatch(name, kernel->desc.name, 0) == 0;
}

static bool is_preferred(const kw_kernel *kernel) {
  pthread_once(&preferences_once, read_preferences);
  for (const char *pair = preferences; pair != NULL && *pair != '\0';) {
    size_t length = strcspn(pair, ",");
    if (is_meant(pair, length, kernel)) return true;
    pair += length + (pair[length] == ',');
  }
  return false;
}

static int compare(const void *a, const void *b) {
  const kw_kernel *x = *(kw_kernel *const *)a, *y = *(kw_kernel *const *)b;
  if (x->op->id != y->op->id) return x->op->id < y->op->id ? -1 : 1;
  bool x_preferred = is_preferred(x), y_preferred = is_preferred(y);
  if (x_preferred != y_preferred) return x_preferred ? -1 : 1;
  if (x->desc.priority != y->desc.priority) return x->desc.priority > y->desc.priority ? -1 : 1;
  return x->order < y->order ? -1 : x->order > y->order;
}

void kw_kernels_sort(kw_plugin *plugin) {
  close_registration(plugin);
  for (uint32_t i = 0; i < plugin->kernel_count; i++) {
    kw_kernel *kernel = plugin->kernels[i];
    kernel->off = kernel->desc.priority == KW_PRIORITY_OFF && !is_preferred(kernel);
  }
  if (plugin->kernel_count > 0) qsort(plugin->kernels, plugin->kernel_count, sizeof *plugin->kernels, compare);
}

void kw_kernels_clear(kw_plugin *plugin) {
  close_registration(plugin);
  for (uint32_t i = 0; i < plugin->kernel_count; i++) free_kernel(plugin->kernels[i]);
  free(plugin->kernels);
  plugin->kernels = NULL;
  plugin->kernel_count = 0;
}

/* Index of the first kernel whose op id is at least `id`. */
static uint32_t lower_bound(const kw_plugin *plugin, uint32_t id) {
  uint32_t low = 0, high = plugin->kernel_count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (plugin->kernels[middle]->op->id < id) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

kw_kernel *const *kw_plugin_kernels_by_name(const kw_plugin *plugin, const kw_op *op, uint32_t *out_count) {
  uint32_t begin = lower_bound(plugin, op->id);
  *out_count = lower_bound(plugin, op->id + 1) - begin;
  return plugin->kernels + begin;
}

kw_kernel *const *kw_plugin_kernels(const kw_plugin *plugin, const kw_op *op, uint32_t *out_count) {
  kw_kernel *const *kernels = kw_plugin_kernels_by_name(plugin, op, out_count);
  while (*out_count > 0 && kernels[*out_count - 1]->off) --*out_count;
  return kernels;
}
