// An OnTheFlyLaunch launches the kernel of one dimension, degree and rule.
#pragma once

#include <memory>

#include "mesh/element/basis_1d.hpp"
#include "operators/cells/device_cells.hpp"

namespace tessera {

template <class T>
struct OnTheFlyArguments;

/// The kernel that computes the geometry, of one dimension, degree and rule, with its 1D matrices.
template <class T>
class OnTheFlyLaunch {
 public:
  virtual ~OnTheFlyLaunch() = default;

  /// Applies to all cells of args.range; asynchronous.
  virtual void operator()(const OnTheFlyArguments<T>& args) const = 0;
};

/// Null where there is none: has_fast_tensor_kernel(degree, points) says. Defined in
/// files made of instance.cu.in.
template <class T, int dim>
std::unique_ptr<OnTheFlyLaunch<T>> make_on_the_fly_launch(const Basis1D& basis);

}  // namespace tessera
