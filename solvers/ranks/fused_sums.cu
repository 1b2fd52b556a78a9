// This file corrects sums on the planes that ranks share, on the GPU.
#include <algorithm>
#include <iterator>
#include <utility>

#include "solvers/memory/cuda_check.hpp"
#include "solvers/memory/entry_loop.cuh"
#include "solvers/memory/reduction.cuh"
#include "solvers/ranks/fused_sums.hpp"
#include "solvers/ranks/gpu/owned_entries.cuh"

namespace tessera {
namespace {

__device__ double wide(double value) { return value; }

// own = {x.y, y.y} of a rank, of which y.y gets what the exchange has changed and loses what others
// own, and x.y the rows that are the identity on several ranks; own[2] = *mine if there is that.
// Launch: as reduction.cuh over the entries that others own. Deterministic.
template <class T>
__global__ void __launch_bounds__(kReductionThreads)
    correct_sums_kernel(std::int64_t count, std::int64_t on_planes, const std::int64_t* others_own,
                        const T* x, const T* y, const double* change, const double* mine,
                        double* own, Sums<2>* partial, unsigned* arrived) {
  Sums<2> sum;
  const std::int64_t stride = thread_count<kReductionThreads>();
  for (std::int64_t k = thread_number<kReductionThreads>(); k < count; k += stride) {
    const double value = wide(y[others_own[k]]);
    sum[1] += value * value;
    if (k >= on_planes) sum[0] += wide(x[others_own[k]]) * value;
  }
  reduce_over_grid(sum, partial, arrived, [=](const Sums<2>& others) {
    own[0] -= others[0];
    own[1] += change[0] + change[1] + change[2] - others[1];
    if (mine != nullptr) own[2] = *mine;
  });
}

// *own = r.r over the entries that count. Launch: as reduction.cuh. Deterministic.
template <class T>
__global__ void __launch_bounds__(kReductionThreads)
    owned_square_kernel(std::int64_t n, const OwnedEntries counted, const T* r, double* own,
                        Sums<2>* partial, unsigned* arrived) {
  Sums<2> sum;
  const std::int64_t stride = thread_count<kReductionThreads>();
  for (std::int64_t i = thread_number<kReductionThreads>(); i < n; i += stride) {
    if (counted.has(i)) sum[0] += wide(r[i]) * wide(r[i]);
  }
  reduce_over_grid(sum, partial, arrived, [=](const Sums<2>& total) { *own = total[0]; });
}

}  // namespace

template <class T>
struct FusedSums<T, Device>::Reduction : ReductionBuffer<2> {};

template <class T>
FusedSums<T, Device>::FusedSums(VectorLayout layout, const std::vector<EntryPlane>& exchanged)
    : layout_(std::move(layout)),
      own_(3),
      change_(std::vector<double>(3, 0.0)),
      gathered_(layout_, 3),
      reduction_(std::make_unique<Reduction>()) {
  if (layout_.shared == nullptr) return;
  const std::vector<std::int64_t> planes = distinct_entries(exchanged);
  const std::vector<std::int64_t> not_owned = distinct_entries(layout_.shared->not_owned());
  std::vector<std::int64_t> entries;
  std::set_intersection(planes.begin(), planes.end(), not_owned.begin(), not_owned.end(),
                        std::back_inserter(entries));
  on_planes_ = static_cast<std::int64_t>(entries.size());
  std::set_difference(not_owned.begin(), not_owned.end(), planes.begin(), planes.end(),
                      std::back_inserter(entries));
  others_own_ = DeviceArray<std::int64_t>(entries);
  kept_ = DeviceArray<T>(on_planes_);
}

template <class T>
FusedSums<T, Device>::~FusedSums() = default;

template <class T>
void FusedSums<T, Device>::add_ranks(int count, double* sums) const {
  if (!gathered_.are_of_several()) {
    enqueue_copy(sums, own_.data(), static_cast<std::size_t>(count) * sizeof(double),
                 cudaMemcpyDeviceToDevice, "copying sums");
    return;
  }
  gathered_.add(own_.data(), count, sums);
}

template <class T>
void FusedSums<T, Device>::apply_dot(const FusedOperations<T, Device>& local,
                                     const PlaneExchange<T, Device>& exchange, const V& x, V& y,
                                     double* sums, const double* mine) const {
  local.apply_dot(x, y, own_.data());
  const PlaneSums<T> of_all{.own = own_.data(),
                            .x = x.data(),
                            .rows = others_own_.data() + on_planes_,
                            .row_count = others_own_.size() - on_planes_,
                            .mine = mine,
                            .sums = sums};
  if (exchange.add_with_sums(y, of_all)) return;
  exchange.add(y, change_.data());
  launch(correct_sums_kernel<T>, reduction_launch("sums on shared planes", others_own_.size()),
         others_own_.size(), on_planes_, others_own_.data(), x.data(), y.data(), change_.data(),
         mine, own_.data(), reduction_->partial(), reduction_->arrived());
  add_ranks(mine == nullptr ? 2 : 3, sums);
}

template <class T>
void FusedSums<T, Device>::residual(const FusedOperations<T, Device>& local,
                                    const PlaneExchange<T, Device>& exchange, const V& b,
                                    const V& x, V& r, double* rr) const {
  const std::int64_t* const others_own = others_own_.data();
  T* const kept = kept_.data();
  // b counts once in the sum over ranks: with its owner.
  for_each_entry(
      on_planes_, "keeping planes of b",
      [=, from = b.data()] __device__(std::int64_t k) { kept[k] = from[others_own[k]]; });
  local.residual(b, x, r, own_.data());
  for_each_entry(on_planes_, "a residual on shared planes",
                 [=, to = r.data()] __device__(std::int64_t k) { to[others_own[k]] -= kept[k]; });
  exchange.add(r);
  if (rr == nullptr) return;
  if (layout_.shared != nullptr) {
    launch(owned_square_kernel<T>, reduction_launch("the square of a residual", layout_.size),
           layout_.size, OwnedEntries(layout_), r.data(), own_.data(), reduction_->partial(),
           reduction_->arrived());
  }
  add_ranks(1, rr);
}

template <class T>
void FusedSums<T, Device>::step(const FusedOperations<T, Device>& local,
                                const PlaneExchange<T, Device>& exchange, T scale, const V& d,
                                const V& b, const V& x, V& y) const {
  local.step(scale, d, b, x, y);
  // x + scale D b counts once in the sum over ranks, as b does in a residual.
  for_each_entry(on_planes_, "a step on shared planes",
                 [=, others_own = others_own_.data(), d = d.data(), b = b.data(), x = x.data(),
                  y = y.data()] __device__(std::int64_t k) {
                   const std::int64_t i = others_own[k];
                   y[i] -= x[i] + scale * d[i] * b[i];
                 });
  exchange.add(y);
}

template <class T>
std::int64_t FusedSums<T, Device>::bytes() const {
  return others_own_.bytes() + kept_.bytes();
}

template class FusedSums<double, Device>;
template class FusedSums<float, Device>;

}  // namespace tessera
