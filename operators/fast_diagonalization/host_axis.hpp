// A HostAxis multiplies by the modes of an axis on the host.
#pragma once

#include <algorithm>
#include <vector>

#include "mesh/lanes/host_array.hpp"
#include "operators/fast_diagonalization/axis_modes.hpp"
#include "operators/fast_diagonalization/layout.hpp"

namespace tessera {

/// The modes of an axis as the host applies them.
template <class T>
class HostAxis {
 public:
  explicit HostAxis(const AxisModes& modes)
      : first_(modes.first_free),
        even_(modes.even),
        odd_(modes.odd),
        vectors_(even_ * even_ + odd_ * odd_),
        eigenvalues_(modes.size()) {
    const auto rounded = [](double value) { return static_cast<T>(value); };
    T* const odd_vectors = vectors_.data() + even_ * even_;
    std::transform(modes.even_vectors.begin(), modes.even_vectors.end(), vectors_.data(), rounded);
    std::transform(modes.odd_vectors.begin(), modes.odd_vectors.end(), odd_vectors, rounded);
    set_eigenvalues(modes.eigenvalues);
  }

  void set_eigenvalues(const std::vector<double>& values) {
    std::transform(values.begin(), values.end(), eigenvalues_.data(),
                   [](double value) { return static_cast<T>(value); });
  }

  Index first() const { return first_; }
  Index size() const { return even_ + odd_; }
  bool is_folded() const { return odd_ > 0; }
  const T* eigenvalues() const { return eigenvalues_.data(); }
  Index bytes() const {
    return static_cast<Index>((vectors_.size() + eigenvalues_.size()) * sizeof(T));
  }

  /// out = V^T in or V in, [columns][size()], for the first index.
  void sweep_columns(Direction direction, Index columns, const T* in, T* out) const;

  /// The same for the second index: out = in V or in V^T, [size()][rows].
  void sweep_rows(Direction direction, Index rows, const T* in, T* out) const;

 private:
  Index first_;
  Index even_;
  Index odd_;
  HostArray<T> vectors_;  // even_ by even_, then odd_ by odd_
  HostArray<T> eigenvalues_;
};

}  // namespace tessera
