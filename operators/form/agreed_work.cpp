// This file carries an exception of one rank to the others.
#include "operators/form/agreed_work.hpp"

#include <algorithm>
#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "mesh/errors.hpp"
#include "solvers/interruption.hpp"

namespace tessera {
namespace {

enum class Kind { none, field_value, inverted_cell, interrupted, memory, other };

// What of an exception other ranks have to know, but for its text.
struct Failure {
  Kind kind = Kind::none;
  Point where{};
  double value = 0.0;
  IndexTriple cell{};
};

// What work() throws, in both forms.
struct Caught {
  Failure failure;
  std::string text;
  std::exception_ptr exception;
  std::string key = {};
};

Caught caught_of(const std::function<void()>& work) {
  try {
    work();
    return {};
  } catch (const BadFieldValue& error) {
    return {{Kind::field_value, error.where(), error.value()},
            error.what(),
            std::current_exception(),
            error.key()};
  } catch (const InvertedCell& error) {
    return {{Kind::inverted_cell, {}, 0.0, error.cell()}, error.what(), std::current_exception()};
  } catch (const Interrupted&) {
    return {{Kind::interrupted}, {}, std::current_exception()};
  } catch (const std::bad_alloc&) {
    return {{Kind::memory}, {}, std::current_exception()};
  } catch (const std::exception& error) {
    return {{Kind::other}, error.what(), std::current_exception()};
  }
}

[[noreturn]] void throw_as(const Failure& failure, int rank, const std::string& text,
                           const std::string& key) {
  switch (failure.kind) {
    case Kind::field_value:
      throw BadFieldValue(BadFieldValue::WholeText{text, key}, failure.where, failure.value);
    case Kind::inverted_cell:
      throw InvertedCell(failure.cell, text);
    case Kind::interrupted:
      throw Interrupted();
    case Kind::memory:
      throw std::bad_alloc();
    case Kind::other:
    case Kind::none:
      break;
  }
  throw std::runtime_error("rank " + std::to_string(rank) + ": " + text);
}

}  // namespace

void work_or_fail_together(const RankPart* part, const std::function<void()>& work) {
  if (part == nullptr) {
    work();
    return;
  }
  const Communicator& ranks = part->ranks();
  const Caught mine = caught_of(work);
  const std::vector<Failure> failures = ranks.all_gather(mine.failure);
  const auto first = std::find_if(failures.begin(), failures.end(), [](const Failure& failure) {
    return failure.kind != Kind::none;
  });
  if (first == failures.end()) return;
  const auto rank = static_cast<int>(first - failures.begin());
  const std::string text = ranks.broadcast(mine.text, rank);
  const std::string key = ranks.broadcast(mine.key, rank);
  if (rank == ranks.rank()) std::rethrow_exception(mine.exception);
  throw_as(*first, rank, text, key);
}

}  // namespace tessera
