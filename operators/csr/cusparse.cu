// This file multiplies by the assembled matrix with cuSPARSE.
#include <cusparse.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "operators/csr/cusparse.hpp"
#include "operators/csr/pattern.cuh"
#include "operators/form/operator_name.hpp"
#include "solvers/memory/device.hpp"

namespace tessera {
namespace {

void check_cusparse(cusparseStatus_t status, const char* operation) {
  if (status == CUSPARSE_STATUS_SUCCESS) return;
  throw DeviceError(std::string(operation) +
                    " failed on the GPU: " + cusparseGetErrorString(status));
}

struct DestroyHandle {
  void operator()(cusparseContext* handle) const { cusparseDestroy(handle); }
};
struct DestroyVector {
  void operator()(const cusparseDnVecDescr* vector) const { cusparseDestroyDnVec(vector); }
};
struct DestroyMatrix {
  void operator()(const cusparseSpMatDescr* matrix) const { cusparseDestroySpMat(matrix); }
};
using Handle = std::unique_ptr<cusparseContext, DestroyHandle>;
using MatrixView = std::unique_ptr<const cusparseSpMatDescr, DestroyMatrix>;

Handle make_handle() {
  cusparseHandle_t handle = nullptr;
  check_cusparse(cusparseCreate(&handle), "starting cuSPARSE");
  Handle owner(handle);
  check_cusparse(cusparseSetStream(handle, device_stream()), "giving cuSPARSE its stream");
  return owner;
}

template <class T>
constexpr cudaDataType kValueType = std::is_same_v<T, double> ? CUDA_R_64F : CUDA_R_32F;

// offsets[i] = rows[first_row + i] - rows[first_row] for i <= count. One thread a row.
__global__ void __launch_bounds__(kThreads)
    slab_offsets_kernel(const Index* __restrict__ rows, Index first_row, Index count,
                        std::int32_t* __restrict__ offsets) {
  for (Index i = thread_number<kThreads>(); i <= count; i += thread_count<kThreads>()) {
    offsets[i] = static_cast<std::int32_t>(rows[first_row + i] - rows[first_row]);
  }
}

// Consecutive rows of the matrix, few enough entries for cuSPARSE's 32-bit arithmetic.
struct Slab {
  Index first_row;
  Index rows;
  Index first_entry;
  Index entries;
  DeviceArray<std::int32_t> offsets;  // [rows + 1], from first_entry
};

// x and a slab of y as cuSPARSE wants them; made for one call, on the host.
template <class T>
class VectorViews {
 public:
  VectorViews(const DeviceVector<T>& x, DeviceVector<T>& y, const Slab& slab) {
    cusparseConstDnVecDescr_t x_view = nullptr;
    check_cusparse(cusparseCreateConstDnVec(&x_view, x.size(), x.data(), kValueType<T>),
                   "describing a vector");
    x_.reset(x_view);
    cusparseDnVecDescr_t y_view = nullptr;
    check_cusparse(
        cusparseCreateDnVec(&y_view, slab.rows, y.data() + slab.first_row, kValueType<T>),
        "describing a vector");
    y_.reset(y_view);
  }

  cusparseConstDnVecDescr_t x() const { return x_.get(); }
  cusparseDnVecDescr_t y() const { return y_.get(); }

 private:
  std::unique_ptr<const cusparseDnVecDescr, DestroyVector> x_;
  std::unique_ptr<cusparseDnVecDescr, DestroyVector> y_;
};

// y = A x of a slab of rows by one of cuSPARSE's algorithms, with its workspace. What the
// preprocessing finds is kept in the matrix' descriptor and the workspace, so each product has its
// own of both.
template <class T>
class Product {
 public:
  Product(cusparseHandle_t handle, const Slab& slab, MatrixView matrix, cusparseSpMVAlg_t algorithm,
          const DeviceVector<T>& x, DeviceVector<T>& y)
      : handle_(handle), slab_(slab), matrix_(std::move(matrix)), algorithm_(algorithm) {
    const VectorViews<T> views(x, y, slab_);
    std::size_t bytes = 0;
    check_cusparse(
        cusparseSpMV_bufferSize(handle_, CUSPARSE_OPERATION_NON_TRANSPOSE, &kOne, matrix_.get(),
                                views.x(), &kZero, views.y(), kValueType<T>, algorithm_, &bytes),
        "sizing the workspace of the sparse matrix-vector product");
    workspace_ = DeviceArray<char>(std::max<Index>(static_cast<Index>(bytes), 1));
    check_cusparse(cusparseSpMV_preprocess(handle_, CUSPARSE_OPERATION_NON_TRANSPOSE, &kOne,
                                           matrix_.get(), views.x(), &kZero, views.y(),
                                           kValueType<T>, algorithm_, workspace_.data()),
                   "preparing the sparse matrix-vector product");
  }

  void apply(const DeviceVector<T>& x, DeviceVector<T>& y) const {
    const VectorViews<T> views(x, y, slab_);
    check_cusparse(
        cusparseSpMV(handle_, CUSPARSE_OPERATION_NON_TRANSPOSE, &kOne, matrix_.get(), views.x(),
                     &kZero, views.y(), kValueType<T>, algorithm_, workspace_.data()),
        "the sparse matrix-vector product");
  }

  double seconds(const DeviceVector<T>& x, DeviceVector<T>& y) const {
    constexpr int kRepetitions = 5;
    apply(x, y);
    DeviceStopwatch stopwatch;
    stopwatch.start();
    for (int r = 0; r < kRepetitions; ++r) apply(x, y);
    return stopwatch.stop() / kRepetitions;
  }

  Index bytes() const { return workspace_.bytes(); }

 private:
  static constexpr T kOne{1};
  static constexpr T kZero{0};

  cusparseHandle_t handle_;
  const Slab& slab_;
  MatrixView matrix_;
  cusparseSpMVAlg_t algorithm_;
  // Scratch of apply().
  mutable DeviceArray<char> workspace_;
};

template <class T>
class CusparseOperator final : public LinearOperator<T, Device> {
 public:
  CusparseOperator(const BilinearForm& form, DeviceSparseRows<T> matrix, Index max_slab_entries)
      : max_slab_entries_(max_slab_entries),
        pattern_(make_pattern(form)),
        row_starts_(std::move(matrix.starts)),
        columns_(std::move(matrix.columns)),
        values_(std::move(matrix.values)),
        handle_(make_handle()) {
    cut_slabs();
    choose_products();
  }

  Index size() const override { return pattern_.grid.nodes.size(); }
  std::string name() const override { return operator_name(kCusparse); }

  void do_apply(const DeviceVector<T>& x, DeviceVector<T>& y) const override {
    for (const auto& product : products_) product->apply(x, y);
  }

  void do_diagonal(DeviceVector<T>& d) const override {
    for (const Slab& slab : slabs_) {
      launch(diagonal_kernel<T, T, std::int32_t>, launch_of("diagonal of the matrix", slab.rows),
             pattern_, slab.first_row, slab.rows, slab.offsets.data(),
             values_.data() + slab.first_entry, nullptr, d.data());
    }
  }

  /// The matrix and x once, y once.
  Cost cost() const override {
    const auto nonzeros = static_cast<double>(values_.size());
    const double vectors = 2.0 * static_cast<double>(size()) * sizeof(T);
    return {vectors + static_cast<double>(matrix_bytes()), 2.0 * nonzeros};
  }

  Index bytes() const override {
    Index sum = matrix_bytes();
    for (const auto& product : products_) sum += product->bytes();
    return sum;
  }

 private:
  Index matrix_bytes() const {
    Index sum = columns_.bytes() + values_.bytes();
    for (const Slab& slab : slabs_) sum += slab.offsets.bytes();
    return sum;
  }

  Index row_start(Index row) const {
    Index start = 0;
    copy_to_host(row_starts_.data() + row, sizeof(Index), &start);
    return start;
  }

  // The end of the longest slab from `first` on whose rows and entries together are no more than
  // allowed; at least one row.
  Index slab_end(Index first) const {
    const Index most = row_start(first) + first + max_slab_entries_;
    Index low = first + 1;
    Index high = size();
    while (low < high) {
      const Index middle = (low + high + 1) / 2;
      if (row_start(middle) + middle <= most) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    return low;
  }

  // Leaves the 64-bit row starts, which only the assembly needs.
  void cut_slabs() {
    for (Index row = 0, start = 0; row < size();) {
      const Index end = slab_end(row);
      const Index next = row_start(end);
      Slab slab{row, end - row, start, next - start, DeviceArray<std::int32_t>(end - row + 1)};
      launch(slab_offsets_kernel, launch_of("cutting the matrix into slabs", slab.rows + 1),
             row_starts_.data(), slab.first_row, slab.rows, slab.offsets.data());
      slabs_.push_back(std::move(slab));
      row = end;
      start = next;
    }
    synchronize_device();
    row_starts_ = {};
  }

  // By the first slab: the others are like it.
  void choose_products() {
    const DeviceVector<T> x(size());
    DeviceVector<T> y(size());
    double least = std::numeric_limits<double>::infinity();
    cusparseSpMVAlg_t best = CUSPARSE_SPMV_CSR_ALG2;
    for (const cusparseSpMVAlg_t algorithm : {CUSPARSE_SPMV_CSR_ALG1, CUSPARSE_SPMV_CSR_ALG2}) {
      const Product<T> product(handle_.get(), slabs_.front(), view_matrix(slabs_.front()),
                               algorithm, x, y);
      const double seconds = product.seconds(x, y);
      if (seconds >= least) continue;
      least = seconds;
      best = algorithm;
    }
    for (const Slab& slab : slabs_) {
      products_.push_back(
          std::make_unique<const Product<T>>(handle_.get(), slab, view_matrix(slab), best, x, y));
    }
  }

  MatrixView view_matrix(const Slab& slab) const {
    cusparseConstSpMatDescr_t matrix = nullptr;
    check_cusparse(
        cusparseCreateConstCsr(&matrix, slab.rows, size(), slab.entries, slab.offsets.data(),
                               columns_.data() + slab.first_entry,
                               values_.data() + slab.first_entry, CUSPARSE_INDEX_32I,
                               CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, kValueType<T>),
        "describing the matrix");
    return MatrixView(matrix);
  }

  Index max_slab_entries_;
  Pattern pattern_;
  DeviceArray<Index> row_starts_;
  DeviceArray<std::int32_t> columns_;
  DeviceArray<T> values_;
  Handle handle_;
  std::vector<Slab> slabs_;
  std::vector<std::unique_ptr<const Product<T>>> products_;
};

}  // namespace

template <class T>
std::unique_ptr<LinearOperator<T, Device>> make_cusparse_operator(const BilinearForm& form,
                                                                  const DeviceCellKernel<T>& kernel,
                                                                  Index max_slab_entries) {
  return std::make_unique<CusparseOperator<T>>(form, assemble_on_device(form, kernel),
                                               max_slab_entries);
}

template std::unique_ptr<LinearOperator<double, Device>> make_cusparse_operator(
    const BilinearForm&, const DeviceCellKernel<double>&, Index);
template std::unique_ptr<LinearOperator<float, Device>> make_cusparse_operator(
    const BilinearForm&, const DeviceCellKernel<float>&, Index);

}  // namespace tessera
