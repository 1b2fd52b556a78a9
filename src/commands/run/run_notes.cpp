// This file collects notes, and keeps failures after the solve from ending a run.
#include "src/commands/run/run_notes.hpp"

#include <fmt/format.h>

#include <exception>
#include <new>
#include <stdexcept>

#include "mesh/errors.hpp"
#include "postprocess/files/atomic_file.hpp"
#include "solvers/interruption.hpp"
#include "solvers/ranks/failure_channel.hpp"
#include "src/case/fields.hpp"
#include "src/commands/standard_streams.hpp"

namespace tessera {

std::string failure_text(const std::exception& error) {
  if (const auto* const value = dynamic_cast<const BadFieldValue*>(&error)) {
    return value->text();
  }
  const bool is_of_cell = dynamic_cast<const InvertedCell*>(&error) != nullptr;
  return fmt::format("{}{}", error.what(), is_of_cell ? " (the operator has other points)" : "");
}

void RunNotes::complain(std::string note) {
  print_err("tessera: {}\n", note);
  add(std::move(note));
}

bool RunNotes::attempt(std::string_view what, const std::function<void()>& work) {
  const auto why = reason_of_failure(what, work);
  if (why) complain(fmt::format("{}: {}", what, *why));
  return !why;
}

bool RunNotes::attempt(std::string_view name, std::string_view what,
                       const std::function<void()>& work) {
  const auto why = reason_of_failure(fmt::format("{} {}", name, what), work);
  if (why && is_first(what)) complain(fmt::format("{} {}: {}", name, what, *why));
  return !why;
}

std::optional<std::string> RunNotes::reason_of_failure(std::string_view what,
                                                       const std::function<void()>& work) {
  try {
    work();
    return std::nullopt;
  } catch (const std::exception&) {
    if (!failed_together(*ranks_, std::string(what))) throw;
    return reason();
  }
}

std::string RunNotes::reason() {
  try {
    throw;
  } catch (const Interrupted& error) {
    return error.what();
  } catch (const BadFieldValue& error) {
    return failure_text(error);
  } catch (const InvertedCell& error) {
    return failure_text(error);
  } catch (const OutputError& error) {
    lacks_resources_ = true;
    return error.what();
  } catch (const std::bad_alloc&) {
    lacks_resources_ = true;
    return "out of memory";
  } catch (const std::length_error&) {
    lacks_resources_ = true;
    return "out of memory";
  } catch (const std::exception& error) {
    lacks_resources_ = true;
    return fmt::format("internal error, please report it: {}", error.what());
  }
}

}  // namespace tessera
