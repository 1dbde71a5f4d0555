/* SPDX-License-Identifier: Apache-2.0
 *
 * DLPack 1.x: the layouts by which array libraries hand tensors to each other in one process. Names, numbers and field
 * order are the standard's; Keyway neither adds nor changes any.
 *
 * Coexistence. The include guard is the one that every copy of the standard's header uses, so either copy may come
 * first. A copy older than 1.0 that came first lacks the versioned struct: that and the flags are then added here.
 */
#ifndef KEYWAY_DLPACK_H
#define KEYWAY_DLPACK_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef DLPACK_DLPACK_H_
#define DLPACK_DLPACK_H_

#define DLPACK_DLL
#ifdef __cplusplus
#define DLPACK_EXTERN_C extern "C"
#else
#define DLPACK_EXTERN_C
#endif

/* Where memory lives. All private-use devices of all vendors share kDLExtDev: who made a tensor has to be found out by
 * other means. */
#ifdef __cplusplus
typedef enum : int32_t {
#else
typedef enum {
#endif
  kDLCPU = 1,
  kDLCUDA = 2,
  kDLCUDAHost = 3, /* pinned host memory */
  kDLOpenCL = 4,   /* data is a cl_mem */
  kDLVulkan = 7,
  kDLMetal = 8,
  kDLVPI = 9,
  kDLROCM = 10,
  kDLROCMHost = 11, /* pinned host memory */
  kDLExtDev = 12,
  kDLCUDAManaged = 13, /* reachable from host and device */
  kDLOneAPI = 14,
  kDLWebGPU = 15,
  kDLHexagon = 16,
  kDLMAIA = 17,
  kDLTrn = 18
} DLDeviceType;

typedef struct {
  DLDeviceType device_type;
  int32_t device_id; /* counts from 0 within the type */
} DLDevice;

/* The class of an element type; DLDataType.bits says how wide. */
typedef enum {
  kDLInt = 0U,
  kDLUInt = 1U,
  kDLFloat = 2U, /* IEEE */
  kDLOpaqueHandle = 3U,
  kDLBfloat = 4U,
  kDLComplex = 5U, /* bits count both halves */
  kDLBool = 6U,    /* 8 bits */
  kDLFloat8_e3m4 = 7U,
  kDLFloat8_e4m3 = 8U,
  kDLFloat8_e4m3b11fnuz = 9U,
  kDLFloat8_e4m3fn = 10U,
  kDLFloat8_e4m3fnuz = 11U,
  kDLFloat8_e5m2 = 12U,
  kDLFloat8_e5m2fnuz = 13U,
  kDLFloat8_e8m0fnu = 14U,
  kDLFloat6_e2m3fn = 15U,
  kDLFloat6_e3m2fn = 16U,
  kDLFloat4_e2m1fn = 17U
} DLDataTypeCode;

typedef struct {
  uint8_t code;   /* a DLDataTypeCode */
  uint8_t bits;   /* of one lane */
  uint16_t lanes; /* 1, but for vector types */
} DLDataType;

/* A view of memory that somebody else owns. */
typedef struct {
  void *data; /* start of the allocation on its device; opaque there if the device's memory is; NULL if size is 0 */
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t *shape;       /* ndim extents; may be NULL when ndim is 0 */
  int64_t *strides;     /* in elements; NULL means dense, row-major */
  uint64_t byte_offset; /* from data to the first element */
} DLTensor;

/* A tensor with its owner's deleter: the unversioned exchange of DLPack 0.x. The consumer calls deleter(self) once when
 * it is done, from any thread; NULL means that there is nothing to free. */
typedef struct DLManagedTensor {
  DLTensor dl_tensor;
  void *manager_ctx; /* the producer's own */
  void (*deleter)(struct DLManagedTensor *self);
} DLManagedTensor;

#endif /* DLPACK_DLPACK_H_ */

/* ---- Since 1.0: a copy from before, if it came first, has none of this. */

#ifndef DLPACK_MAJOR_VERSION
#define DLPACK_MAJOR_VERSION 1
#define DLPACK_MINOR_VERSION 1

/* Which version of the layouts a producer used. Of a tensor whose major it does not know, a consumer may touch nothing
 * but the version and the deleter. */
typedef struct {
  uint32_t major;
  uint32_t minor;
} DLPackVersion;

/* DLManagedTensor's successor: the layout of everything up to `deleter` is the same in every version. */
struct DLManagedTensorVersioned {
  DLPackVersion version;
  void *manager_ctx; /* the producer's own */
  void (*deleter)(struct DLManagedTensorVersioned *self);
  uint64_t flags; /* DLPACK_FLAG_BITMASK_... */
  DLTensor dl_tensor;
};
#endif

typedef struct DLManagedTensorVersioned DLManagedTensorVersioned;

#ifndef DLPACK_FLAG_BITMASK_READ_ONLY
#define DLPACK_FLAG_BITMASK_READ_ONLY (1UL << 0UL) /* the consumer must not write */
#endif
#ifndef DLPACK_FLAG_BITMASK_IS_COPIED
#define DLPACK_FLAG_BITMASK_IS_COPIED (1UL << 1UL) /* nobody else has this memory */
#endif
#ifndef DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED
/* 1.1: each element of fewer than 8 bits has a byte */
#define DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED (1UL << 2UL)
#endif

/* ---- The codes of Keyway's dtypes that an older copy's enum may lack, under names that cannot collide. */

enum {
  KW_DL_BOOL = 6,
  KW_DL_FLOAT8_E4M3FN = 10,
  KW_DL_FLOAT8_E4M3FNUZ = 11,
  KW_DL_FLOAT8_E5M2 = 12,
  KW_DL_FLOAT8_E5M2FNUZ = 13,
  KW_DL_FLOAT8_E8M0FNU = 14,
  KW_DL_FLOAT4_E2M1FN = 17
};

#ifdef __cplusplus
}
#endif

#endif /* KEYWAY_DLPACK_H */
