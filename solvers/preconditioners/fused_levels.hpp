// FusedLevels runs a multigrid cycle on small levels as one kernel on the GPU.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "solvers/linear_operator.hpp"
#include "solvers/preconditioner.hpp"
#include "solvers/preconditioners/chebyshev.hpp"
#include "solvers/preconditioners/multigrid.hpp"
#include "solvers/sparse_rows.hpp"

namespace tessera {

/// What the operator of a level in the kernel is called.
inline constexpr char kInOneKernel[] = "csr, in one kernel";

/// A sparse matrix as kernels see it.
template <class T>
struct RowsView {
  int rows;
  int lanes;  // threads that share a row; a power of 2
  const std::int64_t* starts;
  const std::int32_t* columns;
  const T* values;
};

template <class T>
RowsView<T> view_rows(const DeviceSparseRows<T>& matrix);

inline constexpr int kNotKept = -1;

/// Where the thread blocks of a kernel keep their rows of a matrix in shared memory.
struct KeptRows {
  int offset = kNotKept;  // of the values, in bytes; the columns follow
  int max_entries = 0;    // of a block
  int lanes = 1;          // threads that share a row; a power of 2
};

/// Where they keep the matrices of a level.
struct KeptOfLevel {
  KeptRows a;
  KeptRows restriction;
  KeptRows prolongation;
  KeptRows inverse;
};

/// The entries that a block has of a matrix, and the columns in which they are.
struct KeptPart {
  int first_entry;
  int entry_count;
  int first_column;
  int end_column;
};

template <class T>
std::int64_t bytes_of(const DeviceSparseRows<T>& matrix) {
  return matrix.starts.bytes() + matrix.columns.bytes() + matrix.values.bytes();
}

/// A sparse matrix with a diagonal entry in every row, as an operator. Some lanes of a warp take a
/// row, and sum in a fixed order.
template <class T>
class RowsOperator final : public LinearOperator<T, Device> {
 public:
  explicit RowsOperator(DeviceSparseRows<T> rows)
      : rows_(std::move(rows)), view_(view_rows(rows_)) {}

  std::int64_t size() const override { return view_.rows; }
  std::string name() const override { return kInOneKernel; }
  void do_apply(const DeviceVector<T>& x, DeviceVector<T>& y) const override;
  void do_diagonal(DeviceVector<T>& d) const override;
  /// The matrix, x and y once.
  Cost cost() const override {
    return {static_cast<double>(bytes()) + 2.0 * static_cast<double>(size()) * sizeof(T),
            2.0 * static_cast<double>(rows_.values.size())};
  }
  std::int64_t bytes() const override { return bytes_of(rows_); }

  const RowsView<T>& view() const { return view_; }
  /// Becomes that of another matrix with entries in the same places.
  void take(DeviceSparseRows<T> rows) {
    rows_ = std::move(rows);
    view_ = view_rows(rows_);
  }

 private:
  DeviceSparseRows<T> rows_;
  RowsView<T> view_;
};

/// P from a level to the next finer one, and its transpose.
template <class T>
struct FusedTransfer {
  DeviceSparseRows<T> prolongation;
  DeviceSparseRows<T> restriction;
};

/// What the kernel has of a level: either steps of Chebyshev's iteration, which smooth or, on the
/// coarsest level, solve, or the inverse of the coarsest level.
template <class T>
struct FusedLevel {
  std::shared_ptr<const RowsOperator<T>> a;
  std::vector<double> steps;
  DeviceVector<T> inverse_diagonal;
  DeviceArray<T> inverse;  // [n][n]
  /// Empty on the coarsest level.
  FusedTransfer<T> to_coarser;
};

/// A V-cycle by the formulas of Multigrid and Chebyshev on levels that are too small for a kernel
/// to fill the GPU, where launches would take most of the time. All thread blocks are on the GPU at
/// once, one a multiprocessor, and wait for each other between steps: 2 k + 2 times a level with k
/// smoothing steps. Every step is a product with a sparse matrix. A block keeps its rows of the
/// matrices in shared memory during the cycle, as many as there is room for in the order of their
/// use, and reads the others from the L2 cache. Deterministic; only one cycle may run at a time,
/// because the object owns vectors.
template <class T>
class FusedLevels {
 public:
  /// @param levels finest first, at least one
  /// @param to_finer between the first one and the next finer one; empty: correct() is not called
  FusedLevels(std::vector<FusedLevel<T>> levels, FusedTransfer<T> to_finer);

  std::int64_t size(std::size_t level) const { return levels_[level].a->size(); }
  /// Takes what follows from a level's matrix, which has changed: of FusedLevel what is given here.
  void update(std::size_t level, std::vector<double> steps, DeviceVector<T> inverse_diagonal,
              DeviceArray<T> inverse);
  /// x = V b on a level and those below. @throws DeviceError
  void cycle(std::size_t level, const DeviceVector<T>& b, DeviceVector<T>& x) const;
  /// What CoarseCorrection says, for the next finer level, to which there is a transfer.
  void correct(const DeviceVector<T>& b, const DeviceVector<T>& product, DeviceVector<T>& x) const;

 private:
  struct Vectors {
    DeviceVector<T> b, x, y, r;
  };

 public:
  /// A level as the kernel sees it.
  struct View {
    RowsView<T> a;
    RowsView<T> prolongation;
    RowsView<T> restriction;
    int step_count;  // 0: by the inverse
    const T* steps;  // lengths
    const T* inverse_diagonal;
    const T* inverse;
    const T* given_b;
    T* b;
    T* x;
    T* y;        // the other half of steps in turns
    T* first_x;  // where the first step writes, so that the last one writes x
    T* r;
    KeptOfLevel kept;
  };
  /// The next finer level; no rows: there is none.
  struct FinerView {
    RowsView<T> prolongation{};
    RowsView<T> restriction{};
    const T* b = nullptr;
    const T* product = nullptr;
    T* x = nullptr;
  };

 private:
  std::vector<View> make_views();
  void run(int first, const T* b, T* x, const FinerView& finer) const;
  void plan_kept_rows(std::vector<View>& views);

  FusedTransfer<T> to_finer_;
  std::vector<FusedLevel<T>> levels_;
  std::vector<Vectors> vectors_;
  std::vector<DeviceArray<T>> steps_;
  DeviceArray<View> views_;
  std::vector<KeptOfLevel> kept_;
  DeviceArray<KeptPart> parts_;  // [block][level][a, restriction, prolongation]
  int window_offset_ = 0;        // in a block's shared memory, in bytes
  std::int64_t shared_bytes_ = 0;
};

/// The cycle from one of the levels on, as what solves on that level.
template <class T>
class FusedCycle final : public Preconditioner<T, Device> {
 public:
  FusedCycle(std::shared_ptr<const FusedLevels<T>> levels, std::size_t first)
      : levels_(std::move(levels)), first_(first) {}
  std::int64_t size() const override { return levels_->size(first_); }
  void do_apply(const DeviceVector<T>& r, DeviceVector<T>& z) const override {
    levels_->cycle(first_, r, z);
  }

 private:
  std::shared_ptr<const FusedLevels<T>> levels_;
  std::size_t first_;
};

/// The levels as the correction of the next finer one.
template <class T>
class FusedCorrection final : public CoarseCorrection<T, Device> {
 public:
  explicit FusedCorrection(std::shared_ptr<const FusedLevels<T>> levels)
      : levels_(std::move(levels)) {}
  void add(const DeviceVector<T>& b, const DeviceVector<T>& product,
           DeviceVector<T>& x) const override {
    levels_->correct(b, product, x);
  }

 private:
  std::shared_ptr<const FusedLevels<T>> levels_;
};

}  // namespace tessera
