// These templates make the kernels of mass matrices for one dimension and precision.
#pragma once

#include <type_traits>

#include "operators/tensor/mass/launch.hpp"
#include "operators/tensor/mass/lines.cuh"
#include "operators/tensor/sweeps/even_odd_matrices.hpp"
#include "operators/tensor/with_rule.hpp"
#include "solvers/memory/launch.cuh"

namespace tessera {

template <class T, int n, int m>
MassLines<T, n, m> mass_lines(const Basis1D& basis) {
  return {even_odd_lines<T, m, n>(basis.B),
          even_odd_transposed<T, m, n>(basis.B, [](int) { return 1.0; })};
}

template <class T, int n>
MassProduct<T, n> mass_product(const Basis1D& basis) {
  return {even_odd_lines<T, n, n>(weighted_product(basis.B, basis.quadrature.weights))};
}

/// The cells have r_q of their own, or are all alike.
enum class MassOfCells { different, equal };

/// The kernel, its sizes and its launch for one degree P and M points an axis.
template <class T, int dim, int P, int M, MassOfCells cells>
struct MassInstance {
  static constexpr int n = P + 1;
  static constexpr int kThreads = dim == 3 ? M * M : M;
  static constexpr int kCellValues = mass_cell_values<T, dim, P, M>();

  static constexpr auto kernel() {
    if constexpr (cells == MassOfCells::equal) {
      if constexpr (dim == 3) {
        return equal_mass_3d_kernel<T, P>;
      } else {
        return equal_mass_2d_kernel<T, P>;
      }
    } else {
      if constexpr (dim == 3) {
        return mass_3d_kernel<T, P, M>;
      } else {
        return mass_2d_kernel<T, P, M>;
      }
    }
  }
  static auto matrices(const Basis1D& basis) {
    if constexpr (cells == MassOfCells::equal) {
      return mass_product<T, n>(basis);
    } else {
      return mass_lines<T, n, M>(basis);
    }
  }
  static void allow_shared_memory(Index bytes) { tessera::allow_shared_memory(kernel(), bytes); }
  static void launch(const TensorArguments<T>& args, const Basis1D& basis) {
    const int count = args.brick[0] * args.brick[1] * args.brick[2];
    const auto blocks = static_cast<unsigned>(args.bricks[0]) * args.bricks[1] * args.bricks[2];
    tessera::launch(
        kernel(),
        {"kernel of a mass matrix", blocks, dim3(kThreads, static_cast<unsigned>(count)),
         static_cast<std::size_t>(count) * kCellValues * sizeof(T)},
        args, matrices(basis));
  }
  static constexpr TensorKernelInfo<T> kInfo{kThreads, static_cast<Index>(kCellValues * sizeof(T)),
                                             allow_shared_memory, launch};
};

template <class T, int dim>
const TensorKernelInfo<T>* find_mass_kernel(int degree, int points, FactorKind kind) {
  using Info = const TensorKernelInfo<T>*;
  const bool is_constant = kind == FactorKind::constant;
  return with_rule(degree, is_constant ? degree + 1 : points, [&]<int P, int M>() -> Info {
    if constexpr (P == 0) {
      return nullptr;
    } else {
      return is_constant ? &MassInstance<T, dim, P, P + 1, MassOfCells::equal>::kInfo
                         : &MassInstance<T, dim, P, M, MassOfCells::different>::kInfo;
    }
  });
}

}  // namespace tessera
