// This file calls cuBLAS with a workspace of its own.
#include "operators/fast_diagonalization/cublas_products.hpp"

#include <string>
#include <type_traits>

#include "solvers/memory/cuda_check.hpp"

namespace tessera {
namespace {

void check(cublasStatus_t status, const char* operation) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw DeviceError(std::string(operation) +
                    " failed on the GPU: " + cublasGetStatusString(status));
}

cublasOperation_t operation(Factor factor) {
  return factor == Factor::plain ? CUBLAS_OP_N : CUBLAS_OP_T;
}

template <class T>
constexpr auto kMultiplyAll = [] {
  if constexpr (std::is_same_v<T, double>) {
    return cublasDgemmStridedBatched_64;
  } else {
    return cublasSgemmStridedBatched_64;
  }
}();

}  // namespace

CublasProducts::CublasProducts(std::int64_t workspace_bytes) : workspace_(workspace_bytes) {
  check(cublasCreate(&handle_), "starting cuBLAS");
  try {
    check(cublasSetStream(handle_, device_stream()), "choosing the stream of cuBLAS");
    check(cublasSetWorkspace(handle_, workspace_.data(), workspace_.bytes()),
          "giving cuBLAS its workspace");
  } catch (...) {
    cublasDestroy(handle_);
    throw;
  }
}

CublasProducts::~CublasProducts() { cublasDestroy(handle_); }

template <class T>
void CublasProducts::multiply(ProductShape shape, Factor op_a, DeviceMatrix<const T> a,
                              std::int64_t stride_a, Factor op_b, DeviceMatrix<const T> b,
                              std::int64_t stride_b, DeviceMatrix<T> c,
                              std::int64_t stride_c) const {
  const T one{1};
  const T zero{0};
  check(kMultiplyAll<T>(handle_, operation(op_a), operation(op_b), shape.rows, shape.columns,
                        shape.inner, &one, a.data, a.leading, stride_a, b.data, b.leading, stride_b,
                        &zero, c.data, c.leading, stride_c, shape.count),
        "a matrix product");
}

template void CublasProducts::multiply(ProductShape, Factor, DeviceMatrix<const double>,
                                       std::int64_t, Factor, DeviceMatrix<const double>,
                                       std::int64_t, DeviceMatrix<double>, std::int64_t) const;
template void CublasProducts::multiply(ProductShape, Factor, DeviceMatrix<const float>,
                                       std::int64_t, Factor, DeviceMatrix<const float>,
                                       std::int64_t, DeviceMatrix<float>, std::int64_t) const;

}  // namespace tessera
