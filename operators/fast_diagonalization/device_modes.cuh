// DeviceModes multiply by the modes of an axis on the GPU.
#pragma once

#include <cstdint>
#include <vector>

#include "operators/fast_diagonalization/cublas_products.hpp"
#include "operators/fast_diagonalization/layout.hpp"

namespace tessera {

/// The even or the odd modes of an axis: a square matrix with padded columns.
template <class T>
struct ModesPart {
  std::int64_t place;         // of the first node and mode
  std::int64_t padded_place;  // the same in a padded row
  std::int64_t size;
  std::int64_t leading;
  const T* vectors;
};

/// Whether eigenvalues lie as a padded row does.
enum class Padding { none, parts };

/// Modes of an axis in GPU memory. Sweeps queue a product for each part, and need one row and one
/// place at least.
template <class T>
class DeviceModes {
 public:
  DeviceModes(const AxisModes& modes, Padding padding)
      : vectors_(squared(padded_rows(modes.even, sizeof(T))) +
                 squared(padded_rows(modes.odd, sizeof(T)))),
        eigenvalues_(padded_row(modes.size(), sizeof(T))) {
    std::vector<T> vectors(vectors_.size(), T{0});
    std::int64_t offset = 0;
    std::int64_t place = 0;
    std::int64_t padded_place = 0;
    for (const bool is_even : {true, false}) {
      const Index n = is_even ? modes.even : modes.odd;
      if (n == 0) continue;
      const std::vector<double>& columns = is_even ? modes.even_vectors : modes.odd_vectors;
      const std::int64_t leading = padded_rows(n, sizeof(T));
      parts_.push_back({place, padded_place, n, leading, vectors_.data() + offset});
      for (Index j = 0; j < n; ++j) {
        for (Index i = 0; i < n; ++i) {
          vectors[offset + j * leading + i] = static_cast<T>(columns[j * n + i]);
        }
      }
      offset += leading * leading;
      place += n;
      padded_place += leading;
    }
    copy_to_device(vectors.data(), vectors_.bytes(), vectors_.data());
    set_eigenvalues(modes.eigenvalues, padding);
  }

  void set_eigenvalues(const std::vector<double>& values, Padding padding) {
    // 1 in the padding: what it is divided by must not be 0.
    std::vector<T> eigenvalues(eigenvalues_.size(), T{1});
    for (const ModesPart<T>& part : parts_) {
      const std::int64_t at = padding == Padding::parts ? part.padded_place : part.place;
      for (std::int64_t j = 0; j < part.size; ++j) {
        eigenvalues[at + j] = static_cast<T>(values[part.place + j]);
      }
    }
    copy_to_device(eigenvalues.data(), eigenvalues_.bytes(), eigenvalues_.data());
  }

  /// out = V^T in or V in along rows of padded places, `row` entries each. Padding has products
  /// with 0 only.
  void sweep_rows(const CublasProducts& products, Direction direction, std::int64_t row,
                  std::int64_t rows, const T* in, T* out) const {
    for (const ModesPart<T>& part : parts_) {
      products.multiply<T>({part.leading, rows, part.leading},
                           direction == Direction::to_modes ? Factor::transposed : Factor::plain,
                           {part.vectors, part.leading}, 0, Factor::plain,
                           {in + part.padded_place, row}, 0, {out + part.padded_place, row}, 0);
    }
  }

  /// The same where places of the axis are `stride` entries apart, in `count` blocks.
  void sweep(const CublasProducts& products, Direction direction, std::int64_t stride,
             std::int64_t block, std::int64_t count, const T* in, T* out) const {
    for (const ModesPart<T>& part : parts_) {
      products.multiply<T>(
          {stride, part.size, part.size, count}, Factor::plain, {in + part.place * stride, stride},
          block, direction == Direction::to_modes ? Factor::plain : Factor::transposed,
          {part.vectors, part.leading}, 0, {out + part.place * stride, stride}, block);
    }
  }

  /// out [mode][rows] = V^T in along the padded rows of in.
  void sweep_rows_to_columns(const CublasProducts& products, std::int64_t row, std::int64_t rows,
                             const T* in, T* out) const {
    for (const ModesPart<T>& part : parts_) {
      products.multiply<T>({rows, part.size, part.size}, Factor::transposed,
                           {in + part.padded_place, row}, 0, Factor::plain,
                           {part.vectors, part.leading}, 0, {out + part.place * rows, rows}, 0);
    }
  }
  /// The padded rows of out = V in, in [mode][rows].
  void sweep_columns_to_rows(const CublasProducts& products, std::int64_t row, std::int64_t rows,
                             const T* in, T* out) const {
    for (const ModesPart<T>& part : parts_) {
      products.multiply<T>({part.size, rows, part.size}, Factor::plain,
                           {part.vectors, part.leading}, 0, Factor::transposed,
                           {in + part.place * rows, rows}, 0, {out + part.padded_place, row}, 0);
    }
  }

  const T* eigenvalues() const { return eigenvalues_.data(); }
  std::int64_t bytes() const { return vectors_.bytes() + eigenvalues_.bytes(); }

 private:
  static constexpr std::int64_t squared(std::int64_t n) { return n * n; }

  DeviceArray<T> vectors_;
  DeviceArray<T> eigenvalues_;
  std::vector<ModesPart<T>> parts_;
};

}  // namespace tessera
