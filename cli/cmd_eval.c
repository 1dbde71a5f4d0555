/* SPDX-License-Identifier: Apache-2.0
 *
 * `keyway eval`: one op, on files.
 */
#include "commands.h"
#include "npy.h"
#include "value.h"

#include <keyway/keyway.h>

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define MAX_LIST 64        /* tensors in one list argument */
#define PRINTED_SIZE 65536 /* characters of a printed result */

/* One argument of the op. */
typedef struct argument {
  kw_arg_info info;
  kw_cli_storage storage;
  kw_tensor *tensors[MAX_LIST]; /* inputs; owned */
} argument;

typedef struct evaluation {
  const kw_cli_args *args;
  const kw_op *op;
  kw_op_info info;
  kw_device *device;
  argument *arguments; /* info.arg_count */
  kw_value *values;    /* info.arg_count; tensors and lists are those of `arguments` */
  kw_tensor **outs;    /* info.result_count; owned; NULL for a result that is an argument */
} evaluation;

#define COMPLAIN(...) kw_cli_complain(&kw_cli_eval, __VA_ARGS__)

/* ---- What is run, and where -------------------------------------------------------------------------------------- */

static bool find_op(evaluation *e) {
  const char *name = kw_cli_args_positional(e->args, 0);
  if (!name) {
    COMPLAIN("which op? usage: keyway eval %s", kw_cli_eval.synopsis);
    return false;
  }
  uint32_t count;
  kw_device_count(&count); /* starts the library: plugins add ops */
  e->op = kw_op_find(name);
  if (!e->op) {
    COMPLAIN("%s; 'keyway ops' lists all", kw_error_message());
    return false;
  }
  e->info.struct_size = sizeof e->info;
  kw_op_get_info(e->op, &e->info);
  e->info.result_count -= e->info.counted; /* narrowed to the count */
  e->arguments = calloc(e->info.arg_count + 1, sizeof *e->arguments);
  e->values = calloc(e->info.arg_count + 1, sizeof *e->values);
  e->outs = calloc(e->info.result_count + 1, sizeof(kw_tensor *));
  if (!e->arguments || !e->values || !e->outs) {
    COMPLAIN("no memory");
    return false;
  }
  for (uint32_t i = 0; i < e->info.arg_count; ++i) {
    e->arguments[i].info.struct_size = sizeof e->arguments[i].info;
    kw_op_get_arg(e->op, i, &e->arguments[i].info);
  }
  return true;
}

/* Index of an argument, or -1. */
static int find_argument(const evaluation *e, const char *name) {
  for (uint32_t i = 0; i < e->info.arg_count; ++i) {
    if (strcmp(e->arguments[i].info.name, name) == 0) return (int)i;
  }
  return -1;
}

static bool is_tensor(const kw_arg_info *arg) {
  return arg->tag == KW_TAG_TENSOR || arg->tag == KW_TAG_TENSOR_LIST;
}

static bool open_device(evaluation *e) {
  const char *name = kw_cli_args_value(e->args, "--device");
  if (!name) {
    COMPLAIN("on which device? add --device NAME; 'keyway list' lists them");
    return false;
  }
  if (kw_device_open(name, &e->device) == KW_OK) return true;
  COMPLAIN("%s", kw_error_message());
  return false;
}

/* ---- Inputs ------------------------------------------------------------------------------------------------------ */

/* What the raw bytes of a file mean, by --in-dtype; the first given of that size. */
static bool name_raw_dtype(evaluation *e, const char *path, kw_cli_npy *array) {
  const char *name;
  for (uint32_t cursor = 0; (name = kw_cli_args_next(e->args, "--in-dtype", &cursor));) {
    kw_dtype dtype = kw_dtype_from_name(name);
    if (kw_dtype_size(dtype) != array->item_size) continue;
    array->dtype = dtype;
    return true;
  }
  COMPLAIN("%s holds raw elements of %u byte%s; say what they are: --in-dtype %s", path, array->item_size,
           array->item_size == 1 ? "" : "s", array->item_size == 1 ? "f8e4m3fn (or f8e5m2)" : "bf16");
  return false;
}

static bool check_raw_dtypes(evaluation *e) {
  const char *name;
  for (uint32_t cursor = 0; (name = kw_cli_args_next(e->args, "--in-dtype", &cursor));) {
    kw_dtype dtype = kw_dtype_from_name(name);
    if (dtype == KW_BF16 || dtype == KW_F8E4M3FN || dtype == KW_F8E5M2) continue;
    COMPLAIN(
        "--in-dtype %s: it names what .npy files cannot, one of bf16, f8e4m3fn, f8e5m2; other files say their dtype "
        "themselves",
        name);
    return false;
  }
  return true;
}

static bool load_tensor(evaluation *e, const char *path, kw_tensor **out_tensor) {
  kw_cli_npy array;
  char message[KW_CLI_NPY_MESSAGE];
  if (!kw_cli_npy_read(path, &array, message)) {
    COMPLAIN("%s", message);
    return false;
  }
  bool fine = array.dtype != KW_DTYPE_NONE || name_raw_dtype(e, path, &array);
  if (fine) {
    fine = kw_tensor_create(e->device, array.dtype, array.rank, array.shape, out_tensor) == KW_OK &&
           kw_tensor_write(*out_tensor, array.data) == KW_OK;
    if (!fine) COMPLAIN("%s: %s", path, kw_error_message());
  }
  kw_cli_npy_free(&array);
  return fine;
}

/* "a.npy,none,b.npy" */
static bool load_list(evaluation *e, uint32_t index, const char *paths) {
  uint32_t count = 0;
  for (const char *at = paths; *at;) {
    size_t length = strcspn(at, ",");
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%.*s", (int)length, at);
    if (count == MAX_LIST) {
      COMPLAIN("argument '%s': more than %d tensors in a list", e->arguments[index].info.name, MAX_LIST);
      return false;
    }
    if (strcmp(path, "none") != 0 && !load_tensor(e, path, &e->arguments[index].tensors[count])) return false;
    ++count;
    at += length + (at[length] == ',');
  }
  e->values[index] = kw_arg_tensor_list(e->arguments[index].tensors, count);
  return true;
}

/* The --in files, in the order of the schema's tensors. */
static bool load_inputs(evaluation *e) {
  uint32_t cursor = 0;
  for (uint32_t i = 0; i < e->info.arg_count; ++i) {
    const kw_arg_info *arg = &e->arguments[i].info;
    if (!is_tensor(arg)) continue;
    const char *path = kw_cli_args_next(e->args, "--in", &cursor);
    bool optional = arg->flags & KW_ARG_OPTIONAL, list = arg->tag == KW_TAG_TENSOR_LIST;
    if (!path && !optional) {
      COMPLAIN("%s needs another --in FILE, for argument '%s'", e->info.name, arg->name);
      return false;
    }
    if (!path || (optional && strcmp(path, "none") == 0)) continue;
    kw_tensor **tensors = e->arguments[i].tensors;
    if (list ? !load_list(e, i, path) : !load_tensor(e, path, tensors)) return false;
    if (!list) e->values[i] = kw_arg_tensor(tensors[0]);
  }
  const char *more = kw_cli_args_next(e->args, "--in", &cursor);
  if (more) COMPLAIN("--in %s: %s takes no more tensors", more, e->info.name);
  return !more;
}

/* ---- Attributes -------------------------------------------------------------------------------------------------- */

static bool parse_attribute(evaluation *e, const char *name, const char *text) {
  int index = find_argument(e, name);
  if (index < 0) {
    const char *near = kw_cli_nearest(name, &e->arguments[0].info.name, e->info.arg_count, sizeof e->arguments[0]);
    COMPLAIN("--attr %s: no such argument%s%s%s; %s", name, near ? "; did you mean '" : "", near ? near : "",
             near ? "'?" : "", e->info.schema);
    return false;
  }
  argument *argument = &e->arguments[index];
  if (is_tensor(&argument->info)) {
    COMPLAIN("--attr %s: this argument is a tensor; give it as a file with --in", name);
    return false;
  }
  if (kw_cli_value_parse(&argument->info, text, &argument->storage, &e->values[index])) return true;
  const bool names_dtype = argument->info.tag == KW_TAG_DTYPE; /* the library says which was meant */
  COMPLAIN("--attr %s=%s: expected %s%s%s%s; %s", name, text, kw_cli_value_expects(&argument->info),
           argument->info.flags & KW_ARG_OPTIONAL ? " or none" : "", names_dtype ? ": " : "",
           names_dtype ? kw_error_message() : "", e->info.schema);
  return false;
}

static bool parse_attributes(evaluation *e) {
  for (uint32_t i = 0; i < e->info.arg_count; ++i) e->values[i] = e->arguments[i].info.default_value;
  const char *text;
  for (uint32_t cursor = 0; (text = kw_cli_args_next(e->args, "--attr", &cursor));) {
    const char *equals = strchr(text, '=');
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)(equals ? equals - text : 0), text);
    if (!equals) {
      COMPLAIN("--attr %s: write it as --attr NAME=VALUE", text);
      return false;
    }
    if (!parse_attribute(e, name, equals + 1)) return false;
  }
  for (uint32_t i = 0; i < e->info.arg_count; ++i) {
    const kw_arg_info *arg = &e->arguments[i].info;
    /* An optional argument may be none; for any other none means that nothing gave it a value. */
    if (is_tensor(arg) || (arg->flags & KW_ARG_OPTIONAL) || e->values[i].tag != KW_TAG_NONE) continue;
    COMPLAIN("%s needs --attr %s=VALUE (%s)", e->info.name, arg->name, kw_cli_value_expects(arg));
    return false;
  }
  return true;
}

/* ---- Results ----------------------------------------------------------------------------------------------------- */

static const kw_tensor *result_tensor(const evaluation *e, uint32_t index) {
  int32_t alias = kw_op_result_alias(e->op, index);
  return alias >= 0 ? e->arguments[alias].tensors[0] : e->outs[index];
}

/* "y.npy", or "y.0.npy" where there are several. */
static void result_path(const evaluation *e, uint32_t index, const char *path, char out[PATH_MAX]) {
  size_t length = strlen(path);
  bool suffix = length > 4 && strcmp(path + length - 4, ".npy") == 0;
  if (suffix) length -= 4;
  if (e->info.result_count == 1) {
    snprintf(out, PATH_MAX, "%s", path);
  } else {
    snprintf(out, PATH_MAX, "%.*s.%u%s", (int)length, path, index, suffix ? ".npy" : "");
  }
}

static bool save_result(const evaluation *e, uint32_t index, const char *out_path) {
  const kw_tensor *tensor = result_tensor(e, index);
  const kw_tensor_ref *ref = kw_tensor_describe(tensor);
  kw_cli_npy array = {.dtype = ref->dtype, .item_size = (uint32_t)kw_dtype_size(ref->dtype), .rank = ref->rank};
  memcpy(array.shape, ref->shape, sizeof array.shape);
  array.numel = ref->numel;
  array.data = malloc((size_t)ref->numel * array.item_size + 1);
  char path[PATH_MAX], message[KW_CLI_NPY_MESSAGE];
  result_path(e, index, out_path, path);
  bool fine = array.data && kw_tensor_read(tensor, array.data) == KW_OK;
  if (!fine) {
    COMPLAIN("%s: %s", path, array.data ? kw_error_message() : "no memory");
  } else if (!(fine = kw_cli_npy_write(path, &array, message))) {
    COMPLAIN("%s", message);
  } else {
    printf("%s: %s[", path, kw_dtype_name(ref->dtype));
    for (uint32_t i = 0; i < ref->rank; ++i) printf(i ? ", %lld" : "%lld", (long long)ref->shape[i]);
    printf("]\n");
  }
  kw_cli_npy_free(&array);
  return fine;
}

static bool print_result(const evaluation *e, uint32_t index) {
  char *text = malloc(PRINTED_SIZE);
  bool fine = text && kw_tensor_format(result_tensor(e, index), text, PRINTED_SIZE) == KW_OK;
  if (fine) puts(text);
  if (!fine) COMPLAIN("%s", text ? kw_error_message() : "no memory");
  free(text);
  return fine;
}

static bool call_op(evaluation *e) {
  kw_stream *stream = kw_stream_default(e->device); /* an op without a tensor has no other word of the device */
  kw_status status = kw_op_call(e->op, stream, e->values, e->info.arg_count, e->outs, e->info.result_count);
  if (status == KW_OK) status = kw_device_synchronize(e->device);
  if (status != KW_OK) {
    COMPLAIN("%s", kw_error_message());
    return false;
  }
  kw_counters counters = {.struct_size = sizeof counters};
  if (kw_device_get_counters(e->device, &counters) == KW_OK && counters.fallbacks) {
    COMPLAIN("note: cpu:0 ran this in place of %s, as KEYWAY_FALLBACK allows", kw_device_name(e->device));
  }
  return true;
}

static int evaluate(evaluation *e) {
  if (!kw_cli_load_plugins(e->args) || !find_op(e) || !check_raw_dtypes(e) || !parse_attributes(e) || !open_device(e) ||
      !load_inputs(e)) {
    return KW_CLI_USAGE;
  }
  if (!call_op(e)) return KW_CLI_FAILED;
  const char *path = kw_cli_args_value(e->args, "--out");
  for (uint32_t i = 0; i < e->info.result_count; ++i) {
    if (path ? !save_result(e, i, path) : !print_result(e, i)) return KW_CLI_FAILED;
  }
  return KW_CLI_OK;
}

static void release_all(evaluation *e) {
  for (uint32_t i = 0; e->arguments && i < e->info.arg_count; ++i) {
    for (uint32_t k = 0; k < MAX_LIST; ++k) kw_tensor_release(e->arguments[i].tensors[k]);
  }
  for (uint32_t i = 0; e->outs && i < e->info.result_count; ++i) kw_tensor_release(e->outs[i]);
  if (e->device) kw_device_close(e->device);
  free(e->arguments);
  free(e->values);
  free(e->outs);
}

static int run(const kw_cli_args *args) {
  evaluation e = {.args = args};
  int code = evaluate(&e);
  release_all(&e);
  return code;
}

static const kw_cli_option options[] = {
    {"--device", "NAME", "where to run it; see 'keyway list'"},
    {"--in", "FILE", "a .npy file for the next tensor argument; 'none' for an optional one"},
    {"--in-dtype", "DTYPE", "what raw (V1, V2) files hold: bf16, f8e4m3fn or f8e5m2"},
    {"--attr", "NAME=VALUE", "another argument, by its name in the schema"},
    {"--out", "FILE", "where to write the result; default: print it"},
    KW_CLI_OPTION_PLUGIN,
};
const kw_cli_command kw_cli_eval = {
    .name = "eval",
    .synopsis = "OP --device NAME [--in FILE]... [--attr NAME=VALUE]... [--out FILE] [--plugin FILE]...",
    .summary = "Run one op on NumPy files",
    .details =
        "  keyway eval add.Tensor --device npu:0 --in a.npy --in b.npy --attr alpha=2 --out y.npy\n"
        "  keyway eval index.Tensor --device npu:0 --in x.npy --in none,columns.npy\n"
        "  keyway eval full --device npu:0 --attr size=2,3 --attr fill_value=1\n"
        "\n"
        "--in files go to the schema's tensor arguments in order; a list of tensors is one --in with commas, an\n"
        "absent entry of it 'none'. An op that changes its argument (a!) has that argument as its result; the input\n"
        "file stays as it is. Several results become y.0.npy, y.1.npy and so on. Files are replaced when complete,\n"
        "never half.\n"
        "\n"
        "Values: 3, 1e-5, 1+2j, true, none, trunc, 0,1 (a list), f16 (a dtype). .npy files have no bf16 and no f8:\n"
        "these are read from and written as raw elements, V2 and V1, as NumPy does with the ml_dtypes package.\n"
        "\n"
        "Exit status: 0 done, 1 the op failed, 2 it could not be tried (op, device, plugin, arguments, input files).\n",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .positional_max = 1,
    .main = run,
};
