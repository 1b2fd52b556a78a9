// A chain is the simplest vector that ranks share.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "solvers/memory/vector.hpp"

namespace tessera::testing {

/// `size` entries in a row, of which the ranks have about as many each; neighbors share one.
class Chain {
 public:
  Chain(const Communicator& ranks, std::int64_t size)
      : ranks_(ranks), first_((size - 1) * ranks.rank() / ranks.size()) {
    const std::int64_t last = (size - 1) * (ranks.rank() + 1) / ranks.size();
    const std::int64_t count = last - first_ + 1;
    std::vector<EntryPlane> not_owned;
    if (ranks.rank() > 0) not_owned.push_back({0, {1, 1}, {0, 0}});
    layout_ = VectorLayout(
        count, std::make_shared<const SharedEntries>(ranks, std::move(not_owned),
                                                     WholeNumbers{first_, count, 1, {0, 0}, size}));
  }

  const VectorLayout& layout() const { return layout_; }

  /// x_i = f(number of i in the whole)
  HostVector<double> vector(const std::function<double(std::int64_t)>& f) const {
    HostVector<double> x(layout_);
    for (std::int64_t i = 0; i < x.size(); ++i) x[i] = f(first_ + i);
    return x;
  }
  /// The vector of the whole on all ranks, with every entry by its owner.
  std::vector<double> gathered(const HostVector<double>& x) const {
    std::vector<double> whole(static_cast<std::size_t>(layout_.whole_size()), 0.0);
    const std::int64_t begin = ranks_.rank() > 0 ? 1 : 0;
    for (std::int64_t i = begin; i < x.size(); ++i) whole[first_ + i] = x[i];
    ranks_.sum(whole);
    return whole;
  }
  /// Whether the first and last entries have the bits that their owners have.
  bool agrees(const HostVector<double>& x) const {
    const std::vector<double> whole = gathered(x);
    return std::equal(x.data(), x.data() + x.size(), whole.begin() + first_);
  }

 private:
  const Communicator& ranks_;
  std::int64_t first_;
  VectorLayout layout_;
};

}  // namespace tessera::testing
