#pragma once

#include <memory>

#include "mesh/element/basis_1d.hpp"
#include "operators/cells/device_cells.hpp"
#include "operators/tensor/compressed/layout.hpp"

namespace tessera {

template <class T>
struct PackedArguments;

/// The kernel on packed factors of one degree, rule and number of bits, with its 1D matrices.
template <class T>
class PackedLaunch {
 public:
  virtual ~PackedLaunch() = default;

  /// Applies to all cells of args.range; asynchronous.
  virtual void operator()(const PackedArguments<T>& args) const = 0;
};

/// Null where there is none: has_fast_tensor_kernel(degree, points) says. Defined in
/// packed_double.cu and packed_float.cu.
template <class T>
std::unique_ptr<PackedLaunch<T>> make_packed_launch(const Basis1D& basis, PackedBits bits);

}  // namespace tessera
