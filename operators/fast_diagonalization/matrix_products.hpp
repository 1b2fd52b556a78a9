// These functions multiply matrices on the GPU.
#pragma once

#include <cstdint>
#include <span>

#include "solvers/memory/cuda_check.hpp"

namespace tessera {

/// Whether a factor of a product is taken as it is or transposed.
enum class Factor { plain, transposed };

/// A matrix in GPU memory, rows fastest, columns `leading` entries apart; and how far the next one
/// is, 0 where one is for all.
template <class T>
struct DeviceMatrix {
  T* data;
  std::int64_t leading;
  std::int64_t stride = 0;
};

/// c = op(a) op(b), rows by inner times inner by columns.
template <class T>
struct MatrixProduct {
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t inner;
  DeviceMatrix<const T> a;
  DeviceMatrix<const T> b;
  DeviceMatrix<T> c;
};

/// The most products of a launch.
inline constexpr int kMaxProductsAtATime = 2;

/// Queues products of matrices that follow each other: c_k = op_a(a_k) op_b(b_k) for k < count, of
/// one or two kinds at a time, in IEEE arithmetic of T's precision; the same bits in every run on a
/// GPU. The launch can be captured. a and b are not both transposed.
///
/// cuBLAS does not do it: its start and the kernels that it loads take 130 ms (H200), as long as
/// some hundred products of the sizes of fast diagonalization.
/// @throws DeviceError
template <class T>
void multiply(Factor op_a, Factor op_b, std::span<const MatrixProduct<T>> products,
              std::int64_t count = 1, cudaStream_t stream = device_stream());

}  // namespace tessera
