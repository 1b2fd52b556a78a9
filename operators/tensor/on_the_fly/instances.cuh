// These templates make the launches that compute the geometry.
#pragma once

#include <algorithm>
#include <utility>

#include "operators/cells/cell_kernel_limits.hpp"
#include "operators/tensor/on_the_fly/launch.hpp"
#include "operators/tensor/on_the_fly/lines.cuh"
#include "solvers/memory/launch.cuh"

namespace tessera {

template <class T, int dim, int P, int M>
class OnTheFlyInstance final : public OnTheFlyLaunch<T> {
 public:
  explicit OnTheFlyInstance(const Basis1D& basis)
      : lines_{weighted_even_odd<T, P + 1, M>(basis), weighted_even_odd<double, P + 1, M>(basis)} {}

  void operator()(const OnTheFlyArguments<T>& args) const override {
    constexpr const char* kName = "tensor kernel that computes the geometry";
    const Index cells = args.range.size();
    if constexpr (dim == 3) {
      using Shape = LineShape<M>;
      launch(on_the_fly_3d_kernel<T, P, M>,
             {kName, blocks_for(cells, Shape::kCells), dim3(Shape::kColumns, Shape::kRows)}, args,
             lines_);
    } else {
      constexpr int kThreads = 128;
      constexpr int kCells = kThreads / M;
      constexpr auto kBytes = kCells * 2 * Box2D<P, M>::size * sizeof(double);
      launch(on_the_fly_2d_kernel<T, P, M>,
             {kName, blocks_for(cells, kCells), dim3(M, kCells), kBytes}, args, lines_);
    }
  }

 private:
  OnTheFlyMatrices<T, P + 1, M> lines_;
};

template <class T, int dim>
std::unique_ptr<OnTheFlyLaunch<T>> make_on_the_fly_launch(const Basis1D& basis) {
  std::unique_ptr<OnTheFlyLaunch<T>> launch;
  [&]<int... p>(std::integer_sequence<int, p...>) {
    const auto try_degree = [&]<int P>(std::integral_constant<int, P>) {
      if (basis.degree != P) return;
      if (basis.point_count() == P + 1) {
        launch = std::make_unique<OnTheFlyInstance<T, dim, P, P + 1>>(basis);
      }
      if (basis.point_count() == P + 2) {
        launch = std::make_unique<OnTheFlyInstance<T, dim, P, P + 2>>(basis);
      }
    };
    (try_degree(std::integral_constant<int, p + 1>()), ...);
  }
  (std::make_integer_sequence<int, kMaxFastDegree>());
  return launch;
}

}  // namespace tessera
