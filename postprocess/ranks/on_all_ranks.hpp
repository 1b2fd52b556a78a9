// This function ends a stage of work that has to go well on all ranks.
#pragma once

#include <exception>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include "solvers/ranks/communicator.hpp"

namespace tessera {

/// What was wrong with the mesh, a field or a value in the part of another rank, or of this one; in
/// the words that it was thrown with.
class RankFailure : public std::runtime_error {
 public:
  RankFailure(const std::string& message, int rank) : std::runtime_error(message), rank_(rank) {}

  /// The lowest rank that failed.
  int rank() const { return rank_; }

 private:
  int rank_;
};

/// What to say of an exception, where that is more than its what().
using FailureText = std::function<std::string(const std::exception&)>;

namespace internal {

/// Throws on all ranks if there is a failure on one; with one rank, that failure.
void agree_on_failure(const Communicator& ranks, const std::exception_ptr& failure,
                      const FailureText& text);

}  // namespace internal

/// Does a rank's share of some work, within which ranks do not communicate, and returns what it
/// returns if it went well on all of them. If it throws on some, all of them throw the same, that
/// of the lowest: Interrupted, std::bad_alloc (for std::length_error as well) and OutputError as
/// they are, BadFieldValue and InvertedCell, whatever is derived of them, as RankFailure, and any
/// other as std::runtime_error. A single rank throws what the work throws.
/// @param text of the failures of fields and meshes
template <class Work>
auto on_all_ranks(const Communicator& ranks, Work&& work, const FailureText& text = {}) {
  using Result = std::invoke_result_t<Work>;
  std::exception_ptr failure;
  if constexpr (std::is_void_v<Result>) {
    try {
      std::forward<Work>(work)();
    } catch (...) {
      failure = std::current_exception();
    }
    internal::agree_on_failure(ranks, failure, text);
  } else {
    std::optional<Result> result;
    try {
      result.emplace(std::forward<Work>(work)());
    } catch (...) {
      failure = std::current_exception();
    }
    internal::agree_on_failure(ranks, failure, text);
    return *std::move(result);
  }
}

}  // namespace tessera
