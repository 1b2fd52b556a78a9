// A random case has any mesh, problem and strategy that is admissible.
#pragma once

#include <rapidcheck.h>

#include <iosfwd>
#include <optional>
#include <string>

#include "src/case/setup.hpp"

namespace tessera::testing {

/// Units of single precision: powers of ten of lengths and coefficients within which all that is
/// computed from them has digits to spare.
inline constexpr int kSafeSingleDecades = 3;
/// Of double precision with a cycle, or another part of the solver, in single precision.
inline constexpr int kSafeMixedDecades = 3;
/// Of double precision throughout.
inline constexpr int kDoubleDecades = 30;
/// How far a box may lie from the origin, in lengths of its longest axis.
inline constexpr double kSafeOffset = 4.0;

/// What random cases are drawn from.
struct CaseRange {
  /// Lengths and coefficients are multiplied by powers of ten of at most this size.
  int decades = kDoubleDecades;
  /// At most so many DoFs, and so many pairs of quadrature points and nodes in all cells.
  Index max_dofs = 3000;
  double max_work = 2e5;
  /// The precision of all cases; without it, that of each is drawn.
  std::optional<Precision> precision = {};
};

/// A case file. Shown as it is: a failure is reproduced by `tessera run` on what is printed.
struct RandomCase {
  std::string text;
};

void showValue(const RandomCase& random_case, std::ostream& out);

/// Cases with every kind of mesh, space, coefficient, boundary condition, strategy and solver. Most
/// keys suit each other; that all do is for the checks of the program to say.
rc::Gen<RandomCase> random_cases(const CaseRange& range);

/// Counts the cases that the program refuses, whose share must be small: a property that holds of
/// nothing says nothing.
class Refusals {
 public:
  /// The case as the program reads it; nothing if it refuses it.
  std::optional<LoadedCase> load(const RandomCase& random_case);
  /// Expects that at most this share of cases was refused.
  void expect_at_most(double share) const;

 private:
  int cases_ = 0;
  int refused_ = 0;
  std::string last_;
};

/// Runs a property on cases: `cases` of them with a fixed seed, or as RC_PARAMS says. Failures are
/// those of the running test, with the smallest case that fails.
void expect_for_all(const rc::Gen<RandomCase>& generator, int cases,
                    const std::function<void(const RandomCase&)>& property);

}  // namespace tessera::testing
