// CompressedBatches are geometric factors of batches of cells in fixed point, on the host.
#pragma once

#include <cstddef>

#include "mesh/lanes/cell_batches.hpp"
#include "mesh/lanes/host_array.hpp"
#include "mesh/saturated.hpp"
#include "operators/form/bilinear_form.hpp"
#include "operators/form/updatable.hpp"
#include "operators/tensor/compressed/batch_words.hpp"
#include "operators/tensor/compressed/packing_errors.hpp"

namespace tessera {

/// D_q / w_q of mapped or graded 3D cells on the host, an entry relative to its range in each cell.
/// A number has 32 bits, a point 24 bytes in double precision, 16 bits and 12 bytes in single, if
/// no entry of any cell errs by more than compressed_tolerance() with these; else 42 bits and 32
/// bytes, in single 21 and 16.
template <class T>
class CompressedBatches {
 public:
  /// Of a form with a gradient term. They are of use only where error_bound() is at most
  /// compressed_tolerance().
  /// @param batches of kLanes<T> cells
  /// @throws as GeometricFactors
  CompressedBatches(const BilinearForm& form, const CellBatches& batches);

  /// Packs the factors of another form in the same memory, which has a reaction if this one has.
  /// @returns no where the constructor would make others, or such as are of no use
  /// @throws as the constructor
  Updated update(const BilinearForm& form, const CellBatches& batches);
  /// Takes another reaction that is a number, where there is such a one already.
  /// @throws BadFieldValue
  void update_reaction(const BilinearForm& form);

  bool are_packed() const { return errors_.are_small<T>(); }
  /// As PackingErrors::of_these.
  double error_bound() const { return errors_.of_these; }
  CompressedBits bits() const { return bits_; }
  ReactionKind reaction() const { return reaction_; }
  /// First vector of a batch: the header of 32 bits [entry][lane], then words
  /// [point][vector][lane].
  const WordLanes<T>* batch(Index index) const { return words_.data() + index * stride_; }
  /// r_q / w_q / reaction_scale() of a batch, [point][lane], where there is a reaction; else null.
  const Lanes<T>* reaction_of(Index index) const {
    return reaction_ == ReactionKind::none ? nullptr : reactions_.data() + index * points_;
  }
  /// c if it is a number, and 1 where it is not.
  double reaction_scale() const { return reaction_scale_; }
  Index bytes() const {
    return static_cast<Index>(words_.size() * sizeof(WordLanes<T>) +
                              reactions_.size() * sizeof(Lanes<T>));
  }

 private:
  void set_bits(CompressedBits bits, const CellBatches& batches);
  // Packs all cells; with few bits no more of them than up to one for which these do not suffice.
  void pack(const BilinearForm& form, const CellBatches& batches);
  template <CompressedBits bits>
  void pack_in(const BilinearForm& form, const CellBatches& batches);

  int points_;  // of a cell
  CompressedBits bits_;
  Index stride_;
  ReactionKind reaction_;
  double reaction_scale_ = 1.0;
  PackingErrors errors_;
  HostArray<WordLanes<T>> words_;
  HostArray<Lanes<T>> reactions_;
};

/// The bytes that they take. Whether few bits suffice is known only when they have been made.
/// @param cells those of all batches, which are filled up to whole SIMD vectors
constexpr Index compressed_batch_bytes(ReactionKind reaction, Index cells, int points_per_axis,
                                       CompressedBits bits, Index value_bytes) {
  const Index points = power(points_per_axis, 3);
  const Index reactions = reaction == ReactionKind::none ? 0 : value_bytes;
  constexpr Index kHeaderBytes = 24;
  return Saturated(cells) * (points * (compressed_point_bytes(bits) + reactions) + kHeaderBytes);
}

extern template class CompressedBatches<double>;
extern template class CompressedBatches<float>;

}  // namespace tessera
