// DeviceModes multiply by the modes of an axis on the GPU.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "operators/fast_diagonalization/layout.hpp"
#include "operators/fast_diagonalization/matrix_products.hpp"
#include "solvers/memory/device_array.hpp"

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

/// Modes of an axis in GPU memory. Sweeps queue the products of the parts, and need one row and one
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
  void sweep_rows(cudaStream_t stream, Direction direction, std::int64_t row, std::int64_t rows,
                  const T* in, T* out) const {
    multiply_parts(direction == Direction::to_modes ? Factor::transposed : Factor::plain,
                   Factor::plain, 1, stream, [&](const ModesPart<T>& part) {
                     return MatrixProduct<T>{part.leading,
                                             rows,
                                             part.leading,
                                             {part.vectors, part.leading},
                                             {in + part.padded_place, row},
                                             {out + part.padded_place, row}};
                   });
  }

  /// The same where places of the axis are `stride` entries apart, in `count` blocks.
  void sweep(cudaStream_t stream, Direction direction, std::int64_t stride, std::int64_t block,
             std::int64_t count, const T* in, T* out) const {
    multiply_parts(Factor::plain,
                   direction == Direction::to_modes ? Factor::plain : Factor::transposed, count,
                   stream, [&](const ModesPart<T>& part) {
                     return MatrixProduct<T>{stride,
                                             part.size,
                                             part.size,
                                             {in + part.place * stride, stride, block},
                                             {part.vectors, part.leading},
                                             {out + part.place * stride, stride, block}};
                   });
  }

  /// out [mode][rows] = V^T in along the padded rows of in.
  void sweep_rows_to_columns(cudaStream_t stream, std::int64_t row, std::int64_t rows, const T* in,
                             T* out) const {
    multiply_parts(Factor::transposed, Factor::plain, 1, stream, [&](const ModesPart<T>& part) {
      return MatrixProduct<T>{rows,
                              part.size,
                              part.size,
                              {in + part.padded_place, row},
                              {part.vectors, part.leading},
                              {out + part.place * rows, rows}};
    });
  }
  /// The padded rows of out = V in, in [mode][rows].
  void sweep_columns_to_rows(cudaStream_t stream, std::int64_t row, std::int64_t rows, const T* in,
                             T* out) const {
    multiply_parts(Factor::plain, Factor::transposed, 1, stream, [&](const ModesPart<T>& part) {
      return MatrixProduct<T>{part.size,
                              rows,
                              part.size,
                              {part.vectors, part.leading},
                              {in + part.place * rows, rows},
                              {out + part.padded_place, row}};
    });
  }

  const T* eigenvalues() const { return eigenvalues_.data(); }
  std::int64_t bytes() const { return vectors_.bytes() + eigenvalues_.bytes(); }

 private:
  static constexpr std::int64_t squared(std::int64_t n) { return n * n; }

  // A product of each part, product_of(part), at the same time.
  template <class ProductOf>
  void multiply_parts(Factor op_a, Factor op_b, std::int64_t count, cudaStream_t stream,
                      ProductOf&& product_of) const {
    std::array<MatrixProduct<T>, kMaxProductsAtATime> products;
    for (std::size_t i = 0; i < parts_.size(); ++i) products[i] = product_of(parts_[i]);
    multiply(op_a, op_b, std::span<const MatrixProduct<T>>(products.data(), parts_.size()), count,
             stream);
  }

  DeviceArray<T> vectors_;
  DeviceArray<T> eigenvalues_;
  std::vector<ModesPart<T>> parts_;
};

}  // namespace tessera
