/* SPDX-License-Identifier: Apache-2.0
 *
 * Sparse tensors, torch.sparse_coo and torch.sparse_csr. They are indices and values that are dense tensors of the
 * device, and PyTorch has most of what handles them for any device; here are what it has for its own alone, made of
 * dense operators, and where it is registered. Sums to one place are in no certain order, as index_add's are.
 */
#include "device.h"

#include <ATen/native/SparseTensorUtils.h>
#include <ATen/ops/_coalesced_native.h>
#include <ATen/ops/_indices_native.h>
#include <ATen/ops/_nnz_native.h>
#include <ATen/ops/_sparse_coo_tensor_unsafe.h>
#include <ATen/ops/_sparse_coo_tensor_with_dims_and_tensors_native.h>
#include <ATen/ops/_sparse_coo_tensor_with_dims_native.h>
#include <ATen/ops/_to_dense_native.h>
#include <ATen/ops/_to_sparse_csc_native.h>
#include <ATen/ops/_to_sparse_csr_native.h>
#include <ATen/ops/_to_sparse_native.h>
#include <ATen/ops/_values_native.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/cat_native.h>
#include <ATen/ops/ccol_indices_native.h>
#include <ATen/ops/clone_native.h>
#include <ATen/ops/col_indices_native.h>
#include <ATen/ops/copy_native.h>
#include <ATen/ops/copy_sparse_to_sparse_native.h>
#include <ATen/ops/crow_indices_native.h>
#include <ATen/ops/dense_dim_native.h>
#include <ATen/ops/empty_like_native.h>
#include <ATen/ops/empty_native.h>
#include <ATen/ops/is_coalesced_native.h>
#include <ATen/ops/is_pinned_native.h>
#include <ATen/ops/neg_native.h>
#include <ATen/ops/resize_as_sparse_native.h>
#include <ATen/ops/row_indices_native.h>
#include <ATen/ops/sparse_dim_native.h>
#include <ATen/ops/sparse_mask_native.h>
#include <ATen/ops/sparse_resize_and_clear_native.h>
#include <ATen/ops/sparse_resize_native.h>
#include <ATen/ops/sum_native.h>
#include <ATen/ops/unsqueeze_native.h>
#include <ATen/ops/values_native.h>
#include <ATen/ops/zero_native.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/indices_native.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/result_type.h>
#include <ATen/ops/searchsorted.h>
#include <ATen/ops/stack.h>
#include <c10/core/DeviceGuard.h>
#include <torch/library.h>

namespace torch_keyway {

namespace {

bool is_coo(const at::Tensor &tensor) {
  return tensor.layout() == at::kSparse;
}

/* ---- Factories: what is empty at first is made on the current device ----------------------------------------------
 */

at::Tensor new_empty(c10::SymIntArrayRef size, std::optional<at::ScalarType> dtype, std::optional<at::Layout> layout,
                     std::optional<at::Device> device, std::optional<bool> pinned,
                     std::optional<at::MemoryFormat> format) {
  const c10::OptionalDeviceGuard guard(device);
  return at::native::empty_sparse_symint(size, dtype, layout, device, pinned, format);
}

at::Tensor new_with_dims(int64_t sparse_dim, int64_t dense_dim, at::IntArrayRef size,
                         std::optional<at::ScalarType> dtype, std::optional<at::Layout> layout,
                         std::optional<at::Device> device, std::optional<bool> pinned) {
  const c10::OptionalDeviceGuard guard(device);
  return at::native::new_with_dims_sparse(sparse_dim, dense_dim, size, dtype, layout, device, pinned);
}

at::Tensor new_of_tensors(int64_t sparse_dim, int64_t dense_dim, c10::SymIntArrayRef size, const at::Tensor &indices,
                          const at::Tensor &values, std::optional<at::ScalarType> dtype,
                          std::optional<at::Layout> layout, std::optional<at::Device> device,
                          std::optional<bool> pinned, std::optional<bool> is_coalesced) {
  const c10::DeviceGuard guard(values.device());
  return at::native::new_with_dims_and_tensor_sparse_symint(sparse_dim, dense_dim, size, indices, values, dtype, layout,
                                                            device, pinned, is_coalesced);
}

at::Tensor new_empty_csr(c10::SymIntArrayRef size, std::optional<at::ScalarType> dtype,
                         std::optional<at::Layout> layout, std::optional<at::Device> device, std::optional<bool> pinned,
                         std::optional<at::MemoryFormat> format) {
  const c10::OptionalDeviceGuard guard(device);
  return at::native::empty_sparse_compressed_symint(size, dtype, layout, device, pinned, format);
}

/* PyTorch's own function, with its first argument's device as the current one. */
template <auto function>
struct On;
template <typename Result, typename... Rest, Result (*function)(const at::Tensor &, Rest...)>
struct On<function> {
  static Result call(const at::Tensor &self, Rest... rest) {
    const c10::DeviceGuard guard(self.device());
    return function(self, rest...);
  }
};

/* ---- COO --------------------------------------------------------------------------------------------------------- */

/* The same with these values. */
at::Tensor with_values(const at::Tensor &coo, const at::Tensor &values) {
  return at::_sparse_coo_tensor_unsafe(coo._indices(), values, coo.sizes(), values.options().layout(at::kSparse),
                                       coo.is_coalesced());
}

/* The number of each element's place among those of the sparse dimensions, in the order of rows. */
at::Tensor flat_indices(const at::Tensor &coo) {
  const at::Tensor indices = coo._indices();
  at::Tensor flat = at::zeros({coo._nnz()}, indices.options());
  for (int64_t d = 0; d < coo.sparse_dim(); ++d) flat = flat.mul(coo.size(d)).add(indices[d]);
  return flat;
}

/* The shape of a dense tensor of the same sizes with the sparse dimensions as one: what flat_indices count. */
std::vector<int64_t> flat_shape(const at::Tensor &coo) {
  std::vector<int64_t> shape{coo.sparse_dim() == 0 ? 1 : -1};
  for (int64_t d = coo.sparse_dim(); d < coo.dim(); ++d) shape.push_back(coo.size(d));
  return shape;
}

/* Elements in the order of their places, those of one place added up. */
at::Tensor coalesce_sparse(const at::Tensor &self) {
  if (self.is_coalesced()) return self;
  if (self._nnz() < 2) return with_values(self, self._values().clone())._coalesced_(true);
  const auto [places, order] = flat_indices(self).sort();
  const at::Tensor differs = places.slice(0, 1).ne(places.slice(0, 0, -1));
  const at::Tensor is_first = at::cat({at::ones({1}, differs.options()), differs});
  const at::Tensor firsts = order.masked_select(is_first);
  at::Tensor values = self._values().index_select(0, order);
  if (firsts.size(0) < values.size(0)) {
    std::vector<int64_t> shape = values.sizes().vec();
    shape[0] = firsts.size(0);
    values = at::zeros(shape, values.options()).index_add(0, is_first.cumsum(0).sub(1), values);
  }
  return at::_sparse_coo_tensor_unsafe(self._indices().index_select(1, firsts), values, self.sizes(), self.options(),
                                       true);
}

/* dense += alpha * sparse */
at::Tensor &add_to_dense(at::Tensor &dense, const at::Tensor &sparse, const at::Scalar &alpha) {
  TORCH_CHECK(dense.sizes() == sparse.sizes(), "add: a sparse tensor of shape ", sparse.sizes(),
              " does not fit a dense one of shape ", dense.sizes());
  if (sparse._nnz() == 0) return dense;
  const at::Tensor values = sparse._values().to(dense.scalar_type());
  const std::vector<int64_t> flat = flat_shape(sparse);
  if (dense.is_contiguous()) {
    dense.view(flat).index_add_(0, flat_indices(sparse), values, alpha);
  } else {
    dense.copy_(dense.reshape(flat).index_add(0, flat_indices(sparse), values, alpha).view(dense.sizes()));
  }
  return dense;
}

at::Tensor add_sparse(const at::Tensor &self, const at::Tensor &other, const at::Scalar &alpha) {
  const at::ScalarType type = at::result_type(self, other);
  if (!is_coo(self)) {
    at::Tensor sum = self.to(type, false, true);
    return add_to_dense(sum, other, alpha);
  }
  TORCH_CHECK(is_coo(other), "add: a sparse tensor takes a sparse one, or is added to a dense one: dense + sparse");
  TORCH_CHECK(self.sizes() == other.sizes() && self.sparse_dim() == other.sparse_dim(),
              "add: sparse tensors of shapes ", self.sizes(), " and ", other.sizes(), " do not fit");
  const at::Tensor values = at::cat({self._values().to(type), other._values().to(type).mul(at::Scalar(alpha))});
  return at::_sparse_coo_tensor_unsafe(at::cat({self._indices(), other._indices()}, 1), values, self.sizes(),
                                       values.options().layout(at::kSparse), false);
}

at::Tensor &add_sparse_(at::Tensor &self, const at::Tensor &other, const at::Scalar &alpha) {
  if (!is_coo(self)) return add_to_dense(self, other, alpha);
  return self.copy_(add_sparse(self, other, alpha));
}

at::Tensor mul_sparse(const at::Tensor &self, const at::Tensor &other) {
  if (!is_coo(self)) return mul_sparse(other, self);
  if (!is_coo(other) && other.dim() == 0) return with_values(self, self._values().mul(other));
  const at::Tensor first = self.coalesce();
  const at::Tensor second = is_coo(other) ? other.to_dense() : other.expand(self.sizes());
  return with_values(first, first._values().mul(second.sparse_mask(first)._values()));
}

at::Tensor div_sparse(const at::Tensor &self, const at::Tensor &other) {
  TORCH_CHECK(is_coo(self) && !is_coo(other) && other.dim() == 0, "div: a sparse tensor is divided by a number only");
  return with_values(self, self._values().div(other));
}

at::Tensor &mul_sparse_(at::Tensor &self, const at::Tensor &other) {
  return self.copy_(mul_sparse(self, other));
}

at::Tensor &div_sparse_(at::Tensor &self, const at::Tensor &other) {
  return self.copy_(div_sparse(self, other));
}

/* The elements of a dense or sparse tensor where `mask` has some. */
at::Tensor sparse_mask(const at::Tensor &self, const at::Tensor &mask) {
  TORCH_CHECK(self.sizes() == mask.sizes(), "sparse_mask: shapes ", self.sizes(), " and ", mask.sizes(), " differ");
  const at::Tensor dense = is_coo(self) ? self.to_dense() : self;
  return with_values(mask, dense.reshape(flat_shape(mask)).index_select(0, flat_indices(mask)));
}

at::Tensor sum_of_dims(const at::Tensor &self, at::OptionalIntArrayRef dim, bool keepdim,
                       std::optional<at::ScalarType> dtype) {
  return self.to_dense().sum(dim, keepdim, dtype);
}

/* ---- Products ---------------------------------------------------------------------------------------------------- */

/* beta * self + alpha * sparse @ dense, where element i of the sparse matrix is values[i] at rows[i], columns[i]. */
at::Tensor add_product(const at::Tensor &self, const at::Tensor &rows, const at::Tensor &columns,
                       const at::Tensor &values, const at::Tensor &dense, int64_t row_count, const at::Scalar &beta,
                       const at::Scalar &alpha) {
  const at::Tensor terms = dense.index_select(0, columns).mul(values.unsqueeze(1));
  const at::Tensor start = beta.equal(0) ? at::zeros({row_count, dense.size(1)}, dense.options())
                                         : self.mul(beta).expand({row_count, dense.size(1)}).contiguous();
  return start.index_add(0, rows, terms, alpha);
}

void check_product(const at::Tensor &sparse, const at::Tensor &dense) {
  TORCH_CHECK(sparse.dim() == 2 && dense.dim() == 2 && sparse.size(1) == dense.size(0), "mm: shapes ", sparse.sizes(),
              " and ", dense.sizes(), " do not fit");
}

at::Tensor addmm_sparse(const at::Tensor &self, const at::Tensor &mat1, const at::Tensor &mat2, const at::Scalar &beta,
                        const at::Scalar &alpha) {
  if (mat1.layout() == at::kStrided) { /* dense @ sparse */
    return addmm_sparse(self.t(), mat2.t(), mat1.t(), beta, alpha).t();
  }
  const at::Tensor dense = mat2.layout() == at::kStrided ? mat2 : mat2.to_dense();
  const at::Tensor coo = is_coo(mat1) ? mat1 : mat1.to_sparse();
  check_product(coo, dense);
  return add_product(self, coo._indices()[0], coo._indices()[1], coo._values(), dense, coo.size(0), beta, alpha);
}

at::Tensor mm_sparse(const at::Tensor &mat1, const at::Tensor &mat2) {
  const at::Tensor none = at::zeros({}, mat1.options().layout(at::kStrided));
  const at::Tensor product = addmm_sparse(none, mat1, mat2, 0, 1);
  return mat1.layout() == mat2.layout() && is_coo(mat1) ? product.to_sparse() : product;
}

at::Tensor mv_sparse(const at::Tensor &self, const at::Tensor &vec) {
  return mm_sparse(self, vec.unsqueeze(1)).squeeze(1);
}

/* ---- CSR --------------------------------------------------------------------------------------------------------- */

/* How many elements lie in the rows before each row, and in all: of the rows of elements in order. */
at::Tensor coo_to_csr(const at::Tensor &self, int64_t size, bool out_int32) {
  const at::Tensor counts = at::zeros({size + 1}, self.options()).index_add(0, self.add(1), at::ones_like(self));
  return counts.cumsum(0).to(out_int32 ? at::kInt : at::kLong);
}

/* The other way round: both rows of indices. */
at::Tensor csr_to_coo(const at::Tensor &crow_indices, const at::Tensor &col_indices, bool out_int32, bool transpose) {
  TORCH_CHECK(crow_indices.dim() == 1, "batches of sparse_csr are not on this device: take them apart");
  const at::Tensor count = at::arange(col_indices.size(0), col_indices.options());
  const at::Tensor rows = at::searchsorted(crow_indices.contiguous(), count, false, true).sub(1);
  const at::ScalarType type = out_int32 ? at::kInt : at::kLong;
  const at::Tensor first = transpose ? col_indices : rows, second = transpose ? rows : col_indices;
  return at::stack({first.to(type), second.to(type)});
}

/* Which of PyTorch's overloads serves which of the two operators. */
using ToSparse = at::Tensor(const at::Tensor &, std::optional<at::Layout>, at::OptionalIntArrayRef,
                            std::optional<int64_t>);
using ToSparseDims = at::Tensor(const at::Tensor &, int64_t);

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("_to_sparse", static_cast<ToSparse *>(&at::native::dense_to_sparse));
  m.impl("_to_sparse.sparse_dim", static_cast<ToSparseDims *>(&at::native::dense_to_sparse));
  m.impl("_to_sparse_csr", &at::native::dense_to_sparse_csr);
  m.impl("_to_sparse_csc", &at::native::dense_to_sparse_csc);
  m.impl("_convert_indices_from_coo_to_csr", &coo_to_csr);
  m.impl("_convert_indices_from_csr_to_coo", &csr_to_coo);
}

TORCH_LIBRARY_IMPL(aten, SparsePrivateUse1, m) {
  m.impl("empty.memory_format", &new_empty);
  m.impl("empty_like", &On<&at::native::empty_like_sparse_coo>::call);
  m.impl("_sparse_coo_tensor_with_dims", &new_with_dims);
  m.impl("_sparse_coo_tensor_with_dims_and_tensors", &new_of_tensors);
  m.impl("sparse_resize_", &at::native::sparse_resize_);
  m.impl("sparse_resize_and_clear_", &at::native::sparse_resize_and_clear_);
  m.impl("resize_as_sparse_", &at::native::resize_as_sparse_);
  m.impl("_nnz", &at::native::_nnz_sparse);
  m.impl("_indices", &at::native::_indices_sparse);
  m.impl("_values", &at::native::_values_sparse);
  m.impl("indices", &at::native::indices_sparse);
  m.impl("values", &at::native::values_sparse);
  m.impl("is_coalesced", &at::native::is_coalesced_sparse);
  m.impl("_coalesced_", &at::native::_coalesced_sparse_);
  m.impl("sparse_dim", &at::native::sparse_dim_sparse);
  m.impl("dense_dim", &at::native::dense_dim_sparse);
  m.impl("is_pinned", &at::native::is_pinned_sparse_coo);
  m.impl("clone", &On<&at::native::clone_sparse>::call);
  m.impl("copy_", &at::native::copy_sparse_wrapper_);
  m.impl("copy_sparse_to_sparse_", &at::native::copy_sparse_);
  m.impl("zero_", &at::native::zero_sparse_);
  m.impl("neg", &at::native::neg_sparse);
  m.impl("cat", &at::native::cat_sparse);
  m.impl("unsqueeze", &at::native::unsqueeze_sparse);
  m.impl("sum", &at::native::sum_coo);
  m.impl("sum.dim_IntList", &sum_of_dims);
  m.impl("_to_dense", &at::native::sparse_to_dense);
  m.impl("_to_sparse_csr", &at::native::coo_to_sparse_csr);
  m.impl("_to_sparse_csc", &at::native::coo_to_sparse_csc);
  m.impl("_coalesce", &coalesce_sparse);
  m.impl("sparse_mask", &sparse_mask);
  m.impl("add.Tensor", &add_sparse);
  m.impl("add_.Tensor", &add_sparse_);
  m.impl("mul.Tensor", &mul_sparse);
  m.impl("mul_.Tensor", &mul_sparse_);
  m.impl("div.Tensor", &div_sparse);
  m.impl("div_.Tensor", &div_sparse_);
  m.impl("mm", &mm_sparse);
  m.impl("addmm", &addmm_sparse);
  m.impl("mv", &mv_sparse);
}

TORCH_LIBRARY_IMPL(aten, SparseCsrPrivateUse1, m) {
  m.impl("empty.memory_format", &new_empty_csr);
  m.impl("empty_like", &On<&at::native::empty_like_sparse_csr>::call);
  m.impl("_nnz", &at::native::_nnz_sparse_csr);
  m.impl("crow_indices", &at::native::crow_indices_sparse_csr);
  m.impl("col_indices", &at::native::col_indices_sparse_csr);
  m.impl("ccol_indices", &at::native::ccol_indices_sparse_csr);
  m.impl("row_indices", &at::native::row_indices_sparse_csr);
  m.impl("values", &at::native::values_sparse_csr);
  m.impl("sparse_dim", &at::native::sparse_dim_sparse_csr);
  m.impl("dense_dim", &at::native::dense_dim_sparse_csr);
  m.impl("is_pinned", &at::native::is_pinned_sparse_compressed);
  m.impl("clone", &On<&at::native::clone_sparse_compressed>::call);
  m.impl("copy_", &at::native::copy_sparse_compressed_);
  m.impl("zero_", &at::native::zero_sparse_csr_);
  m.impl("neg", &at::native::neg_sparse_csr);
  m.impl("sum", &at::native::sum_csr);
  m.impl("_to_dense", &at::native::sparse_compressed_to_dense);
  m.impl("_to_sparse_csr", &at::native::sparse_compressed_to_sparse_csr);
  m.impl("_to_sparse_csc", &at::native::sparse_compressed_to_sparse_csc);
  m.impl("_to_sparse", static_cast<ToSparse *>(&at::native::sparse_compressed_to_sparse));
  m.impl("_to_sparse.sparse_dim", static_cast<ToSparseDims *>(&at::native::sparse_compressed_to_sparse));
  m.impl("mm", &mm_sparse);
  m.impl("addmm", &addmm_sparse);
  m.impl("mv", &mv_sparse);
}

}  // namespace

}  // namespace torch_keyway
