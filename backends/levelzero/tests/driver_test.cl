/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels of driver_test.c, in OpenCL C 1.2. */
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

typedef struct {
  long factor;
  char offset;
} block;

/* Each item writes its number, counted over all dimensions. */
__kernel void number_items(__global long *out) {
  long place = 0;
  for (int d = 2; d >= 0; --d) place = place * (long)get_global_size(d) + (long)get_global_id(d);
  out[place] += place + (long)(get_num_groups(0) * get_local_size(0) - get_global_size(0));
}

/* What an item has goes round its group, over two local arrays. */
__kernel __attribute__((reqd_work_group_size(64, 2, 1))) void rotate_items(__global uint *out, int rounds) {
  __local uint here[128], there[128];
  const int item = (int)(get_local_id(1) * 64 + get_local_id(0)), group = (int)get_group_id(0);
  uint value = (uint)(group * 128 + item);
  for (int r = 0; r < rounds; ++r) {
    (r % 2 ? there : here)[item] = value;
    barrier(CLK_LOCAL_MEM_FENCE);
    value = (r % 2 ? there : here)[(item + 1) % 128];
  }
  out[group * 128 + item] = value;
}

/* Arguments of every kind: a struct by value, narrow ones, halves. */
__kernel void mix_arguments(__global double *out, block b, char c, short s, float f, double d, __global half *halves) {
  out[0] = (double)(b.factor * b.offset + c + s) + f + d;
  vstore_half_rte(vload_half(0, halves) * 2.0f, 1, halves);
}

/* All add to one, and swap another. */
__kernel void count_items(__global uint *out) {
  atomic_add((volatile __global int *)out, 1);
  atomic_max((volatile __global uint *)(out + 1), (uint)get_global_id(0));
  atomic_cmpxchg((volatile __global int *)(out + 2), 0, 7);
}
