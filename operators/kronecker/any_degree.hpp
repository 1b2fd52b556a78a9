// KroneckerAny applies the Kronecker operator on the GPU for degrees without an unrolled kernel.
#pragma once

#include "operators/kronecker/device_data.hpp"
#include "solvers/memory/device_array.hpp"

namespace tessera {

/// Planes of a slab: 64 inner ones, and p more on either side, which the slabs beside it have too.
constexpr std::int64_t kronecker_slab_planes(int degree, int dimension, std::int64_t planes) {
  if (dimension == 2) return 1;
  const std::int64_t slab = 64 + 2 * static_cast<std::int64_t>(degree);
  return slab < planes ? slab : planes;
}

/// y = A x for any degree: band products along x, y and z by a thread a node, through scratch that
/// holds a slab of planes.
template <class T>
class KroneckerAny {
 public:
  /// @throws DeviceOutOfMemory
  KroneckerAny(int degree, int dimension, const KroneckerData<T>& data);

  /// Runs data.v's x and y; only KroneckerPass::apply. @throws DeviceError
  void apply(const KroneckerData<T>& data) const;
  std::int64_t bytes() const { return 4 * scratch_[0].bytes(); }

 private:
  int degree_;
  int dimension_;
  int planes_;  // of a slab
  // M_x u, K_x u, then M_y K_x u + K_y M_x u, M_y M_x u.
  mutable DeviceArray<T> scratch_[4];
};

extern template class KroneckerAny<double>;
extern template class KroneckerAny<float>;

}  // namespace tessera
