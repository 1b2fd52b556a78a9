// These functions make of what fails on one rank a failure of all.
#pragma once

#include <array>
#include <exception>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "operators/form/bilinear_form.hpp"
#include "solvers/ranks/communicator.hpp"

namespace tessera {

/// Takes to other ranks what is thrown of a type that operators do not know.
class ErrorCarrier {
 public:
  /// What makes another exception like it: the first text has no zero character.
  using Texts = std::array<std::string, 2>;

  virtual ~ErrorCarrier() = default;
  ErrorCarrier(const ErrorCarrier&) = delete;
  ErrorCarrier& operator=(const ErrorCarrier&) = delete;

  /// Empty if the error is not of the type.
  virtual std::optional<Texts> texts_of(const std::exception& error) const = 0;
  [[noreturn]] virtual void throw_again(const Texts& texts) const = 0;

 protected:
  ErrorCarrier() = default;
};

namespace internal {

/// Throws on all ranks if there is a failure on one.
void agree_on_failure(const Communicator& ranks, const std::exception_ptr& failure,
                      const ErrorCarrier* carrier);

}  // namespace internal

/// Returns work(), a rank's share of some work within which it waits for no other rank, if it went
/// well on all of them. If it throws on some, all of them throw what the lowest of these has
/// thrown: InvertedCell, LostDigits, BadFieldValue with the name of the field, UnsuitableChoice,
/// NumericalBreakdown, Interrupted, DeviceError, DeviceOutOfMemory, std::bad_alloc (for
/// std::length_error too), what a carrier knows, or else a std::runtime_error with its text. Of
/// what else is derived of these they throw the base. All call it together. One alone calls work().
template <class Work>
auto on_all_ranks(const Communicator& ranks, Work&& work, const ErrorCarrier* carrier = nullptr)
    -> std::invoke_result_t<Work> {
  using Result = std::invoke_result_t<Work>;
  if (ranks.size() == 1) return std::forward<Work>(work)();
  std::exception_ptr failure;
  if constexpr (std::is_void_v<Result>) {
    try {
      std::forward<Work>(work)();
    } catch (...) {
      failure = std::current_exception();
    }
    internal::agree_on_failure(ranks, failure, carrier);
  } else {
    std::optional<Result> result;
    try {
      result.emplace(std::forward<Work>(work)());
    } catch (...) {
      failure = std::current_exception();
    }
    internal::agree_on_failure(ranks, failure, carrier);
    return *std::move(result);
  }
}

/// The same for the ranks that have parts of a mesh. @param part null: this one has the whole
template <class Work>
auto on_all_ranks(const RankPart* part, Work&& work) {
  return on_all_ranks(part == nullptr ? single_rank() : part->ranks(), std::forward<Work>(work));
}

/// The same for those that have parts of a form.
template <class Work>
auto on_all_ranks(const BilinearForm& form, Work&& work) {
  return on_all_ranks(form.part == nullptr ? nullptr : form.part->rank.get(),
                      std::forward<Work>(work));
}

}  // namespace tessera
