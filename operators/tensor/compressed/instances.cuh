#pragma once

#include <type_traits>
#include <utility>

#include "operators/cells/cell_kernel_limits.hpp"
#include "operators/tensor/compressed/launch.hpp"
#include "operators/tensor/compressed/planes_3d.cuh"
#include "solvers/memory/cuda_check.hpp"

namespace tessera {

template <class T, int P, int M, PackedBits bits>
class PackedInstance final : public PackedLaunch<T> {
 public:
  explicit PackedInstance(const Basis1D& basis) {
    if constexpr (kPlanes) {
      lines_ = weighted_matrices<T, P + 1, M>(basis);
    } else {
      lines_ = weighted_even_odd<T, P + 1, M>(basis);
    }
  }

  void operator()(const PackedArguments<T>& args) const override {
    const auto blocks_of = [&](int cells) {
      return static_cast<unsigned>(ceil_div(args.range.size(), cells));
    };
    if constexpr (kPlanes) {
      packed_planes_kernel<T, P, M, bits>
          <<<blocks_of(PackedPlanes<P, M>::kCells), 32, 0, device_stream()>>>(args, lines_);
    } else {
      using Shape = LineShape<M>;
      packed_lines_kernel<T, P, M, bits>
          <<<blocks_of(Shape::kCells), dim3(Shape::kColumns, Shape::kRows), 0, device_stream()>>>(
              args, lines_);
    }
    check_launch("tensor kernel with packed factors");
  }

 private:
  static constexpr bool kPlanes = packed_layout(P, M).cells > 1;
  std::conditional_t<kPlanes, WeightedMatrices<T, P + 1, M>, WeightedEvenOdd<T, P + 1, M>> lines_;
};

template <class T, int P, int M>
std::unique_ptr<PackedLaunch<T>> make_packed_instance(const Basis1D& basis, PackedBits bits) {
  if constexpr (sizeof(T) == 4) {
    if (bits == PackedBits::b21) {
      return std::make_unique<PackedInstance<T, P, M, PackedBits::b21>>(basis);
    }
    return std::make_unique<PackedInstance<T, P, M, PackedBits::b32>>(basis);
  } else {
    if (bits == PackedBits::b42) {
      return std::make_unique<PackedInstance<T, P, M, PackedBits::b42>>(basis);
    }
    return std::make_unique<PackedInstance<T, P, M, PackedBits::b64>>(basis);
  }
}

template <class T>
std::unique_ptr<PackedLaunch<T>> make_packed_launch(const Basis1D& basis, PackedBits bits) {
  std::unique_ptr<PackedLaunch<T>> launch;
  [&]<int... p>(std::integer_sequence<int, p...>) {
    const auto try_degree = [&]<int P>(std::integral_constant<int, P>) {
      if (basis.degree != P) return;
      if (basis.point_count() == P + 1) launch = make_packed_instance<T, P, P + 1>(basis, bits);
      if (basis.point_count() == P + 2) launch = make_packed_instance<T, P, P + 2>(basis, bits);
    };
    (try_degree(std::integral_constant<int, p + 1>()), ...);
  }
  (std::make_integer_sequence<int, kMostFastDegree>());
  return launch;
}

}  // namespace tessera
