/* SPDX-License-Identifier: Apache-2.0
 *
 * Keyway: types that both sides of the plugin boundary share.
 *
 * Everything here is plain C11 data without behaviour. Sizes and numbers are part of the ABI: values are only ever
 * added, never renumbered.
 */
#ifndef KEYWAY_TYPES_H
#define KEYWAY_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if UINTPTR_MAX != UINT64_MAX
#error "Keyway's ABI is for 64-bit processes: build for x86-64, aarch64 or another 64-bit target"
#elif defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "Keyway's ABI is for little-endian hosts"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Version ----------------------------------------------------------------------------------------------------- */

/* An ABI version is one number: (major << 16) | minor. Host and plugin agree on a version when the majors are equal;
 * minors differ by appended fields and slots only, and each side reads no further than the other's struct_size. */
#define KW_ABI_MAKE(major, minor) (((uint32_t)(major) << 16) | (uint32_t)(minor))
#define KW_ABI_MAJOR(version) ((uint32_t)(version) >> 16)
#define KW_ABI_MINOR(version) ((uint32_t)(version)&0xffffu)

#define KW_ABI_VERSION KW_ABI_MAKE(1, 0)     /* the version these headers describe */
#define KW_ABI_VERSION_TEXT "1.0"            /* the same for people */
#define KW_ABI_VERSION_MIN KW_ABI_MAKE(1, 0) /* the oldest version this host still loads */

/* How functions are called across the plugin boundary: the platform's usual way, said wherever a pointer to a function
 * crosses it. */
#if defined(_WIN32)
#define KW_CALL __cdecl
#else
#define KW_CALL
#endif

/* Flags are 64 bits. Whoever does not know one of these refuses what carries it; the others it ignores. */
#define KW_FLAGS_CRITICAL (~UINT64_C(0) << 32)

/* ---- Status ------------------------------------------------------------------------------------------------------ */

/* What every slot and every fallible public function returns. The text that explains it travels beside it: per thread,
 * see kw_error_message() (applications) and kw_host_api.set_error (plugins). */
typedef int32_t kw_status;
enum {
  KW_OK = 0,
  KW_ERR_INVALID_ARGUMENT = 1, /* the caller broke a documented rule */
  KW_ERR_NOT_IMPLEMENTED = 2,  /* no kernel for this op, dtype or shape on this device (another device may have one) */
  KW_ERR_UNSUPPORTED = 3,      /* this device never will: the slot or feature does not exist here */
  KW_ERR_FALLBACK = 4,         /* the plugin asks that the CPU run this call */
  KW_ERR_OUT_OF_MEMORY = 5,
  KW_ERR_DEVICE_LOST = 6, /* every stream of the device is dead; close it and open it again */
  KW_ERR_TIMEOUT = 7,
  KW_ERR_BUSY = 8,         /* in use now; try again later */
  KW_ERR_ABI_MISMATCH = 9, /* no common ABI version, or a struct that is too small */
  KW_ERR_NOT_FOUND = 10,   /* no such device, op, plugin or file */
  KW_ERR_NOT_READY = 11,   /* not an error: a query on work that is still running */
  KW_ERR_IO = 12,          /* reading or writing a file failed */
  KW_ERR_PERMISSION = 13,  /* refused for safety: ownership or mode of a file */
  KW_ERR_INTERNAL = 14     /* a defect in Keyway or in a plugin */
};

/* A status is (class << 24) | code. Class 0 has the numbers above, and never more. The class of any other says what the
 * caller does about it, so that whoever does not know the code acts as on the KW_ERR_ beside the class. Codes below
 * 0x800000 are Keyway's, for later minor versions; those above are each plugin's own (KW_STATUS_OF_PLUGIN), its
 * driver's numbers for instance. There is no further class in 1.x: a status that is negative, of an unknown class, or
 * of class 0 and not above, counts as KW_ERR_INTERNAL. */
enum {
  KW_CLASS_BUG = 1,      /* KW_ERR_INTERNAL: somebody broke a rule, and the same again fails again */
  KW_CLASS_RESOURCE = 2, /* KW_ERR_OUT_OF_MEMORY: after something was freed it may work */
  KW_CLASS_LOST = 3,     /* KW_ERR_DEVICE_LOST */
  KW_CLASS_RETRY = 4,    /* KW_ERR_BUSY: later it may work */
  KW_CLASS_REFUSED = 5   /* KW_ERR_UNSUPPORTED: not here, and nothing has changed; another way may be open */
};
/* Codes of classes. */
enum {
  KW_ERR_CANCELLED = KW_CLASS_RETRY << 24 | 1 /* the application no longer wants the call's result, kw_cancel_watch() */
};
#define KW_STATUS_CLASS(status) ((uint32_t)(status) >> 24)
#define KW_STATUS_OF_PLUGIN(class_of_it, number) \
  ((kw_status)((uint32_t)(class_of_it) << 24 | 0x800000u | ((uint32_t)(number)&0x7fffffu)))

/* ---- Time -------------------------------------------------------------------------------------------------------- */

/* Limits of waits are in nanoseconds: 0 does not wait, this one never ends a wait. */
#define KW_WAIT_FOREVER UINT64_MAX

/* ---- Extensions -------------------------------------------------------------------------------------------------- */

/* One entry of a chain that hangs on `next` of a struct which something is made from: what a later version, or a
 * vendor, wants to say beside the struct. The chain is the caller's and valid during the call; whoever is called keeps
 * copies of what it needs. An entry's payload follows this head and holds no pointers. A chain has at most 32 entries,
 * and no kind twice (of KW_EXT_VENDOR no name twice); its order means nothing. Who does not know an entry skips it,
 * unless it is critical: then the call returns KW_ERR_UNSUPPORTED and has changed nothing. */
typedef struct kw_ext {
  uint32_t struct_size; /* bytes, this head and the payload: 16 to 65,536 */
  uint32_t kind;        /* KW_EXT_VENDOR, or a later version's; with KW_EXT_CRITICAL or without */
  const struct kw_ext *next;
} kw_ext;

#define KW_EXT_CRITICAL (UINT32_C(1) << 30)
#define KW_EXT_LIMIT 32u         /* entries of a chain */
#define KW_EXT_SIZE_LIMIT 65536u /* bytes of an entry */
enum {
  KW_EXT_VENDOR = 1 /* a kw_ext_vendor */
};

/* A vendor's own entry; what the name stands for follows. */
typedef struct kw_ext_vendor {
  kw_ext ext;
  char name[48]; /* reverse DNS, NUL-terminated: "com.acme.priority" */
} kw_ext_vendor;

/* ---- Options ----------------------------------------------------------------------------------------------------- */

/* A setting. Its whole key is the plugin's name and the option's, "acme.npu.queue_depth"; to a plugin, and where one
 * device is opened, the option's alone says enough. The value is NUL-terminated UTF-8, numbers as in the C locale. 16
 * bytes, frozen: it travels in arrays. */
typedef struct kw_option {
  const char *key;
  const char *value;
} kw_option;
#define KW_OPTION_VALUE_LIMIT 1023u /* bytes */

/* Where a plugin takes an option. */
typedef uint32_t kw_option_place;
enum {
  KW_OPTION_INIT = 0, /* at its start, once for all its devices */
  KW_OPTION_OPEN = 1  /* where a device is opened */
};

/* An option that a plugin has. Texts have at most 1,023 bytes. */
typedef struct kw_option_desc {
  uint32_t struct_size;
  kw_option_place place;
  const char *key;   /* [a-z][a-z0-9_]*, at most 31 bytes: "queue_depth" */
  const char *value; /* what it is where nobody says */
  const char *text;  /* one line for people: what it does, and which values there are */
} kw_option_desc;

/* ---- Faults on demand -------------------------------------------------------------------------------------------- */

/* What a plugin with keyway.test/1 brings about when it is told to: the n-th time from then on, counted over the whole
 * device. A new order takes the place of the one before. */
typedef uint32_t kw_fault;
enum {
  KW_FAULT_NONE = 0,  /* no order any more; work that is held goes on */
  KW_FAULT_ALLOC = 1, /* the n-th memory.alloc, and no other, is KW_ERR_OUT_OF_MEMORY */
  KW_FAULT_LATE = 2,  /* the n-th launch, and no other, fails with KW_ERR_INTERNAL after its slot returned KW_OK */
  KW_FAULT_LOSE = 3,  /* the same, with KW_ERR_DEVICE_LOST */
  KW_FAULT_HOLD = 4   /* from the n-th piece of work that would run, no stream goes on until KW_FAULT_NONE */
};

/* ---- Data types ------------------------------------------------------------------------------------------------ */
typedef uint16_t kw_dtype;
enum {
  KW_BOOL = 0, /* one byte, 0 or 1 */
  KW_U8 = 1,
  KW_I8 = 2,
  KW_I16 = 3,
  KW_I32 = 4,
  KW_I64 = 5,
  KW_F16 = 6,  /* IEEE binary16 */
  KW_BF16 = 7, /* the upper half of a binary32 */
  KW_F32 = 8,
  KW_F64 = 9,
  KW_F8E4M3FN = 10, /* bias 7, largest 448, one NaN pattern per sign, no infinity */
  KW_F8E5M2 = 11,   /* bias 15, largest 57344, IEEE-like NaN and infinity */
  KW_C64 = 12,      /* two f32: real, imaginary */
  KW_C128 = 13,     /* two f64: real, imaginary */

  /* Tensors of the following can be made, viewed, moved and shared; no op computes on them yet. */
  KW_U16 = 14,
  KW_U32 = 15,
  KW_U64 = 16,
  KW_F8E4M3FNUZ = 17, /* bias 8, largest 240, no infinity; 0x80 is NaN, and there is no -0 */
  KW_F8E5M2FNUZ = 18, /* bias 16, largest 57344, no infinity; 0x80 is NaN, and there is no -0 */
  KW_F8E8M0 = 19,     /* an exponent alone, without a sign: 2^(bits - 127); 0xff is NaN */
  KW_C32 = 20,        /* two f16: real, imaginary */

  /* Pairs of numbers of 4 bits. The pair is the element: shape, strides, numel and offset count pairs. The first number
   * is in the low nibble. */
  KW_I4X2 = 21,
  KW_U4X2 = 22,
  KW_F4E2M1X2 = 23 /* bias 1, largest 6, neither infinity nor NaN */
};
#define KW_DTYPE_NONE ((kw_dtype)0xffff) /* "not given" */

/* A set of dtypes: bit d of the 128 stands for dtype d. There will be no more than these. */
typedef struct kw_dtype_mask {
  uint64_t bits[2];
} kw_dtype_mask;

#define KW_DTYPE_BIT(dtype) (UINT64_C(1) << ((dtype)&63)) /* in bits[dtype / 64] */

/* Whether the dtype, any number of 16 bits, is in the set. */
static inline bool kw_dtype_mask_has(kw_dtype_mask mask, kw_dtype dtype) {
  return dtype < 128 && (mask.bits[dtype / 64] & KW_DTYPE_BIT(dtype)) != 0;
}

/* Every dtype: X(dtype, name, bytes of an element). For tables: [dtype] = bytes, and so on. */
#define KW_DTYPE_LIST(X)            \
  X(KW_BOOL, "bool", 1)             \
  X(KW_U8, "u8", 1)                 \
  X(KW_I8, "i8", 1)                 \
  X(KW_I16, "i16", 2)               \
  X(KW_I32, "i32", 4)               \
  X(KW_I64, "i64", 8)               \
  X(KW_F16, "f16", 2)               \
  X(KW_BF16, "bf16", 2)             \
  X(KW_F32, "f32", 4)               \
  X(KW_F64, "f64", 8)               \
  X(KW_F8E4M3FN, "f8e4m3fn", 1)     \
  X(KW_F8E5M2, "f8e5m2", 1)         \
  X(KW_C64, "c64", 8)               \
  X(KW_C128, "c128", 16)            \
  X(KW_U16, "u16", 2)               \
  X(KW_U32, "u32", 4)               \
  X(KW_U64, "u64", 8)               \
  X(KW_F8E4M3FNUZ, "f8e4m3fnuz", 1) \
  X(KW_F8E5M2FNUZ, "f8e5m2fnuz", 1) \
  X(KW_F8E8M0, "f8e8m0", 1)         \
  X(KW_C32, "c32", 4)               \
  X(KW_I4X2, "i4x2", 1)             \
  X(KW_U4X2, "u4x2", 1)             \
  X(KW_F4E2M1X2, "f4e2m1x2", 1)

/* Sets of them, as bits: what kernels are registered for. KW_DTYPES_ANY is what ops compute on. */
#define KW_DTYPES_BOOL KW_DTYPE_BIT(KW_BOOL)
#define KW_DTYPES_U8 KW_DTYPE_BIT(KW_U8)
#define KW_DTYPES_I8 KW_DTYPE_BIT(KW_I8)
#define KW_DTYPES_F32 KW_DTYPE_BIT(KW_F32)
#define KW_DTYPES_INDEX (KW_DTYPE_BIT(KW_I32) | KW_DTYPE_BIT(KW_I64))
#define KW_DTYPES_QUANTIZED (KW_DTYPES_U8 | KW_DTYPES_I8 | KW_DTYPE_BIT(KW_I16) | KW_DTYPE_BIT(KW_I32))
#define KW_DTYPES_INT (KW_DTYPES_QUANTIZED | KW_DTYPE_BIT(KW_I64))
#define KW_DTYPES_INTEGRAL (KW_DTYPES_INT | KW_DTYPES_BOOL)
#define KW_DTYPES_FLOAT32 (KW_DTYPE_BIT(KW_F16) | KW_DTYPE_BIT(KW_BF16) | KW_DTYPES_F32) /* computed in f32 */
#define KW_DTYPES_WIDE_FLOAT (KW_DTYPES_F32 | KW_DTYPE_BIT(KW_F64))
#define KW_DTYPES_FLOAT (KW_DTYPES_FLOAT32 | KW_DTYPE_BIT(KW_F64))
#define KW_DTYPES_F8 (KW_DTYPE_BIT(KW_F8E4M3FN) | KW_DTYPE_BIT(KW_F8E5M2))
#define KW_DTYPES_COMPLEX (KW_DTYPE_BIT(KW_C64) | KW_DTYPE_BIT(KW_C128))
#define KW_DTYPES_NUM (KW_DTYPES_INT | KW_DTYPES_FLOAT)
#define KW_DTYPES_REAL (KW_DTYPES_NUM | KW_DTYPES_BOOL)
#define KW_DTYPES_ANY (KW_DTYPES_REAL | KW_DTYPES_F8 | KW_DTYPES_COMPLEX)

/* ---- Tensors ---------------------------------------------------------------------------------------------------- */
#define KW_MAX_RANK 16

/* A device's memory, as its plugin's `alloc` returned it. Opaque: it may be a pointer, a cl_mem, an index. Nobody but
 * the plugin does arithmetic on it; a place in memory is always (kw_mem, byte offset). NULL is never a valid buffer. */
typedef void *kw_mem;

/* A tensor as a kernel sees it. Element (i0, i1, ...) lives `offset + itemsize * (i0*strides[0] + i1*strides[1] + ...)`
 * bytes into `mem`. Strides count elements and are never negative; a stride of 0 repeats one element (inputs only).
 * shape[d] * strides[d] * itemsize fits in int64, in dimensions that are never stepped too.
 * rank 0 is a scalar: one element. numel is the product of shape. */
typedef struct kw_tensor_ref {
  uint32_t struct_size;
  kw_dtype dtype;
  uint8_t rank;
  uint8_t reserved;
  kw_mem mem;
  uint64_t offset;    /* bytes from the start of mem to element (0, 0, ...) */
  int64_t numel;      /* product of shape[0..rank-1] */
  uint32_t alignment; /* largest power of two (at most 4096) that divides the address of element 0, given that mem is
                         aligned to the device's mem_alignment, or as its import said */
  uint32_t layout;    /* 0: elements lie as the strides say. Other layouts come with later versions; a tensor of one
                         reaches only kernels that list it */
  int64_t shape[KW_MAX_RANK];
  int64_t strides[KW_MAX_RANK];
} kw_tensor_ref;

/* ---- Values: the arguments of an op ------------------------------------------------------------------------------ */

/* One tagged value per schema argument, in schema order, tensors included. 24 bytes, frozen: it travels in arrays. */
typedef uint16_t kw_tag;
enum {
  KW_TAG_NONE = 0,        /* an optional argument that was not given */
  KW_TAG_TENSOR = 1,      /* u.tensor */
  KW_TAG_TENSOR_LIST = 2, /* u.tensors[0..count-1]; an entry may be NULL where the schema says Tensor?[] */
  KW_TAG_INT = 3,         /* u.i */
  KW_TAG_INT_LIST = 4,    /* u.ints[0..count-1] */
  KW_TAG_FLOAT = 5,       /* u.f */
  KW_TAG_BOOL = 6,        /* u.b */
  KW_TAG_STRING = 7,      /* u.s, NUL-terminated UTF-8 */
  KW_TAG_SCALAR = 8,      /* by `kind`: a number that takes part in type promotion */
  KW_TAG_DTYPE = 9,       /* u.dtype */
  KW_TAG_GENERATOR = 10,  /* u.generator; the host's business: kernels find their numbers in kw_call_extra.rng */

  /* Between application and core only, no kernel sees them: tensors that need not exist (keyway.h, kw_op_infer). */
  KW_TAG_META = 0x100,     /* u.tensor: a descriptor alone */
  KW_TAG_META_LIST = 0x101 /* u.tensors[0..count-1]: descriptors alone; an entry may be NULL as in a tensor list */
};

typedef uint16_t kw_scalar_kind;
enum {
  KW_SCALAR_BOOL = 0, /* u.b */
  KW_SCALAR_I64 = 1,  /* u.i */
  KW_SCALAR_F64 = 2,  /* u.f */
  KW_SCALAR_C128 = 3  /* u.c[0] + i u.c[1] */
};

/* Where random numbers come from; which words they give is in the op reference. */
enum {
  KW_GENERATOR_PHILOX4X32_10 = 0, /* Salmon, Moraes, Dror, Shaw, SC 2011 */
  KW_GENERATOR_AES128_CTR = 1     /* FIPS 197 in the counter mode of NIST SP 800-38A */
};

struct kw_generator;

typedef struct kw_value {
  kw_tag tag;
  kw_scalar_kind kind; /* KW_TAG_SCALAR only, otherwise 0 */
  uint32_t count;      /* lists only, otherwise 0 */
  union {
    const kw_tensor_ref *tensor;
    const kw_tensor_ref *const *tensors;
    int64_t i;
    const int64_t *ints;
    double f;
    bool b;
    const char *s;
    kw_dtype dtype;
    struct kw_generator *generator;
    double c[2];
  } u;
} kw_value;

/* ---- Math mode --------------------------------------------------------------------------------------------------- */

/* How exactly a call has to compute: a set of bits, each something that kernels may do. What these allow is about the
 * f32 operands of products that are added up (mm, bmm, addmm, convolution and others of its kind): sums stay in f32,
 * and what lies outside such products is not touched. */
typedef uint32_t kw_math_mode;
enum {
  KW_MATH_HIGHEST = 0, /* as the dtype says */
  KW_MATH_TF32 = 1,    /* operands may lose all but the 10 highest bits of their mantissa, by rounding or truncation */
  KW_MATH_FAST = 3     /* all but the 7 highest, those of bf16, and what KW_MATH_TF32 allows */
};

/* ---- Devices ----------------------------------------------------------------------------------------------------- */
typedef uint32_t kw_device_type;
enum { KW_DEVICE_OTHER = 0, KW_DEVICE_CPU = 1, KW_DEVICE_GPU = 2, KW_DEVICE_NPU = 3, KW_DEVICE_FPGA = 4 };

/* kw_device_info.flags: all hints. */
#define KW_DEVICE_EMULATED \
  (UINT64_C(1) << 0) /* kernels run on something other than the hardware the name suggests; shown everywhere */

/* Static facts about one device. Filled by the plugin's device.info; strings are NUL-terminated, unknown ones empty.
 * The host zero-fills the struct first, so a field that a plugin does not know reads as 0. */
typedef struct kw_device_info {
  uint32_t struct_size;
  kw_device_type type;
  uint64_t flags; /* KW_DEVICE_* */
  uint32_t compute_units;
  uint32_t reserved;
  char name[64];           /* the product's name, for people */
  char vendor[64];         /* the maker of the device */
  char driver_version[64]; /* the driver's own text */
  char stable_id[64];      /* survives reboots and reordering: "pci:0000:3b:00.0", "uuid:..."; empty when there is none.
                              Printable ASCII without blanks, '/', ',' and ';' */
  char parent_id[64];    /* stable_id of the physical device this is a part of (a tile, a MIG slice); empty otherwise */
  uint64_t total_memory; /* bytes; 0 = unknown */
  uint64_t max_alloc;    /* bytes in one allocation; 0 = total_memory */
  uint32_t mem_alignment; /* bytes, a power of two: every kw_mem starts on a multiple of it */
  uint32_t
      offset_alignment; /* bytes, a power of two: core places every new tensor at a multiple of it inside a kw_mem */
  kw_dtype_mask flush_subnormal; /* dtypes whose subnormal inputs or results this device may replace by zero */
} kw_device_info;

/* ---- Kinds of memory --------------------------------------------------------------------------------------------- */

/* Where memory lies. Kernels, copies and fills take all kinds alike. A device that has no memory of a kind refuses it
 * with KW_ERR_UNSUPPORTED; KW_MEM_DEVICE each one has. */
typedef uint32_t kw_mem_kind;
enum {
  KW_MEM_DEVICE = 0,       /* where kernels are fastest */
  KW_MEM_HOST_VISIBLE = 1, /* the device's own, and the host reaches it where it lies */
  KW_MEM_HOST_PINNED = 2,  /* the host's own, page-locked, and the device reaches it where it lies */
  KW_MEM_MANAGED = 3       /* moved by the driver to whoever uses it */
};

/* What memory is for. Bits 0 to 31 are hints, which a device without their use ignores; for one of bits 32 to 63 that
 * it does not know, or cannot do, it refuses with KW_ERR_UNSUPPORTED. */
#define KW_MEM_PEER (UINT64_C(1) << 0)        /* other devices of the plugin will copy from and to it */
#define KW_MEM_EXPORTABLE (UINT64_C(1) << 32) /* others will be given it by a descriptor or handle */
#define KW_MEM_IPC (UINT64_C(1) << 33)        /* other processes will be given it by bytes: KW_HANDLE_IPC */

/* What a map is for, one at least. With KW_MAP_READ the host finds the contents there. With KW_MAP_WRITE the device
 * finds what the host has written; what it has not written, of a map without KW_MAP_READ, is undefined afterwards. */
#define KW_MAP_READ (UINT64_C(1) << 32)
#define KW_MAP_WRITE (UINT64_C(1) << 33)

/* ---- Memory that others made ------------------------------------------------------------------------------------- */

/* By what somebody else's memory is named. */
typedef uint32_t kw_handle_kind;
enum {
  KW_HANDLE_HOST = 0,   /* a range of this process's memory: `host` */
  KW_HANDLE_FD = 1,     /* a file descriptor that the driver understands, a memfd for instance: `handle` */
  KW_HANDLE_DMABUF = 2, /* a descriptor of Linux's dma-buf: `handle` */
  KW_HANDLE_WIN32 = 3,  /* an NT handle: `handle` */
  KW_HANDLE_IPC = 4     /* bytes for another process on this machine: `ipc`. They are untrusted where they arrive */
};

/* Bytes of kw_external_memory.ipc that are the plugin's. The library puts in front of them what it is that they name
 * (plugin, device, driver), and lets only bytes through to the plugin that say the same of it. */
#define KW_IPC_SIZE 96u

/* kw_external_memory.flags. Bits 0 to 31 are hints; whoever does not know one of bits 32 to 63 refuses with
 * KW_ERR_UNSUPPORTED. */
#define KW_EXTERNAL_READ_ONLY (UINT64_C(1) << 32) /* no op, copy or fill may write there */

/* A range of memory by a handle. A handle stays that of whoever gives it here: an import duplicates what it keeps, and
 * what an export has given is the caller's to close. */
typedef struct kw_external_memory {
  uint32_t struct_size;
  kw_handle_kind kind;
  uint64_t flags;  /* KW_EXTERNAL_* */
  uint64_t size;   /* bytes of the range, at least 1 */
  uint64_t offset; /* bytes from the start of what the handle names to the range; 0 for KW_HANDLE_HOST */
  void *host;
  uint64_t handle;
  uint8_t ipc[128];
} kw_external_memory;

/* What a device's runtime calls one of its objects. */
typedef uint32_t kw_object_kind;
enum { KW_OBJECT_DEVICE = 0, KW_OBJECT_STREAM = 1, KW_OBJECT_MEMORY = 2 };

/* An object under the name that its own runtime knows: a pointer, a cl_mem, a CUstream. For memory, where DLPack says
 * how others may use it: the numbers of its device (dlpack.h). */
typedef struct kw_native_handle {
  uint32_t struct_size;
  int32_t dl_device_type; /* kDLCPU = 1, kDLOpenCL = 4, ...; 0 = none of DLPack's */
  int32_t dl_device_id;
  uint32_t reserved;
  void *handle;
} kw_native_handle;

/* A fact about a device by its key. Whoever asks says nothing but struct_size; texts are NUL-terminated UTF-8 of at
 * most 1,023 bytes and last until the plugin is shut down. */
typedef uint32_t kw_attribute_type;
enum { KW_ATTRIBUTE_INT = 1, KW_ATTRIBUTE_FLOAT = 2, KW_ATTRIBUTE_BOOL = 3, KW_ATTRIBUTE_STRING = 4 };
typedef struct kw_attribute {
  uint32_t struct_size;
  kw_attribute_type type;
  union {
    int64_t i;
    double f;
    bool b;
    const char *s;
  } u;
} kw_attribute;
#define KW_ATTRIBUTE_TEXT_LIMIT 1023u /* bytes of a text */

/* The keys that mean the same on every device: X(key, type). Vendors add their own in reverse DNS: "com.acme.queues".
 */
#define KW_ATTRIBUTE_LIST(X)                                                                                     \
  X("unified_memory", BOOL) /* device and host use the same memory: a copy between them moves nothing further */ \
  X("numa_node", INT)       /* of the host, that the device is nearest to */                                     \
  X("pci_vendor_id", INT)                                                                                        \
  X("pci_device_id", INT)                                                                                        \
  X("luid", STRING)            /* 16 hexadecimal digits, as Windows has it */                                    \
  X("core_clock_hz", INT)      /* at most */                                                                     \
  X("memory_clock_hz", INT)    /* at most */                                                                     \
  X("dlpack_device_type", INT) /* DLDeviceType */                                                                \
  X("dlpack_device_id", INT)

#ifdef __cplusplus
}
#endif

#endif /* KEYWAY_TYPES_H */
