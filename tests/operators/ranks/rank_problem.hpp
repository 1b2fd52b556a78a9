// A RankProblem is one rank's part of a test problem.
#pragma once

#include <functional>
#include <memory>

#include "operators/ranks/rank_part.hpp"
#include "operators/strategy.hpp"
#include "tests/operators/problems.hpp"

namespace tessera::testing {

/// What moves values between the GPUs of ranks in all problems that are made from now on; at first
/// make_staged_carrier(), as ranks of tests may share a GPU. For builds with CUDA.
using CarrierMaker = std::function<std::shared_ptr<const DeviceCarrier>(const Communicator&)>;
CarrierMaker& carrier_maker();

/// The rank's part of a problem, with a discretization and a form on it.
class RankProblem {
 public:
  /// @param place where the ranks compute: on GPUs they have the carrier of carrier_maker()
  RankProblem(const Communicator& ranks, const BoxPartition& partition, const Problem& whole,
              Processor place = Processor::cpu);
  RankProblem(const RankProblem&) = delete;
  RankProblem& operator=(const RankProblem&) = delete;

  const RankPart& part() const { return *part_; }
  const Discretization& discretization() const { return discretization_; }
  const BilinearForm& form() const { return form_; }
  VectorLayout layout() const { return part_->layout(); }

  template <class T, class Space = Host>
  std::unique_ptr<LinearOperator<T, Space>> distributed(const StrategyName& strategy) const {
    return make_operator<T, Space>(strategy, form_);
  }

  /// The rank's entries of a vector of the whole.
  template <class T>
  HostVector<T> taken(const std::vector<double>& whole) const {
    const HostVector<T> values = vector_of<T>(whole);
    HostVector<T> mine(layout());
    part_->nodes().copy_to_part(values.data(), mine.data());
    return mine;
  }
  /// The vector of the whole, of the entries that each rank owns; on all ranks, which call it
  /// together.
  template <class T>
  std::vector<double> gathered(const HostVector<T>& mine) const {
    std::vector<double> values(mine.data(), mine.data() + mine.size());
    std::vector<double> whole(static_cast<std::size_t>(part_->nodes().whole().size()), 0.0);
    part_->nodes().copy_owned_to_whole(values.data(), whole.data());
    part_->ranks().sum(whole);
    return whole;
  }
  /// Whether all ranks have their shared entries with the bits that the owner has, none a NaN.
  template <class T>
  bool agrees(const HostVector<T>& mine) const {
    return same_bits(mine, taken<T>(gathered(mine)));
  }

 private:
  std::shared_ptr<const RankPart> part_;
  Discretization discretization_;
  BilinearForm form_;
};

}  // namespace tessera::testing
