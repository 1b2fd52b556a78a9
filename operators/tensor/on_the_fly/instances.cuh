// These templates make the launches that compute the geometry.
#pragma once

#include "operators/tensor/on_the_fly/launch.hpp"
#include "operators/tensor/on_the_fly/lines.cuh"
#include "operators/tensor/with_rule.hpp"
#include "solvers/memory/launch.cuh"

namespace tessera {

template <class T, int dim, int P, int M>
class OnTheFlyInstance final : public OnTheFlyLaunch<T> {
 public:
  explicit OnTheFlyInstance(const Basis1D& basis) : lines_(basis) {}

  void operator()(const OnTheFlyArguments<T>& args) const override {
    constexpr const char* kName = "tensor kernel that computes the geometry";
    const Index cells = args.range.size();
    if constexpr (dim == 3) {
      launch(on_the_fly_3d_kernel<T, P, M>, LineShape<double, M>::over_cells(kName, cells), args,
             lines_);
    } else {
      constexpr int kCells = kFlatThreads / M;
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
  using Made = std::unique_ptr<OnTheFlyLaunch<T>>;
  return with_rule(basis.degree, basis.point_count(), [&]<int P, int M>() -> Made {
    if constexpr (P == 0) {
      return nullptr;
    } else {
      return std::make_unique<OnTheFlyInstance<T, dim, P, M>>(basis);
    }
  });
}

}  // namespace tessera
