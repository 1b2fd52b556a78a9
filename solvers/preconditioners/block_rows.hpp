// BlockRows are a sparse matrix stored block by block, with sweeps over it.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "solvers/memory/vector.hpp"
#include "solvers/sparse_rows.hpp"

namespace tessera {

/// A partition of a matrix' rows into blocks: block k is rows[begin[k]] .. rows[begin[k + 1] - 1].
struct RowBlocks {
  std::vector<std::int32_t> rows;   // every row once
  std::vector<std::int64_t> begin;  // [blocks + 1]

  std::int64_t count() const { return static_cast<std::int64_t>(begin.size()) - 1; }
  /// Rows of the largest block.
  std::int64_t max_rows() const;
};

/// The largest number of rows per block on the GPU, where four values per row lie in shared memory.
inline constexpr std::int64_t kMaxDeviceBlockRows = 1024;

/// A sparse matrix whose rows lie block by block, so that a block can be iterated on by itself.
///
/// The row at place q in the order of RowBlocks::rows has the entries [entries[q], entries[q + 1]).
/// The columns of the first inside[q] entries are rows of the same block, given by their places in
/// it; the other entries are given by their columns. Both kinds keep the order of their columns.
template <class T, class Space>
struct BlockRows;

template <class T>
struct BlockRows<T, Host> {
  RowBlocks blocks;
  std::vector<std::int64_t> entries;
  std::vector<std::int32_t> inside;
  std::unique_ptr<std::int32_t[]> columns;
  std::unique_ptr<T[]> values;
  std::vector<T> inverse_diagonal;  // by place

  std::int64_t size() const { return static_cast<std::int64_t>(blocks.rows.size()); }
};

template <class T>
struct BlockRows<T, Device> {
  std::int64_t block_count = 0;
  int max_rows = 0;  // of a block
  DeviceArray<std::int64_t> begin;
  DeviceArray<std::int32_t> rows;
  DeviceArray<std::int64_t> entries;
  DeviceArray<std::int32_t> inside;
  DeviceArray<std::int32_t> columns;
  DeviceArray<T> values;
  DeviceArray<T> inverse_diagonal;
  // Scratch of relaxations.
  mutable DeviceArray<unsigned long long> queue;

  std::int64_t size() const { return rows.size(); }
};

/// Copies the rows of a matrix, block by block. Every row has a diagonal entry.
template <class T>
BlockRows<T, Host> make_block_rows(const SparseRows<T>& matrix, RowBlocks&& blocks);
/// @throws std::invalid_argument for a block of more than kMaxDeviceBlockRows rows,
///         DeviceOutOfMemory, DeviceError
template <class T>
BlockRows<T, Device> make_block_rows(const DeviceSparseRows<T>& matrix, const RowBlocks& blocks);

/// Bytes of BlockRows.
template <class T>
std::int64_t block_rows_bytes(const BlockRows<T, Host>& a);
template <class T>
std::int64_t block_rows_bytes(const BlockRows<T, Device>& a);
std::int64_t block_rows_bytes(std::int64_t rows, std::int64_t blocks, std::int64_t nonzeros,
                              std::int64_t value_bytes);

/// One outer sweep: every block k adds factor * e with r = (b - A x) in its rows, e = 0, and
///   e = e + damping D_k^-1 (r - A_kk e)     local_sweeps times.
struct BlockSweep {
  int local_sweeps = 1;
  double damping = 1.0;
  double factor = 1.0;
};

/// to = from + P (b - A from) with P = factor (I - (I - damping D^-1 B)^local_sweeps) B^-1, where B
/// = diag(A_kk): all blocks see `from`. The three vectors must be different ones. Reads the matrix
/// once and its inner blocks local_sweeps - 1 times more, from a cache where a block fits.
/// Deterministic.
///
/// On the GPU a thread block takes a block of rows, and some of its lanes take a row; four vectors
/// of the block's size lie in shared memory.
template <class T>
void relax(const BlockRows<T, Host>& a, const BlockSweep& sweep, const HostVector<T>& b,
           const HostVector<T>& from, HostVector<T>& to);
template <class T>
void relax(const BlockRows<T, Device>& a, const BlockSweep& sweep, const DeviceVector<T>& b,
           const DeviceVector<T>& from, DeviceVector<T>& to);

/// The same from zero: to = P b. The first local sweep reads no entry.
template <class T>
void relax_from_zero(const BlockRows<T, Host>& a, const BlockSweep& sweep, const HostVector<T>& b,
                     HostVector<T>& to);
template <class T>
void relax_from_zero(const BlockRows<T, Device>& a, const BlockSweep& sweep,
                     const DeviceVector<T>& b, DeviceVector<T>& to);

/// `sweeps` outer sweeps in place, where every block sees what the others have written by then.
///
/// The work is a queue of sweeps x blocks items, sweep by sweep. Threads (on the GPU: as many
/// thread blocks as run at a time) take the next item whenever they are free and wait for nobody:
/// an item may begin before items of the sweep before it are done, and two may even work on the
/// same block; each writes whole values, so x is always made of values that some item computed. The
/// age of a value is bounded by the number of items under way. Results differ from run to run; with
/// one thread the method is block Gauss-Seidel in the order of the blocks.
template <class T>
void relax_asynchronously(const BlockRows<T, Host>& a, const BlockSweep& sweep, int sweeps,
                          const HostVector<T>& b, HostVector<T>& x);
template <class T>
void relax_asynchronously(const BlockRows<T, Device>& a, const BlockSweep& sweep, int sweeps,
                          const DeviceVector<T>& b, DeviceVector<T>& x);

}  // namespace tessera
