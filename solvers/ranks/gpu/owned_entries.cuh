// These say on the GPU which entries of a vector a rank counts in sums.
#pragma once

#include <cstdint>
#include <utility>

#include "solvers/memory/vector_layout.hpp"

namespace tessera {

/// Of vectors that no other rank has a part of.
struct AllEntries {
  static constexpr bool kAreAll = true;

  __device__ bool has(std::int64_t /*entry*/) const { return true; }
};

/// Of vectors that ranks share: a box of entries that begins behind the planes of lower ranks.
class OwnedEntries {
 public:
  static constexpr bool kAreAll = false;

  /// @param layout with shared entries
  explicit OwnedEntries(const VectorLayout& layout)
      : row_length_(layout.shared->numbers().row_length),
        rows_(layout.shared->numbers().rows),
        is_small_(layout.size <= std::int64_t{1} << 31) {
    const std::int64_t layers = layout.size / (row_length_ * rows_);
    // One entry of each lower plane that lies in no other one.
    const std::int64_t last_row = row_length_ * (rows_ - 1);
    const std::int64_t last_layer = row_length_ * rows_ * (layers - 1);
    const std::int64_t last_column = row_length_ - 1;
    first_[0] = is_owned(*layout.shared, last_layer + last_row) ? 0 : 1;
    first_[1] = is_owned(*layout.shared, last_layer + last_column) ? 0 : 1;
    first_[2] = is_owned(*layout.shared, last_row + last_column) ? 0 : 1;
    are_layers_ = first_[0] == 0 && first_[1] == 0;
    begin_ = first_[2] * row_length_ * rows_;
  }

  __device__ bool has(std::int64_t entry) const {
    if (are_layers_) return entry >= begin_;
    if (is_small_) return has_position<std::uint32_t>(entry);
    return has_position<std::int64_t>(entry);
  }

 private:
  template <class Number>
  __device__ bool has_position(std::int64_t entry) const {
    const Number number = static_cast<Number>(entry);
    const Number row = number / static_cast<Number>(row_length_);
    const Number layer = row / static_cast<Number>(rows_);
    return number - row * static_cast<Number>(row_length_) >= static_cast<Number>(first_[0]) &&
           row - layer * static_cast<Number>(rows_) >= static_cast<Number>(first_[1]) &&
           layer >= static_cast<Number>(first_[2]);
  }

  static bool is_owned(const SharedEntries& shared, std::int64_t entry) {
    for (const EntryPlane& plane : shared.not_owned()) {
      const std::int64_t along = entry - plane.first;
      if (along < 0 || plane.count() == 0) continue;
      const std::int64_t b = plane.counts[1] > 1 ? along / plane.strides[1] : 0;
      const std::int64_t rest = along - (plane.counts[1] > 1 ? b * plane.strides[1] : 0);
      if (b < plane.counts[1] && rest % plane.strides[0] == 0 &&
          rest / plane.strides[0] < plane.counts[0]) {
        return false;
      }
    }
    return true;
  }

  std::int64_t row_length_;
  std::int64_t rows_;
  bool is_small_;
  int first_[3];  // the first position that is owned, along each axis
  // Whole layers, as in slabs: those from an entry on, which takes no divisions.
  bool are_layers_;
  std::int64_t begin_;
};

/// f(entries) with those of a layout.
template <class F>
void with_entries(const VectorLayout& layout, F&& f) {
  if (layout.shared == nullptr) {
    std::forward<F>(f)(AllEntries());
  } else {
    std::forward<F>(f)(OwnedEntries(layout));
  }
}

}  // namespace tessera
