#include <cusparse.h>

#include <algorithm>
#include <cstdint>
#include <cub/device/device_scan.cuh>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "mesh/factor_kind.hpp"
#include "operators/cell_access.cuh"
#include "operators/device_csr.hpp"
#include "operators/robin_faces.hpp"
#include "solvers/cuda_check.hpp"

namespace tessera {
namespace {

constexpr int kThreads = 256;
constexpr int kWarp = 32;

void check_cusparse(cusparseStatus_t status, const char* operation) {
  if (status == CUSPARSE_STATUS_SUCCESS) return;
  throw DeviceError(std::string(operation) +
                    " failed on the GPU: " + cusparseGetErrorString(status));
}

// Blocks for this many threads; kernels loop where a grid cannot be so large.
unsigned blocks_for(Index threads) {
  return static_cast<unsigned>(
      std::min<Index>(ceil_div(threads, kThreads), std::numeric_limits<int>::max()));
}

__device__ Index thread_number() { return static_cast<Index>(blockIdx.x) * kThreads + threadIdx.x; }
__device__ Index thread_count() { return static_cast<Index>(gridDim.x) * kThreads; }

// Where every entry of the matrix is. A node is free if first[d] <= its position <= last[d] along
// all axes; for the third axis in 2D both are 0.
struct Pattern {
  CellGrid grid;
  Index extent[3];
  Index first[3];
  Index last[3];
};

Pattern make_pattern(const StiffnessForm& form) {
  Pattern pattern{make_cell_grid(form), {}, {}, {}};
  const NodeLattice& lattice = form.discretization->lattice;
  for (int d = 0; d < 3; ++d) {
    const bool used = d < lattice.dimension();
    pattern.extent[d] = lattice.extents()[d];
    pattern.first[d] = used && form.dirichlet[2 * d] ? 1 : 0;
    pattern.last[d] = pattern.extent[d] - (used && form.dirichlet[2 * d + 1] ? 2 : 1);
  }
  return pattern;
}

// The free nodes along one axis that a lattice line's node couples to: [begin, begin + count).
struct Neighbors {
  Index begin;
  Index count;
};

// Of node `local`, 0 .. p, of a cell's line; the cell may be the one after the last for local = 0.
__device__ Neighbors find_neighbors(const Pattern& pattern, int d, Index cell, int local) {
  const Index p = pattern.grid.degree;
  const Index at = local == p ? cell + 1 : cell;
  const bool is_shared = local == 0 || local == p;
  const Index begin = max(pattern.first[d], p * (is_shared ? at - 1 : at));
  const Index end = min(pattern.last[d], p * (at + 1));
  return {begin, end - begin + 1};
}

// A row of the matrix; neighbors are set for free rows only.
struct Row {
  bool is_free;
  Index position[3];
  Neighbors neighbors[3];

  __device__ Index length() const {
    return is_free ? neighbors[0].count * neighbors[1].count * neighbors[2].count : 1;
  }
};

__device__ Row find_row(const Pattern& pattern, Index node) {
  const Index line = node / pattern.extent[0];
  Row row{true,
          {node % pattern.extent[0], line % pattern.extent[1], line / pattern.extent[1]},
          {{0, 0}, {0, 0}, {0, 0}}};
  const Index p = pattern.grid.degree;
#pragma unroll
  for (int d = 0; d < 3; ++d) {
    const Index at = row.position[d];
    row.is_free = row.is_free && at >= pattern.first[d] && at <= pattern.last[d];
    row.neighbors[d] = find_neighbors(pattern, d, at / p, static_cast<int>(at % p));
  }
  return row;
}

// Where entry (row, column) of a cell's matrix goes, both given by their nodes in the cell; -1
// where one of them is constrained.
__device__ Index find_entry(const Pattern& pattern, const Index* __restrict__ rows,
                            const int (&cell)[3], const int (&row)[3], const int (&column)[3]) {
  const Index p = pattern.grid.degree;
  Index node = 0;
  Index place = 0;
  Index count = 1;
#pragma unroll
  for (int d = 0; d < 3; ++d) {
    const Index row_at = p * cell[d] + row[d];
    const Index column_at = p * cell[d] + column[d];
    if (min(row_at, column_at) < pattern.first[d] || max(row_at, column_at) > pattern.last[d]) {
      return -1;
    }
    const Neighbors neighbors = find_neighbors(pattern, d, cell[d], row[d]);
    node += row_at * pattern.grid.stride[d];
    place += count * (column_at - neighbors.begin);
    count *= neighbors.count;
  }
  return rows[node] + place;
}

// lengths[i] = length of row i, lengths[row count] = 0. One thread a row.
__global__ void __launch_bounds__(kThreads)
    count_rows_kernel(const Pattern pattern, Index* __restrict__ lengths) {
  for (Index i = thread_number(); i <= pattern.grid.node_count; i += thread_count()) {
    lengths[i] = i < pattern.grid.node_count ? find_row(pattern, i).length() : 0;
  }
}

// Columns, increasing; values 0, or 1 on the diagonal of constrained rows. One warp a row; writes
// one T and one column a nonzero.
template <class T>
__global__ void __launch_bounds__(kThreads)
    fill_rows_kernel(const Pattern pattern, const Index* __restrict__ rows,
                     std::int32_t* __restrict__ columns, T* __restrict__ values) {
  const int lane = static_cast<int>(threadIdx.x % kWarp);
  for (Index i = thread_number() / kWarp; i < pattern.grid.node_count;
       i += thread_count() / kWarp) {
    const Row row = find_row(pattern, i);
    const Index begin = rows[i];
    if (!row.is_free) {
      if (lane == 0) {
        columns[begin] = static_cast<std::int32_t>(i);
        values[begin] = T{1};
      }
      continue;
    }
    // At most (2 p + 1)^d entries.
    const int length = static_cast<int>(row.length());
    const int count_x = static_cast<int>(row.neighbors[0].count);
    const int count_y = static_cast<int>(row.neighbors[1].count);
    for (int k = lane; k < length; k += kWarp) {
      const int line = k / count_x;
      const Index column = row.neighbors[0].begin + k % count_x +
                           pattern.grid.stride[1] * (row.neighbors[1].begin + line % count_y) +
                           pattern.grid.stride[2] * (row.neighbors[2].begin + line / count_y);
      columns[begin + k] = static_cast<std::int32_t>(column);
      values[begin + k] = T{0};
    }
  }
}

// Adds local matrices of cells that share no node: values[entry (i, j)] += K_c[i][j], no atomics,
// deterministic. One thread an entry (cell, i, j), j fastest: matrices[cell * matrix_stride + i N +
// j], read as K_c[i][j] although it is K_c[j][i], since K_c is symmetric and columns are neighbors
// in memory. Reads a T and a row's start, reads and writes a T an entry.
// @param matrix_stride N^2, or 0 if all cells have the same matrix
template <class T>
__global__ void __launch_bounds__(kThreads)
    add_cells_kernel(const Pattern pattern, const CellRange range, const T* __restrict__ matrices,
                     Index matrix_stride, const Index* __restrict__ rows, T* __restrict__ values) {
  const int n = pattern.grid.degree + 1;
  const int nodes = pattern.grid.dimension == 3 ? n * n * n : n * n;
  const Index entries = static_cast<Index>(nodes) * nodes;
  const Index total = range.size() * entries;
  for (Index e = thread_number(); e < total; e += thread_count()) {
    const Index number = e / entries;
    const Index in_matrix = e - number * entries;
    const int i = static_cast<int>(in_matrix / nodes);
    const int j = static_cast<int>(in_matrix - static_cast<Index>(i) * nodes);
    const CellPlace place = place_cell(pattern.grid, range, number);
    const int row[3] = {i % n, i / n % n, i / (n * n)};
    const int column[3] = {j % n, j / n % n, j / (n * n)};
    const Index entry = find_entry(pattern, rows, place.position, row, column);
    if (entry >= 0) values[entry] += matrices[number * matrix_stride + in_matrix];
  }
}

// The cells of one face of the box, as the kernel sees them: position[axes[t]] = first[t] + 2 *
// index, index < count[t], and position[normal] = normal_cell.
struct FaceCells {
  int axes[2];  // the second has one cell and one node a cell in 2D
  int normal;
  int normal_cell;
  int normal_node;  // in the cell, 0 or p
  int first[2];
  int count[2];
  int row_cells;  // of the whole face, along the first axis
  int points;     // per face cell
  int nodes;      // per face cell
};

// Adds sum_q phi_i(q) phi_j(q) alpha_q dS_q of face cells that share no node, no atomics,
// deterministic. One thread an entry (face cell, i, j), j fastest. weights: alpha dS, [cell][q];
// shape: [q][i].
template <class T>
__global__ void __launch_bounds__(kThreads)
    add_face_kernel(const Pattern pattern, const FaceCells face, const double* __restrict__ weights,
                    const double* __restrict__ shape, const Index* __restrict__ rows,
                    T* __restrict__ values) {
  const int n = pattern.grid.degree + 1;
  const Index entries = static_cast<Index>(face.nodes) * face.nodes;
  const Index total = entries * face.count[0] * face.count[1];
  for (Index e = thread_number(); e < total; e += thread_count()) {
    const Index number = e / entries;
    const Index in_matrix = e - number * entries;
    const int i = static_cast<int>(in_matrix / face.nodes);
    const int j = static_cast<int>(in_matrix - static_cast<Index>(i) * face.nodes);
    const int a = face.first[0] + 2 * static_cast<int>(number % face.count[0]);
    const int b = face.first[1] + 2 * static_cast<int>(number / face.count[0]);
    int cell[3];
    int row[3];
    int column[3];
    cell[face.normal] = face.normal_cell;
    row[face.normal] = column[face.normal] = face.normal_node;
    cell[face.axes[0]] = a;
    row[face.axes[0]] = i % n;
    column[face.axes[0]] = j % n;
    cell[face.axes[1]] = b;
    row[face.axes[1]] = i / n;
    column[face.axes[1]] = j / n;
    const Index entry = find_entry(pattern, rows, cell, row, column);
    if (entry < 0) continue;
    const double* of_cell = weights + (a + static_cast<Index>(face.row_cells) * b) * face.points;
    double value = 0.0;
    for (int q = 0; q < face.points; ++q) {
      const double* at_point = shape + static_cast<Index>(q) * face.nodes;
      value += of_cell[q] * at_point[i] * at_point[j];
    }
    values[entry] += static_cast<T>(value);
  }
}

// offsets[i] = rows[first_row + i] - rows[first_row] for i <= count. One thread a row.
__global__ void __launch_bounds__(kThreads)
    slab_offsets_kernel(const Index* __restrict__ rows, Index first_row, Index count,
                        std::int32_t* __restrict__ offsets) {
  for (Index i = thread_number(); i <= count; i += thread_count()) {
    offsets[i] = static_cast<std::int32_t>(rows[first_row + i] - rows[first_row]);
  }
}

// d_i = A_ii of the rows of a slab, whose entries begin at `values`. One thread a row.
template <class T>
__global__ void __launch_bounds__(kThreads)
    diagonal_kernel(const Pattern pattern, Index first_row, Index count,
                    const std::int32_t* __restrict__ offsets, const T* __restrict__ values,
                    T* __restrict__ d) {
  for (Index i = thread_number(); i < count; i += thread_count()) {
    const Row row = find_row(pattern, first_row + i);
    Index place = 0;
    if (row.is_free) {
      for (int a = 2; a >= 0; --a) {
        place = place * row.neighbors[a].count + row.position[a] - row.neighbors[a].begin;
      }
    }
    d[first_row + i] = values[offsets[i] + place];
  }
}

struct DestroyHandle {
  void operator()(cusparseContext* handle) const { cusparseDestroy(handle); }
};
struct DestroyVector {
  void operator()(const cusparseDnVecDescr* vector) const { cusparseDestroyDnVec(vector); }
};
struct DestroyMatrix {
  void operator()(const cusparseSpMatDescr* matrix) const { cusparseDestroySpMat(matrix); }
};
using Handle = std::unique_ptr<cusparseContext, DestroyHandle>;
using MatrixView = std::unique_ptr<const cusparseSpMatDescr, DestroyMatrix>;

Handle make_handle() {
  cusparseHandle_t handle = nullptr;
  check_cusparse(cusparseCreate(&handle), "starting cuSPARSE");
  Handle owner(handle);
  check_cusparse(cusparseSetStream(handle, device_stream()), "giving cuSPARSE its stream");
  return owner;
}

template <class T>
constexpr cudaDataType kValueType = std::is_same_v<T, double> ? CUDA_R_64F : CUDA_R_32F;

// Consecutive rows of the matrix, few enough entries for cuSPARSE's 32-bit arithmetic.
struct Slab {
  Index first_row;
  Index rows;
  Index first_entry;
  Index entries;
  DeviceArray<std::int32_t> offsets;  // [rows + 1], from first_entry
};

// x and a slab of y as cuSPARSE wants them; made for one call, on the host.
template <class T>
class VectorViews {
 public:
  VectorViews(const DeviceVector<T>& x, DeviceVector<T>& y, const Slab& slab) {
    cusparseConstDnVecDescr_t x_view = nullptr;
    check_cusparse(cusparseCreateConstDnVec(&x_view, x.size(), x.data(), kValueType<T>),
                   "describing a vector");
    x_.reset(x_view);
    cusparseDnVecDescr_t y_view = nullptr;
    check_cusparse(
        cusparseCreateDnVec(&y_view, slab.rows, y.data() + slab.first_row, kValueType<T>),
        "describing a vector");
    y_.reset(y_view);
  }

  cusparseConstDnVecDescr_t x() const { return x_.get(); }
  cusparseDnVecDescr_t y() const { return y_.get(); }

 private:
  std::unique_ptr<const cusparseDnVecDescr, DestroyVector> x_;
  std::unique_ptr<cusparseDnVecDescr, DestroyVector> y_;
};

// y = A x of a slab of rows by one of cuSPARSE's algorithms, with its workspace. What the
// preprocessing finds is kept in the matrix' descriptor and the workspace, so each product has its
// own of both.
template <class T>
class Product {
 public:
  Product(cusparseHandle_t handle, const Slab& slab, MatrixView matrix, cusparseSpMVAlg_t algorithm,
          const DeviceVector<T>& x, DeviceVector<T>& y)
      : handle_(handle), slab_(slab), matrix_(std::move(matrix)), algorithm_(algorithm) {
    const VectorViews<T> views(x, y, slab_);
    std::size_t bytes = 0;
    check_cusparse(
        cusparseSpMV_bufferSize(handle_, CUSPARSE_OPERATION_NON_TRANSPOSE, &kOne, matrix_.get(),
                                views.x(), &kZero, views.y(), kValueType<T>, algorithm_, &bytes),
        "sizing the workspace of the sparse matrix-vector product");
    workspace_ = DeviceArray<char>(std::max<Index>(static_cast<Index>(bytes), 1));
    check_cusparse(cusparseSpMV_preprocess(handle_, CUSPARSE_OPERATION_NON_TRANSPOSE, &kOne,
                                           matrix_.get(), views.x(), &kZero, views.y(),
                                           kValueType<T>, algorithm_, workspace_.data()),
                   "preparing the sparse matrix-vector product");
  }

  void apply(const DeviceVector<T>& x, DeviceVector<T>& y) const {
    const VectorViews<T> views(x, y, slab_);
    check_cusparse(
        cusparseSpMV(handle_, CUSPARSE_OPERATION_NON_TRANSPOSE, &kOne, matrix_.get(), views.x(),
                     &kZero, views.y(), kValueType<T>, algorithm_, workspace_.data()),
        "the sparse matrix-vector product");
  }

  double seconds(const DeviceVector<T>& x, DeviceVector<T>& y) const {
    constexpr int kRepetitions = 5;
    apply(x, y);
    DeviceStopwatch stopwatch;
    stopwatch.start();
    for (int r = 0; r < kRepetitions; ++r) apply(x, y);
    return stopwatch.stop() / kRepetitions;
  }

  Index bytes() const { return workspace_.bytes(); }

 private:
  static constexpr T kOne{1};
  static constexpr T kZero{0};

  cusparseHandle_t handle_;
  const Slab& slab_;
  MatrixView matrix_;
  cusparseSpMVAlg_t algorithm_;
  // Scratch of apply().
  mutable DeviceArray<char> workspace_;
};

template <class T>
class DeviceCsrOperator final : public LinearOperator<T, Device> {
 public:
  DeviceCsrOperator(const StiffnessForm& form, const DeviceCellKernel<T>& kernel, Index nonzeros,
                    Index most_slab_entries)
      : most_slab_entries_(most_slab_entries),
        pattern_(make_pattern(form)),
        row_starts_(size() + 1),
        columns_(nonzeros),
        values_(nonzeros),
        handle_(make_handle()) {
    fill_rows();
    const Discretization& discretization = *form.discretization;
    if (factor_kind(discretization.mapping, form.coefficient) == FactorKind::constant) {
      add_equal_cells(kernel, discretization.lattice.nodes_per_cell());
    } else {
      add_cells(kernel, discretization);
    }
    for (const WeightedFace& face : make_weighted_faces(form)) add_face(face);
    cut_slabs();
    choose_products();
  }

  Index size() const override { return pattern_.grid.node_count; }

  void apply(const DeviceVector<T>& x, DeviceVector<T>& y) const override {
    for (const auto& product : products_) product->apply(x, y);
  }

  void diagonal(DeviceVector<T>& d) const override {
    for (const Slab& slab : slabs_) {
      diagonal_kernel<<<blocks_for(slab.rows), kThreads, 0, device_stream()>>>(
          pattern_, slab.first_row, slab.rows, slab.offsets.data(),
          values_.data() + slab.first_entry, d.data());
      check_launch("diagonal of the matrix");
    }
  }

  /// The matrix and x once, y once.
  Cost cost() const override {
    const auto nonzeros = static_cast<double>(values_.size());
    const double vectors = 2.0 * static_cast<double>(size()) * sizeof(T);
    return {vectors + static_cast<double>(matrix_bytes()), 2.0 * nonzeros};
  }

  Index bytes() const override {
    Index sum = matrix_bytes();
    for (const auto& product : products_) sum += product->bytes();
    return sum;
  }

 private:
  Index matrix_bytes() const {
    Index sum = columns_.bytes() + values_.bytes();
    for (const Slab& slab : slabs_) sum += slab.offsets.bytes();
    return sum;
  }

  void fill_rows() {
    count_rows_kernel<<<blocks_for(size() + 1), kThreads, 0, device_stream()>>>(pattern_,
                                                                                row_starts_.data());
    check_launch("counting the matrix' rows");
    std::size_t bytes = 0;
    check_cuda(cub::DeviceScan::ExclusiveSum(nullptr, bytes, row_starts_.data(), row_starts_.data(),
                                             row_starts_.size(), device_stream()),
               "sizing the sum of row lengths");
    DeviceArray<char> scratch(std::max<Index>(static_cast<Index>(bytes), 1));
    check_cuda(
        cub::DeviceScan::ExclusiveSum(scratch.data(), bytes, row_starts_.data(), row_starts_.data(),
                                      row_starts_.size(), device_stream()),
        "summing row lengths");
    fill_rows_kernel<<<blocks_for(size() * kWarp), kThreads, 0, device_stream()>>>(
        pattern_, row_starts_.data(), columns_.data(), values_.data());
    check_launch("filling the matrix' rows");
  }

  // Column j of all local matrices of the range, for every j: [cell][j][i].
  static void find_local_matrices(const DeviceCellKernel<T>& kernel, const CellRange& range,
                                  int nodes, T* matrices) {
    const Index stride = power(nodes, 2);
    for (int j = 0; j < nodes; ++j) {
      kernel.apply(range, {nullptr, j},
                   {SinkKind::cells, matrices + static_cast<Index>(j) * nodes, nullptr, stride});
    }
  }

  void add(const CellRange& range, const T* matrices, int nodes, Index matrix_stride) {
    const Index entries = range.size() * power(nodes, 2);
    add_cells_kernel<<<blocks_for(entries), kThreads, 0, device_stream()>>>(
        pattern_, range, matrices, matrix_stride, row_starts_.data(), values_.data());
    check_launch("adding local matrices");
  }

  void add_equal_cells(const DeviceCellKernel<T>& kernel, int nodes) {
    DeviceArray<T> matrix(power(nodes, 2));
    find_local_matrices(kernel, {{0, 0, 0}, {1, 1, 1}, 1}, nodes, matrix.data());
    for (const CellRange& color : cell_colors(pattern_.grid)) add(color, matrix.data(), nodes, 0);
  }

  void add_cells(const DeviceCellKernel<T>& kernel, const Discretization& discretization) {
    const int slowest = pattern_.grid.dimension - 1;
    const int nodes = discretization.lattice.nodes_per_cell();
    const CsrScratch room = csr_scratch(discretization.mesh, discretization.lattice, sizeof(T));
    const int most_layers = static_cast<int>(room.layers);
    DeviceArray<T> matrices(room.values);
    for (const CellRange& color : cell_colors(pattern_.grid)) {
      for (int layer = 0; layer < color.count[slowest]; layer += most_layers) {
        CellRange range = color;
        range.first[slowest] += range.step * layer;
        range.count[slowest] = std::min(most_layers, color.count[slowest] - layer);
        find_local_matrices(kernel, range, nodes, matrices.data());
        add(range, matrices.data(), nodes, power(nodes, 2));
      }
    }
  }

  void add_face(const WeightedFace& weighted) {
    const FaceQuadrature& quadrature = weighted.quadrature;
    const CellGrid& grid = pattern_.grid;
    const int normal = face_axis(quadrature.face);
    const bool is_upper = is_upper_face(quadrature.face);
    FaceCells face{{quadrature.nodes.axes[0], grid.dimension == 3 ? quadrature.nodes.axes[1] : 2},
                   normal,
                   is_upper ? grid.cells[normal] - 1 : 0,
                   is_upper ? grid.degree : 0,
                   {0, 0},
                   {0, 0},
                   static_cast<int>(quadrature.cells[0]),
                   quadrature.points_per_cell,
                   quadrature.nodes_per_cell};
    const DeviceArray<double> weights(weighted.alpha_measure);
    const DeviceArray<double> shape(quadrature.shape);
    for (int parity = 0; parity < 4; ++parity) {
      for (int t = 0; t < 2; ++t) {
        face.first[t] = parity >> t & 1;
        face.count[t] = (static_cast<int>(quadrature.cells[t]) - face.first[t] + 1) / 2;
      }
      const Index entries = power(face.nodes, 2) * face.count[0] * face.count[1];
      if (entries == 0) continue;
      add_face_kernel<<<blocks_for(entries), kThreads, 0, device_stream()>>>(
          pattern_, face, weights.data(), shape.data(), row_starts_.data(), values_.data());
      check_launch("adding Robin faces");
    }
  }

  Index row_start(Index row) const {
    Index start = 0;
    copy_to_host(row_starts_.data() + row, sizeof(Index), &start);
    return start;
  }

  // The end of the longest slab from `first` on whose rows and entries together are no more than
  // allowed; at least one row.
  Index slab_end(Index first) const {
    const Index most = row_start(first) + first + most_slab_entries_;
    Index low = first + 1;
    Index high = size();
    while (low < high) {
      const Index middle = (low + high + 1) / 2;
      if (row_start(middle) + middle <= most) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    return low;
  }

  // Leaves the 64-bit row starts, which only the assembly needs.
  void cut_slabs() {
    for (Index row = 0, start = 0; row < size();) {
      const Index end = slab_end(row);
      const Index next = row_start(end);
      Slab slab{row, end - row, start, next - start, DeviceArray<std::int32_t>(end - row + 1)};
      slab_offsets_kernel<<<blocks_for(slab.rows + 1), kThreads, 0, device_stream()>>>(
          row_starts_.data(), slab.first_row, slab.rows, slab.offsets.data());
      check_launch("cutting the matrix into slabs");
      slabs_.push_back(std::move(slab));
      row = end;
      start = next;
    }
    synchronize_device();
    row_starts_ = {};
  }

  // By the first slab: the others are like it.
  void choose_products() {
    const DeviceVector<T> x(size());
    DeviceVector<T> y(size());
    double least = std::numeric_limits<double>::infinity();
    cusparseSpMVAlg_t best = CUSPARSE_SPMV_CSR_ALG2;
    for (const cusparseSpMVAlg_t algorithm : {CUSPARSE_SPMV_CSR_ALG1, CUSPARSE_SPMV_CSR_ALG2}) {
      const Product<T> product(handle_.get(), slabs_.front(), view_matrix(slabs_.front()),
                               algorithm, x, y);
      const double seconds = product.seconds(x, y);
      if (seconds >= least) continue;
      least = seconds;
      best = algorithm;
    }
    for (const Slab& slab : slabs_) {
      products_.push_back(
          std::make_unique<const Product<T>>(handle_.get(), slab, view_matrix(slab), best, x, y));
    }
  }

  MatrixView view_matrix(const Slab& slab) const {
    cusparseConstSpMatDescr_t matrix = nullptr;
    check_cusparse(
        cusparseCreateConstCsr(&matrix, slab.rows, size(), slab.entries, slab.offsets.data(),
                               columns_.data() + slab.first_entry,
                               values_.data() + slab.first_entry, CUSPARSE_INDEX_32I,
                               CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, kValueType<T>),
        "describing the matrix");
    return MatrixView(matrix);
  }

  Index most_slab_entries_;
  Pattern pattern_;
  DeviceArray<Index> row_starts_;
  DeviceArray<std::int32_t> columns_;
  DeviceArray<T> values_;
  Handle handle_;
  std::vector<Slab> slabs_;
  std::vector<std::unique_ptr<const Product<T>>> products_;
};

}  // namespace

template <class T>
std::unique_ptr<LinearOperator<T, Device>> make_device_csr_operator(
    const StiffnessForm& form, const DeviceCellKernel<T>& kernel, Index most_slab_entries) {
  const NodeLattice& lattice = form.discretization->lattice;
  if (lattice.size() > std::numeric_limits<std::int32_t>::max()) {
    throw std::invalid_argument("the sparse matrix on the GPU has at most 2^31 - 1 rows");
  }
  const Index nonzeros = csr_nonzeros(lattice, form.dirichlet);
  return std::make_unique<DeviceCsrOperator<T>>(form, kernel, nonzeros, most_slab_entries);
}

template std::unique_ptr<LinearOperator<double, Device>> make_device_csr_operator(
    const StiffnessForm&, const DeviceCellKernel<double>&, Index);
template std::unique_ptr<LinearOperator<float, Device>> make_device_csr_operator(
    const StiffnessForm&, const DeviceCellKernel<float>&, Index);

}  // namespace tessera
