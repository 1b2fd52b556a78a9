// These types give access to the rows of a sparse matrix, on the host and in GPU memory.
#pragma once

#include <cstdint>

#include "solvers/memory/device_array.hpp"

namespace tessera {

/// Read access to the rows of a sparse matrix on the host, however they are stored.
template <class T>
class SparseRows {
 public:
  virtual ~SparseRows() = default;

  virtual std::int64_t row_length(std::int64_t row) const = 0;
  /// Writes the columns (increasing) and the values of the entries of a row, row_length(row) of
  /// each.
  virtual void read_row(std::int64_t row, std::int64_t* columns, T* values) const = 0;
};

/// A sparse matrix in GPU memory: row i has the entries starts[i] .. starts[i + 1] - 1, columns
/// increasing.
template <class T>
struct DeviceSparseRows {
  DeviceArray<std::int64_t> starts;  // [rows + 1]
  DeviceArray<std::int32_t> columns;
  DeviceArray<T> values;
};

}  // namespace tessera
