// A Solver solves A x = b by an iterative method, set up once and used often.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "solvers/check.hpp"
#include "solvers/memory/vector.hpp"

namespace tessera {

/// The iterative methods.
enum class SolverMethod {
  cg,
  single_reduction_cg,
  pipelined_cg,
  flexible_cg,
  richardson,
  flexible_gmres,
  bicgstab
};

/// The directions that flexible GMRES keeps, unless a number is given.
inline constexpr int kDefaultRestart = 30;

/// How an iterative solve ended.
enum class SolveStatus {
  converged,
  iteration_limit,  // the iteration limit came first
  stagnated,        // the residual stopped falling, or rounding hides it
  indefinite,       // p.Ap <= 0: the operator is not positive definite
  not_finite,       // a NaN or an infinity appeared
  interrupted,      // the observer asked to stop
  diverged,         // the residual grew beyond all measure (stationary iterations)
  no_step           // a step in time could not be made
};

/// One or two words for tables and result files.
std::string_view status_name(SolveStatus status);

/// What an observer answers after each iteration.
enum class Continue { yes, no };

/// What x holds before a solve.
enum class Guess { any, zero };

struct SolveOptions {
  /// Stop at ||b - A x|| <= relative_tolerance * reference_norm.
  double relative_tolerance = 1e-8;
  /// ||b||. If it is 0, the tolerance is relative to the initial residual.
  double reference_norm = 0.0;
  int max_iterations = 1000;
  /// After every so many iterations r = b - A x is computed anew, and the iteration goes on from
  /// it; 0 means never. The residual of the recurrence then drifts from the true one during that
  /// many iterations only.
  int replacement_interval = 0;
  /// With Guess::zero x is 0, which may spare an application of A.
  Guess guess = Guess::any;
  /// Called after every iteration with its number and relative residual; may be empty.
  std::function<Continue(int iteration, double relative_residual)> observer;
};

struct SolveReport {
  SolveStatus status = SolveStatus::iteration_limit;
  int iterations = 0;
  /// The norm by which residuals are divided: that of the options or, if that is 0, that of the
  /// initial residual.
  double reference_norm = 0.0;
  /// ||r|| / reference_norm before the first and after every iteration (recurrence residual).
  std::vector<double> history;
  /// ||b - A x|| / reference_norm, computed from x at the end.
  double true_relative_residual = 0.0;
};

/// An iterative method for A x = b with an operator, a preconditioner, which both have to outlive
/// it, and all vectors that it needs. krylov/methods.hpp makes one by its name.
///
/// solve() allocates no memory for vectors. On the GPU iterations are replays of a CUDA graph,
/// which is kept as long as x stays where it is, and b as well if iterations read it. One call of
/// solve() must have returned before the next one begins; the program ends (check.hpp) if a call
/// breaks this rule, or if the size of a vector is not that of A.
template <class T, class Space>
class Solver {
 public:
  virtual ~Solver() = default;

  /// The size of A and of the vectors.
  virtual std::int64_t size() const = 0;
  /// Solves A x = b from the guess in x. @throws DeviceError, on the GPU
  SolveReport solve(const Vector<T, Space>& b, Vector<T, Space>& x, const SolveOptions& options) {
    TESSERA_CHECK(b.size() == size());
    TESSERA_CHECK(x.size() == size());
    TESSERA_CHECK(&b != &x);
    const OneUseAtATime::Use use(guard_);
    return do_solve(b, x, options);
  }
  /// To be called when the operator or the preconditioner has changed since the last solve, for
  /// instance its coefficients: forgets what was recorded of them. Vectors stay.
  virtual void update() {}
  /// Whether one kernel does whole iterations, the operator's part as well (ResidentCg).
  virtual bool iterates_in_one_kernel() const { return false; }

  /// The work of solve(), which has checked the vectors; call that function instead.
  virtual SolveReport do_solve(const Vector<T, Space>& b, Vector<T, Space>& x,
                               const SolveOptions& options) = 0;

 private:
  OneUseAtATime guard_;
};

}  // namespace tessera
