// These templates make the launches on compressed factors of one precision.
#pragma once

#include <type_traits>

#include "operators/tensor/compressed/launch.hpp"
#include "operators/tensor/compressed/planes_3d.cuh"
#include "operators/tensor/with_rule.hpp"
#include "solvers/memory/launch.cuh"

namespace tessera {

template <class T, int P, int M, CompressedBits bits>
class CompressedInstance final : public CompressedLaunch<T> {
 public:
  explicit CompressedInstance(const Basis1D& basis) : lines_(basis, WeightsIn::matrices) {}

  void operator()(const CompressedArguments<T>& args) const override {
    constexpr const char* kName = "tensor kernel with packed factors";
    const Index cells = args.range.size();
    if constexpr (kPlanes) {
      launch(compressed_planes_kernel<T, P, M, bits>,
             {kName, blocks_for(cells, CompressedPlanes<T, P, M>::kCells), 32}, args, lines_);
    } else {
      launch(compressed_lines_kernel<T, P, M, bits>,
             CompressedLineSweeps<T, P, M>::Shape::over_cells(kName, cells), args, lines_);
    }
  }

 private:
  static constexpr bool kPlanes = compressed_layout(P, M, sizeof(T)).part == ThreadPart::plane;
  std::conditional_t<kPlanes, WeightedMatrices<T, P + 1, M>,
                     typename CompressedLineSweeps<T, P, M>::Matrices>
      lines_;
};

template <class T>
std::unique_ptr<CompressedLaunch<T>> make_compressed_launch(const Basis1D& basis,
                                                            CompressedBits bits) {
  using Made = std::unique_ptr<CompressedLaunch<T>>;
  return with_rule(basis.degree, basis.point_count(), [&]<int P, int M>() -> Made {
    if constexpr (P == 0) {
      return nullptr;
    } else {
      return with_bits<T>(bits, [&]<CompressedBits these>() -> Made {
        return std::make_unique<CompressedInstance<T, P, M, these>>(basis);
      });
    }
  });
}

}  // namespace tessera
