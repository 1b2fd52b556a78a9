// This file loads cuBLAS when it is first needed, and calls it with a workspace of its own.
#include "operators/fast_diagonalization/cublas_products.hpp"

#include <dlfcn.h>

#include <string>
#include <type_traits>

namespace tessera {
namespace {

// The functions of cuBLAS that are called here. A program that is linked with it takes a tenth of a
// second longer to start, on a machine without a GPU as well. The library stays until the program
// ends.
struct Cublas {
  decltype(&cublasGetStatusString) status_text;
  decltype(&cublasCreate_v2) create;
  decltype(&cublasDestroy_v2) destroy;
  decltype(&cublasSetStream_v2) set_stream;
  decltype(&cublasSetWorkspace_v2) set_workspace;
  decltype(&cublasDgemmStridedBatched_64) multiply_double;
  decltype(&cublasSgemmStridedBatched_64) multiply_single;
};

template <class F>
void find(void* library, const char* name, F*& function) {
  function = reinterpret_cast<F*>(dlsym(library, name));
  if (function == nullptr) throw DeviceError(std::string("cuBLAS has no function ") + name);
}

// @throws DeviceError, and tries again when it is called again
const Cublas& cublas() {
  static const Cublas found = [] {
    const std::string name = "libcublas.so." + std::to_string(CUBLAS_VER_MAJOR);
    void* const library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) throw DeviceError(std::string("cuBLAS cannot be loaded: ") + dlerror());
    Cublas functions{};
    find(library, "cublasGetStatusString", functions.status_text);
    find(library, "cublasCreate_v2", functions.create);
    find(library, "cublasDestroy_v2", functions.destroy);
    find(library, "cublasSetStream_v2", functions.set_stream);
    find(library, "cublasSetWorkspace_v2", functions.set_workspace);
    find(library, "cublasDgemmStridedBatched_64", functions.multiply_double);
    find(library, "cublasSgemmStridedBatched_64", functions.multiply_single);
    return functions;
  }();
  return found;
}

void check(cublasStatus_t status, const char* operation) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw DeviceError(std::string(operation) + " failed on the GPU: " + cublas().status_text(status));
}

cublasOperation_t operation(Factor factor) {
  return factor == Factor::plain ? CUBLAS_OP_N : CUBLAS_OP_T;
}

template <class T>
auto multiply_all() {
  if constexpr (std::is_same_v<T, double>) {
    return cublas().multiply_double;
  } else {
    return cublas().multiply_single;
  }
}

}  // namespace

CublasProducts::CublasProducts(std::int64_t workspace_bytes, cudaStream_t stream)
    : workspace_(workspace_bytes) {
  check(cublas().create(&handle_), "starting cuBLAS");
  try {
    check(cublas().set_stream(handle_, stream), "choosing the stream of cuBLAS");
    check(cublas().set_workspace(handle_, workspace_.data(), workspace_.bytes()),
          "giving cuBLAS its workspace");
  } catch (...) {
    cublas().destroy(handle_);
    throw;
  }
}

CublasProducts::~CublasProducts() { cublas().destroy(handle_); }

template <class T>
void CublasProducts::multiply(ProductShape shape, Factor op_a, DeviceMatrix<const T> a,
                              std::int64_t stride_a, Factor op_b, DeviceMatrix<const T> b,
                              std::int64_t stride_b, DeviceMatrix<T> c,
                              std::int64_t stride_c) const {
  const T one{1};
  const T zero{0};
  check(multiply_all<T>()(handle_, operation(op_a), operation(op_b), shape.rows, shape.columns,
                          shape.inner, &one, a.data, a.leading, stride_a, b.data, b.leading,
                          stride_b, &zero, c.data, c.leading, stride_c, shape.count),
        "a matrix product");
}

template void CublasProducts::multiply(ProductShape, Factor, DeviceMatrix<const double>,
                                       std::int64_t, Factor, DeviceMatrix<const double>,
                                       std::int64_t, DeviceMatrix<double>, std::int64_t) const;
template void CublasProducts::multiply(ProductShape, Factor, DeviceMatrix<const float>,
                                       std::int64_t, Factor, DeviceMatrix<const float>,
                                       std::int64_t, DeviceMatrix<float>, std::int64_t) const;

}  // namespace tessera
