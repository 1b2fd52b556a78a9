// This file collects notes, and keeps failures after the solve from ending a run.
#include "src/commands/run_notes.hpp"

#include <fmt/format.h>

#include <exception>
#include <new>
#include <stdexcept>

#include "mesh/errors.hpp"
#include "postprocess/files/atomic_file.hpp"
#include "solvers/interruption.hpp"
#include "src/case/fields.hpp"
#include "src/commands/standard_streams.hpp"

namespace tessera {

void RunNotes::complain(std::string note) {
  print_err("tessera: {}\n", note);
  add(std::move(note));
}

void RunNotes::fail(std::string_view what, std::string_view why) {
  complain(fmt::format("{}: {}", what, why));
}

bool RunNotes::attempt(std::string_view what, const std::function<void()>& work) {
  try {
    work();
    return true;
  } catch (const Interrupted& error) {
    fail(what, error.what());
  } catch (const BadExpressionValue& error) {
    fail(what, fmt::format("{} {}", error.key(), error.what()));
  } catch (const BadFieldValue& error) {
    fail(what, error.what());
  } catch (const InvertedCell& error) {
    fail(what, fmt::format("{} (the operator has other points)", error.what()));
  } catch (const OutputError& error) {
    lacks_resources_ = true;
    fail(what, error.what());
  } catch (const std::bad_alloc&) {
    lacks_resources_ = true;
    fail(what, "out of memory");
  } catch (const std::length_error&) {
    lacks_resources_ = true;
    fail(what, "out of memory");
  } catch (const std::exception& error) {
    lacks_resources_ = true;
    fail(what, fmt::format("internal error, please report it: {}", error.what()));
  }
  return false;
}

}  // namespace tessera
