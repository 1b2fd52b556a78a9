// CublasProducts are matrix products on the GPU that can be captured in a graph.
#pragma once

#include <cublas_v2.h>

#include <cstdint>

#include "solvers/memory/cuda_check.hpp"
#include "solvers/memory/device_array.hpp"

namespace tessera {

/// Whether a factor of a product is taken as it is or transposed.
enum class Factor { plain, transposed };

/// A matrix in GPU memory, rows fastest, columns `leading` entries apart.
template <class T>
struct DeviceMatrix {
  T* data;
  std::int64_t leading;
};

/// rows by inner times inner by columns, `count` times over.
struct ProductShape {
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t inner;
  std::int64_t count = 1;
};

/// Matrix products by cuBLAS on a stream, with workspace of its own, so that calls can be captured.
/// IEEE arithmetic of T's own precision; the same bits in every run.
class CublasProducts {
 public:
  /// @throws DeviceOutOfMemory, DeviceError
  explicit CublasProducts(std::int64_t workspace_bytes, cudaStream_t stream = device_stream());
  ~CublasProducts();
  CublasProducts(const CublasProducts&) = delete;
  CublasProducts& operator=(const CublasProducts&) = delete;

  /// c_k = op(a_k) op(b_k) for matrices that follow each other a stride apart; stride 0 is one for
  /// all. @throws DeviceError
  template <class T>
  void multiply(ProductShape shape, Factor op_a, DeviceMatrix<const T> a, std::int64_t stride_a,
                Factor op_b, DeviceMatrix<const T> b, std::int64_t stride_b, DeviceMatrix<T> c,
                std::int64_t stride_c) const;

  std::int64_t bytes() const { return workspace_.bytes(); }

 private:
  DeviceArray<char> workspace_;
  cublasHandle_t handle_ = nullptr;
};

}  // namespace tessera
