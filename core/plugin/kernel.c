/* SPDX-License-Identifier: Apache-2.0 */
#include "plugin/kernel.h"

#include "base/error.h"
#include "base/log.h"
#include "base/struct.h"
#include "op/op.h"
#include "plugin/negotiate.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static void free_kernel(kw_kernel *kernel) {
  free((char *)kernel->desc.op);
  free((char *)kernel->desc.name);
  free(kernel);
}

/* Room for one more; the array doubles whenever its length is a power of two. */
static kw_kernel **grow(kw_plugin *plugin) {
  uint32_t count = plugin->kernel_count;
  if ((count & (count - 1)) != 0) return plugin->kernels;
  kw_kernel **kernels = realloc(plugin->kernels, (count != 0 ? 2 * count : 1) * sizeof *kernels);
  if (kernels != NULL) plugin->kernels = kernels;
  return kernels;
}

kw_status kw_kernel_register(kw_plugin *plugin, const kw_kernel_desc *desc) {
  if (!plugin->initializing) {
    return kw_fail(KW_ERR_INVALID_ARGUMENT,
                   "register_kernel was called outside init: kernels are registered there only");
  }
  if (desc == NULL) return kw_fail(KW_ERR_INVALID_ARGUMENT, "register_kernel got no descriptor");
  kw_status status = kw_struct_check("a kw_kernel_desc", desc->struct_size, KW_KERNEL_DESC_MIN);
  if (status != KW_OK) return KW_ERR_INVALID_ARGUMENT;
  kw_kernel_desc copy;
  kw_struct_read(&copy, sizeof copy, desc);
  if (copy.op == NULL || copy.name == NULL || copy.launch == NULL) {
    return kw_fail(KW_ERR_INVALID_ARGUMENT, "a kernel for op %s has no %s", copy.op != NULL ? copy.op : "(none)",
                   copy.op == NULL     ? "op"
                   : copy.name == NULL ? "name"
                                       : "launch");
  }
  const kw_op *op = kw_op_find(copy.op);
  if (op == NULL) {
    return kw_fail(KW_ERR_NOT_FOUND,
                   "kernel %s: this Keyway knows no op %s; a vendor's own op is defined first, with define_op",
                   copy.name, copy.op);
  }
  for (uint32_t i = 0; i < plugin->kernel_count; i++) {
    if (plugin->kernels[i]->op == op && strcmp(plugin->kernels[i]->desc.name, copy.name) == 0) {
      return kw_fail(KW_ERR_INVALID_ARGUMENT, "%s has a kernel named %s already; give this one another name", copy.op,
                     copy.name);
    }
  }
  kw_kernel *kernel = calloc(1, sizeof *kernel);
  if (kernel == NULL) return kw_fail(KW_ERR_OUT_OF_MEMORY, "no memory for kernel %s of %s", copy.name, copy.op);
  copy.op = strdup(copy.op);
  copy.name = strdup(copy.name);
  *kernel = (kw_kernel){.desc = copy, .plugin = plugin, .op = op, .order = plugin->kernel_count};
  if (copy.op == NULL || copy.name == NULL || grow(plugin) == NULL) {
    free_kernel(kernel);
    return kw_fail(KW_ERR_OUT_OF_MEMORY, "no memory for a kernel");
  }
  plugin->kernels[plugin->kernel_count++] = kernel;
  return KW_OK;
}

/* ---- Order ------------------------------------------------------------------------------------------------------- */

static char *preferences; /* KEYWAY_KERNELS as at start: "op=name,op=name" */
static pthread_once_t preferences_once = PTHREAD_ONCE_INIT;

static void read_preferences(void) {
  const char *text = secure_getenv("KEYWAY_KERNELS");
  if (text == NULL || text[0] == '\0') return;
  preferences = strdup(text);
  for (const char *pair = preferences; pair != NULL && *pair != '\0';) {
    size_t length = strcspn(pair, ",");
    if (memchr(pair, '=', length) == NULL) {
      kw_log(KW_LOG_WARN, "KEYWAY_KERNELS: '%.*s' is ignored: op=name is expected", (int)length, pair);
    }
    pair += length + (pair[length] == ',');
  }
}

static bool is_preferred(const kw_kernel *kernel) {
  pthread_once(&preferences_once, read_preferences);
  size_t op_length = strlen(kernel->desc.op), name_length = strlen(kernel->desc.name);
  for (const char *pair = preferences; pair != NULL && *pair != '\0';) {
    size_t length = strcspn(pair, ",");
    if (length == op_length + 1 + name_length && pair[op_length] == '=' &&
        memcmp(pair, kernel->desc.op, op_length) == 0 &&
        memcmp(pair + op_length + 1, kernel->desc.name, name_length) == 0) {
      return true;
    }
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
  for (uint32_t i = 0; i < plugin->kernel_count; i++) {
    kw_kernel *kernel = plugin->kernels[i];
    kernel->off = kernel->desc.priority == KW_PRIORITY_OFF && !is_preferred(kernel);
  }
  if (plugin->kernel_count > 0) qsort(plugin->kernels, plugin->kernel_count, sizeof *plugin->kernels, compare);
}

void kw_kernels_clear(kw_plugin *plugin) {
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
