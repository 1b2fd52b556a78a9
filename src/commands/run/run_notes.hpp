// RunNotes are what a run says about its results beside the numbers.
#pragma once

#include <exception>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "solvers/ranks/communicator.hpp"

namespace tessera {

/// What a run says of a failure of a field or the mesh; of another one what it says itself.
std::string failure_text(const std::exception& error);

/// What a run has to say about its results beside the numbers: what was assumed, and what is
/// missing and why. Sentences without a full stop, for result.json.
class RunNotes {
 public:
  RunNotes() = default;
  /// Of one of several ranks, which do all work together and outlive this object.
  explicit RunNotes(const Communicator& ranks) : ranks_(&ranks) {}

  void add(std::string note) { notes_.push_back(std::move(note)); }
  /// A note that stderr gets, too.
  void complain(std::string note);

  /// Does a piece of the work that follows a solve, the results of which must not be lost with
  /// whatever else fails. If it throws, anything, complains "WHAT: why".
  /// @return whether it went well
  /// @throws what the work threw if it has not failed on all ranks: others may be waiting in it
  bool attempt(std::string_view what, const std::function<void()>& work);
  /// The same of "NAME WHAT", where it may fail for many names: the first is complained of.
  bool attempt(std::string_view name, std::string_view what, const std::function<void()>& work);
  /// Whether this is said for the first time.
  bool is_first(std::string_view what) { return said_.emplace(what).second; }
  /// Does the same as attempt() without a note. @return why it went wrong; empty if it did not
  std::optional<std::string> reason_of_failure(std::string_view what,
                                               const std::function<void()>& work);

  /// Whether memory or disk, rather than the case, was why something is missing.
  bool lacks_resources() const { return lacks_resources_; }
  const std::vector<std::string>& all() const { return notes_; }

 private:
  // Of what is being handled.
  std::string reason();

  const Communicator* ranks_ = &single_rank();
  std::vector<std::string> notes_;
  std::set<std::string, std::less<>> said_;
  bool lacks_resources_ = false;
};

}  // namespace tessera
