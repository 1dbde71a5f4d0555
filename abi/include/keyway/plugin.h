/* SPDX-License-Identifier: Apache-2.0
 *
 * Keyway plugin ABI, version 1.0: what a vendor implements.
 *
 * A plugin is a shared object that exports exactly one symbol, `keyway_plugin_query`, and has no undefined Keyway
 * symbol: everything it may call is in the host table that it receives. It includes this header and nothing else of
 * Keyway's.
 *
 * Read top to bottom; the order is the order of a plugin's life:
 *
 *     1. query      the host asks what the library is                        (pure, no side effects)
 *     2. probe      is the driver there, is there hardware?                   (cheap)
 *     3. init       the plugin gets the host table, registers kernels and ops
 *     4. device     count, info, open
 *     5. memory, stream, event
 *     6. kernels    can_implement, workspace_size, prepare, launch, release
 *     7. close, shutdown
 *
 * The floor, without which a plugin is refused: query, probe, init, shutdown; device.count/info/open/close;
 * memory.alloc/dealloc/copy; stream.create/destroy/synchronize. With a few registered kernels that is a complete
 * device. Slots marked (optional) may be NULL; the host then uses the default that is named there. A struct that is
 * shorter than it was in 1.0 is refused with KW_ERR_ABI_MISMATCH.
 *
 * The words MUST, MUST NOT, SHOULD and MAY are used as in RFC 2119. A MUST is checked: behind it stands in brackets by
 * whom, as `keyway conform` names its suites ([memory]) and checks ([memory/accounting]); [ops] are the cases of the
 * ops, [load] is the host when it loads the plugin. What nobody can see from outside is said without these words, and
 * is as binding.
 *
 * Rules for every slot
 *   - A slot MUST return a kw_status, whatever happens: it does not abort, exit, throw, or longjmp past the host.
 *     [memory/out_of_memory] On failure it SHOULD first call host->set_error with the driver call that failed and the
 *     driver's own text.
 *   - A status is one of KW_OK and KW_ERR_, or the plugin's own, made by KW_STATUS_OF_PLUGIN: the host then acts by its
 *     class, and shows the number with the plugin's name. [error]
 *   - On failure a slot MUST leave its out-parameters untouched or NULL [abi/extensions], and the device usable
 *     [memory/out_of_memory_disturbs_none], unless it says KW_ERR_DEVICE_LOST.
 *   - A slot MUST NOT change the process: floating-point environment (exception flags may be raised, not cleared),
 *     signal handlers and mask, locale, working directory, environment variables, umask. Nor does loading the library:
 *     linking it with -ffast-math flushes subnormals in the whole process. [environment/process_kept]
 *   - What a kernel computes MUST NOT depend on the floating-point environment of the thread that launches it or
 *     created its stream. A thread that a plugin starts inherits one: it begins with fesetenv(FE_DFL_ENV).
 *     [environment/results_do_not_depend]
 *   - All slots MUST be thread-safe [thread]: any two may run at the same time, those of the plugin as a whole too, on
 *     one device or several, also when they name the same stream; the plugin serialises what it appends to one stream.
 *     The host keeps apart only what ends something (destroy, dealloc, close, shutdown) and other uses of that same
 *     object. prepare may run twice at once for one signature.
 *   - A slot, a kernel's function and a body of parallel_for use 160 KiB of stack at most, with all that they call: the
 *     application's threads and those of parallel_for have no more to give for sure. What needs more runs on a thread
 *     of the plugin's own. Threads that call run_callback have 256 KiB: the application's function may call Keyway.
 *   - A slot does not call back into the application, nor a host function that is not documented as allowed there.
 *   - Structs that carry struct_size: a plugin MUST NOT read a field of a host's struct beyond that struct_size
 *     [abi/structs_end], and MUST set struct_size in the structs it provides to sizeof of its own headers' version
 *     [load/short_table].
 *   - Flags are 64 bits. Of those that one side does not know, bits 0-31 are hints, which it ignores; bits 32-63
 *     (KW_FLAGS_CRITICAL) change what is asked for: it answers KW_ERR_UNSUPPORTED and changes nothing.
 *   - Reserved fields MUST be 0 [load/reserved_set], and so are unused bits of masks. From a side of a later version
 *     they read as 0.
 *   - Pointers passed to a slot are valid during that call only, unless the slot says otherwise.
 *   - Texts are NUL-terminated UTF-8. The host copies what it keeps of a plugin's. What is no UTF-8 in a text for
 *     people it replaces by U+FFFD; what identifies something (keys, names of ops, kernels and options, stable ids) is
 *     printable ASCII, and refused otherwise. Of a message (host->set_error, log, report_async_error, *out_reason) it
 *     keeps 500 bytes at least and cuts the rest, never within a character; the texts of kw_plugin_desc, of its options
 *     and of attributes have 1,023 bytes at most.
 *   - Where a slot's info has `next`, an unknown entry of the chain MUST be skipped, and an unknown critical one MUST
 *     be refused with KW_ERR_UNSUPPORTED before anything is changed: kw_ext_check does that. [abi/extensions]
 */
#ifndef KEYWAY_PLUGIN_H
#define KEYWAY_PLUGIN_H

#include <keyway/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(_WIN32)
#define KW_PLUGIN_EXPORT __declspec(dllexport)
#elif defined(__GNUC__)
#define KW_PLUGIN_EXPORT __attribute__((visibility("default")))
#else
#define KW_PLUGIN_EXPORT
#endif

/* True when the struct that `ptr` points to reaches past `field`: the test before reading a field that a minor version
 * added. `ptr` must point to a complete type from these headers. */
#define KW_HAS_FIELD(ptr, field) \
  ((size_t)(ptr)->struct_size >= (size_t)((const char *)(&(ptr)->field + 1) - (const char *)(ptr)))

/* ==== Extensions ================================================================================================== */

/* The entry of this kind in a chain (kw_ext in types.h), or NULL. */
static inline const kw_ext *kw_ext_find(const kw_ext *next, uint32_t kind) {
  for (; next != NULL; next = next->next) {
    if (((next->kind ^ kind) & ~KW_EXT_CRITICAL) == 0) return next;
  }
  return NULL;
}

/* KW_OK when each critical entry of a chain is of one of the `known_count` kinds in `known`, otherwise
 * KW_ERR_UNSUPPORTED. Who knows KW_EXT_VENDOR looks at the names itself. */
static inline kw_status kw_ext_check(const kw_ext *next, const uint32_t *known, uint32_t known_count) {
  for (; next != NULL; next = next->next) {
    uint32_t i = 0;
    while (i < known_count && ((next->kind ^ known[i]) & ~KW_EXT_CRITICAL) != 0) i++;
    if (i == known_count && (next->kind & KW_EXT_CRITICAL) != 0) return KW_ERR_UNSUPPORTED;
  }
  return KW_OK;
}

/* ==== Options ===================================================================================================== */

/* A plugin names its options once, in kw_plugin_desc.options, and the host does the rest: it refuses what is none of
 * them, lists them to people, and hands init and device.open those that were given, each once. A value that an option
 * cannot take is KW_ERR_INVALID_ARGUMENT, and its text names the option. */

/* What an option is: its value among those that were given, otherwise the one it has where nobody says. */
static inline const char *kw_option_value(const kw_option *options, uint32_t option_count, const kw_option_desc *desc) {
  uint32_t i;
  for (i = 0; i < option_count; i++) {
    size_t at = 0;
    while (options[i].key[at] == desc->key[at] && desc->key[at] != '\0') at++;
    if (options[i].key[at] == desc->key[at]) return options[i].value;
  }
  return desc->value;
}

/* A value that is a number: decimal digits, from least to most. False for any other text. */
static inline bool kw_option_number(const char *value, uint64_t least, uint64_t most, uint64_t *out_number) {
  uint64_t number = 0;
  if (*value == '\0') return false;
  for (; *value != '\0'; value++) {
    const uint64_t digit = (uint64_t)(*value - '0');
    if (*value < '0' || *value > '9' || number > (UINT64_MAX - digit) / 10) return false;
    number = number * 10 + digit;
  }
  if (number < least || number > most) return false;
  *out_number = number;
  return true;
}

/* ==== Host services =============================================================================================== */

/* The table a plugin receives in init. It lives until the process ends, and no member within its struct_size is NULL.
 * Every function is thread-safe and takes the `ctx` found beside it in the table. Unless stated, a function may be
 * called from any slot and any thread, but never from a signal handler. After shutdown has returned, and in a forked
 * child, every function does nothing and returns KW_ERR_UNSUPPORTED. */

typedef struct kw_kernel_desc kw_kernel_desc;
typedef struct kw_op_desc kw_op_desc;

typedef uint32_t kw_log_level;
enum { KW_LOG_ERROR = 0, KW_LOG_WARN = 1, KW_LOG_INFO = 2, KW_LOG_DEBUG = 3 };

/* One piece of a parallel loop: handles indices [begin, end). Runs on any thread. */
typedef void(KW_CALL *kw_range_fn)(void *user, int64_t begin, int64_t end);

typedef struct kw_host_api {
  uint32_t struct_size;
  uint32_t abi_version; /* the version agreed on in query: min(host's, plugin's) */
  void *ctx;            /* first argument of every function below */

  /* Attaches `message` (what failed, why; UTF-8, no newline needed) to the calling thread's current error and returns
   * `status`, so that a slot can end with `return host->set_error(host->ctx, KW_ERR_..., "...")`. The text is copied.
   */
  kw_status(KW_CALL *set_error)(void *ctx, kw_status status, const char *message);

  /* Writes one line to the host's log. A plugin MUST NOT write to stdout or stderr itself.
   * [environment/stdout_untouched] */
  kw_status(KW_CALL *log)(void *ctx, kw_log_level level, const char *message);

  /* Offers a kernel; only inside init. The descriptor is copied, `user` is kept as a pointer.
   * KW_ERR_NOT_FOUND when no op of that name exists (the host may be older than the op: a plugin SHOULD go on),
   * KW_ERR_INVALID_ARGUMENT when called outside init or when the descriptor lacks what a kernel needs,
   * KW_ERR_UNSUPPORTED for a critical flag or extension that the host does not know (the same applies). */
  kw_status(KW_CALL *register_kernel)(void *ctx, const kw_kernel_desc *kernel);

  /* Adds an op of the vendor's own to the op table; only inside init. The namespace ("acme::") is required, and
   * must be none of the op table's: aten, keyway, quantized_decomposed, torchvision.
   * KW_ERR_INVALID_ARGUMENT when the schema does not parse; the reason names the column. Defining an op again with the
   * same schema is fine; with another schema it is KW_ERR_INVALID_ARGUMENT. */
  kw_status(KW_CALL *define_op)(void *ctx, const kw_op_desc *op);

  /* Reports an error that happened after its slot had returned KW_OK; from any thread. `stream_token` is the token that
   * stream.create received, `call_id` the kw_call.call_id of the op to blame (0 = unknown). The error is sticky on that
   * stream and surfaces at the next synchronise; KW_ERR_DEVICE_LOST makes every stream of the device fail. */
  kw_status(KW_CALL *report_async_error)(void *ctx, uint64_t stream_token, uint64_t call_id, kw_status status,
                                         const char *message);

  /* Runs the host function behind a token received in stream.call_host. Exactly once per token. MAY block. */
  kw_status(KW_CALL *run_callback)(void *ctx, uint64_t callback_token);

  /* Splits [0, n) into pieces that begin at multiples of `grain` and have at least so many indices, but for the last
   * one, and runs them on the host's threads, the caller among them; returns when all are done. A plugin that computes
   * on the CPU uses this and starts no pool of its own, so that several plugins and an application do not fight over
   * cores. Nested calls run inline. A good grain takes about 10 us: the sooner of 64 KiB read and written and 16384
   * operations, of vectors where the body has them. The split depends on the number of threads; results must not.
   * When it fails, pieces were left out, for instance since the application cancelled the call: return what it said. */
  kw_status(KW_CALL *parallel_for)(void *ctx, int64_t n, int64_t grain, kw_range_fn body, void *user);

  /* How many threads parallel_for uses at most; at least 1. */
  kw_status(KW_CALL *thread_count)(void *ctx, uint32_t *out_count);

  /* Host memory that the caller frees with host_free. alignment is a power of two. size 0 gives
   * KW_ERR_INVALID_ARGUMENT. */
  kw_status(KW_CALL *host_alloc)(void *ctx, uint64_t size, uint64_t alignment, void **out_pointer);
  kw_status(KW_CALL *host_free)(void *ctx, void *pointer);

  /* Tells that a module of kernels was compiled for a device (as device.open returned it), or with `cached` fetched
   * from a cache on disk, and that the calling thread waited `ns` nanoseconds for it. The host shows it in counters,
   * traces and reports. */
  kw_status(KW_CALL *report_build)(void *ctx, void *device, const char *module, uint64_t ns, bool cached);

  /* Tells that device.count says more than before. From any thread; the host asks later, when somebody looks for
   * devices, never from within this call. */
  kw_status(KW_CALL *devices_changed)(void *ctx);
} kw_host_api;

/* ==== Kernels and ops ============================================================================================= */

/* Where the random numbers of a call come from: `algorithm` with key `seed` from block `offset` on. In a graph the
 * numbers are known only when it runs: then `state` is device memory that holds {u64 seed, u64 offset}, which the
 * kernel reads; `seed` above is 0 and `offset` is added to the offset read there. Which element uses which lane of
 * which block is fixed in the op reference, independent of how a kernel is launched. 40 bytes, frozen: what it may come
 * to lack is appended to kw_call_extra. */
typedef struct kw_rng {
  uint64_t seed;
  uint64_t offset;
  kw_mem state;          /* NULL: seed and offset are the values */
  uint64_t state_offset; /* bytes */
  uint32_t algorithm;    /* KW_GENERATOR_*; Philox unless the kernel has KW_KERNEL_AES_CTR */
  uint32_t reserved;
} kw_rng;

/* The packed form of an argument: see kw_kernel_desc.pack. */
typedef struct kw_packed {
  uint32_t struct_size;
  uint32_t reserved;
  kw_mem mem;
  uint64_t offset; /* bytes */
  uint64_t size;   /* bytes */
  uint64_t format; /* as packed_size named it */
} kw_packed;

/* What few calls need. */
typedef struct kw_call_extra {
  uint32_t struct_size;

  /* Errors that only the data show, an index out of range: for kernels with KW_KERNEL_DATA_ERRORS, otherwise NULL and
   * 0. The kernel touches no memory out of bounds; it stores error_code + the number of the argument to blame in the
   * u32 at (error_mem, error_offset) if that is 0 (compare and swap: the first error wins). What the affected elements
   * hold then is unspecified. The host surfaces it at the stream's next synchronise and clears the word. */
  uint32_t error_code;
  kw_mem error_mem;
  uint64_t error_offset; /* bytes, a multiple of 4 */

  kw_rng rng; /* ops with a generator argument; otherwise all 0 */

  /* arg_count packed forms of arguments, NULL for one that is there as it lies only; or NULL, for a kernel that packs
   * nothing, and in most calls of one that does. They are valid as a tensor's descriptor and memory are. */
  const kw_packed *const *packed;
} kw_call_extra;

/* kw_call.flags. A kernel ignores those that it does not know. */
#define KW_CALL_DETERMINISTIC \
  (UINT64_C(1) << 0) /* the application wants the same bits every time, and the kernel has promised them */

/* One call of an op, as a kernel sees it. Descriptors belong to the host and are valid during the slot only; buffers
 * stay alive until the stream has passed the call.
 *
 * What the host has checked before a kernel sees a call, so that no kernel checks it again:
 *   - tags, count and dtypes of all arguments follow the schema; absent trailing arguments hold the schema's default;
 *   - all tensors lie on this device; outputs have the inferred shape and dtype and do not overlap themselves, nor any
 *     other tensor unless the schema marks the alias with (a!); an argument may then be identical with it (x += x);
 *     the same holds for arguments marked (a!) that are no results, a tensor or every entry of a list (Tensor(a!)[]):
 *     the kernel changes them where they lie;
 *   - in ops that broadcast, every tensor argument already has the output's shape (repeated dimensions have stride 0);
 *   - at least one output, or argument that the call changes, has elements (others never reach a kernel).
 * Outputs MAY be strided; a kernel for contiguous outputs only says so in can_implement.
 *
 * Ops whose result is as large as the data say (nonzero, masked_select) have one output more than their schema, the
 * last: an i64 of rank 0. The first output has the largest size possible; the kernel fills its leading entries and
 * stores there how many. What lies behind them is unspecified. */
typedef struct kw_call {
  uint32_t struct_size;
  uint32_t arg_count;
  uint32_t out_count;
  kw_math_mode math_mode;           /* the most that the application allows; all that the kernel needs, at least */
  uint64_t flags;                   /* KW_CALL_* */
  void *device;                     /* the plugin's device, as device.open returned it */
  void *stream;                     /* the plugin's stream; NULL in can_implement, workspace_size and prepare */
  const char *op;                   /* "add.Tensor" */
  const kw_value *args;             /* positional, as in the schema, tensors included */
  const kw_tensor_ref *const *outs; /* for a result marked (a!): the same tensor as the argument, maybe in a struct of
                                       its own; NULL for a result that is absent (see keyway.h, kw_op_call) */
  void *user;                       /* kw_kernel_desc.user */
  void *prepared;                   /* what prepare returned, or NULL */
  kw_mem workspace;                 /* NULL when workspace_size was 0 */
  uint64_t workspace_offset;        /* bytes */
  uint64_t workspace_size;          /* bytes, as asked for */
  uint64_t call_id;                 /* for host->report_async_error */
  const kw_call_extra *extra;       /* in the launch of an op with a generator argument, of a kernel with
                                       KW_KERNEL_DATA_ERRORS, and where an argument is packed; NULL in most other
                                       calls */
} kw_call;

/* kw_kernel_desc.flags. register_kernel refuses a critical one that the host does not know. */
#define KW_KERNEL_MIXED_DTYPES (UINT64_C(1) << 0)  /* takes arguments whose dtype differs from the call's key dtype */
#define KW_KERNEL_DETERMINISTIC (UINT64_C(1) << 1) /* the same call gives the same bits every time */
#define KW_KERNEL_DATA_ERRORS (UINT64_C(1) << 2)   /* may store to kw_call_extra.error_mem */
#define KW_KERNEL_CAPTURABLE (UINT64_C(1) << 3)    /* launch may run while the plugin's own graph group records */
#define KW_KERNEL_AES_CTR (UINT64_C(1) << 4)       /* a random op draws from KW_GENERATOR_AES128_CTR, too */

/* A kernel: one way to run one op on this plugin's devices.
 *
 * Key dtype. A call's key dtype is the dtype the op computes on after ATen's type promotion over its tensor and Scalar
 * arguments: add(f32, i32) has key f32, sqrt(i32) has key f32, sum(i32) has key i64, eq(i8, i8) has key i8. A bool mask
 * as in where.self does not count, nor do indices; copy_ has its source's dtype, fill_ its destination's. `dtypes` says
 * which key dtypes this kernel takes. Unless a kernel sets KW_KERNEL_MIXED_DTYPES the host casts the promoted arguments
 * to the key dtype first, so it sees one dtype only; lists of tensors it does not cast, those of several dtypes go to
 * kernels with the flag. Output dtypes follow from the op: the key dtype, bool for comparisons, i64 for indices.
 * Scalars arrive as the caller gave them: a kernel converts them to what it computes in (the key dtype for integers,
 * f64 for f64, f32 for smaller floats) before it uses them.
 *
 * Later values. A later version may send an op's arguments in dtypes, under tags and with kinds of Scalars that this
 * one does not have, to kernels with KW_KERNEL_MIXED_DTYPES only. Such a kernel has a can_implement, and that MUST
 * answer KW_ERR_NOT_IMPLEMENTED to a dtype of any tensor, to a tag and to a kind that the kernel does not know:
 * kw_call_is_known tells. [launch]
 *
 * Choice. Among the kernels of an op whose `dtypes` contain the key dtype and which know all arguments that differ from
 * their default, the host tries them from the highest priority down until can_implement says KW_OK. One whose priority
 * is KW_PRIORITY_OFF it tries only when it is asked for by name: one that has yet to run on the hardware it is for.
 *
 * Math mode. A kernel is no candidate, not even by name, unless the call's math_mode has all bits of the kernel's
 * math_needs: a bit that the host does not know is in no mode. Nor is one without KW_KERNEL_DETERMINISTIC where the
 * call has to be deterministic. A kernel that needs nothing MUST be as exact as the op's bound says whatever math_mode
 * is: what computes in tf32 where it may is two kernels, the inexact one of the higher priority. [ops] */
#define KW_PRIORITY_OFF INT32_MIN
struct kw_kernel_desc {
  uint32_t struct_size;
  kw_math_mode math_needs; /* the mode that calls must allow: it computes no better than that says; 0 = none */
  uint64_t flags;          /* KW_KERNEL_* */
  const char *op;          /* "add.Tensor" */
  const char *name;        /* "reference", "tiled"; another kernel of this name for the op is KW_ERR_INVALID_ARGUMENT */
  kw_dtype_mask dtypes;
  int32_t priority;    /* higher wins; 0 is usual; or KW_PRIORITY_OFF */
  uint32_t known_args; /* how many leading arguments of the schema this kernel understands, at least 1 where it has any:
                          a later host's schema may have more. kw_known_args (known_args.h) says how many there are in
                          these headers */
  void *user;          /* handed back in kw_call.user */

  /* KW_OK when this kernel can run the call, KW_ERR_NOT_IMPLEMENTED when not. (optional, but with
   * KW_KERNEL_MIXED_DTYPES: always KW_OK)
   * can_implement, workspace_size and prepare MUST be pure functions of dtypes, shapes, strides, alignment and
   * attributes: kw_tensor_ref.mem is NULL there and offset is 0. The host caches their answers.
   * [launch/choice_is_pure] */
  kw_status(KW_CALL *can_implement)(const kw_call *call);

  /* Bytes of scratch memory that launch needs. (optional: 0) */
  kw_status(KW_CALL *workspace_size)(const kw_call *call, uint64_t *out_size);

  /* Work to do ahead of launches with one signature (compile, choose tiles). The host keeps the result and hands it to
   * all threads in kw_call.prepared; it asks again for a plan of the application's own, or when it had to forget.
   * (optional) */
  kw_status(KW_CALL *prepare)(const kw_call *call, void **out_prepared);

  /* Enqueues the work on call->stream. MUST NOT synchronise or block on the device [launch/behind_gate], and SHOULD NOT
   * allocate. Required. A launch that fails has enqueued nothing that writes to the outputs later.
   *
   * Results and arguments share no memory, with two exceptions: a result that the schema marks (a!) is that argument;
   * and the result of a pointwise op (each element follows from the same element of the arguments: kw_op_info.pointwise
   * at the host) may be exactly an argument, with the same mem, offset, dtype, shape and strides. So a pointwise kernel
   * MUST NOT write an element of the result before it has read that element of every argument.
   * [launch/in_place] */
  kw_status(KW_CALL *launch)(const kw_call *call);

  /* Frees what prepare made; after the last launch that used it has been passed by its stream. (optional) */
  kw_status(KW_CALL *release)(void *user, void *prepared);

  const kw_ext *next; /* read during register_kernel */

  /* Weights. An application may say that the numbers of a tensor stay as they are (kw_tensor_set_constant). Of such an
   * argument the host keeps a packed form, the same numbers laid out as this kernel reads them best, in memory of the
   * device, and hands it to every launch with that tensor: kw_call_extra.packed, beside the argument itself. It drops
   * the form when something writes to the tensor. So the work of packing is done once, whatever the other arguments
   * are; prepare knows no numbers and is asked anew for every shape. */
  uint32_t packable; /* bit i: argument i may be packed, a tensor; 0: none, and the two slots are not asked */
  uint32_t reserved;

  /* How many bytes the packed form has, 0: none for this call; and a number of the kernel's own for its layout. Calls
   * of this kernel with the same tensor whose answers are alike share one form, and no more than 8 are kept of it: let
   * them follow other arguments as little as can be. Pure, as can_implement is; call->prepared is what prepare returned
   * for the call. */
  kw_status(KW_CALL *packed_size)(const kw_call *call, uint32_t arg, uint64_t *out_size, uint64_t *out_format);

  /* Enqueues on call->stream what reads argument `arg` and writes its packed form at (mem, offset), which is aligned as
   * memory of the device is; all else as in launch, but for the results, which have no memory that may be touched. It
   * MUST read the numbers where the argument's descriptor says that they lie [constant/apart], MUST do so in the
   * stream's order [constant/in_order], and MUST NOT keep them for another call [constant/changed]. Results of launches
   * with a packed form keep the op's bound, and may differ from those without one in their last bits. */
  kw_status(KW_CALL *pack)(const kw_call *call, uint32_t arg, kw_mem mem, uint64_t offset);
};

static inline bool kw_tensor_is_known(const kw_tensor_ref *tensor, kw_dtype_mask dtypes) {
  return tensor == NULL || (kw_dtype_mask_has(dtypes, tensor->dtype) && tensor->layout == 0);
}

static inline bool kw_value_is_known(const kw_value *value, kw_dtype_mask dtypes) {
  uint32_t i;
  switch (value->tag) {
    case KW_TAG_TENSOR:
      return kw_tensor_is_known(value->u.tensor, dtypes);
    case KW_TAG_TENSOR_LIST:
      for (i = 0; i < value->count; i++) {
        if (!kw_tensor_is_known(value->u.tensors[i], dtypes)) return false;
      }
      return true;
    case KW_TAG_SCALAR:
      return value->kind <= KW_SCALAR_C128;
    case KW_TAG_DTYPE:
      return kw_dtype_mask_has(dtypes, value->u.dtype);
    default:
      return value->tag <= KW_TAG_GENERATOR;
  }
}

/* Whether all of a call was there in version 1.0, dtypes apart, and all its dtypes are among those that the kernel
 * knows: for can_implement. */
static inline bool kw_call_is_known(const kw_call *call, kw_dtype_mask dtypes) {
  uint32_t i;
  for (i = 0; i < call->arg_count; i++) {
    if (!kw_value_is_known(&call->args[i], dtypes)) return false;
  }
  for (i = 0; i < call->out_count; i++) {
    if (!kw_tensor_is_known(call->outs[i], dtypes)) return false;
  }
  return true;
}

/* Shape inference for a vendor's op: fills dtype, rank and shape of *outs[0..out_count-1], which the host has zeroed
 * and whose struct_size it has set (numel, strides and mem are the host's business). `user` is kw_op_desc.user. Pure.
 */
typedef kw_status(KW_CALL *kw_infer_fn)(void *user, const kw_value *args, uint32_t arg_count,
                                        kw_tensor_ref *const *outs, uint32_t out_count);

/* Reference of a vendor's op, for the conformance suite: the same meaning as the kernel, on the CPU, serially. Every
 * mem is a host pointer. Tensors come in the dtypes of the call, except that floating-point outputs are f64 when the
 * suite asks for the wide form: convert on load, compute in double, store by the output's own dtype. `user` is
 * kw_op_desc.user. Pure. */
typedef kw_status(KW_CALL *kw_reference_fn)(const kw_call *call);

/* How the suite compares results of a vendor's op with its reference. eps_c and ULP_c are those of the compute type:
 * f64 for f64, otherwise f32. A result narrower than that may differ by half a unit of its own more. */
typedef uint32_t kw_comparator;
enum {
  KW_COMPARE_BITS = 0,      /* the same bits; those of integers and bools are compared so in any case */
  KW_COMPARE_ULP = 1,       /* |got - reference| <= ulp * ULP_c(reference) + absolute * eps_c */
  KW_COMPARE_ACCUMULATE = 2 /* |got - reference| <= growth * eps_c * m, where m is what the reference makes of the
                               absolute values of all floating-point tensors and numbers: for ops that add up */
};

struct kw_op_desc {
  uint32_t struct_size;
  kw_comparator comparator; /* KW_COMPARE_* */
  const char *schema; /* ATen's grammar: "acme::scaled_add(Tensor self, Tensor other, *, float scale=1.0) -> Tensor" */
  void *user;         /* handed to infer, and to reference in kw_call.user */
  kw_infer_fn infer;  /* (optional: outputs broadcast and promote the tensor inputs) */
  kw_reference_fn reference; /* (optional: without it the suite only runs the op and says so) */
  kw_dtype_mask dtypes;      /* dtypes of the tensor inputs that the op is defined for */
  double ulp;                /* these two with KW_COMPARE_ULP, otherwise 0: 0 or more */
  double absolute;
  double growth;      /* with KW_COMPARE_ACCUMULATE, otherwise 0: more than 0 */
  const kw_ext *next; /* read during define_op */
};

/* ==== Devices: group "keyway.device/1" ============================================================================ */

/* How a device is opened. */
typedef struct kw_open_info {
  uint32_t struct_size;
  uint32_t option_count;
  const kw_option *options; /* of the plugin's with KW_OPTION_OPEN those that were given, in no order, each once */
  const kw_ext *next;
} kw_open_info;

typedef struct kw_device_api {
  uint32_t struct_size;
  uint32_t reserved;

  /* How many devices there are now. 0 is an answer, not an error. Until shutdown the answer only grows, and then the
   * plugin calls host->devices_changed. An index, once given, MUST name that device until shutdown: it is never used
   * for another, and answers KW_ERR_DEVICE_LOST when the device is gone. [lifecycle/info_sane] */
  kw_status(KW_CALL *count)(void *plugin, uint32_t *out_count);

  /* Facts about device `index`; does not open it. The host has zeroed *out and set struct_size. */
  kw_status(KW_CALL *info)(void *plugin, uint32_t index, kw_device_info *out_info);

  /* Opens a device. The host opens each index at most once at a time, and may open it again after close, with other
   * options. [lifecycle] A value that an option cannot have MUST be KW_ERR_INVALID_ARGUMENT, with a text that names
   * the option. [lifecycle/options] */
  kw_status(KW_CALL *open)(void *plugin, uint32_t index, const kw_open_info *info, void **out_device);

  /* Closes it. The host has destroyed all streams, events and memory of the device first. MUST be possible after
   * KW_ERR_DEVICE_LOST. [fault/device_is_lost] */
  kw_status(KW_CALL *close)(void *device);

  /* A fact about device `index` by its key (KW_ATTRIBUTE_LIST, or the vendor's own), open or not; the same each time.
   * KW_ERR_NOT_FOUND for a key that the plugin does not know or has no answer to. (optional: KW_ERR_UNSUPPORTED)
   * [lifecycle] */
  kw_status(KW_CALL *attribute)(void *plugin, uint32_t index, const char *key, kw_attribute *out_value);
} kw_device_api;

/* ==== Memory: group "keyway.memory/1" ============================================================================= */

typedef struct kw_alloc_info {
  uint32_t struct_size;
  kw_mem_kind kind;
  uint64_t size;      /* bytes, at least 1 */
  uint64_t alignment; /* bytes, a power of two, at most the device's mem_alignment */
  uint64_t flags;     /* KW_MEM_PEER and the others of its kind in types.h */
  const kw_ext *next;
} kw_alloc_info;

/* A range that the host wants to reach by a pointer. It lies inside its allocation. */
typedef struct kw_map_info {
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t flags; /* KW_MAP_* */
  kw_mem mem;
  uint64_t offset; /* bytes */
  uint64_t size;   /* bytes, at least 1 */
} kw_map_info;

typedef uint32_t kw_copy_kind;
enum { KW_COPY_HOST_TO_DEVICE = 0, KW_COPY_DEVICE_TO_HOST = 1, KW_COPY_DEVICE_TO_DEVICE = 2 };

/* One contiguous copy. Host ends are plain pointers (in dst_host or src_host), device ends are (mem, offset). Ranges
 * lie inside their allocations and do not overlap. Host ranges stay valid until the stream has passed the copy. What an
 * earlier copy of the stream stores to host memory a later one MUST find there [copy/through_host]; what the host
 * itself stores after the call need not arrive. */
typedef struct kw_copy_info {
  uint32_t struct_size;
  kw_copy_kind kind;
  void *dst_host;
  kw_mem dst_mem;
  uint64_t dst_offset;
  const void *src_host;
  kw_mem src_mem;
  uint64_t src_offset;
  uint64_t size; /* bytes, at least 1 */
} kw_copy_info;

typedef struct kw_memory_api {
  uint32_t struct_size;
  uint32_t reserved;

  /* Allocates. KW_ERR_OUT_OF_MEMORY when there is not enough now: the host then frees its caches and tries once more. A
   * failed allocation MUST NOT be reported as success [memory/out_of_memory] and MUST NOT disturb others
   * [memory/out_of_memory_disturbs_none]. Contents are undefined. A kind that the device does not have, and one of
   * flags' bits 32 to 63 that it does not know or cannot do, MUST be refused with KW_ERR_UNSUPPORTED; hints that it
   * does not know MUST be ignored. [memory/kinds] */
  kw_status(KW_CALL *alloc)(void *device, const kw_alloc_info *info, kw_mem *out_mem);

  /* Frees. The host has made sure that no stream still uses it. */
  kw_status(KW_CALL *dealloc)(void *device, kw_mem mem);

  /* Enqueues a copy on `stream`; ordered with everything else on that stream. [copy] */
  kw_status(KW_CALL *copy)(void *device, void *stream, const kw_copy_info *copy);

  /* Enqueues a fill of `size` bytes with a repeated pattern of pattern_size (1, 2, 4, 8 or 16) bytes; offset and size
   * are multiples of it. The pattern is consumed before return. (optional: host-to-device copy) [memory] */
  kw_status(KW_CALL *fill)(void *device, void *stream, kw_mem mem, uint64_t offset, uint64_t size, const void *pattern,
                           uint32_t pattern_size);

  /* Free and total bytes now, whoever uses the rest. free MUST be no more than total. [memory/usage] From any thread;
   * waits for no stream. (optional: from device.info and the host's own accounting) */
  kw_status(KW_CALL *usage)(void *device, uint64_t *out_free, uint64_t *out_total);

  /* Host memory that the device copies from and to without a detour: page-locked, where that matters. To the process it
   * is memory like any other, aligned to 64 bytes at least. KW_ERR_OUT_OF_MEMORY when there is not enough. (optional,
   * with free_host: the host's own) [memory] */
  kw_status(KW_CALL *alloc_host)(void *device, uint64_t size, void **out_memory);

  /* Frees what alloc_host of this device gave; no copy uses it any more. */
  kw_status(KW_CALL *free_host)(void *device, void *memory);

  /* Enqueues a copy of kind KW_COPY_DEVICE_TO_DEVICE on `stream`, whose source is memory of `src_device`, another open
   * device of this plugin. What that has to do with its memory has finished. KW_ERR_UNSUPPORTED when the two cannot
   * reach each other: the host then copies through its own memory. (optional: through host memory) [copy] */
  kw_status(KW_CALL *copy_peer)(void *device, void *stream, void *src_device, const kw_copy_info *copy);

  /* Gives the host a pointer to a range, at a multiple of the alignment that the place in `mem` has, up to 64 bytes.
   * The host has waited for what `stream` was given before, and lets no work touch the range until unmap; other ranges
   * of the same memory it does. With KW_MAP_READ the contents MUST be there [memory/map_reads]. Ranges of several maps
   * overlap only where none is for writing; each MUST be good until its own end, whatever the others are for
   * [memory/maps_at_once]. The host unmaps before it frees. KW_ERR_UNSUPPORTED for memory that the host does not reach:
   * the host then maps a copy in memory of its own. (optional, with unmap: such a copy) */
  kw_status(KW_CALL *map)(void *device, void *stream, const kw_map_info *info, void **out_pointer);

  /* Ends a map; `info` says the same as then. What the host has written MUST be seen by all work that is enqueued on
   * any stream after this returns, and what lies outside of the range MUST be as it was. [memory/map_writes] */
  kw_status(KW_CALL *unmap)(void *device, void *stream, const kw_map_info *info, void *pointer);
} kw_memory_api;

/* ==== Streams: group "keyway.stream/1" ============================================================================ */

/* A stream is an ordered queue: what is enqueued later starts after what was enqueued earlier has finished, or
 * appears to. */

/* kw_stream_info.flags. create refuses a critical one that it does not know. */
#define KW_STREAM_DEFAULT \
  (UINT64_C(1) << 0) /* the device's default stream, created once at open; it MAY run its work inline */

typedef struct kw_stream_info {
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t flags; /* KW_STREAM_* */
  uint64_t token; /* names the stream in host->report_async_error */
  const kw_ext *next;
} kw_stream_info;

typedef struct kw_stream_api {
  uint32_t struct_size;
  uint32_t reserved;

  kw_status(KW_CALL *create)(void *device, const kw_stream_info *info, void **out_stream);

  /* Destroys it. Work in flight MUST finish first: destroy waits, or the plugin keeps what it needs.
   * [stream/destroy_finishes] */
  kw_status(KW_CALL *destroy)(void *device, void *stream);

  /* Returns when everything enqueued before the call has finished, or when timeout_ns nanoseconds have passed: 0 does
   * not wait, KW_WAIT_FOREVER has no limit. Then it is KW_ERR_TIMEOUT, at the limit or soon after, and the stream MUST
   * be as it was: its work goes on, and later waits for it are as good as the first. [stream/synchronize_within] It
   * SHOULD NOT keep a processor busy while it waits longer than a moment. */
  kw_status(KW_CALL *synchronize)(void *device, void *stream, uint64_t timeout_ns);

  /* KW_OK when idle, KW_ERR_NOT_READY when not. MUST NOT block. [stream/query] Beside synchronize with 0 because it is
   * asked often and tells of idleness alone: a late error stays for synchronize to return. (optional: synchronize with
   * 0) */
  kw_status(KW_CALL *query)(void *device, void *stream);

  /* Enqueues a call of host->run_callback(callback_token): work enqueued before has finished when it runs, work
   * enqueued after waits until it returned. The callback MAY block for long; other streams MUST go on meanwhile.
   * [stream/others_go_on] It MUST NOT run on the calling thread before call_host returns, except on the default stream.
   * [stream/callback_not_inline] (optional: the host synchronises and runs it) */
  kw_status(KW_CALL *call_host)(void *device, void *stream, uint64_t callback_token);
} kw_stream_api;

/* ==== Events: optional group "keyway.event/1" ===================================================================== */

/* A marker in a stream. Without this group the host derives events: record synchronises the stream. A fresh event
 * counts as completed. Recording again moves the marker. [event] */

typedef struct kw_event_info {
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t flags; /* none yet: 0 */
  const kw_ext *next;
} kw_event_info;

typedef struct kw_event_api {
  uint32_t struct_size;
  uint32_t reserved;

  kw_status(KW_CALL *create)(void *device, const kw_event_info *info, void **out_event);

  /* MAY be called while the marker is still ahead; waits already enqueued MUST still be honoured.
   * [event/destroy_while_pending] */
  kw_status(KW_CALL *destroy)(void *device, void *event);

  kw_status(KW_CALL *record)(void *device, void *event, void *stream);

  /* KW_OK when passed, KW_ERR_NOT_READY when not. MUST NOT block. [event/query_behind_gate] */
  kw_status(KW_CALL *query)(void *device, void *event);

  /* Blocks the calling thread until the marker that was the last one at the call is passed; timeout_ns as in
   * stream.synchronize. [event] */
  kw_status(KW_CALL *synchronize)(void *device, void *event, uint64_t timeout_ns);

  /* Makes later work of `stream` wait for the event's last record as of now. SHOULD NOT block the calling thread. */
  kw_status(KW_CALL *wait)(void *device, void *stream, void *event);

  /* Nanoseconds between two passed events. (optional: KW_ERR_UNSUPPORTED) */
  kw_status(KW_CALL *elapsed)(void *device, void *start, void *end, uint64_t *out_ns);
} kw_event_api;

/* ==== Graphs: optional group "keyway.graph/1" ==================================================================== */

/* Recorded work that runs many times at the cost of one launch. The host records calls by itself; a plugin with this
 * group is asked to record the same work once more, natively: the host creates a stream for that, calls begin, then
 * launch and fill on that stream, then end, and destroys the stream after the graph. Only kernels with
 * KW_KERNEL_CAPTURABLE take part. When a slot fails, and without the group, the host replays call by call. All memory
 * that the recorded work names stays valid until destroy. A late error of the work names the stream of the graph's
 * launch, or the recorded one, whose token is that of the stream that the application recorded on. [graph] */
typedef struct kw_capture_info {
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t flags; /* none yet: 0 */
  const kw_ext *next;
} kw_capture_info;

typedef struct kw_graph_launch_info {
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t call_id; /* of this launch: for host->report_async_error and the records of keyway.activity/1 */
} kw_graph_launch_info;

typedef struct kw_graph_api {
  uint32_t struct_size;
  uint32_t reserved;

  /* From here to end, what is enqueued on `stream` is recorded and does not run. The stream is idle, and no other
   * work is enqueued on it. */
  kw_status(KW_CALL *begin)(void *device, void *stream, const kw_capture_info *info);

  /* Ends recording, whatever happened since begin; the stream is usable again. out_graph NULL: throws it away. */
  kw_status(KW_CALL *end)(void *device, void *stream, void **out_graph);

  /* Enqueues all recorded work on `stream`, any of the device. The same graph may be in flight several times, one after
   * another: on one stream, or with an event between two. */
  kw_status(KW_CALL *launch)(void *device, void *graph, void *stream, const kw_graph_launch_info *info);

  /* The host has made sure that no stream still runs it. */
  kw_status(KW_CALL *destroy)(void *device, void *graph);
} kw_graph_api;

/* ==== Energy: optional group "keyway.energy/1" ==================================================================== */

/* What a device has used. Without this group core reads the host's own counters for devices of type cpu, and has
 * nothing for others. [energy] */
typedef struct kw_energy_api {
  uint32_t struct_size;
  uint32_t reserved;

  /* Energy that the whole device has used since some moment before it was opened, in microjoules. Never less than
   * before: a counter that wraps is the plugin's to extend. From any thread; waits for no stream. KW_ERR_UNSUPPORTED
   * where this device has no counter or this user may not read it; the text says which. */
  kw_status(KW_CALL *read)(void *device, uint64_t *out_microjoules);
} kw_energy_api;

/* ==== Profiling: optional group "keyway.profile/1" ================================================================ */

/* Ranges that an application names, for the vendor's own tools (what NVTX and ROCTX draw). Plugin-wide: an application
 * names what it does, not where. From any thread; push and pop nest within each thread. Cheap when no tool listens.
 * What they return is ignored. */
typedef struct kw_profile_api {
  uint32_t struct_size;
  uint32_t reserved;

  /* `name` is UTF-8 and valid during the call. */
  kw_status(KW_CALL *push)(void *plugin, const char *name);

  kw_status(KW_CALL *pop)(void *plugin);
} kw_profile_api;

/* ==== Memory of others: optional group "keyway.interop/1" ========================================================= */

/* Memory that somebody else made, used where it lies; and what a device's own objects are called in its runtime.
 * Without this group there is neither. [interop] */
typedef struct kw_interop_api {
  uint32_t struct_size;
  uint32_t reserved;

  /* Makes a kw_mem of somebody else's memory, without copying it. Kernels, copies and fills take it like any other, but
   * where flags say KW_EXTERNAL_READ_ONLY the host lets none write. *out_alignment: a power of two that divides the
   * address of its first byte, as far as known; it need not reach mem_alignment. A host range stays valid until
   * release_memory. The plugin MUST duplicate a descriptor or handle that it keeps: the caller's stays the caller's,
   * who may close it at once [interop/export_descriptor]. KW_ERR_UNSUPPORTED: a kind, a flag among bits 32 to 63, or
   * memory that this device does not reach; the host then goes without. Whatever comes from elsewhere is untrusted. A
   * range that reaches past what the handle names MUST be refused with KW_ERR_INVALID_ARGUMENT [interop/range_checked],
   * and so MUST bytes (KW_HANDLE_IPC) that no export of memory which is still there has given
   * [interop/bytes_untrusted]. */
  kw_status(KW_CALL *import_memory)(void *device, const kw_external_memory *info, kw_mem *out_mem,
                                    uint32_t *out_alignment);

  /* Ends an import. The host has made sure that no stream still uses it. What kernels wrote is in the memory when it
   * returns. [interop] */
  kw_status(KW_CALL *release_memory)(void *device, kw_mem mem);

  /* Names memory for others that was allocated for that: with KW_MEM_IPC for KW_HANDLE_IPC, with KW_MEM_EXPORTABLE for
   * other kinds. `kind` of *inout_info says how, size and offset the range in `mem`; the plugin fills in handle or the
   * first KW_IPC_SIZE bytes of ipc (the others stay 0), and changes offset to that from the start of what the handle
   * names. The receiver closes the handle. Who imports it MUST find the range's contents, as they change, in this
   * process [interop/export_descriptor] [interop/export_bytes] and in others [interop/descriptor_elsewhere]
   * [interop/bytes_elsewhere]. KW_ERR_UNSUPPORTED for a kind that the device does not have. (optional:
   * KW_ERR_UNSUPPORTED) */
  kw_status(KW_CALL *export_memory)(void *device, kw_mem mem, kw_external_memory *inout_info);

  /* What `object` is called in the device's own runtime: the device itself (NULL), a stream, a kw_mem. (optional:
   * KW_ERR_UNSUPPORTED) [interop] */
  kw_status(KW_CALL *native_handle)(void *device, kw_object_kind kind, void *object, kw_native_handle *out_handle);
} kw_interop_api;

/* ==== Activity: optional group "keyway.activity/1" =============================================================== */

/* When the device worked on what: proof of where its time goes. Times are nanoseconds on a clock of the device's own,
 * which starts anywhere and never goes back; `clock` relates it to the host's.
 *
 * While recording is on, each launch MUST have at least one record with its call_id, and each copy and fill at least
 * one [activity/one_after_another]; each launch of a native graph at least one with its launch_id, which MUST be that
 * of no other [activity/graph_launches]. What takes several commands MAY have one for each.
 *   - The time from begin to end MUST lie between the call of the slot that enqueued the work and the return of the
 *     wait that covers it, and end MUST NOT be before begin. [activity/inside_waits]
 *   - The records of one stream MUST NOT overlap. [activity/one_after_another]
 *   - A record MUST be there for `drain` when a wait that covers its work has returned [activity/inside_waits], and
 *     MUST be given once [activity/given_once]. Work that failed MAY have none. */
typedef uint32_t kw_activity_kind;
enum {
  KW_ACTIVITY_LAUNCH = 0,
  KW_ACTIVITY_COPY = 1,
  KW_ACTIVITY_FILL = 2,
  KW_ACTIVITY_GRAPH = 3 /* a native graph as a whole, where the driver does not tell its launches apart */
};

/* Travels in arrays of record_size bytes each: it may grow at its end. */
typedef struct kw_activity {
  kw_activity_kind kind;
  uint32_t node;         /* of a launch recorded in a native graph: how many launches the graph has before it */
  uint64_t call_id;      /* kw_call.call_id of a launch, in a native graph of the recorded one; otherwise 0 */
  uint64_t launch_id;    /* kw_graph_launch_info.call_id of the launch of a native graph that it is a part of, whose
                            runs are told apart by it; otherwise 0 */
  uint64_t stream_token; /* kw_stream_info.token of the stream that ran it */
  uint64_t begin, end;   /* nanoseconds on the device's clock */
} kw_activity;

/* Writes record number `index` of the array that drain was given, as much of it as the host knows. */
static inline void kw_activity_store(void *out, uint32_t record_size, uint32_t index, const kw_activity *record) {
  const size_t size = record_size < sizeof *record ? record_size : sizeof *record;
  const unsigned char *from = (const unsigned char *)record;
  unsigned char *to = (unsigned char *)out + (size_t)index * record_size;
  size_t i;
  for (i = 0; i < size; i++) to[i] = from[i];
}

typedef struct kw_activity_api {
  uint32_t struct_size;
  uint32_t reserved;

  /* From here on work is recorded (on is 1) or not (0). The host turns recording on between device.open and the first
   * stream.create, if at all; work of streams that existed before MAY stay without records. Off is the state at open.
   * What was recorded before it was turned off is still there for drain. */
  kw_status(KW_CALL *record)(void *device, uint32_t on);

  /* One moment on both clocks, the host's being CLOCK_MONOTONIC, as near to each other as the driver can tell. The
   * moment MUST lie within this call: before it began nothing that has finished has a later time, and what is enqueued
   * after its return has none that is earlier. From any thread; waits for no stream of the host's.
   * [activity/clock_is_now] */
  kw_status(KW_CALL *clock)(void *device, uint64_t *out_device_ns, uint64_t *out_host_ns);

  /* Moves up to `capacity` records of finished work to `out`, an array of zeroes whose entries are record_size bytes
   * apart (at least KW_ACTIVITY_MIN); those of one stream in the order of its work. *out_count says how many, fewer
   * than `capacity` when there are no more; *out_dropped how many were lost since the last drain, because nobody
   * drained in time: a plugin SHOULD have room for 10,000. Does not wait. From any thread. [activity] */
  kw_status(KW_CALL *drain)(void *device, void *out, uint32_t record_size, uint32_t capacity, uint32_t *out_count,
                            uint64_t *out_dropped);
} kw_activity_api;

/* ==== Tests: optional group "keyway.test/1" ======================================================================= */

/* Faults on demand, so that what becomes of them can be tried where no hardware fails. The host asks for them only in a
 * process that was started for tests (KW_INIT_TEST); no environment variable or option may stand in for that. [fault]
 */
typedef struct kw_test_api {
  uint32_t struct_size;
  uint32_t reserved;

  /* The plugin MUST do what kw_fault says of `fault`, nth at least 1 [fault/launch_fails_late], and MUST be as before
   * when that has happened: what comes before the n-th goes well, and so does what comes after
   * [fault/allocation_fails]. KW_FAULT_HOLD MUST NOT keep memory.alloc, the enqueueing slots and waits of limited time
   * from returning [fault/work_is_held]. KW_ERR_UNSUPPORTED for a fault that it does not know. */
  kw_status(KW_CALL *order)(void *device, kw_fault fault, uint64_t nth);
} kw_test_api;

/* ==== The plugin ================================================================================================== */

/* A capability group: `table` points to the struct that `name` stands for, whose first field is its struct_size. Groups
 * that the host does not know are ignored; vendors name their own in reverse DNS ("com.acme.power/1"). A name MUST be
 * there once. [load/group_twice] Two names never have one table: that is refused, too. A group grows at its end within
 * its number. A plugin may offer /1 and /2 of a group: the host takes the highest that it knows, and serves /1 for its
 * whole major version. 16 bytes, frozen. */
typedef struct kw_group {
  const char *name;
  const void *table;
} kw_group;

#define KW_GROUP_DEVICE "keyway.device/1"
#define KW_GROUP_MEMORY "keyway.memory/1"
#define KW_GROUP_STREAM "keyway.stream/1"
#define KW_GROUP_EVENT "keyway.event/1"
#define KW_GROUP_GRAPH "keyway.graph/1"
#define KW_GROUP_ENERGY "keyway.energy/1"
#define KW_GROUP_PROFILE "keyway.profile/1"
#define KW_GROUP_INTEROP "keyway.interop/1"
#define KW_GROUP_ACTIVITY "keyway.activity/1"
#define KW_GROUP_TEST "keyway.test/1"

/* How a plugin is started. */
typedef struct kw_init_info {
  uint32_t struct_size;
  uint32_t option_count;
  const kw_option *options; /* of the plugin's with KW_OPTION_INIT those that were given, in no order, each once */
  const kw_ext *next;
} kw_init_info;

/* What a plugin is. Constant, alive as long as the library is loaded. */
typedef struct kw_plugin_desc {
  uint32_t struct_size;
  uint32_t abi_version;    /* the version this answer follows: inside the range that was asked for */
  const char *key;         /* the device key, [a-z][a-z0-9_]*: "npu". Permanent: applications write it in their code */
  const char *vendor;      /* [a-z][a-z0-9_]*: "acme"; makes the key unique: "acme.npu" */
  const char *version;     /* the plugin's own version, for people: "1.4.2" */
  const char *description; /* one line, for people */
  const char *build;       /* compiler and what else identifies the build; "" if unknown */
  const char *sanitizer;   /* "address", "thread", ... when built with one; "" otherwise */

  /* Is the driver there, is there hardware? Cheap (well under a second), no threads left behind, built for the baseline
   * ISA. KW_OK: yes. KW_ERR_NOT_FOUND or KW_ERR_UNSUPPORTED: no, and *out_reason (static or thread-local text) says
   * what is missing and what would bring it. Called before init, also in a helper process that then exits. [abi] */
  kw_status(KW_CALL *probe)(const char **out_reason);

  /* Starts the plugin: keeps `host`, registers kernels and ops, returns its state in *out_plugin (may stay NULL). Two
   * hosts in one process share the library: init MUST keep nothing outside *out_plugin that another host's calls could
   * meet, or return KW_ERR_BUSY while it is started already. [lifecycle/two_hosts] */
  kw_status(KW_CALL *init)(const kw_host_api *host, const kw_init_info *info, void **out_plugin);

  /* Ends it: joins its threads, frees everything. init may be called again afterwards. [lifecycle] */
  kw_status(KW_CALL *shutdown)(void *plugin);

  const kw_group *groups;
  uint32_t group_count;

  /* The options that init and device.open take, KW_OPTION_LIMIT at most, no key twice. What an option is where nobody
   * says MUST be taken when it is given, too. [lifecycle/options] */
  uint32_t option_count;
  const kw_option_desc *const *options;
} kw_plugin_desc;
#define KW_OPTION_LIMIT 64u

/* What the host tells when it asks. */
typedef struct kw_query_info {
  uint32_t struct_size;
  uint32_t abi_min; /* the host serves plugins from this version ... */
  uint32_t abi_max; /* ... up to this one, and later minors of the same major */
  uint32_t reserved;
  const char *host_version; /* for people: "keyway 1.0.0" */
  const kw_ext *next;
} kw_query_info;

/* For ever the same, in every version: the symbol's name and signature, the first 24 bytes of kw_query_info, the first
 * 8 of kw_plugin_desc. */

/* The one exported symbol. Pure: no threads, no driver, no files; callable any number of times.
 * A plugin answers with the highest version that it follows whose major lies between those of abi_min and abi_max. Its
 * minor may be later than abi_max: it then does without what this host's tables lack (KW_HAS_FIELD). On KW_OK
 * *out_plugin is set. When the plugin has no version of these majors it returns KW_ERR_ABI_MISMATCH and says why in
 * *out_reason. kw_query_answer does all this. [abi] */
typedef kw_status(KW_CALL *kw_query_fn)(const kw_query_info *host, const kw_plugin_desc **out_plugin,
                                        const char **out_reason);

#define KW_QUERY_SYMBOL "keyway_plugin_query"
KW_PLUGIN_EXPORT kw_status keyway_plugin_query(const kw_query_info *host, const kw_plugin_desc **out_plugin,
                                               const char **out_reason);

/* Answers a query with a plugin that follows one version: `return kw_query_answer(host, &desc, out_plugin,
 * out_reason);`
 */
static inline kw_status kw_query_answer(const kw_query_info *host, const kw_plugin_desc *plugin,
                                        const kw_plugin_desc **out_plugin, const char **out_reason) {
  const uint32_t major = KW_ABI_MAJOR(plugin->abi_version);
  if (major < KW_ABI_MAJOR(host->abi_min) || major > KW_ABI_MAJOR(host->abi_max)) {
    *out_reason = "this plugin follows plugin ABI " KW_ABI_VERSION_TEXT
                  ", which the host does not serve; install a plugin and a host of the same major version";
    return KW_ERR_ABI_MISMATCH;
  }
  if (KW_HAS_FIELD(host, next) && kw_ext_check(host->next, NULL, 0) != KW_OK) {
    *out_reason = "this plugin does not know an extension that the host's query insists on";
    return KW_ERR_UNSUPPORTED;
  }
  *out_plugin = plugin;
  return KW_OK;
}

/* The smallest struct that each side accepts: its size in the first version that has it. sizeof is today's size. A
 * query comes before the versions are known: of kw_query_info a plugin reads 24 bytes unasked. */
#define KW_QUERY_INFO_MIN 24u
#define KW_DEVICE_API_MIN 48u
#define KW_MEMORY_API_MIN 88u
#define KW_STREAM_API_MIN 48u
#define KW_EVENT_API_MIN 64u
#define KW_GRAPH_API_MIN 40u
#define KW_ENERGY_API_MIN 16u
#define KW_PROFILE_API_MIN 24u
#define KW_INTEROP_API_MIN 40u
#define KW_ACTIVITY_API_MIN 32u
#define KW_TEST_API_MIN 16u
#define KW_HOST_API_MIN 112u
#define KW_PLUGIN_DESC_MIN 104u
#define KW_KERNEL_DESC_MIN 136u
#define KW_OP_DESC_MIN 88u
#define KW_INIT_INFO_MIN 24u
#define KW_OPEN_INFO_MIN 24u
#define KW_ALLOC_INFO_MIN 40u
#define KW_COPY_INFO_MIN 64u
#define KW_MAP_INFO_MIN 40u
#define KW_STREAM_INFO_MIN 32u
#define KW_EVENT_INFO_MIN 24u
#define KW_CAPTURE_INFO_MIN 24u
#define KW_CALL_MIN 120u
#define KW_CALL_EXTRA_MIN 72u
#define KW_PACKED_MIN 40u
#define KW_TENSOR_REF_MIN 296u
#define KW_ACTIVITY_MIN 48u
#define KW_GRAPH_LAUNCH_INFO_MIN 16u
#define KW_DEVICE_INFO_MIN 384u
#define KW_EXTERNAL_MEMORY_MIN 176u
#define KW_NATIVE_HANDLE_MIN 24u
#define KW_ATTRIBUTE_MIN 16u
#define KW_OPTION_DESC_MIN 32u

#ifdef __cplusplus
}
#endif

#endif /* KEYWAY_PLUGIN_H */
