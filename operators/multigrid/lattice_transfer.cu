// This file applies transfers on the GPU.
#include <array>
#include <numeric>
#include <vector>

#include "operators/multigrid/lattice_transfer.hpp"
#include "solvers/memory/launch.cuh"

namespace tessera {
namespace {

AxisMatrix identity(Index n) {
  AxisMatrix matrix{n, n, 1, std::vector<Index>(static_cast<std::size_t>(n)),
                    std::vector<double>(static_cast<std::size_t>(n), 1.0)};
  std::iota(matrix.first.begin(), matrix.first.end(), Index{0});
  return matrix;
}

// The entries of an AxisMatrix that are not 0, row after row, on the GPU.
struct AxisEntries {
  explicit AxisEntries(const AxisMatrix& matrix) : column_count(matrix.columns) {
    std::vector<Index> row_starts{0};
    std::vector<int> entry_columns;
    std::vector<double> entry_values;
    for (Index row = 0; row < matrix.rows; ++row) {
      for (int k = 0; k < matrix.width; ++k) {
        const double value = matrix.entries[row * matrix.width + k];
        if (value == 0.0) continue;
        entry_columns.push_back(static_cast<int>(matrix.first[row]) + k);
        entry_values.push_back(value);
      }
      row_starts.push_back(static_cast<Index>(entry_values.size()));
    }
    starts = DeviceArray<Index>(row_starts);
    columns = DeviceArray<int>(entry_columns);
    values = DeviceArray<double>(entry_values);
  }
  Index rows() const { return starts.size() - 1; }
  Index count() const { return values.size(); }

  Index column_count;
  DeviceArray<Index> starts;  // [rows + 1]
  DeviceArray<int> columns;
  DeviceArray<double> values;
};

struct ProductArguments {
  Index rows[3];
  Index column_counts[3];
  Index counts[3];
  const Index* starts[3];
  const int* columns[3];
  const double* values[3];
};

// The rows of M_z x M_y x M_x, x fastest, in rows as in columns: entries of a row begin where those
// of the rows before end, of which there are as many as products of three say.
// Launch: one thread a row, 256 a block. Least bytes: the entries once.
template <class T>
__global__ void __launch_bounds__(256)
    product_rows_kernel(const ProductArguments a, Index* starts, std::int32_t* columns, T* values) {
  const Index row = static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x;
  const Index row_count = a.rows[0] * a.rows[1] * a.rows[2];
  if (row > row_count) return;
  if (row == row_count) {
    starts[row] = a.counts[0] * a.counts[1] * a.counts[2];
    return;
  }
  const Index at[3] = {row % a.rows[0], row / a.rows[0] % a.rows[1], row / (a.rows[0] * a.rows[1])};
  Index begin[3];
  Index end[3];
  for (int d = 0; d < 3; ++d) {
    begin[d] = a.starts[d][at[d]];
    end[d] = a.starts[d][at[d] + 1];
  }
  const Index length_z = end[2] - begin[2];
  const Index length_y = end[1] - begin[1];
  Index entry = begin[2] * a.counts[1] * a.counts[0] +
                length_z * (begin[1] * a.counts[0] + length_y * begin[0]);
  starts[row] = entry;
  for (Index z = begin[2]; z < end[2]; ++z) {
    for (Index y = begin[1]; y < end[1]; ++y) {
      const Index first =
          a.column_counts[0] * (a.columns[1][y] + a.column_counts[1] * a.columns[2][z]);
      for (Index x = begin[0]; x < end[0]; ++x) {
        columns[entry] = static_cast<std::int32_t>(first + a.columns[0][x]);
        values[entry] = static_cast<T>(a.values[0][x] * a.values[1][y] * a.values[2][z]);
        ++entry;
      }
    }
  }
}

template <class T>
DeviceSparseRows<T> product_rows(const std::array<AxisMatrix, 3>& axes) {
  const AxisEntries entries[3] = {AxisEntries(axes[0]), AxisEntries(axes[1]), AxisEntries(axes[2])};
  ProductArguments args{};
  Index rows = 1;
  Index count = 1;
  for (int d = 0; d < 3; ++d) {
    args.rows[d] = entries[d].rows();
    args.column_counts[d] = entries[d].column_count;
    args.counts[d] = entries[d].count();
    args.starts[d] = entries[d].starts.data();
    args.columns[d] = entries[d].columns.data();
    args.values[d] = entries[d].values.data();
    rows *= args.rows[d];
    count *= args.counts[d];
  }
  DeviceSparseRows<T> product{DeviceArray<Index>(rows + 1), DeviceArray<std::int32_t>(count),
                              DeviceArray<T>(count)};
  constexpr int kThreads = 256;
  launch(product_rows_kernel<T>,
         {"rows of a transfer between levels", blocks_for(rows + 1, kThreads), kThreads}, args,
         product.starts.data(), product.columns.data(), product.values.data());
  // The entries of the axes are needed until then.
  synchronize_device();
  return product;
}

std::array<AxisMatrix, 3> axis_factors(const LatticeProlongation& prolongation) {
  std::array<AxisMatrix, 3> axes;
  for (int d = 0; d < 3; ++d) axes[d] = identity(prolongation.coarse.extents[d]);
  for (const AxisSweep& sweep : prolongation.sweeps) axes[sweep.d] = sweep.matrix;
  return axes;
}

std::array<AxisMatrix, 3> transposed(std::array<AxisMatrix, 3> axes) {
  for (AxisMatrix& matrix : axes) matrix = transpose(matrix);
  return axes;
}

}  // namespace

template <class T>
DeviceSparseRows<T> prolongation_rows(const LatticeProlongation& prolongation) {
  return product_rows<T>(axis_factors(prolongation));
}

template <class T>
DeviceSparseRows<T> restriction_rows(const LatticeProlongation& prolongation) {
  return product_rows<T>(transposed(axis_factors(prolongation)));
}

template <class T>
LatticeTransfer<T, Device>::LatticeTransfer(const LatticeProlongation& prolongation)
    : coarse_size_(prolongation.coarse.size()), fine_size_(prolongation.fine.size()) {
  const std::array<AxisMatrix, 3> factors = axis_factors(prolongation);
  if (const auto cells = repeated_cells(factors)) {
    cells_.emplace(*cells);
  } else {
    products_.emplace(LatticeProduct<T>(factors, LineStore::add),
                      LatticeProduct<T>(transposed(factors), LineStore::assign));
  }
}

template <class T>
void LatticeTransfer<T, Device>::do_restrict_to_coarse(const DeviceVector<T>& fine,
                                                       DeviceVector<T>& coarse) const {
  if (cells_) {
    cells_->restrict_to_coarse(fine.data(), coarse.data());
  } else {
    products_->restrict.apply(fine.data(), coarse.data());
  }
}

template <class T>
void LatticeTransfer<T, Device>::do_add_prolonged(const DeviceVector<T>& coarse,
                                                  DeviceVector<T>& fine) const {
  if (cells_) {
    cells_->add_prolonged(coarse.data(), fine.data());
  } else {
    products_->prolong.apply(coarse.data(), fine.data());
  }
}

template <class T>
Index LatticeTransfer<T, Device>::bytes() const {
  return products_ ? products_->prolong.bytes() + products_->restrict.bytes() : 0;
}

template DeviceSparseRows<double> prolongation_rows(const LatticeProlongation&);
template DeviceSparseRows<float> prolongation_rows(const LatticeProlongation&);
template DeviceSparseRows<double> restriction_rows(const LatticeProlongation&);
template DeviceSparseRows<float> restriction_rows(const LatticeProlongation&);
template class LatticeTransfer<double, Device>;
template class LatticeTransfer<float, Device>;

}  // namespace tessera
