#pragma once

#include "operators/device_factors.hpp"
#include "operators/packed_layout.hpp"

namespace tessera {

/// The error that an entry D_ab of packed factors may have, as a share of sqrt(D_aa D_bb): with
/// more, numbers take more bits.
constexpr double packed_tolerance(PackedBits bits) {
  return bits == PackedBits::b21 ? 1e-6 : bits == PackedBits::b32 ? 1e-13 : 1e-11;
}

/// D_q / w_q of mapped or graded 3D cells in GPU memory in fixed point, relative to a linear
/// function in each cell (packed_point.cuh): of 32, 42 and 64 bits a number the fewest with which
/// no entry errs by more than packed_tolerance(), 24, 32 or 48 bytes a point; in single precision
/// of 21 and 32, 16 or 24 bytes. All cells have the same number of bits. 64 (32) bits are for cells
/// in which factors vary by orders of magnitude.
template <class T>
class DevicePackedFactors {
 public:
  /// @throws as DeviceFactors
  DevicePackedFactors(const StiffnessForm& form, const PackedLayout& layout);

  PackedBits bits() const { return bits_; }
  const char* data() const { return data_.data(); }
  Index bytes() const { return data_.bytes(); }
  /// The largest error of an entry D_ab as a share of sqrt(D_aa D_bb), as bounded by the bits.
  double error_bound() const { return error_bound_; }

 private:
  void pack(const StiffnessForm& form, const PackedLayout& layout);

  PackedBits bits_;
  DeviceArray<char> data_;
  double error_bound_ = 0.0;
};

/// Factors in double precision that are there at a time while they are packed: 256 MiB, or one
/// cell.
inline constexpr Index kUnpackedBytes = Index{256} << 20;

constexpr Index unpacked_cells(Index cells, int points) {
  const Index bytes = device_factor_stride(FactorKind::general, 3, points, sizeof(double)) *
                      static_cast<Index>(sizeof(double));
  const Index chunk = kUnpackedBytes / bytes > 1 ? kUnpackedBytes / bytes : 1;
  return chunk < cells ? chunk : cells;
}

/// Bytes held with 42 bits in double precision, 21 in single precision.
constexpr Index packed_factor_bytes(const PackedLayout& layout, Index cells, Index value_bytes) {
  return layout.bytes(value_bytes == 8 ? PackedBits::b42 : PackedBits::b21, cells);
}
/// The most while they are made.
constexpr Index packed_factor_peak_bytes(const PackedLayout& layout, Index cells, Index nodes,
                                         Index value_bytes) {
  return packed_factor_bytes(layout, cells, value_bytes) +
         device_factor_peak_bytes(FactorKind::general, 3, unpacked_cells(cells, layout.points),
                                  layout.points, nodes, sizeof(double));
}

}  // namespace tessera
