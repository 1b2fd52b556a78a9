// This file calls cuBLAS with a workspace of its own.
#include "operators/fast_diagonalization/cublas_products.hpp"

#include <string>

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

cublasStatus_t multiply_all(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b,
                            const ProductShape& n, DeviceMatrix<const double> a, std::int64_t sa,
                            DeviceMatrix<const double> b, std::int64_t sb, DeviceMatrix<double> c,
                            std::int64_t sc) {
  const double one = 1.0;
  const double zero = 0.0;
  return cublasDgemmStridedBatched_64(handle, op_a, op_b, n.rows, n.columns, n.inner, &one, a.data,
                                      a.leading, sa, b.data, b.leading, sb, &zero, c.data,
                                      c.leading, sc, n.count);
}

cublasStatus_t multiply_all(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b,
                            const ProductShape& n, DeviceMatrix<const float> a, std::int64_t sa,
                            DeviceMatrix<const float> b, std::int64_t sb, DeviceMatrix<float> c,
                            std::int64_t sc) {
  const float one = 1.0F;
  const float zero = 0.0F;
  return cublasSgemmStridedBatched_64(handle, op_a, op_b, n.rows, n.columns, n.inner, &one, a.data,
                                      a.leading, sa, b.data, b.leading, sb, &zero, c.data,
                                      c.leading, sc, n.count);
}

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
  check(multiply_all(handle_, operation(op_a), operation(op_b), shape, a, stride_a, b, stride_b, c,
                     stride_c),
        "a matrix product");
}

template void CublasProducts::multiply(ProductShape, Factor, DeviceMatrix<const double>,
                                       std::int64_t, Factor, DeviceMatrix<const double>,
                                       std::int64_t, DeviceMatrix<double>, std::int64_t) const;
template void CublasProducts::multiply(ProductShape, Factor, DeviceMatrix<const float>,
                                       std::int64_t, Factor, DeviceMatrix<const float>,
                                       std::int64_t, DeviceMatrix<float>, std::int64_t) const;

}  // namespace tessera
