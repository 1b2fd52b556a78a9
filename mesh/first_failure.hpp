// A FirstFailure carries an exception out of an OpenMP region.
#pragma once

#include <exception>
#include <limits>
#include <utility>

#include "mesh/index.hpp"

namespace tessera {

/// Keeps what parallel work threw. An exception must not leave an OpenMP region, because the
/// program would end at once. So each piece of work runs through guard(), and rethrow() follows the
/// region.
///
///   FirstFailure failure;
///   #pragma omp parallel for
///   for (Index i = 0; i < n; ++i) failure.guard(i, [&] { work(i); });
///   failure.rethrow();
///
/// Every thread must still reach the barriers of its region, so only the work itself is guarded.
class FirstFailure {
 public:
  /// Runs work(). What it throws is kept unless a piece of lower number has thrown.
  template <class Work>
  void guard(Index number, Work&& work) noexcept {
    try {
      std::forward<Work>(work)();
    } catch (...) {
      keep(number, std::current_exception());
    }
  }

  /// Throws what was kept, if anything; call this when the region has ended.
  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  void keep(Index number, std::exception_ptr failure) noexcept {
#pragma omp critical(tessera_first_failure)
    if (number < number_) {
      number_ = number;
      failure_ = std::move(failure);
    }
  }

  Index number_ = std::numeric_limits<Index>::max();
  std::exception_ptr failure_;
};

}  // namespace tessera
