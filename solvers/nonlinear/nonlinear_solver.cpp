// This file names the endings of non-linear solves, and has those of the host.
#include "solvers/nonlinear/nonlinear_solver.hpp"

#include "solvers/nonlinear/nonlinear_solver_maker.hpp"

namespace tessera {

std::string_view status_name(NonlinearStatus status) {
  switch (status) {
    case NonlinearStatus::converged:
      return "converged";
    case NonlinearStatus::iteration_limit:
      return "iteration limit";
    case NonlinearStatus::no_decrease:
      return "no decrease";
    case NonlinearStatus::linear_solver_failed:
      return "linear solver failed";
    case NonlinearStatus::not_finite:
      return "not finite";
    case NonlinearStatus::interrupted:
      return "interrupted";
  }
  throw std::logic_error("a status has no name");
}

std::vector<std::string> likely_remedies(const NonlinearReport& report,
                                         const NonlinearOptions& options) {
  const bool is_newton = options.method == NonlinearMethod::newton;
  const std::string nearer = "start nearer to the solution";
  // What rounding leaves of a residual that is a sum of much larger terms.
  constexpr double kNearRounding = 1e-9;
  switch (report.status) {
    case NonlinearStatus::converged:
    case NonlinearStatus::interrupted:
      return {};
    case NonlinearStatus::iteration_limit:
      return {"allow more iterations, if the residual still falls",
              is_newton ? nearer : "use newton, or another depth of the acceleration"};
    case NonlinearStatus::no_decrease:
      if (!report.history.empty() && report.history.back() < kNearRounding) {
        return {"take a larger relative tolerance: this one is below rounding"};
      }
      if (is_newton) {
        return {nearer, "use picard, which often converges from further away",
                "the problem may have no solution: try it with a weaker non-linearity"};
      }
      return {"use newton, or another depth of the acceleration", nearer,
              "the problem may have no solution: try it with a weaker non-linearity"};
    case NonlinearStatus::linear_solver_failed:
      return {
          "see what the linear solver needs: a better preconditioner, more iterations, or, where "
          "it is another, flexible-gmres, as the system may be neither symmetric nor definite",
          nearer};
    case NonlinearStatus::not_finite:
      return {"see for which u the coefficient and the source are finite", nearer,
              "the problem may have no solution: try it with a weaker non-linearity"};
  }
  throw std::logic_error("a status has no remedies");
}

template NonlinearReport solve_nonlinear(NonlinearSystem<Host>&, const NonlinearOptions&,
                                         HostVector<double>&);

}  // namespace tessera
