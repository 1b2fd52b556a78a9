// These find the entries of planes on the GPU.
#pragma once

#include <cstdint>
#include <limits>

#include "solvers/ranks/shared_entries.hpp"

namespace tessera {

/// The entries of a plane by their numbers in the order of messages: number a + counts[0] b is
/// entry first + a strides[0] + b strides[1].
class NumberedPlane {
 public:
  NumberedPlane() = default;
  explicit NumberedPlane(const EntryPlane& plane)
      : plane_(plane),
        is_contiguous_(plane.strides[0] == 1 &&
                       (plane.counts[1] == 1 || plane.strides[1] == plane.counts[0])),
        is_small_(plane.count() <= std::numeric_limits<std::uint32_t>::max()) {}

  /// Whether entries follow each other in the vector as they do in messages.
  bool is_contiguous() const { return is_contiguous_; }

  __device__ std::int64_t entry(std::int64_t number) const {
    if (is_contiguous_) return plane_.first + number;
    if (is_small_) return entry_by<std::uint32_t>(number);
    return entry_by<std::int64_t>(number);
  }

 private:
  // Divisions of 32 bits are several times as fast.
  template <class Number>
  __device__ std::int64_t entry_by(std::int64_t number) const {
    const std::int64_t b = static_cast<Number>(number) / static_cast<Number>(plane_.counts[0]);
    const std::int64_t a = number - b * plane_.counts[0];
    return plane_.first + a * plane_.strides[0] + b * plane_.strides[1];
  }

  EntryPlane plane_;
  bool is_contiguous_;
  bool is_small_;
};

}  // namespace tessera
