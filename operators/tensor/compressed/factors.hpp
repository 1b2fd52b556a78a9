// DeviceCompressedFactors are geometric factors in fixed point, relative to their range in a cell.
#pragma once

#include <string>
#include <utility>

#include "mesh/saturated.hpp"
#include "operators/tensor/compressed/layout.hpp"
#include "operators/tensor/compressed/packing_errors.hpp"
#include "operators/tensor/gpu/factors.hpp"
#include "solvers/errors.hpp"
#include "solvers/memory/device.hpp"

namespace tessera {

/// That factors cannot be packed and do not fit otherwise, in a user's words.
/// @param error_bound of the entries if they were packed, as a share
/// @param tolerance what is allowed
/// @param bytes that they take as they are
/// @param reason what the GPU says of its memory
std::string no_room_unpacked(double error_bound, double tolerance, Index bytes, const char* reason);

/// Runs make(), which makes factors that cannot be packed after all. Where k is constant memory is
/// foreseen for packed ones (geometry_size.cpp). Yet maps can do it: D_ab of one cell must vary by
/// less than about 80 (single precision: 4) times the least sqrt(D_aa D_bb) in it. Bent cells of
/// usual shape do so by 0.3; the first cell of a map x^2 by 7, of x^4 by 500; flat ones sheared by
/// many times their thickness by 10^5. Whether there are any is known when all have been made.
/// @throws UnsuitableChoice instead of DeviceOutOfMemory
template <class Make>
void make_unpacked(double error_bound, double tolerance, Index bytes, Make&& make) {
  try {
    std::forward<Make>(make)();
  } catch (const DeviceOutOfMemory& error) {
    throw UnsuitableChoice(Choice::factors,
                           no_room_unpacked(error_bound, tolerance, bytes, error.what()));
  }
}

/// D_q / w_q of mapped or graded 3D cells in GPU memory in fixed point, relative to the range of
/// each entry in each cell (point.cuh). A number has 32 bits, a point 24 bytes instead of 48 in
/// double precision, 16 bits and 12 bytes instead of 24 in single, if no entry errs by more than
/// compressed_tolerance() with these; else 42 bits and 32 bytes, in single 21 and 16. Where these
/// do not suffice either, which takes cells in which factors vary by orders of magnitude, all have
/// 64 (32) bits.
template <class T>
class DeviceCompressedFactors {
 public:
  /// @throws as DeviceFactors, but UnsuitableChoice if they cannot be packed and memory is enough
  ///         for packed ones only
  DeviceCompressedFactors(const BilinearForm& form, const CompressedLayout& layout);

  /// As Updatable: no where the new factors do not fit into as many bits, or into fewer.
  Updated update(const BilinearForm& form, const CompressedLayout& layout);

  CompressedBits bits() const { return bits_; }
  const char* data() const { return data_.data(); }
  /// r_q / w_q where there is a reaction, [cell][q], as they are; else null.
  const T* reaction() const { return reaction_.data(); }
  Index bytes() const { return data_.bytes() + reaction_.bytes(); }
  /// As PackingErrors::of_these.
  double error_bound() const { return errors_.of_these; }

 private:
  // Packs all cells; with few bits no more of them than up to some for which these do not suffice.
  void pack(const BilinearForm& form, const CompressedLayout& layout);

  CompressedBits bits_;
  DeviceArray<char> data_;
  DeviceArray<T> reaction_;
  PackingErrors errors_;
};

/// Bytes held.
constexpr Index compressed_factor_bytes(const CompressedLayout& layout, ReactionKind reaction,
                                        Index cells, CompressedBits bits, Index value_bytes) {
  const Index reactions = reaction == ReactionKind::none ? 0 : power(layout.points, 3);
  return Saturated(layout.bytes(bits, cells)) + Saturated(cells) * reactions * value_bytes;
}
/// The most while they are made.
constexpr Index compressed_factor_peak_bytes(const CompressedLayout& layout, ReactionKind reaction,
                                             StateKind state, Index cells, CompressedBits bits,
                                             Index value_bytes) {
  const Index chunk = factor_chunk_cells(3, layout.points, sizeof(double));
  return Saturated(compressed_factor_bytes(layout, reaction, cells, bits, value_bytes)) +
         device_factor_peak_bytes(FactorKind::general, reaction, state, 3,
                                  chunk < cells ? chunk : cells, layout.points, sizeof(double));
}

}  // namespace tessera
