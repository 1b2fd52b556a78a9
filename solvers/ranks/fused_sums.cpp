// This file corrects sums on the planes that ranks share.
#include "solvers/ranks/fused_sums.hpp"

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>

#include "solvers/memory/entry_sums.hpp"

namespace tessera {
namespace {

double wide(double value) { return value; }

}  // namespace

std::vector<std::int64_t> distinct_entries(const std::vector<EntryPlane>& planes) {
  std::vector<std::int64_t> entries;
  std::int64_t count = 0;
  for (const EntryPlane& plane : planes) count += plane.count();
  entries.reserve(static_cast<std::size_t>(count));
  for (const EntryPlane& plane : planes) {
    for (std::int64_t b = 0; b < plane.counts[1]; ++b) {
      for (std::int64_t a = 0; a < plane.counts[0]; ++a) entries.push_back(plane.entry(a, b));
    }
  }
  // Slabs have them in order.
  if (!std::is_sorted(entries.begin(), entries.end())) std::sort(entries.begin(), entries.end());
  entries.erase(std::unique(entries.begin(), entries.end()), entries.end());
  return entries;
}

template <class T>
FusedSums<T, Host>::FusedSums(VectorLayout layout, const std::vector<EntryPlane>& exchanged)
    : layout_(std::move(layout)), entries_(distinct_entries(exchanged)), kept_(entries_.size()) {
  if (layout_.shared == nullptr) return;
  const std::vector<std::int64_t> not_owned = distinct_entries(layout_.shared->not_owned());
  std::set_intersection(entries_.begin(), entries_.end(), not_owned.begin(), not_owned.end(),
                        std::back_inserter(others_own_));
  std::set_difference(not_owned.begin(), not_owned.end(), entries_.begin(), entries_.end(),
                      std::back_inserter(identity_));
}

template <class T>
void FusedSums<T, Host>::apply_dot(const FusedOperations<T, Host>& local,
                                   const PlaneExchange<T, Host>& exchange, const V& x, V& y,
                                   double* sums) const {
  local.apply_dot(x, y, sums);
  for (std::size_t k = 0; k < entries_.size(); ++k) kept_[k] = y[entries_[k]];
  exchange.add(y);
  for (const std::int64_t i : identity_) {
    sums[0] -= wide(x[i]) * wide(y[i]);
    sums[1] -= wide(y[i]) * wide(y[i]);
  }
  for (std::size_t k = 0; k < entries_.size(); ++k) {
    const double before = wide(kept_[k]);
    const double after = wide(y[entries_[k]]);
    sums[1] += (after - before) * (after + before);
  }
  for (const std::int64_t i : others_own_) sums[1] -= wide(y[i]) * wide(y[i]);
  if (layout_.shared != nullptr) layout_.shared->ranks().sum(std::span(sums, 2));
}

template <class T>
void FusedSums<T, Host>::residual(const FusedOperations<T, Host>& local,
                                  const PlaneExchange<T, Host>& exchange, const V& b, const V& x,
                                  V& r, double* rr) const {
  double own = 0.0;
  // b counts once in the sum over ranks: with its owner.
  for (std::size_t k = 0; k < others_own_.size(); ++k) kept_[k] = b[others_own_[k]];
  local.residual(b, x, r, &own);
  for (std::size_t k = 0; k < others_own_.size(); ++k) r[others_own_[k]] -= kept_[k];
  exchange.add(r);
  if (rr == nullptr) return;
  *rr = entry_sum(layout_, [r = r.data()](std::int64_t i) { return wide(r[i]) * wide(r[i]); });
}

template <class T>
std::int64_t FusedSums<T, Host>::bytes() const {
  return static_cast<std::int64_t>((entries_.size() + others_own_.size() + identity_.size()) *
                                       sizeof(std::int64_t) +
                                   kept_.size() * sizeof(T));
}

template class FusedSums<double, Host>;
template class FusedSums<float, Host>;

}  // namespace tessera
