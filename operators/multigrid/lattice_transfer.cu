// This file applies transfers on the GPU.
#include <array>
#include <numeric>
#include <vector>

#include "operators/multigrid/lattice_transfer.hpp"
#include "solvers/memory/launch.cuh"

namespace tessera {
namespace {

// A sweep along one axis: the lattice seen as [outer][axis][inner], inner fastest.
template <class T>
struct SweepArguments {
  Index rows;
  Index columns;
  Index inner;
  Index size;  // of the output
  int width;
  const int* first;
  const T* entries;
  const T* in;
  T* out;
};

// out[o][r][i] = (or +=) sum_k entries[r][k] in[o][first[r] + k][i].
// Launch: one thread an output value, 256 a block. Least bytes: input and output once.
template <class T, LineStore store>
__global__ void __launch_bounds__(256) sweep_kernel(SweepArguments<T> a) {
  const Index at = static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (at >= a.size) return;
  const Index line = at / a.inner;
  const Index i = at - line * a.inner;
  const Index o = line / a.rows;
  const Index r = line - o * a.rows;
  const T* const entries = a.entries + r * a.width;
  const T* const in = a.in + (o * a.columns + a.first[r]) * a.inner + i;
  T sum = store == LineStore::add ? a.out[at] : T{0};
  for (int k = 0; k < a.width; ++k) sum += entries[k] * in[k * a.inner];
  a.out[at] = sum;
}

// The same with 32-bit arithmetic, for lattices that allow it.
template <class T, LineStore store>
__global__ void __launch_bounds__(256) small_sweep_kernel(SweepArguments<T> a) {
  const unsigned at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at >= static_cast<unsigned>(a.size)) return;
  const unsigned inner = static_cast<unsigned>(a.inner);
  const unsigned rows = static_cast<unsigned>(a.rows);
  const unsigned line = at / inner;
  const unsigned i = at - line * inner;
  const unsigned o = line / rows;
  const unsigned r = line - o * rows;
  const T* const entries = a.entries + r * a.width;
  const T* const in =
      a.in + (o * static_cast<unsigned>(a.columns) + static_cast<unsigned>(a.first[r])) * inner + i;
  T sum = store == LineStore::add ? a.out[at] : T{0};
  for (int k = 0; k < a.width; ++k) sum += entries[k] * in[k * inner];
  a.out[at] = sum;
}

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

}  // namespace

template <class T>
DeviceSparseRows<T> prolongation_rows(const LatticeProlongation& prolongation) {
  return product_rows<T>(axis_factors(prolongation));
}

template <class T>
DeviceSparseRows<T> restriction_rows(const LatticeProlongation& prolongation) {
  std::array<AxisMatrix, 3> axes = axis_factors(prolongation);
  for (AxisMatrix& matrix : axes) matrix = transpose(matrix);
  return product_rows<T>(axes);
}

template <class T>
typename LatticeTransfer<T, Device>::Sweep LatticeTransfer<T, Device>::make_sweep(
    const AxisSweep& sweep, const AxisMatrix& matrix, const IndexTriple& from) {
  IndexTriple to = from;
  to[sweep.d] = matrix.rows;
  return {sweep.d,
          matrix.width,
          DeviceArray<int>(std::vector<int>(matrix.first.begin(), matrix.first.end())),
          DeviceArray<T>(std::vector<T>(matrix.entries.begin(), matrix.entries.end())),
          IndexBox(from),
          IndexBox(to)};
}

template <class T>
LatticeTransfer<T, Device>::LatticeTransfer(const LatticeProlongation& prolongation)
    : coarse_size_(prolongation.coarse.size()), fine_size_(prolongation.fine.size()) {
  IndexTriple extents = prolongation.coarse.extents;
  for (const AxisSweep& sweep : prolongation.sweeps) {
    prolong_.push_back(make_sweep(sweep, sweep.matrix, extents));
    extents[sweep.d] = sweep.matrix.rows;
    restrict_.insert(restrict_.begin(), make_sweep(sweep, transpose(sweep.matrix), extents));
  }
  for (DeviceVector<T>& vector : scratch_) {
    vector = DeviceVector<T>(prolongation_scratch(prolongation));
  }
}

template <class T>
void LatticeTransfer<T, Device>::run(const std::vector<Sweep>& sweeps, const T* in, T* out,
                                     LineStore last) const {
  constexpr int kThreads = 256;
  constexpr Index kSmall = Index{1} << 31;
  for (std::size_t s = 0; s < sweeps.size(); ++s) {
    const Sweep& sweep = sweeps[s];
    const bool is_last = s + 1 == sweeps.size();
    T* const to = is_last ? out : scratch_[s % 2].data();
    const int d = sweep.d;
    const Index size = sweep.to.size();
    const SweepArguments<T> args{sweep.to.extents[d],
                                 sweep.from.extents[d],
                                 sweep.to.strides[d],
                                 size,
                                 sweep.width,
                                 sweep.first.data(),
                                 sweep.entries.data(),
                                 in,
                                 to};
    const bool adds = is_last && last == LineStore::add;
    const bool small = size < kSmall && sweep.from.size() < kSmall;
    const auto kernel =
        small ? (adds ? small_sweep_kernel<T, LineStore::add>
                      : small_sweep_kernel<T, LineStore::assign>)
              : (adds ? sweep_kernel<T, LineStore::add> : sweep_kernel<T, LineStore::assign>);
    launch(kernel, {"transfer between levels", blocks_for(size, kThreads), kThreads}, args);
    in = to;
  }
}

template <class T>
void LatticeTransfer<T, Device>::do_restrict_to_coarse(const DeviceVector<T>& fine,
                                                       DeviceVector<T>& coarse) const {
  run(restrict_, fine.data(), coarse.data(), LineStore::assign);
}

template <class T>
void LatticeTransfer<T, Device>::do_add_prolonged(const DeviceVector<T>& coarse,
                                                  DeviceVector<T>& fine) const {
  run(prolong_, coarse.data(), fine.data(), LineStore::add);
}

template <class T>
Index LatticeTransfer<T, Device>::bytes() const {
  Index bytes = 0;
  for (const auto* sweeps : {&prolong_, &restrict_}) {
    for (const Sweep& sweep : *sweeps) bytes += sweep.first.bytes() + sweep.entries.bytes();
  }
  return bytes + (scratch_[0].size() + scratch_[1].size()) * static_cast<Index>(sizeof(T));
}

template DeviceSparseRows<double> prolongation_rows(const LatticeProlongation&);
template DeviceSparseRows<float> prolongation_rows(const LatticeProlongation&);
template DeviceSparseRows<double> restriction_rows(const LatticeProlongation&);
template DeviceSparseRows<float> restriction_rows(const LatticeProlongation&);
template class LatticeTransfer<double, Device>;
template class LatticeTransfer<float, Device>;

}  // namespace tessera
