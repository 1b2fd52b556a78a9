// This file iterates with |I - D^-1 A|.
#include "src/studies/update_order/jacobi_radius.hpp"

#include <cmath>
#include <cstdint>

namespace tessera {

void multiply_absolute(const BlockRows<double, Host>& a, const HostVector<double>& x,
                       HostVector<double>& y) {
#pragma omp parallel for schedule(static)
  for (std::int64_t block = 0; block < a.blocks.count(); ++block) {
    const std::int64_t first = a.blocks.begin[block];
    for (std::int64_t q = first; q < a.blocks.begin[block + 1]; ++q) {
      const std::int32_t row = a.blocks.rows[q];
      double sum = 0.0;
      for (std::int64_t k = a.entries[q]; k < a.entries[q + 1]; ++k) {
        const bool is_inside = k < a.entries[q] + a.inside[q];
        const std::int32_t column = is_inside ? a.blocks.rows[first + a.columns[k]] : a.columns[k];
        if (column != row) sum += std::abs(a.values[k]) * x[column];
      }
      y[row] = std::abs(a.inverse_diagonal[q]) * sum;
    }
  }
}

}  // namespace tessera
