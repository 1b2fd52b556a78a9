// This file has the kernel that runs a multigrid cycle on small levels.
#include <cooperative_groups.h>

#include <algorithm>

#include "solvers/memory/launch.cuh"
#include "solvers/preconditioners/fused_levels.hpp"
#include "solvers/preconditioners/kept_rows.cuh"
#include "solvers/preconditioners/sparse_products.cuh"

namespace tessera {
namespace {

template <class T>
DeviceArray<T> rounded_on_device(const std::vector<double>& values) {
  return DeviceArray<T>(std::vector<T>(values.begin(), values.end()));
}

constexpr int kThreads = kCycleThreads;
constexpr int kPartsPerLevel = 3;

int shared_limit() { return device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin); }

// Deals out the shared memory of the blocks of a cycle, first come, first served.
template <class T>
class SharedMemoryPlan {
 public:
  explicit SharedMemoryPlan(int used_bytes) : end_(round_up(used_bytes)) {}

  // Keeps a matrix if there is room for so many entries of a block and for so many columns of x.
  void keep(int rows, int entries, int columns, KeptRows& kept) {
    const std::int64_t end =
        end_ + round_up(entries * static_cast<std::int64_t>(sizeof(T) + sizeof(std::int32_t)));
    const std::int64_t window = std::max<std::int64_t>(window_, columns);
    if (end + window * static_cast<std::int64_t>(sizeof(T)) > shared_limit()) return;
    kept.offset = static_cast<int>(end_);
    kept.max_entries = entries;
    const int rows_of_block = (rows + multiprocessors() - 1) / multiprocessors();
    const int entries_of_row = entries / rows_of_block;
    kept.lanes = 1;
    while (kept.lanes < kWarp && 2 * kept.lanes * rows_of_block <= kThreads &&
           kept.lanes < entries_of_row) {
      kept.lanes *= 2;
    }
    end_ = end;
    window_ = window;
  }

  int window_offset() const { return static_cast<int>(end_); }
  std::int64_t bytes() const { return end_ + window_ * static_cast<std::int64_t>(sizeof(T)); }

 private:
  static constexpr std::int64_t kAlignment = 16;
  static std::int64_t round_up(std::int64_t bytes) {
    return (bytes + kAlignment - 1) / kAlignment * kAlignment;
  }

  std::int64_t end_;
  std::int64_t window_ = 0;
};

// A block's place in the kernel: its shared memory and what it keeps there of the levels' matrices.
template <class T>
struct CycleBlock {
  KeptSpace<T> space;
  const KeptPart* parts;

  __device__ const KeptPart& part(int level, int matrix) const {
    return parts[level * kPartsPerLevel + matrix];
  }
};

// Calls finish(i, before(i), (M x)_i) for the rows of M, which the block keeps or reads.
template <class T, class Before, class Finish>
__device__ void for_each_product_with(const RowsView<T>& m, const KeptRows& kept,
                                      const KeptPart& part, KeptSpace<T> space, const T* x,
                                      Before&& before, Finish&& finish) {
  if (kept.offset == kNotKept) {
    for_each_product(m, values_of(x), [&](int i, T sum) { finish(i, before(i), sum); });
  } else {
    for_each_kept_product(m, kept, part, space, x, before, finish);
  }
}

template <class View, class T>
__device__ void first_step(const View& level, int i, T b) {
  level.first_x[i] = level.steps[0] * __ldg(level.inverse_diagonal + i) * b;
}

// to = from + length D^-1 (b - A from).
template <class T, class View>
__device__ void next_step(const View& level, const KeptPart& part, KeptSpace<T> space, int k,
                          const T* from, T* to) {
  struct Own {
    T inverse_diagonal;
    T b;
    T from;
  };
  const T length = level.steps[k];
  for_each_product_with(
      level.a, level.kept.a, part, space, from,
      [&](int i) {
        return Own{__ldg(level.inverse_diagonal + i), __ldcg(level.given_b + i), __ldcg(from + i)};
      },
      [&](int i, const Own& own, T product) {
        to[i] = own.from + length * own.inverse_diagonal * (own.b - product);
      });
}

template <class T>
__device__ void swap_pointers(T*& a, T*& b) {
  T* const c = a;
  a = b;
  b = c;
}

// x = V b from level `first` on, or finer.x += P V(P^T (b - product)) of the next finer level.
// Cooperative launch, at most one block a multiprocessor; shared memory: the views, the block's
// parts of the matrices and of the vector of a product. Reads what blocks keep of the matrices
// once; of what they do not keep, the matrices of the levels 2 k times (k smoothing steps),
// transfers and inverse once, from the L2 cache. Deterministic.
template <class T>
__global__ void __launch_bounds__(kThreads, 1)
    cycle_kernel(int first, int count, const typename FusedLevels<T>::View* views,
                 const KeptPart* parts, int window_offset, const T* b, T* x,
                 const __grid_constant__ typename FusedLevels<T>::FinerView finer) {
  using View = typename FusedLevels<T>::View;
  extern __shared__ double shared[];
  View* const levels = reinterpret_cast<View*>(shared);
  KeptPart* const own_parts = reinterpret_cast<KeptPart*>(levels + count);
  char* const bytes = reinterpret_cast<char*>(shared);
  const CycleBlock<T> block{{bytes, reinterpret_cast<T*>(bytes + window_offset)}, own_parts};
  const int part_count = count * kPartsPerLevel;
  for (int m = static_cast<int>(threadIdx.x); m < part_count; m += kThreads) {
    own_parts[m] = parts[static_cast<int>(blockIdx.x) * part_count + m];
  }
  const auto all = cooperative_groups::this_grid();
  const bool corrects = finer.restriction.rows > 0;
  for (int l = static_cast<int>(threadIdx.x); l < count; l += kThreads) {
    View view = views[l];
    if (l == first && !corrects) {
      if (view.first_x == view.x) view.first_x = x;
      view.given_b = b;
      view.x = x;
    }
    levels[l] = view;
  }
  __syncthreads();
  for (int l = first; l < count; ++l) {
    const View& level = levels[l];
    copy_rows(level.a, level.kept.a, block.part(l, 0), block.space);
    copy_rows(level.restriction, level.kept.restriction, block.part(l, 1), block.space);
    copy_rows(level.prolongation, level.kept.prolongation, block.part(l, 2), block.space);
    copy_dense_rows(level.inverse, level.a.rows, level.kept.inverse, block.space);
  }
  // The first step on a level is part of the restriction to it.
  const auto take_restricted = [&](const View& level, int i, T sum) {
    level.b[i] = sum;
    if (level.step_count > 0) first_step(level, i, sum);
  };
  const int last = count - 1;
  if (corrects) {
    for_each_product(
        finer.restriction, [&](int j) { return __ldcg(finer.b + j) - __ldcg(finer.product + j); },
        [&](int i, T sum) { take_restricted(levels[first], i, sum); });
    all.sync();
  } else if (levels[first].step_count > 0) {
    const View& level = levels[first];
    for (int i = static_cast<int>(blockIdx.x) * kThreads + static_cast<int>(threadIdx.x);
         i < level.a.rows; i += static_cast<int>(gridDim.x) * kThreads) {
      first_step(level, i, b[i]);
    }
    all.sync();
  }
  wait_for_kept_rows();
  const auto nothing = [](int) { return 0; };
  for (int l = first; l <= last; ++l) {
    const View& level = levels[l];
    T* from = level.first_x;
    T* to = from == level.x ? level.y : level.x;
    for (int k = 1; k < level.step_count; ++k) {
      next_step(level, block.part(l, 0), block.space, k, from, to);
      swap_pointers(from, to);
      if (corrects || last > first || k + 1 < level.step_count) all.sync();
    }
    if (l == last) break;
    for_each_product_with(
        level.a, level.kept.a, block.part(l, 0), block.space, static_cast<const T*>(from),
        [&](int i) { return __ldcg(level.given_b + i); },
        [&](int i, T own_b, T product) { level.r[i] = own_b - product; });
    all.sync();
    for_each_product_with(level.restriction, level.kept.restriction, block.part(l, 1), block.space,
                          static_cast<const T*>(level.r), nothing,
                          [&](int i, int, T sum) { take_restricted(levels[l + 1], i, sum); });
    all.sync();
  }
  if (levels[last].step_count == 0) {
    const View& level = levels[last];
    const int n = level.a.rows;
    const auto take = [&](int i, T sum) { level.x[i] = sum; };
    if (level.kept.inverse.offset == kNotKept) {
      for_each_row<T>(
          n, kWarp,
          [&](int i, int lane) {
            const T* const row = level.inverse + static_cast<std::int64_t>(i) * n;
            T sum{0};
#pragma unroll 8
            for (int j = lane; j < n; j += kWarp) sum += __ldg(row + j) * __ldcg(level.given_b + j);
            return sum;
          },
          take);
    } else {
      for_each_kept_dense_product(n, level.kept.inverse, block.space, level.given_b, take);
    }
    if (corrects || last > first) all.sync();
  }
  for (int l = last - 1; l >= first; --l) {
    const View& level = levels[l];
    // Where the steps before the residual ended.
    T* from = level.first_x;
    T* to = from == level.x ? level.y : level.x;
    if (level.step_count % 2 == 0) swap_pointers(from, to);
    for_each_product_with(
        level.prolongation, level.kept.prolongation, block.part(l, 2), block.space,
        static_cast<const T*>(levels[l + 1].x), [&](int i) { return __ldcg(from + i); },
        [&](int i, T own, T sum) { from[i] = own + sum; });
    all.sync();
    for (int k = 0; k < level.step_count; ++k) {
      next_step(level, block.part(l, 0), block.space, k, from, to);
      swap_pointers(from, to);
      if (corrects || l > first || k + 1 < level.step_count) all.sync();
    }
  }
  if (!corrects) return;
  for_each_product(finer.prolongation, values_of(levels[first].x),
                   [&](int i, T sum) { finer.x[i] += sum; });
}

}  // namespace

template <class T>
FusedLevels<T>::FusedLevels(std::vector<FusedLevel<T>> levels, FusedTransfer<T> to_finer)
    : to_finer_(std::move(to_finer)), levels_(std::move(levels)) {
  for (std::size_t l = 0; l < levels_.size(); ++l) {
    const FusedLevel<T>& level = levels_[l];
    const std::int64_t n = level.a->size();
    const std::int64_t own = l == 0 && to_finer_.restriction.starts.size() == 0 ? 0 : n;
    const std::int64_t smoothed = level.steps.empty() ? 0 : n;
    const std::int64_t handed_on = l + 1 == levels_.size() ? 0 : n;
    vectors_.push_back({DeviceVector<T>(own), DeviceVector<T>(own), DeviceVector<T>(smoothed),
                        DeviceVector<T>(handed_on)});
    steps_.push_back(rounded_on_device<T>(level.steps));
  }
  kept_.resize(levels_.size());
  std::vector<View> views = make_views();
  plan_kept_rows(views);
  views_ = DeviceArray<View>(views);
}

template <class T>
void FusedLevels<T>::update(std::size_t level, std::vector<double> steps,
                            DeviceVector<T> inverse_diagonal, DeviceArray<T> inverse) {
  FusedLevel<T>& changed = levels_[level];
  TESSERA_CHECK(changed.steps.empty() == steps.empty());
  changed.steps = std::move(steps);
  changed.inverse_diagonal = std::move(inverse_diagonal);
  changed.inverse = std::move(inverse);
  steps_[level] = rounded_on_device<T>(changed.steps);
  const std::vector<View> views = make_views();
  copy_to_device(views.data(), views_.bytes(), views_.data());
}

template <class T>
std::vector<typename FusedLevels<T>::View> FusedLevels<T>::make_views() {
  std::vector<View> views;
  for (std::size_t l = 0; l < levels_.size(); ++l) {
    const FusedLevel<T>& level = levels_[l];
    Vectors& v = vectors_[l];
    // From x and y in turns: steps - 1 times on the coarsest level, 2 steps - 1 times on others.
    const bool starts_in_x = l + 1 == levels_.size() && level.steps.size() % 2 == 1;
    views.push_back({level.a->view(), view_rows(level.to_coarser.prolongation),
                     view_rows(level.to_coarser.restriction), static_cast<int>(level.steps.size()),
                     steps_[l].data(), level.inverse_diagonal.data(), level.inverse.data(),
                     v.b.data(), v.b.data(), v.x.data(), v.y.data(),
                     starts_in_x ? v.x.data() : v.y.data(), v.r.data(), kept_[l]});
  }
  return views;
}

template <class T>
void FusedLevels<T>::plan_kept_rows(std::vector<View>& views) {
  const int blocks = multiprocessors();
  const int part_count = static_cast<int>(views.size()) * kPartsPerLevel;
  parts_ = DeviceArray<KeptPart>(std::vector<KeptPart>(static_cast<std::size_t>(blocks) *
                                                       static_cast<std::size_t>(part_count)));
  SharedMemoryPlan<T> plan(static_cast<int>(views.size() * sizeof(View)) +
                           part_count * static_cast<int>(sizeof(KeptPart)));
  const auto find_parts = [&](const RowsView<T>& matrix, int number) {
    if (matrix.rows == 0) return;
    constexpr unsigned kPartThreads = 256;
    launch(parts_kernel<T>,
           {"parts of a sparse matrix", static_cast<unsigned>(blocks), kPartThreads}, matrix,
           parts_.data() + number, part_count);
  };
  for (std::size_t l = 0; l < views.size(); ++l) {
    const int number = static_cast<int>(l) * kPartsPerLevel;
    find_parts(views[l].a, number);
    find_parts(views[l].restriction, number + 1);
    find_parts(views[l].prolongation, number + 2);
  }
  const std::vector<KeptPart> parts = to_host(parts_);
  const auto keep = [&](const RowsView<T>& matrix, std::size_t number, KeptRows& kept) {
    if (matrix.rows == 0) return;
    int entries = 0;
    int columns = 0;
    for (std::size_t m = number; m < parts.size(); m += static_cast<std::size_t>(part_count)) {
      entries = std::max(entries, parts[m].entry_count);
      columns = std::max(columns, parts[m].end_column - parts[m].first_column);
    }
    plan.keep(matrix.rows, entries, columns, kept);
  };
  // The operators are used 2 k times with k steps, all else once.
  for (std::size_t l = 0; l < views.size(); ++l) {
    keep(views[l].a, l * kPartsPerLevel, views[l].kept.a);
  }
  for (std::size_t l = 0; l < views.size(); ++l) {
    keep(views[l].restriction, l * kPartsPerLevel + 1, views[l].kept.restriction);
    keep(views[l].prolongation, l * kPartsPerLevel + 2, views[l].kept.prolongation);
  }
  if (View& last = views.back(); last.step_count == 0) {
    const int rows = (last.a.rows + blocks - 1) / blocks;
    plan.keep(last.a.rows, rows * last.a.rows, last.a.rows, last.kept.inverse);
  }
  for (std::size_t l = 0; l < views.size(); ++l) kept_[l] = views[l].kept;
  window_offset_ = plan.window_offset();
  shared_bytes_ = plan.bytes();
  allow_shared_memory(cycle_kernel<T>, shared_limit());
}

template <class T>
void FusedLevels<T>::cycle(std::size_t level, const DeviceVector<T>& b, DeviceVector<T>& x) const {
  run(static_cast<int>(level), b.data(), x.data(), {});
}

template <class T>
void FusedLevels<T>::correct(const DeviceVector<T>& b, const DeviceVector<T>& product,
                             DeviceVector<T>& x) const {
  TESSERA_CHECK(b.size() == x.size());
  TESSERA_CHECK(to_finer_.prolongation.starts.size() == x.size() + 1);
  run(0, nullptr, nullptr,
      {view_rows(to_finer_.prolongation), view_rows(to_finer_.restriction), b.data(),
       product.data(), x.data()});
}

template <class T>
void FusedLevels<T>::run(int first, const T* b, T* x, const FinerView& finer) const {
  auto count = static_cast<int>(levels_.size());
  const View* views = views_.data();
  const KeptPart* parts = parts_.data();
  int window_offset = window_offset_;
  FinerView of_finer = finer;
  void* parameters[] = {&first, &count, &views, &parts, &window_offset, &b, &x, &of_finer};
  const Launch as{"multigrid's levels in one kernel", static_cast<unsigned>(multiprocessors()),
                  kThreads, static_cast<std::size_t>(shared_bytes_)};
  check_cuda(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(cycle_kernel<T>), as.blocks,
                                         as.threads, parameters, as.shared_bytes, as.stream),
             as.name);
}

template class FusedLevels<double>;
template class FusedLevels<float>;

}  // namespace tessera
