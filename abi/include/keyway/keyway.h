/* SPDX-License-Identifier: Apache-2.0
 *
 * Keyway for applications: choose a device by name at run time and run ops on it.
 *
 *     kw_device *device;
 *     kw_tensor *x, *y = NULL;
 *     kw_device_open("npu:0", &device);
 *     kw_tensor_create(device, KW_F32, 2, (int64_t[]){2, 3}, &x);
 *     kw_tensor_write(x, host_floats);
 *     kw_value args[] = {kw_arg_tensor(x), kw_arg_tensor(x)};
 *     kw_op_call(kw_op_find("add.Tensor"), NULL, args, 2, &y, 1);
 *
 * Conventions
 *   - Functions return kw_status. On failure kw_error_message() tells what failed, why, and what to do next, and the
 *     out-parameters are untouched or NULL.
 *   - A struct that starts with struct_size is read or filled no further than that says: set it to sizeof the struct
 *     before the call. Not set, it is KW_ERR_INVALID_ARGUMENT; filled, it says how much is valid.
 *   - Objects from create/open are owned by the caller and end with destroy/release/close.
 *   - Everything is thread-safe unless its comment says otherwise; one object MUST NOT be destroyed while another
 *     thread uses it.
 *   - A thread that calls Keyway has a stack of KW_THREAD_STACK bytes at least, beyond what the application has on it
 *     already; a driver may need more where it compiles on the thread that asks (its plugin's page says so).
 *   - The library starts itself at the first call that needs it (it looks for plugins then). Plugins stay loaded until
 *     exit.
 *   - A process may exit at any time, from any thread, with devices open and work in flight. Plugins without open
 *     devices are shut down then; whether work in flight still finishes is not said.
 *   - Devices do not survive a fork. In a child of a process in which the library has started, calls that reach a
 *     device, wait or load plugins return KW_ERR_UNSUPPORTED, those that destroy as well, and kw_tensor_release and
 *     its like free nothing of a device's. The child goes on with exec, or ends with _exit. A process that forks first
 *     and uses Keyway afterwards, on both sides, is fine.
 */
#ifndef KEYWAY_KEYWAY_H
#define KEYWAY_KEYWAY_H

#include <keyway/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(_WIN32)
#define KW_API __declspec(dllimport)
#elif defined(__GNUC__)
#define KW_API __attribute__((visibility("default")))
#else
#define KW_API
#endif

/* Bytes of stack that a thread has at least which calls Keyway or runs a host function. 160 KiB of them are a plugin's,
 * the rest is for the library. (Where the C library gives less by itself: pthread_attr_setstacksize.) */
#define KW_THREAD_STACK (256u << 10)

typedef struct kw_device kw_device;
typedef struct kw_stream kw_stream;
typedef struct kw_event kw_event;
typedef struct kw_generator kw_generator;
typedef struct kw_graph kw_graph;
typedef struct kw_tensor kw_tensor;
typedef struct kw_op kw_op;
typedef struct kw_plan kw_plan;
struct kw_call; /* plugin.h */

/* ---- Version, errors, names -------------------------------------------------------------------------------------- */

/* "1.0.0". */
KW_API const char *kw_version(void);
/* The ABI version this library serves, as in KW_ABI_MAKE. */
KW_API uint32_t kw_abi_version(void);

/* The text of the calling thread's last failure, a chain from the call down to the driver's own words, one cause a
 * line; "" when there was none. Valid until the thread's next failing call. */
KW_API const char *kw_error_message(void);
/* Forgets it. */
KW_API void kw_error_clear(void);
/* Long computations on the host can be cancelled. From now on calls of this thread look at *flag now and then, between
 * the pieces of their loops: when it is not 0 they leave the rest undone and fail with KW_ERR_CANCELLED. What they were
 * to write then has any contents; everything can be used as before, and once *flag is 0 again the next call goes well.
 * Any thread stores to *flag, also a signal handler (volatile sig_atomic_t). It stays valid until this thread has
 * called this with another one, or with NULL, which ends it. Calls that are done before they would look, what runs on
 * devices or on threads of a plugin's (cpu:0's streams but the default one), kernels without parallel_for, and plugins
 * in processes of their own are not cancelled. */
KW_API void kw_cancel_watch(const volatile int *flag);
/* The number behind the calling thread's last failure, where its plugin gave one of its own (KW_STATUS_OF_PLUGIN) or of
 * a later version: the function that failed returned what the number's class stands for. 0 otherwise. *out_plugin, if
 * wanted, is the plugin's name, "acme.npu", or "" with 0. Both go as kw_error_message goes. */
KW_API kw_status kw_error_detail(const char **out_plugin);
/* "out of memory"; for a number beyond those of KW_ERR_ "refused (the plugin's 7)", "status 99". Static or thread-local
 * text. */
KW_API const char *kw_status_name(kw_status status);

/* "f32"; NULL for an unknown number. */
KW_API const char *kw_dtype_name(kw_dtype dtype);
/* Bytes per element; 0 for an unknown number. */
KW_API size_t kw_dtype_size(kw_dtype dtype);
/* KW_DTYPE_NONE for an unknown name; kw_error_message says which comes near: f32 for float32. */
KW_API kw_dtype kw_dtype_from_name(const char *name);
/* ATen's promotion of two dtypes: i32 with f16 gives f16, u8 with i8 gives i16, f16 with bf16 gives f32. */
KW_API kw_dtype kw_dtype_promote(kw_dtype a, kw_dtype b);

/* ---- Starting, plugins ------------------------------------------------------------------------------------------- */

/* Environment:
 *   KEYWAY_PLUGIN_PATH      directories, colon-separated, searched first (ignored in programs with raised privileges)
 *   KEYWAY_VISIBLE_DEVICES  comma-separated device names: only these exist, in this order
 *   KEYWAY_FALLBACK         off (default) | warn | allow: what happens when a device lacks a kernel
 *   KEYWAY_KERNELS          op=name[,op=name]: this kernel before all others; both may be globs: *=reference*
 *   KEYWAY_MATH             highest (default) | tf32 | fast: how exactly calls have to compute
 *   KEYWAY_DETERMINISTIC    1: only kernels that give the same bits every time (default: 0)
 *   KEYWAY_LOG              error (default: warn) | info | debug
 *   KEYWAY_TRACE            a file that gets a trace of ops, copies, allocations and profile ranges, of memory in use,
 *                           and of when the device worked on what, where the plugin tells (`keyway trace` judges it):
 *                           in Perfetto's format where its name ends with .pftrace or .perfetto-trace, in Chrome's
 *                           (JSON) otherwise. A FIFO whose reader is slow loses records and keeps nobody waiting
 *   KEYWAY_TRACE_LIMIT      bytes, as 512MiB: the trace ends there (default: 1GiB; at least 64KiB)
 *   KEYWAY_LAYERS           layers between the application, the library and its plugins, comma-separated, the first
 *                           nearest to the application: validation (docs/layers.md)
 *   KEYWAY_VALIDATION       report (default) | abort: what the layer validation does about a misuse
 *   KEYWAY_THREADS          threads of the host's parallel_for; default: the CPUs this process may run on, or fewer
 *                           where its cgroup has a quota (rounded down: 2 of 2.5 CPUs)
 *   KEYWAY_OPTIONS          acme.npu.queue_depth=64[;KEY=VALUE]: options of plugins where the application gives none
 *                           (ignored in programs with raised privileges)
 *   KEYWAY_PLUGINS          -NAME[,-NAME]: goes without these plugins: names of files (keyway_opencl or opencl), keys
 *                           or vendor.key
 *   KEYWAY_TRUST            a file that lists the plugins that may be opened, beside the machine's /etc/keyway/trust:
 *                           both have to allow one (docs/security.md; ignored in programs with raised privileges)
 *   KEYWAY_ISOLATE          NAME[,NAME] or *: these plugins run in processes of their own, whose end is a lost device;
 *                           as the option acme.npu.isolate=1 (ignored in programs with raised privileges)
 *   KEYWAY_ISOLATE_TIMEOUT_MS  a plugin in its own process that does not answer for so long has hung, ten times as
 *                           long where it works; default 60000, 0: never
 *   KEYWAY_PROBE_TIMEOUT_MS how long to wait for the processes that look at plugins once none of them comes further;
 *                           default 10000 */

typedef struct kw_init_options {
  uint32_t struct_size;
  uint32_t option_count;
  uint64_t flags;           /* KW_INIT_* */
  const kw_option *options; /* of plugins, at their start and for all their devices, by whole keys; copied */
} kw_init_options;
#define KW_INIT_NO_DISCOVERY (UINT64_C(1) << 0) /* load no plugin but those that kw_plugin_load names */
#define KW_INIT_TEST (UINT64_C(1) << 1)         /* this process tests: test.h works in it */
#define KW_INIT_RETRY (UINT64_C(1) << 2)        /* forget what is kept about plugins, also quarantine: try all */

/* Options. A plugin says which it has (kw_plugin_report.options); `keyway doctor` lists them. What is given for one
 * device (kw_device_open, kw_device_open_with) comes first, then what kw_init was given, then KEYWAY_OPTIONS, then what
 * the option is by itself. A key that names a plugin and none of its options is KW_ERR_INVALID_ARGUMENT, and the text
 * lists those it has; in what kw_init was given and in KEYWAY_OPTIONS it keeps the plugin from being loaded. Keys of
 * other plugins are ignored, and logged. A key that is given twice in one place is KW_ERR_INVALID_ARGUMENT. */

/* Starts the library with options; NULL = defaults. KW_ERR_BUSY when it already started. Optional: the first call that
 * needs plugins starts it as well. KW_ERR_OUT_OF_MEMORY when memory, files or processes are short: nothing is lost, and
 * the next call tries again. */
KW_API kw_status kw_init(const kw_init_options *options);

/* How far one candidate plugin came. The order is the order of the stages. */
typedef uint32_t kw_stage;
enum {
  KW_STAGE_FOUND = 0,   /* seen in a directory; refused before opening (no plugin, unsafe permissions, left out) */
  KW_STAGE_OPENED = 1,  /* dlopen succeeded */
  KW_STAGE_SYMBOL = 2,  /* keyway_plugin_query is there */
  KW_STAGE_VERSION = 3, /* query answered with a version, sizes and slots that fit */
  KW_STAGE_PROBE = 4,   /* probe says that driver and hardware are there */
  KW_STAGE_INIT = 5     /* init succeeded: its devices exist */
};
KW_API const char *kw_stage_name(kw_stage stage);

/* What happened to one candidate. Each one is opened, asked and started in a process of its own first, side by side
 * with the others; in this process when one of its devices is asked for, or by kw_plugin_load. What the processes saw
 * is kept for a while (~/.cache/keyway). A plugin whose opening ended a process like this one is in quarantine: it is
 * not opened until `keyway doctor --retry` or KW_INIT_RETRY. Strings live as long as the process. */
typedef struct kw_plugin_report {
  uint32_t struct_size;
  kw_stage reached;     /* the last stage that succeeded */
  kw_status status;     /* KW_OK when reached == KW_STAGE_INIT, otherwise why the next stage failed */
  uint32_t abi_version; /* what the plugin answered; 0 = not known */
  uint32_t device_count;
  uint32_t kernel_count;
  const char *path;
  const char *reason; /* one sentence; "" when loaded without remark, a warning possible */
  const char *key;    /* "" until known, as all below */
  const char *vendor;
  const char *version;
  const char *description;
  const char *build;
  const char *sanitizer;
  uint64_t load_ns; /* time from found to the reached stage */
  uint64_t native;  /* KW_NATIVE_*: what it implements itself of what core derives otherwise; 0 until loaded */
  const kw_option_desc *const *options; /* that the plugin has; NULL and 0 until known */
  uint32_t option_count;
  uint32_t reserved;
  uint32_t opened;   /* 1: its library is open for this process; 0: all of this is what a helper process showed */
  uint32_t isolated; /* 1: it runs in a process of its own, or will when it is opened, as things are set now */
  const char *trust; /* by which rules it may be opened, where there are trust files; "" otherwise */
} kw_plugin_report;

/* Loads one plugin file beyond those discovered, and opens it. The caller vouches for the file: unsafe permissions are
 * only warned about, and quarantine does not hold; a trust file (kw_trust_file) does. Loading a file twice is KW_OK.
 * The plugin's report tells more than the status. */
KW_API kw_status kw_plugin_load(const char *path);
KW_API kw_status kw_plugin_count(uint32_t *out_count);
KW_API kw_status kw_plugin_get_report(uint32_t index, kw_plugin_report *out_report);

typedef uint32_t kw_directory_state;
enum {
  KW_DIRECTORY_SEARCHED = 0, /* the plugins in it, if any, have reports */
  KW_DIRECTORY_ABSENT = 1,   /* no directory of that name can be reached */
  KW_DIRECTORY_REFUSED = 2   /* not searched: unsafe permissions, an empty or relative name, not readable */
};

/* One place where plugins were looked for when the library started. Strings live as long as the process. */
typedef struct kw_plugin_directory {
  uint32_t struct_size;
  kw_directory_state state;
  const char *path;   /* as it was named; "" for an empty element of KEYWAY_PLUGIN_PATH */
  const char *origin; /* who named it: "KEYWAY_PLUGIN_PATH", "this user's", "beside libkeyway.so", ... */
  const char *reason; /* why it was not searched; "" when it was */
} kw_plugin_directory;
/* In the order of the search. KW_ERR_NOT_FOUND past the end; after KW_INIT_NO_DISCOVERY there are none. */
KW_API kw_status kw_plugin_get_directory(uint32_t index, kw_plugin_directory *out_directory);

/* A list of the plugins that may be opened (docs/security.md): /etc/keyway/trust, or what KEYWAY_TRUST names. Each that
 * is there has to allow a plugin; otherwise none of its code runs, also where kw_plugin_load names it. Strings live as
 * long as the process. */
typedef struct kw_trust_file {
  uint32_t struct_size;
  uint32_t rule_count;
  const char *path;
  const char *reason; /* why it allows nothing at all: it cannot be read or understood; "" otherwise */
} kw_trust_file;
/* KW_ERR_NOT_FOUND past the end; without a list there is none. */
KW_API kw_status kw_plugin_get_trust_file(uint32_t index, kw_trust_file *out_file);

/* ---- Devices ----------------------------------------------------------------------------------------------------- */

/* Names:
 *   "npu" (= "npu:0"), "npu:1", "acme.npu:1", "npu@pci:0000:3b:00.0", a name given by kw_device_rename, or a policy:
 *   "auto"   the first of: gpu, npu, fpga and other, cpu devices; within a type in load order; never an emulated device
 *   "gpu"    the first device of type gpu that is not emulated
 * When two vendors use one key, the plain key is ambiguous and refused with both qualified names. An unknown name never
 * becomes another device. Behind any of them options may follow, where the device is opened:
 *   "npu:0/queue_depth=64", "auto/acme.npu.queue_depth=64;keyway.opencl.module_cache=0" */

/* One line of the device list, by index over all visible devices in load order. Stable while no plugin is loaded. */
typedef struct kw_device_entry {
  uint32_t struct_size;
  uint32_t plugin;            /* index for kw_plugin_get_report */
  char name[80];              /* "npu:0", or the renamed form */
  char qualified_name[144];   /* "acme.npu:0" */
  const kw_device_info *info; /* the library's copy; lives as long as the process */
} kw_device_entry;
KW_API kw_status kw_device_count(uint32_t *out_count);
KW_API kw_status kw_device_get_entry(uint32_t index, kw_device_entry *out_entry);

/* Opens a device by name. One kw_device per physical index: opening it again returns the same one, counted.
 * KW_ERR_NOT_FOUND: the message lists the devices that exist and every plugin that failed to load, with the reason. */
KW_API kw_status kw_device_open(const char *name, kw_device **out_device);
/* The same with options beside those that the name has. KW_ERR_BUSY when the device is open and one of them has another
 * value there: close it first, or open it without. */
KW_API kw_status kw_device_open_with(const char *name, const kw_option *options, uint32_t option_count,
                                     kw_device **out_device);
/* Gives back one open. The device closes, and its caches are freed, when the last open is given back and every tensor,
 * stream, event, plan, generator and graph made on it is gone; until then opening it again gives the same device, lost
 * if it was lost. KW_ERR_BUSY inside a host function (kw_stream_call_host) when it would be the last: close after it
 * has returned. */
KW_API kw_status kw_device_close(kw_device *device);
/* Gives a device key another name in this process: kw_device_rename("npu", "my_hardware_device"). The old name goes on
 * working. KW_ERR_INVALID_ARGUMENT when `to` is malformed or taken. */
KW_API kw_status kw_device_rename(const char *from, const char *to);
/* "npu:0"; lives as long as the device. */
KW_API const char *kw_device_name(const kw_device *device);
KW_API kw_status kw_device_get_info(const kw_device *device, kw_device_info *out_info);
/* A fact about the device by its key: see KW_ATTRIBUTE_LIST. KW_ERR_NOT_FOUND or KW_ERR_UNSUPPORTED when its plugin
 * does not tell. */
KW_API kw_status kw_device_attribute(const kw_device *device, const char *key, kw_attribute *out_value);
/* The same of a device in the list (kw_device_get_entry), which need not be open. */
KW_API kw_status kw_device_get_entry_attribute(uint32_t index, const char *key, kw_attribute *out_value);
/* What the plugin implements itself; everything else core derives. */
#define KW_NATIVE_EVENTS (UINT64_C(1) << 0)
#define KW_NATIVE_CALL_HOST (UINT64_C(1) << 1) /* kw_stream_call_host may block without stopping the caller */
#define KW_NATIVE_FILL (UINT64_C(1) << 2)
#define KW_NATIVE_QUERY (UINT64_C(1) << 3)
#define KW_NATIVE_GRAPH (UINT64_C(1) << 4)       /* graphs of kernels that allow it run as one: kw_graph_info.native */
#define KW_NATIVE_ENERGY (UINT64_C(1) << 5)      /* kw_energy_begin reads the device's own counter */
#define KW_NATIVE_PROFILE (UINT64_C(1) << 6)     /* kw_profile_push reaches the vendor's tools */
#define KW_NATIVE_HOST_MEMORY (UINT64_C(1) << 7) /* kw_host_alloc is the plugin's */
#define KW_NATIVE_PEER_COPY (UINT64_C(1) << 8)   /* between devices of the plugin copies may pass the host by */
#define KW_NATIVE_INTEROP (UINT64_C(1) << 9)     /* kw_tensor_import takes memory of others where it lies */
#define KW_NATIVE_ACTIVITY (UINT64_C(1) << 10)   /* a trace (KEYWAY_TRACE) shows when the device worked on what */
#define KW_NATIVE_TEST (UINT64_C(1) << 11)       /* test.h: faults on demand */
#define KW_NATIVE_MAP (UINT64_C(1) << 12)        /* kw_tensor_map need not copy */
KW_API uint64_t kw_device_native(const kw_device *device);
/* Waits for all streams of the device; for one that records a graph, for what it was given before. Returns the first
 * late error that no such wait has returned yet; each stays with its stream, whose own wait returns it, too
 * (kw_stream_synchronize). KW_ERR_BUSY inside a host function. */
KW_API kw_status kw_device_synchronize(kw_device *device);

/* The same, for at most timeout_ns nanoseconds; KW_ERR_TIMEOUT names the first stream that has not finished. Late
 * errors of streams that have are returned all the same, by this wait or the next. */
KW_API kw_status kw_device_synchronize_for(kw_device *device, uint64_t timeout_ns);

/* How long any one wait for this device may last, in nanoseconds; KW_WAIT_FOREVER, as every device begins, for no
 * limit. It holds for all functions that wait, kw_tensor_read, kw_tensor_to and kw_stream_destroy for instance, but for
 * those that are given a limit. One that takes longer returns KW_ERR_TIMEOUT, with the stream that has not finished and
 * the op it was given last in the text, and has changed nothing: what is enqueued goes on, and a later wait may find it
 * done. While there is a limit, reads and writes pass through memory of the library's own, so that a copy which comes
 * after its wait has ended touches nothing of the application's. When the device's last wait of all, in the call that
 * gives back what kept it open, ends at the limit, the device is abandoned instead of closed. A hang inside the
 * driver's own functions for launches, copies and allocations has no limit. KW_ERR_INVALID_ARGUMENT: the limit is 0. */
KW_API kw_status kw_device_set_wait_limit(kw_device *device, uint64_t limit_ns);

/* Gives up a device that hangs: it is lost at once, and for as long as the process lives. Nothing of its plugin is
 * called for it any more; memory and threads that it holds stay where they are, since what hangs may still come back to
 * them: deleters of imported memory are not called, and at exit its plugin is not shut down. Its handles give
 * KW_ERR_DEVICE_LOST, and may be released, destroyed and closed as usual, or not at all. Threads that wait inside the
 * plugin stay there. Other devices go on, also those of the same plugin. From any thread; again, it does nothing. */
KW_API kw_status kw_device_abandon(kw_device *device);

typedef struct kw_memory_stats {
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t allocated; /* bytes in live tensors, rounded as the allocator rounds */
  uint64_t allocated_peak;
  uint64_t held; /* bytes obtained from the plugin: allocated, cached, and set aside by graphs */
  uint64_t held_peak;
  uint64_t live;          /* live allocations */
  uint64_t allocations;   /* allocations ever made */
  uint64_t plugin_allocs; /* calls of the plugin's alloc */
  uint64_t plugin_frees;
  uint64_t oom_retries;  /* allocations that flushed the cache and tried again */
  uint64_t oom_failures; /* ... and failed all the same */
} kw_memory_stats;
KW_API kw_status kw_memory_get_stats(kw_device *device, kw_memory_stats *out_stats);
/* Both peaks start anew, from what is in use now. Any thread. */
KW_API kw_status kw_memory_reset_peak(kw_device *device);

/* A piece of what the allocator obtained from the plugin. Pieces without gaps make up a segment, which is one of the
 * plugin's allocations. */
typedef uint32_t kw_block_state;
enum {
  KW_BLOCK_LIVE = 0,    /* of a tensor, or of something of the library's own */
  KW_BLOCK_PENDING = 1, /* released, while other streams than its own still use it */
  KW_BLOCK_FREE = 2     /* cached, for calls on the segment's stream */
};
typedef struct kw_memory_block {
  uint32_t struct_size;
  kw_block_state state;
  uint64_t offset, size; /* in the segment; bytes */
  uint64_t segment;      /* its number: those of a device differ while they live */
  uint64_t segment_size;
  uint64_t stream; /* token of the segment's stream (kw_trace_event.stream) */
  bool graphs;     /* the segment is one graph's or several's, and serves no other calls */
  uint8_t reserved[7];
} kw_memory_block;
/* Calls `function` for every block, segment by segment, in the order of their offsets: as they were at one moment,
 * which is over then, so it may call the library. Not with imported memory, nor with such as kw_tensor_create_in makes.
 * Any thread. KW_ERR_OUT_OF_MEMORY: no host memory for the list, and no call. */
KW_API kw_status kw_memory_for_each_block(kw_device *device,
                                          void(KW_CALL *function)(const kw_memory_block *block, void *user),
                                          void *user);
/* Bytes of the device's memory that are free now, and all of them, as its driver counts: also for other processes, with
 * what this one caches as used. Where the plugin cannot tell, kw_device_info.total_memory, and as free what `held` of
 * kw_memory_stats leaves of it; KW_ERR_UNSUPPORTED where that is unknown, too. */
KW_API kw_status kw_memory_get_usage(kw_device *device, uint64_t *out_free, uint64_t *out_total);
/* Gives cached, unused memory back to the plugin; what graphs have set aside stays theirs. */
KW_API kw_status kw_memory_trim(kw_device *device);

/* Host memory that copies from and to the device are fastest with: page-locked, where the plugin has such
 * (KW_NATIVE_HOST_MEMORY), otherwise plain. Aligned to 64 bytes; contents are undefined; `size` is at least 1 byte. It
 * keeps the device open until kw_host_free. Any thread. KW_ERR_OUT_OF_MEMORY. */
KW_API kw_status kw_host_alloc(kw_device *device, uint64_t size, void **out_memory);
/* Frees what kw_host_alloc gave for this device; NULL is ignored. No copy may use it any more: wait for the stream. */
KW_API kw_status kw_host_free(kw_device *device, void *memory);

/* ---- Streams and events ------------------------------------------------------------------------------------------ */

/* Where a stream is asked for, NULL means the default stream of the device. */
KW_API kw_status kw_stream_create(kw_device *device, kw_stream **out_stream);
/* Work in flight finishes. NULL is ignored. */
KW_API kw_status kw_stream_destroy(kw_stream *stream);
/* The device's default stream; lives as long as the device. */
KW_API kw_stream *kw_stream_default(kw_device *device);
KW_API kw_device *kw_stream_device(const kw_stream *stream);
/* Waits. A late error of this stream is returned here once, with the op that caused it, and the stream is usable again,
 * whether or not a wait for the whole device has returned it before; after KW_ERR_DEVICE_LOST it is not. Host memory of
 * the application's that copies of this stream read or write belongs to them until a wait went well: where one fails as
 * such, or ends at its limit, they may still come. Of several errors since the last wait the first one is returned and
 * the others are logged; what the plugin reported comes before what kernels found wrong in their data (an index out of
 * range: KW_ERR_INVALID_ARGUMENT, naming op and argument). Functions that wait in passing, as kw_tensor_read, return
 * them, too. */
KW_API kw_status kw_stream_synchronize(kw_stream *stream);
/* The same, for at most timeout_ns nanoseconds: 0 looks and does not wait, KW_WAIT_FOREVER has no limit, whatever that
 * of the device is. KW_ERR_TIMEOUT: not finished; the stream is as it was, and what failed late is still to be told. */
KW_API kw_status kw_stream_synchronize_for(kw_stream *stream, uint64_t timeout_ns);
/* KW_OK when idle, KW_ERR_NOT_READY when not. */
KW_API kw_status kw_stream_query(kw_stream *stream);
/* Enqueues fn(user): see stream.call_host in plugin.h. Without KW_NATIVE_CALL_HOST it synchronises and runs fn on the
 * calling thread. fn MUST NOT call Keyway functions that synchronise: they return KW_ERR_BUSY. */
KW_API kw_status kw_stream_call_host(kw_stream *stream, void(KW_CALL *fn)(void *user), void *user);

KW_API kw_status kw_event_create(kw_device *device, kw_event **out_event);
KW_API kw_status kw_event_destroy(kw_event *event);
KW_API kw_status kw_event_record(kw_event *event, kw_stream *stream);
/* KW_OK when passed or never recorded, KW_ERR_NOT_READY when not. */
KW_API kw_status kw_event_query(kw_event *event);
KW_API kw_status kw_event_synchronize(kw_event *event);
/* KW_ERR_TIMEOUT when it has not been passed after timeout_ns nanoseconds, as for kw_stream_synchronize_for. */
KW_API kw_status kw_event_synchronize_for(kw_event *event, uint64_t timeout_ns);
/* Makes later work of `stream` wait for the event; streams and events may belong to different devices (then the host
 * waits). */
KW_API kw_status kw_stream_wait_event(kw_stream *stream, kw_event *event);
/* Nanoseconds between two passed events of one device. */
KW_API kw_status kw_event_elapsed(kw_event *start, kw_event *end, uint64_t *out_ns);

/* ---- Tensors ----------------------------------------------------------------------------------------------------- */

/* A tensor is a counted reference to a piece of device memory with dtype, shape and strides. Views share the memory.
 * Rank at most KW_MAX_RANK; numel * itemsize must fit in int64. Shapes and strides are in elements. */

/* Contiguous, contents undefined. */
KW_API kw_status kw_tensor_create(kw_device *device, kw_dtype dtype, uint32_t rank, const int64_t *shape,
                                  kw_tensor **out_tensor);
/* The same, for use on `stream` first (its memory comes from that stream's cache). */
KW_API kw_status kw_tensor_create_on(kw_stream *stream, kw_dtype dtype, uint32_t rank, const int64_t *shape,
                                     kw_tensor **out_tensor);
/* The same in memory of a kind and for a use (KW_MEM_* in types.h) that the caches do not keep: it comes from the
 * plugin and goes back to it when the last tensor on it is gone. KW_ERR_UNSUPPORTED where the device has no such
 * memory. */
typedef struct kw_memory_options {
  uint32_t struct_size;
  kw_mem_kind kind;
  uint64_t flags; /* KW_MEM_PEER, KW_MEM_EXPORTABLE, KW_MEM_IPC */
} kw_memory_options;
KW_API kw_status kw_tensor_create_in(kw_device *device, const kw_memory_options *memory, kw_dtype dtype, uint32_t rank,
                                     const int64_t *shape, kw_tensor **out_tensor);
/* Releasing the last reference gives the memory back in stream order: work already enqueued goes on. NULL is ignored.
 * Of a tensor that is mapped the last reference is not released: that is logged, and the tensor lives on. */
KW_API void kw_tensor_release(kw_tensor *tensor);
KW_API void kw_tensor_retain(kw_tensor *tensor);
/* dtype, shape, strides, numel, offset; lives as long as the tensor. */
KW_API const kw_tensor_ref *kw_tensor_describe(const kw_tensor *tensor);
KW_API kw_device *kw_tensor_device(const kw_tensor *tensor);

/* Copies numel elements, densely packed in row-major order, from or to host memory; strided tensors too. On the
 * device's default stream, waits for completion. */
KW_API kw_status kw_tensor_write(kw_tensor *tensor, const void *host);
KW_API kw_status kw_tensor_read(const kw_tensor *tensor, void *host);
/* Enqueues instead; the tensor must be contiguous and `host` valid until the stream has passed. */
KW_API kw_status kw_tensor_write_async(kw_tensor *tensor, const void *host, kw_stream *stream);
KW_API kw_status kw_tensor_read_async(const kw_tensor *tensor, void *host, kw_stream *stream);
/* A host pointer to the elements of a contiguous tensor, until kw_tensor_unmap: to the memory itself where the plugin
 * can (KW_NATIVE_MAP) and the memory is of such a kind, otherwise to a copy, which is made here and written back there.
 * `flags`: KW_MAP_READ, KW_MAP_WRITE or both. The call waits for what `stream` (NULL: the device's default stream) was
 * given before, and returns its late errors. In between the host alone uses the elements: no work that was not waited
 * for may touch them. What the host has written is there for all work that is enqueued on any stream after the unmap.
 * Maps that overlap are for reading only, otherwise it is KW_ERR_BUSY; any number of threads. Read-only memory is not
 * mapped for writing (KW_ERR_INVALID_ARGUMENT). */
KW_API kw_status kw_tensor_map(kw_tensor *tensor, kw_stream *stream, uint64_t flags, void **out_pointer);
/* Ends the map of this tensor that gave this pointer; of several that gave it, the newest. Waits where it copies. It
 * has ended on failure, too, unless the text says that there is none; what was written may be lost then. */
KW_API kw_status kw_tensor_unmap(kw_tensor *tensor, void *pointer);
/* Weights. A constant tensor's numbers, and those of all tensors on its memory, stay as they are until something writes
 * there.
 *
 * 1. Packed forms. Meanwhile kernels may keep packed forms of it, the same numbers in the order in which they read them
 *    best. Each is made by the first call that has a use for it, which waits for that, takes about as much memory of
 *    the device as the tensor (kw_memory_get_stats shows it), and serves all calls with the tensor. Where the order
 *    depends on other arguments, such as an image's size, a kernel has several, at most 8; calls beyond them use none,
 *    nor do a graph's calls.
 * 2. Results keep the op's bound; their bits may differ from those without.
 * 3. The end. It ends by itself when a call, copy or fill writes to the memory or when it is mapped for writing: the
 *    packed forms go, and later calls read the new numbers. Writes that Keyway cannot see (memory that was imported,
 *    exported, or is written to by its native name or through kw_tensor_ref.mem) have to be told by `constant` false.
 * 4. Order. A call that is not ordered behind an earlier write on another stream may read what was there before, as
 *    any call; with a constant argument later calls may do so as well.
 * 5. Errors. KW_ERR_BUSY: a graph was recorded that writes to the memory, or made it. Not while a call that writes to
 *    the memory runs in another thread. */
KW_API kw_status kw_tensor_set_constant(kw_tensor *tensor, bool constant);
/* Whether it still is: false for NULL, too. */
KW_API bool kw_tensor_is_constant(const kw_tensor *tensor);
/* A contiguous copy on another (or the same) device, same dtype. Waits. */
KW_API kw_status kw_tensor_to(const kw_tensor *tensor, kw_device *device, kw_tensor **out_tensor);
/* Enqueues a copy of `from` into `to`, on any two devices; both contiguous, of one dtype and shape. It reads after what
 * `from_stream` has been given and writes after what `to_stream` has; what either is given later comes after it. NULL:
 * the default streams. Both tensors may be released at once. Between devices of different plugins the data go through
 * host memory of the copy's own; the call waits only where a plugin cannot call the host (KW_NATIVE_CALL_HOST) or runs
 * the work of a default stream at once. An error of reading is told by from_stream's waits, one of writing, or the loss
 * of the other device, by to_stream's. */
KW_API kw_status kw_tensor_copy_async(kw_tensor *to, kw_stream *to_stream, const kw_tensor *from,
                                      kw_stream *from_stream);
/* "tensor([[1, 2], [3, 4]], f32, npu:0)"; at most size bytes with the NUL, long tensors abbreviated. Reads the tensor.
 */
KW_API kw_status kw_tensor_format(const kw_tensor *tensor, char *text, size_t size);

/* A contiguous descriptor without memory, for kw_arg_meta: rank at most KW_MAX_RANK, sizes at least 0; wrong ones are
 * refused where it is used. */
static inline kw_tensor_ref kw_meta(kw_dtype dtype, uint32_t rank, const int64_t *shape) {
  kw_tensor_ref ref;
  uint64_t stride = 1;
  uint32_t d;
  ref.struct_size = (uint32_t)sizeof ref;
  ref.dtype = dtype;
  ref.rank = (uint8_t)(rank <= KW_MAX_RANK ? rank : KW_MAX_RANK + 1);
  ref.reserved = 0;
  ref.mem = NULL;
  ref.offset = 0;
  ref.numel = 0; /* counted where the descriptor is used */
  ref.alignment = 0;
  ref.layout = 0;
  for (d = KW_MAX_RANK; d-- > 0;) {
    ref.shape[d] = d < rank ? shape[d] : 0;
    ref.strides[d] = d < rank ? (int64_t)stride : 0;
    /* An empty dimension counts as one, as in ATen; what is past 63 bits wraps and is refused where it is used. */
    if (d < rank && shape[d] > 0) stride *= (uint64_t)shape[d];
  }
  return ref;
}

/* Views: descriptors only, no kernel, on every device. Semantics are those of the ATen ops of the same names; negative
 * dimensions and indices count from the end. */
KW_API kw_status kw_tensor_view(const kw_tensor *tensor, uint32_t rank, const int64_t *shape, kw_tensor **out_view);
/* `storage_offset` in elements from the start of the tensor's memory, as in ATen. */
KW_API kw_status kw_tensor_as_strided(const kw_tensor *tensor, uint32_t rank, const int64_t *shape,
                                      const int64_t *strides, int64_t storage_offset, kw_tensor **out_view);
/* The same memory with dtype, shape, strides and place as given, whatever the tensor's own are; `byte_offset` counts
 * from the start of the memory and is a multiple of the dtype's size. For frameworks that keep shapes themselves. */
KW_API kw_status kw_tensor_reinterpret(const kw_tensor *tensor, kw_dtype dtype, uint32_t rank, const int64_t *shape,
                                       const int64_t *strides, uint64_t byte_offset, kw_tensor **out_view);
KW_API kw_status kw_tensor_expand(const kw_tensor *tensor, uint32_t rank, const int64_t *shape, kw_tensor **out_view);
KW_API kw_status kw_tensor_permute(const kw_tensor *tensor, uint32_t rank, const int64_t *dims, kw_tensor **out_view);
KW_API kw_status kw_tensor_transpose(const kw_tensor *tensor, int64_t dim0, int64_t dim1, kw_tensor **out_view);
KW_API kw_status kw_tensor_select(const kw_tensor *tensor, int64_t dim, int64_t index, kw_tensor **out_view);
/* start and end are clamped as in ATen; step >= 1. */
KW_API kw_status kw_tensor_slice(const kw_tensor *tensor, int64_t dim, int64_t start, int64_t end, int64_t step,
                                 kw_tensor **out_view);
KW_API kw_status kw_tensor_squeeze(const kw_tensor *tensor, int64_t dim, kw_tensor **out_view);
KW_API kw_status kw_tensor_unsqueeze(const kw_tensor *tensor, int64_t dim, kw_tensor **out_view);
KW_API kw_status kw_tensor_diagonal(const kw_tensor *tensor, int64_t offset, int64_t dim1, int64_t dim2,
                                    kw_tensor **out_view);
/* Splits along dim into `count` pieces of the given sizes, which must add up. out_views[0..count-1]. */
KW_API kw_status kw_tensor_split_with_sizes(const kw_tensor *tensor, uint32_t count, const int64_t *sizes, int64_t dim,
                                            kw_tensor **out_views);
KW_API kw_status kw_tensor_alias(const kw_tensor *tensor, kw_tensor **out_view);
/* c64 [..] as f32 [.., 2], c128 as f64: the last dimension is the real and the imaginary part. One of them alone is
 * kw_tensor_select of that. */
KW_API kw_status kw_tensor_view_as_real(const kw_tensor *tensor, kw_tensor **out_view);
/* The other way. KW_ERR_INVALID_ARGUMENT where the parts do not lie side by side, or pairs not at multiples of their
 * size from the start of the memory. */
KW_API kw_status kw_tensor_view_as_complex(const kw_tensor *tensor, kw_tensor **out_view);

/* ---- Arguments --------------------------------------------------------------------------------------------------- */
static inline kw_value kw_arg_none(void) {
  kw_value v = {KW_TAG_NONE, 0, 0, {0}};
  return v;
}
/* The tensor's descriptor is its first member: kernels read it in place. */
static inline kw_value kw_arg_tensor(const kw_tensor *tensor) {
  kw_value v = {KW_TAG_TENSOR, 0, 0, {0}};
  v.u.tensor = (const kw_tensor_ref *)(const void *)tensor;
  return v;
}
static inline kw_value kw_arg_tensor_list(kw_tensor *const *tensors, uint32_t count) {
  kw_value v = {KW_TAG_TENSOR_LIST, 0, count, {0}};
  v.u.tensors = (const kw_tensor_ref *const *)(const void *)tensors;
  return v;
}
/* A descriptor without memory, for functions that ask about calls (kw_op_infer, kw_op_can_run): that of kw_meta, or of
 * any tensor. It must be valid during the call. */
static inline kw_value kw_arg_meta(const kw_tensor_ref *descriptor) {
  kw_value v = {KW_TAG_META, 0, 0, {0}};
  v.u.tensor = descriptor;
  return v;
}
static inline kw_value kw_arg_meta_list(const kw_tensor_ref *const *descriptors, uint32_t count) {
  kw_value v = {KW_TAG_META_LIST, 0, count, {0}};
  v.u.tensors = descriptors;
  return v;
}
static inline kw_value kw_arg_int(int64_t i) {
  kw_value v = {KW_TAG_INT, 0, 0, {0}};
  v.u.i = i;
  return v;
}
static inline kw_value kw_arg_int_list(const int64_t *ints, uint32_t count) {
  kw_value v = {KW_TAG_INT_LIST, 0, count, {0}};
  v.u.ints = ints;
  return v;
}
static inline kw_value kw_arg_float(double f) {
  kw_value v = {KW_TAG_FLOAT, 0, 0, {0}};
  v.u.f = f;
  return v;
}
static inline kw_value kw_arg_bool(bool b) {
  kw_value v = {KW_TAG_BOOL, 0, 0, {0}};
  v.u.b = b;
  return v;
}
static inline kw_value kw_arg_string(const char *s) {
  kw_value v = {KW_TAG_STRING, 0, 0, {0}};
  v.u.s = s;
  return v;
}
static inline kw_value kw_arg_dtype(kw_dtype dtype) {
  kw_value v = {KW_TAG_DTYPE, 0, 0, {0}};
  v.u.dtype = dtype;
  return v;
}
/* NULL is the same as none: the device's default generator. */
static inline kw_value kw_arg_generator(kw_generator *generator) {
  kw_value v = {KW_TAG_GENERATOR, 0, 0, {0}};
  v.u.generator = generator;
  return v;
}
static inline kw_value kw_arg_scalar_i64(int64_t i) {
  kw_value v = {KW_TAG_SCALAR, KW_SCALAR_I64, 0, {0}};
  v.u.i = i;
  return v;
}
static inline kw_value kw_arg_scalar_f64(double f) {
  kw_value v = {KW_TAG_SCALAR, KW_SCALAR_F64, 0, {0}};
  v.u.f = f;
  return v;
}
static inline kw_value kw_arg_scalar_bool(bool b) {
  kw_value v = {KW_TAG_SCALAR, KW_SCALAR_BOOL, 0, {0}};
  v.u.b = b;
  return v;
}

/* ---- Ops --------------------------------------------------------------------------------------------------------- */

/* An op by its name ("add.Tensor", "acme::scaled_add"); NULL when there is none (kw_error_message says which come near)
 * or when memory is out for the op table, which is made at the first call (the next one tries again). Interned: the
 * pointer is the same each time and lives as long as the process. Cheap enough for set-up, meant to be kept. A vendor's
 * own op is there once its plugin is open: by one of its devices, or kw_plugin_load. */
KW_API const kw_op *kw_op_find(const char *name);
KW_API uint32_t kw_op_count(void);
KW_API const kw_op *kw_op_at(uint32_t index);

typedef uint32_t kw_level;
enum { KW_LEVEL_CORE = 0, KW_LEVEL_INFERENCE = 1, KW_LEVEL_TRAINING = 2, KW_LEVEL_VENDOR = 3 };

typedef struct kw_op_info {
  uint32_t struct_size;
  kw_level level;
  const char *name;
  const char *schema;
  kw_dtype_mask dtypes; /* key dtypes the op is defined for */
  uint32_t arg_count;
  uint32_t result_count;
  double max_ulp;            /* the bound of the conformance suite, with absolute and growth below; see comparator */
  const char *comparator;    /* "bits", "ulp", ... */
  const char *decomposition; /* ops that serve it on devices without a kernel of its own: "amax add.Tensor/i64", the
                                latter on that dtype; or "" */
  bool counted;   /* only the data show how large result 0 is, and the last result is the count: kw_op_call */
  bool pointwise; /* a given result may be exactly an argument: same memory, dtype, shape and strides */
  uint8_t reserved[6];
  double absolute; /* beside max_ulp: in eps of the compute type */
  double growth;   /* comparator "accumulate" of a vendor's op: see KW_COMPARE_ACCUMULATE in plugin.h */
} kw_op_info;
KW_API kw_status kw_op_get_info(const kw_op *op, kw_op_info *out_info);

/* One argument of an op, in schema order; and which argument a result is, where the schema marks it (a!), or -1.
 * Strings and lists live as long as the process. KW_ERR_NOT_FOUND past the end. */
#define KW_ARG_OPTIONAL (UINT64_C(1) << 0)     /* "?": may be none */
#define KW_ARG_MUTATED (UINT64_C(1) << 1)      /* "(a!)", of a list each entry */
#define KW_ARG_KEYWORD_ONLY (UINT64_C(1) << 2) /* after "*" */
#define KW_ARG_HAS_DEFAULT (UINT64_C(1) << 3)
#define KW_ARG_OPTIONAL_ENTRIES (UINT64_C(1) << 4) /* "Tensor?[]" */
#define KW_ARG_RETURNED (UINT64_C(1) << 5)         /* "(a!)", and a result */
typedef struct kw_arg_info {
  uint32_t struct_size;
  uint32_t list_size; /* N of "int[N]": one int will do for all; otherwise 0 */
  uint64_t flags;     /* KW_ARG_* */
  kw_tag tag;
  uint16_t reserved[3];
  const char *name;
  kw_value default_value; /* KW_TAG_NONE without KW_ARG_HAS_DEFAULT */
} kw_arg_info;
KW_API kw_status kw_op_get_arg(const kw_op *op, uint32_t index, kw_arg_info *out_info);
KW_API int32_t kw_op_result_alias(const kw_op *op, uint32_t index);

/* How a device would run an op whose tensor arguments have this dtype, without running it: registered kernels count
 * that the math mode allows, can_implement is not asked. */
typedef uint32_t kw_support;
enum { KW_SUPPORT_NONE = 0, KW_SUPPORT_DECOMPOSED = 1, KW_SUPPORT_KERNEL = 2 };
KW_API kw_support kw_op_support(const kw_op *op, kw_device *device, kw_dtype dtype);

/* What a call would give: dtype, shape, contiguous strides and numel of each result into *outs[i], whose struct_size
 * the caller has set; dtype is KW_DTYPE_NONE where `output_mask` leaves a result out. Arguments are those of
 * kw_op_call, or descriptors (kw_arg_meta) in place of tensors; no memory and no device is needed. A result marked
 * (a!) has its argument's descriptor; of a counted op result 0 has the largest size that the arguments allow. out_count
 * is the op's result_count (kw_op_info). Errors as of kw_op_call. */
KW_API kw_status kw_op_infer(const kw_op *op, const kw_value *args, uint32_t arg_count, kw_tensor_ref *const *outs,
                             uint32_t out_count);

/* KW_OK when a device can run a call with such arguments itself (tensors of it, or descriptors), KW_ERR_NOT_IMPLEMENTED
 * when it cannot, whether or not fallback is on; otherwise the error that the call would give. Goes by the math mode
 * that is set. Kernels are asked as for the call (can_implement), but nothing is prepared, compiled or run; of a
 * decomposition the ops are known to have kernels, which are not asked. Descriptors whose alignment is 0 count as
 * tensors that kw_tensor_create made. *out_support (may be NULL): how. */
typedef struct kw_call_support {
  uint32_t struct_size;
  kw_support support; /* KW_SUPPORT_KERNEL or KW_SUPPORT_DECOMPOSED */
  const char *kernel; /* the kernel's name, "" for a decomposition; lives as long as the process */
} kw_call_support;
KW_API kw_status kw_op_can_run(const kw_op *op, kw_device *device, const kw_value *args, uint32_t arg_count,
                               kw_call_support *out_support);

/* The i-th kernel that a device's plugin registered for an op, in the order in which they are tried; last come those
 * that are tried only by name (KW_PRIORITY_OFF). Those are among them, too, that the math mode does not allow now.
 * KW_ERR_NOT_FOUND past the end. */
typedef struct kw_kernel_info {
  uint32_t struct_size;
  kw_math_mode math_mode; /* the least that allows this kernel; one that the library does not know if none does */
  uint64_t flags;         /* KW_KERNEL_*: plugin.h */
  const char *name;
  kw_dtype_mask dtypes;
  int32_t priority;
  uint32_t packable; /* bit i: where argument i is constant the kernel may have a packed form of it */
} kw_kernel_info;
KW_API kw_status kw_op_get_kernel(const kw_op *op, kw_device *device, uint32_t index, kw_kernel_info *out_info);

/* Runs the reference that a vendor gave with define_op, in this process, serially; every mem in `call` is a host
 * pointer. KW_ERR_NOT_FOUND when the op has none. */
KW_API kw_status kw_op_run_reference(const kw_op *op, const struct kw_call *call);

/* Runs an op: checks the arguments against the schema, infers result shapes and dtypes, picks a kernel, enqueues it on
 * `stream` (NULL: the default stream of the arguments' device) and returns.
 *
 * 1. Arguments. Absent trailing ones take the schema's defaults; where the schema says Scalar an int, float or bool
 *    value will do.
 * 2. Results. outs[i] == NULL: the result is allocated and returned there, owned by the caller. outs[i] != NULL: the
 *    result is written there; shape and dtype must be the inferred ones, and the tensor must overlap neither an
 *    argument nor itself.
 * 3. Results marked (a!) in the schema are the argument of that mark: outs[i] is left alone. Where all results are
 *    such, outs may be NULL and out_count 0.
 * 4. Other arguments marked (a!), a tensor or every entry of a list, are changed in place, too: none may overlap
 *    itself or another tensor of the call.
 * 5. Where the schema has "bool[N] output_mask" (a list of N ints, 0 or 1), result i is absent when entry i is 0:
 *    outs[i] must be NULL and stays it.
 * 6. Counted ops (kw_op_info.counted; nonzero, masked_select) have one result more than their schema, the last: how
 *    many entries of result 0, along its first dimension, have been filled, an i64 of rank 0.
 *    a. Asked for all results the call does not wait: result 0 has the largest size that the arguments allow, and what
 *       lies behind the count is unspecified.
 *    b. Asked for one result less the call waits for the stream, and returns result 0 as a view of the filled part;
 *       outs[0] must be NULL then, and while the stream records that is KW_ERR_BUSY.
 * 7. A mask among the indices of index and index_put, bool or u8, means the indices that nonzero finds in it, so such
 *    a call waits as in 6b.
 * 8. The call, and those that it leads to, go by the math mode that is set when it begins.
 * 9. Errors. KW_ERR_INVALID_ARGUMENT names op and argument; KW_ERR_NOT_IMPLEMENTED when the device has no kernel, no
 *    decomposition serves and fallback is off.
 * 10. Cost. From the second call with the same signature on, when a leading argument is a tensor and all results are
 *    given, there is no lock, but a generator's for a moment, and no heap allocation. */
KW_API kw_status kw_op_call(const kw_op *op, kw_stream *stream, const kw_value *args, uint32_t arg_count,
                            kw_tensor **outs, uint32_t out_count);

/* kw_op_call in two halves: make checks and chooses once for the signature of these arguments, run replays with other
 * tensors of the same dtypes, shapes, strides and alignment (checked; KW_ERR_INVALID_ARGUMENT otherwise). `kernel`: the
 * name of the kernel to use, no other and no decomposition; NULL = the usual choice. outs as in kw_op_call,
 * given or NULL alike in make and run. */
KW_API kw_status kw_plan_make(const kw_op *op, kw_stream *stream, const kw_value *args, uint32_t arg_count,
                              kw_tensor **outs, uint32_t out_count, const char *kernel, kw_plan **out_plan);
KW_API kw_status kw_plan_run(const kw_plan *plan, kw_stream *stream, const kw_value *args, uint32_t arg_count,
                             kw_tensor **outs, uint32_t out_count);
/* The kernel's name; "" for a decomposition. */
KW_API const char *kw_plan_kernel(const kw_plan *plan);
KW_API void kw_plan_destroy(kw_plan *plan);

/* ---- Random numbers ---------------------------------------------------------------------------------------------- */

/* A generator is (algorithm, seed, offset), owned by the host: the same state gives the same numbers on every device.
 * It begins as Philox 4x32-10; kw_generator_set_state makes it AES-128-CTR, which devices may lack
 * (KW_ERR_NOT_IMPLEMENTED, KW_KERNEL_AES_CTR). A random op takes ceil(numel / 4) blocks of its generator, numel that of
 * its first result, whatever the dtype, and moves offset past them, also when the call then fails; ops that run in one
 * order are reproducible. Ops that share a generator from several threads get disjoint blocks, in the order in which
 * they come. All functions are thread-safe.
 */
typedef struct kw_generator_state {
  uint32_t struct_size;
  uint32_t algorithm; /* KW_GENERATOR_PHILOX4X32_10, KW_GENERATOR_AES128_CTR */
  uint64_t seed;
  uint64_t offset; /* blocks of four 32-bit words used so far; wraps */
} kw_generator_state;

/* The generator that random ops on this device use when none is given; seed 0 at open; lives as long as the device. */
KW_API kw_generator *kw_generator_default(kw_device *device);
KW_API kw_status kw_generator_create(kw_device *device, uint64_t seed, kw_generator **out_generator);
/* Calls already enqueued, and graphs, go on. NULL is ignored. For a default generator it does nothing but log that. */
KW_API void kw_generator_destroy(kw_generator *generator);
/* Sets the seed, and offset to 0. */
KW_API kw_status kw_generator_seed(kw_generator *generator, uint64_t seed);
KW_API kw_status kw_generator_get_state(const kw_generator *generator, kw_generator_state *out_state);
/* KW_ERR_UNSUPPORTED for another algorithm. */
KW_API kw_status kw_generator_set_state(kw_generator *generator, const kw_generator_state *state);

/* ---- Graphs ------------------------------------------------------------------------------------------------------ */

/* Calls recorded once and run many times. Between begin and end, kw_op_call and kw_plan_run on `stream` are recorded
 * instead of run: arguments are checked, kernels chosen, results allocated, nothing is computed. Results and
 * temporaries come from a pool of the graph's own, which no other tensor gets memory of until the graph is destroyed;
 * tensors made by kw_tensor_create do not. All tensors that recorded calls use stay valid as long as the graph:
 * launching reads what they hold at that time and writes the same results again. Random ops draw new numbers at each
 * launch, as many as their calls would. While a stream records, whatever would wait for it or has no place in a graph
 * (kw_stream_synchronize, query, events, copies from and to the host, host functions, data-dependent shapes, fallback,
 * launching another graph) returns KW_ERR_BUSY and says so; for the device's default stream that includes
 * kw_tensor_read, write and to. Other streams go on. */

/* KW_ERR_BUSY when the stream records already. The calling thread records: calls on `stream` from others are refused
 * with KW_ERR_BUSY. A recording that has not ended when its thread does is thrown away. */
KW_API kw_status kw_graph_begin(kw_stream *stream);
/* Ends recording, by the thread that began it. A call that failed in between has left nothing in the graph, which holds
 * what was recorded before and after it. out_graph NULL throws it all away. Never fails for want of the plugin: a graph
 * that it does not record itself is replayed call by call (kw_graph_info.native). */
KW_API kw_status kw_graph_end(kw_stream *stream, kw_graph **out_graph);
/* Enqueues all of it on `stream` (of the same device; NULL: the default stream). Launches of one graph follow each
 * other even when their streams differ, since they share their memory: where the plugin has no events the host waits
 * for the stream of the launch before. When a launch fails, part of the work may have been enqueued. */
KW_API kw_status kw_graph_launch(kw_graph *graph, kw_stream *stream);
/* Waits for work in flight. Results that the application still holds stay valid. NULL is ignored. KW_ERR_BUSY inside a
 * host function (kw_stream_call_host), and the graph lives on. */
KW_API kw_status kw_graph_destroy(kw_graph *graph);

typedef struct kw_graph_info {
  uint32_t struct_size;
  uint32_t nodes; /* kernel launches and fills */
  bool native;    /* the plugin replays it by its graph group */
  uint8_t reserved[7];
  uint64_t pool_bytes; /* device memory of its own */
} kw_graph_info;
KW_API kw_status kw_graph_get_info(const kw_graph *graph, kw_graph_info *out_info);

/* ---- Autocast ---------------------------------------------------------------------------------------------------- */

/* Mixed precision without casts in the application: which dtype an op's floats should have is a table, op by op, the
 * same on all devices. */
typedef uint32_t kw_cast_policy;
enum {
  KW_CAST_NONE = 0,  /* as given */
  KW_CAST_LOWER = 1, /* products: in the 16-bit float that autocast is set to */
  KW_CAST_F32 = 2,   /* what loses too much in 16 bits: f16 and bf16 as f32 */
  KW_CAST_WIDEST = 3 /* several floats that meet: all in the widest of them */
};
KW_API kw_cast_policy kw_op_cast_policy(const kw_op *op);
/* "lower", "f32", "widest"; "" for none and for unknown numbers. */
KW_API const char *kw_cast_policy_name(kw_cast_policy policy);

/* Sets autocast for the calling thread: KW_F16 or KW_BF16, or KW_DTYPE_NONE for off, as every thread begins.
 * *out_before (may be NULL) is what it was, to be set again at the end of a region. KW_ERR_INVALID_ARGUMENT for another
 * dtype.
 *
 * While it is on, kw_op_call casts f16, bf16 and f32 arguments as the op's policy says, before anything else looks at
 * them: results are what the cast arguments give. f64, integers and complex numbers stay. KW_CAST_LOWER leaves the
 * arguments alone on a device that has the op in no kernel or decomposition of that dtype. Calls with given results
 * and ops that change an argument are not touched, nor are plans (kw_plan_make). Casts are calls of _to_copy on
 * the call's stream; nothing is kept from one call to the next. */
KW_API kw_status kw_autocast_set(kw_dtype lower, kw_dtype *out_before);
/* What it is set to in this thread. */
KW_API kw_dtype kw_autocast_get(void);

/* ---- Math mode --------------------------------------------------------------------------------------------------- */

/* How exactly calls have to compute, for the whole process: KW_MATH_HIGHEST unless KEYWAY_MATH says otherwise. Kernels
 * that compute in tf32, or faster, are chosen only where the mode allows them; a device that has none computes as
 * before. From any thread, at any time: calls that other threads make meanwhile take the mode from before or after.
 * Plans (kw_plan_make) and graphs keep that of the call that made or recorded them. KW_ERR_INVALID_ARGUMENT: no such
 * mode. */
KW_API kw_status kw_math_mode_set(kw_math_mode mode);
KW_API kw_math_mode kw_math_mode_get(void);
/* "highest", "tf32", "fast"; "" for an unknown number. */
KW_API const char *kw_math_mode_name(kw_math_mode mode);

/* With true, only kernels that promise the same bits every time (KW_KERNEL_DETERMINISTIC) are chosen, and a call that
 * needs another is KW_ERR_NOT_IMPLEMENTED, or falls back. The same rules as for the math mode; false unless
 * KEYWAY_DETERMINISTIC is 1. */
KW_API void kw_deterministic_set(bool only);
KW_API bool kw_deterministic_get(void);

/* ---- Profiling, energy ------------------------------------------------------------------------------------------- */

/* Something that took time: an event of the trace. */
typedef struct kw_trace_event {
  uint32_t struct_size;
  uint32_t node; /* of a launch in a native graph: how many launches the graph has before it */
  /* "op", "launch", "copy", "alloc", "sync", "load", "build", "range": what the host did, in the calling thread.
   * "device": what a device did, where its plugin tells (KW_NATIVE_ACTIVITY). */
  const char *category;
  const char *name;          /* the op's; of what is no call of an op "copy", "fill", "graph" and the like */
  const char *detail;        /* NULL: none */
  uint64_t begin_ns, end_ns; /* CLOCK_MONOTONIC */
  uint64_t stream;           /* a number that no other stream of the process has; 0: none in particular */
  uint64_t call;             /* a launch's number, which its "launch" and its "device" events share; 0: none */
  kw_device *device;         /* that did it; NULL: the host */
} kw_trace_event;
typedef void(KW_CALL *kw_trace_function)(const kw_trace_event *event, void *user);
/* From here on hands every event to `function`, whether or not a trace is written (KEYWAY_TRACE), one after the other:
 * those of the host in their threads as they end, those of devices in threads that have just waited for them. What it
 * is given is valid during the call; it must not call the library. Calls cost more meanwhile, as with a trace. NULL
 * ends it: events of devices that have been waited for come first, and none after the return. Does not start the
 * library. KW_ERR_BUSY: there is a function already. Devices that are open tell from here on, also about streams that
 * are there; one whose plugin refuses goes without, with a warning in the log. */
KW_API kw_status kw_trace_listen(kw_trace_function function, void *user);

/* Names what the calling thread does from here to the matching pop. Ranges nest. They stand in the trace
 * (KEYWAY_TRACE), and plugins that can (KW_NATIVE_PROFILE) hand them to the vendor's tools. Does not start the library.
 * KW_ERR_INVALID_ARGUMENT: name is NULL, or 64 ranges are open already. */
KW_API kw_status kw_profile_push(const char *name);
/* KW_ERR_INVALID_ARGUMENT when no range is open in this thread. */
KW_API kw_status kw_profile_pop(void);

/* What a device uses between two moments. Windows may nest and overlap, on any threads; each measures by itself. Both
 * ends wait for all streams of the device, so that the window holds the work enqueued in it, and none from
 * before. Counters are of whole devices: what others ran on it meanwhile is in the result. */
typedef struct kw_energy_window kw_energy_window;
typedef struct kw_energy {
  uint32_t struct_size;
  uint32_t reserved;
  double joules;
  uint64_t ns;        /* from begin to end */
  const char *source; /* "keyway.energy/1", the plugin's own counter; "RAPL", the host's packages and memory; static */
} kw_energy;
/* KW_ERR_UNSUPPORTED where nothing can be read: the device has no counter, or RAPL is absent or kept from this user;
 * the message says which and what to do. */
KW_API kw_status kw_energy_begin(kw_device *device, kw_energy_window **out_window);
/* Ends a window and frees it, on failure too. */
KW_API kw_status kw_energy_end(kw_energy_window *window, kw_energy *out_energy);

/* ---- Fallback and counters --------------------------------------------------------------------------------------- */

/* Fallback runs a call that a device cannot on cpu:0, copying to and fro. Never for views or calls that mix devices. */
typedef uint32_t kw_fallback;
enum {
  KW_FALLBACK_OFF = 0,  /* KW_ERR_NOT_IMPLEMENTED, and the message says how to allow it */
  KW_FALLBACK_WARN = 1, /* allowed, each op logged once per device */
  KW_FALLBACK_ALLOW = 2 /* allowed silently, still counted */
};
KW_API void kw_fallback_set(kw_fallback mode);
KW_API kw_fallback kw_fallback_get(void);

/* How many calls of an op cpu:0 has served in place of a device since it was opened. */
KW_API uint64_t kw_op_fallbacks(const kw_op *op, const kw_device *device);

typedef struct kw_counters {
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t launches;       /* kernel launches */
  uint64_t decomposed;     /* op calls served by a decomposition */
  uint64_t fallbacks;      /* op calls served by cpu:0 in place of the device */
  uint64_t modules_built;  /* modules of kernels that the plugin compiled, and those it fetched from a cache on disk, */
  uint64_t modules_cached; /* as far as it tells */
  uint64_t build_ns;       /* how long threads waited for both */
  uint64_t bytes_to_device; /* that were copied from the host, by whoever asked */
  uint64_t bytes_to_host;   /* and from the device */
} kw_counters;
/* Since the device was opened. */
KW_API kw_status kw_device_get_counters(const kw_device *device, kw_counters *out_counters);

#ifdef __cplusplus
}
#endif

#endif /* KEYWAY_KEYWAY_H */
