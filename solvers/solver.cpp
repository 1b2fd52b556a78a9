// This file names the endings of solves.
#include "solvers/solver.hpp"

#include <stdexcept>

namespace tessera {

std::string_view status_name(SolveStatus status) {
  switch (status) {
    case SolveStatus::converged:
      return "converged";
    case SolveStatus::iteration_limit:
      return "iteration limit";
    case SolveStatus::stagnated:
      return "stagnated";
    case SolveStatus::indefinite:
      return "indefinite operator";
    case SolveStatus::not_finite:
      return "not finite";
    case SolveStatus::interrupted:
      return "interrupted";
    case SolveStatus::diverged:
      return "diverged";
    case SolveStatus::no_step:
      return "no step";
  }
  throw std::logic_error("a status has no name");
}

}  // namespace tessera
