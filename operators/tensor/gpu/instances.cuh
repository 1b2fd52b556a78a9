// These templates make the tensor kernels of the GPU for one dimension and precision.
#pragma once

#include <cstdint>
#include <limits>

#include "operators/tensor/gpu/launch.cuh"
#include "operators/tensor/gpu/scaled_lines.cuh"
#include "operators/tensor/gpu/separable_lines.cuh"
#include "operators/tensor/gpu/tensor_2d.cuh"
#include "operators/tensor/gpu/tensor_3d.cuh"
#include "operators/tensor/with_rule.hpp"
#include "solvers/memory/launch.cuh"

namespace tessera {

template <class T, int n>
LineProducts<T, n> line_products(const Basis1D& basis) {
  const Matrix1D M = weighted_product(basis.B, basis.quadrature.weights);
  const Matrix1D K = weighted_product(basis.G, basis.quadrature.weights);
  LineProducts<T, n> products;
  for (int e = 0; e < n * n; ++e) {
    products.M[e] = static_cast<T>(M.entries[e]);
    products.K[e] = static_cast<T>(K.entries[e]);
  }
  return products;
}

template <class T, int n, int m>
LineMatrices<T, n, m> line_matrices(const Basis1D& basis) {
  LineMatrices<T, n, m> matrices;
  for (int e = 0; e < m * n; ++e) matrices.B[e] = static_cast<T>(basis.B.entries[e]);
  for (int e = 0; e < m * m; ++e) matrices.D[e] = static_cast<T>(basis.D.entries[e]);
  return matrices;
}

/// The kernel, its sizes and its launch for one degree P, M points an axis and kind of factors.
template <class T, int dim, int P, int M, FactorKind kind>
struct TensorInstance {
  static constexpr int n = P + 1;
  static constexpr int kThreads = dim == 3 ? M * M : M;
  static constexpr int kCellValues =
      dim == 3 ? tensor_3d_cell_values<T, P, M, kind>() : tensor_2d_cell_values<P, M>();

  static constexpr auto kernel() {
    if constexpr (kind == FactorKind::constant) {
      if constexpr (dim == 3) {
        return separable_3d_kernel<T, P>;
      } else {
        return separable_2d_kernel<T, P>;
      }
    } else {
      if constexpr (dim == 3) {
        return tensor_3d_kernel<T, P, M, kind>;
      } else {
        return tensor_2d_kernel<T, P, M, kind>;
      }
    }
  }
  static auto matrices(const Basis1D& basis) {
    if constexpr (kind == FactorKind::constant) {
      return line_products<T, n>(basis);
    } else if constexpr (dim == 2) {
      return SideBySideMatrices<T, n, M>(basis, WeightsIn::factors);
    } else {
      return line_matrices<T, n, M>(basis);
    }
  }
  static void allow_shared_memory(Index bytes) { tessera::allow_shared_memory(kernel(), bytes); }
  static void launch(const TensorArguments<T>& args, const Basis1D& basis) {
    if constexpr (dim == 3 && kind != FactorKind::general) {
      // Threads with a line have 32 bits for the number of their cell.
      constexpr Index kMaxCells = std::numeric_limits<std::uint32_t>::max();
      if (args.sink.kind != SinkKind::patch && args.range.size() <= kMaxCells) {
        return launch_lines(args, basis);
      }
    }
    const int cells = args.brick[0] * args.brick[1] * args.brick[2];
    const auto blocks = static_cast<unsigned>(args.bricks[0]) * args.bricks[1] * args.bricks[2];
    tessera::launch(kernel(),
                    {"tensor kernel", blocks, dim3(kThreads, static_cast<unsigned>(cells)),
                     static_cast<std::size_t>(cells) * kCellValues * sizeof(T)},
                    args, matrices(basis));
  }
  /// By kernels with a thread a line, which have no patches.
  static void launch_lines(const TensorArguments<T>& args, const Basis1D& basis) {
    constexpr const char* kName = "tensor kernel of lines";
    const Index cells = args.range.size();
    if constexpr (kind == FactorKind::constant) {
      tessera::launch(separable_lines_kernel<T, P>, LineShape<T, M>::over_cells(kName, cells), args,
                      SeparableMatrices<T, n>(basis, args.axis_scale, args.reaction_scale));
    } else {
      using Sweeps = ScaledLineSweeps<T, P, M>;
      tessera::launch(scaled_lines_kernel<T, P, M>, Sweeps::Shape::over_cells(kName, cells), args,
                      typename Sweeps::Matrices(basis, WeightsIn::factors));
    }
  }
  static constexpr TensorKernelInfo<T> kInfo{kThreads, static_cast<Index>(kCellValues * sizeof(T)),
                                             allow_shared_memory, launch};
};

template <class T, int dim>
const TensorKernelInfo<T>* find_tensor_kernel(int degree, int points, FactorKind kind) {
  using Info = const TensorKernelInfo<T>*;
  const bool is_constant = kind == FactorKind::constant;
  return with_rule(degree, is_constant ? degree + 1 : points, [&]<int P, int M>() -> Info {
    if constexpr (P == 0) {
      return nullptr;
    } else {
      if (is_constant) return &TensorInstance<T, dim, P, P + 1, FactorKind::constant>::kInfo;
      return kind == FactorKind::scaled ? &TensorInstance<T, dim, P, M, FactorKind::scaled>::kInfo
                                        : &TensorInstance<T, dim, P, M, FactorKind::general>::kInfo;
    }
  });
}

}  // namespace tessera
