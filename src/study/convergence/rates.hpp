// These functions judge how errors fall from mesh to mesh.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "mesh/index.hpp"
#include "postprocess/error_norms.hpp"

namespace tessera {

/// The norms of the error: L2, the H1 seminorm, the maximum over nodes.
inline constexpr int kErrorNorms = 3;

/// What rates are computed from: one mesh, or one length of steps, solved.
struct SolvedMesh {
  /// How large the largest cell is (cell_size() in meshes.hpp), or the length of a step.
  double h = 0.0;
  std::array<double, kErrorNorms> errors{};
  /// Below these, errors are rounding, what the solver leaves, or of another kind.
  std::array<double, kErrorNorms> floors{};
};

/// How an error fell from the mesh before.
struct Rate {
  /// log(error before / error) / log(h before / h); absent on the first mesh, where an error is 0
  /// or not known, where the error before is rounding, or where h hardly changes.
  std::optional<double> value = {};
  /// Rounding takes over: the error is near its floor and falls more slowly than it did, or should.
  bool is_rounding = false;
  /// Whether h is about halved, so that the rate tells.
  bool is_judged = false;
};

/// "2.97", the word if it is lost, or a dash.
std::string rate_text(const Rate& rate, const std::string& if_lost);

/// What errors are expected to do, and words for where they do not.
struct ExpectedRates {
  double l2;
  double h1;
  /// What takes over from the error that falls.
  std::string floor;
  /// A question to the user where a rate is wrong.
  std::string doubt;
};

/// degree + 1 in L2, degree in H1; none in the maximum norm, where nodes may do better.
ExpectedRates rates_in_space(int degree);
/// The order of the method in both.
ExpectedRates rates_in_time(int order);

/// Rates of the meshes of one degree, coarse to fine.
std::vector<std::array<Rate, kErrorNorms>> rates_of(const std::vector<SolvedMesh>& meshes,
                                                    const ExpectedRates& expected);

enum class RateVerdict { as_expected, unknown, too_low };

struct Judgment {
  RateVerdict verdict = RateVerdict::unknown;
  /// One line without a full stop.
  std::string text;
};

/// What the finest rates that are not rounding say of a degree. Too low is a rate that is less than
/// expected by more than kRateTolerance, and does not rise toward it any more; an error that does
/// not fall has none that rises.
Judgment judge(const std::vector<std::array<Rate, kErrorNorms>>& rates,
               const ExpectedRates& expected);
inline constexpr double kRateTolerance = 0.3;

/// Least errors that rounding leaves: K epsilon N |u| in L2 and in the maximum norm, K epsilon p^2
/// / h |u| in H1, with N = p^2 times the cells along the longest axis, as the root of the condition
/// number. A solver that leaves a larger relative residual than rounding would adds to epsilon.
struct FloorInput {
  double epsilon;
  double relative_residual;
  int degree;
  Index cells;  // along the axis that has most
  double h;
  double magnitude;  // of u
  double volume;
};
std::array<double, kErrorNorms> error_floors(const FloorInput& input);

}  // namespace tessera
