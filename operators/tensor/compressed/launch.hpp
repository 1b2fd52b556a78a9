// A CompressedLaunch launches the kernel of one degree, rule and number of bits.
#pragma once

#include <memory>

#include "mesh/element/basis_1d.hpp"
#include "operators/cells/device_cells.hpp"
#include "operators/tensor/compressed/bits.hpp"

namespace tessera {

template <class T>
struct CompressedArguments;

/// The kernel on packed factors of one degree, rule and number of bits, with its 1D matrices.
template <class T>
class CompressedLaunch {
 public:
  virtual ~CompressedLaunch() = default;

  /// Applies to all cells of args.range; asynchronous.
  virtual void operator()(const CompressedArguments<T>& args) const = 0;
};

/// Null where there is none: has_fast_tensor_kernel(degree, points) says. Defined in
/// files made of instance.cu.in.
template <class T>
std::unique_ptr<CompressedLaunch<T>> make_compressed_launch(const Basis1D& basis,
                                                            CompressedBits bits);

}  // namespace tessera
