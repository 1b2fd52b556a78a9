// This file computes rates, and tells rounding from rates that are too low.
#include "src/study/convergence/rates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tessera {
namespace {

// An error so many times its floor may still be rounding if it had fallen as it should before.
constexpr double kNearFloor = 100.0;
// A rate that rises by less from mesh to mesh rises no more.
constexpr double kRise = 0.1;
// Where h falls by less, the rate is noise divided by nearly nothing.
constexpr double kLeastFall = 1.2;
constexpr double kAboutHalved = 1.5;

constexpr std::array<const char*, kErrorNorms> kNormNames = {"L2", "H1", "max"};

std::optional<double> rate_between(double before, double after, double h_ratio) {
  const bool is_known = before > 0.0 && after > 0.0 && std::isfinite(before) &&
                        std::isfinite(after) && h_ratio >= kLeastFall;
  if (!is_known) return std::nullopt;
  return std::log(before / after) / std::log(h_ratio);
}

bool is_short_of(double rate, double expected) { return rate < expected - kRateTolerance; }

}  // namespace

std::string rate_text(const Rate& rate, const std::string& if_lost) {
  if (rate.is_rounding) return if_lost;
  return rate.value ? fmt::format("{:.2f}", *rate.value) : "-";
}

ExpectedRates rates_in_space(int degree) {
  return {degree + 1.0, static_cast<double>(degree), "rounding",
          "is `exact` the solution, and is it smooth in each cell?"};
}

ExpectedRates rates_in_time(int order) {
  const auto rate = static_cast<double>(order);
  return {rate, rate, "the error in space or rounding",
          "is `exact` the solution from the start on, and are the data smooth in time?"};
}

std::vector<std::array<Rate, kErrorNorms>> rates_of(const std::vector<SolvedMesh>& meshes,
                                                    const ExpectedRates& expected_rates) {
  std::vector<std::array<Rate, kErrorNorms>> rates(meshes.size());
  for (int norm = 0; norm < kErrorNorms; ++norm) {
    // At nodes the error falls at least as in L2.
    const double expected = norm == 1 ? expected_rates.h1 : expected_rates.l2;
    bool was_rounding = false;
    bool was_right = false;
    for (std::size_t i = 0; i < meshes.size(); ++i) {
      const double error = meshes[i].errors[norm];
      const double floor = meshes[i].floors[norm];
      Rate& rate = rates[i][norm];
      if (i > 0) {
        const double h_ratio = meshes[i - 1].h / meshes[i].h;
        rate.value = rate_between(meshes[i - 1].errors[norm], error, h_ratio);
        rate.is_judged = h_ratio >= kAboutHalved;
      }
      const bool is_low = !rate.value || is_short_of(*rate.value, expected);
      const double limit = was_right || was_rounding ? kNearFloor * floor : floor;
      rate.is_rounding = (was_rounding || is_low) && error <= limit;
      // On a coarse mesh all nodes may be on the boundary, or the error may vanish at them: what
      // is left there is rounding, and the error of the next mesh has not grown from it.
      if (was_rounding && !rate.is_rounding) rate.value.reset();
      was_rounding = rate.is_rounding;
      was_right = rate.value && !is_low;
    }
  }
  return rates;
}

Judgment judge(const std::vector<std::array<Rate, kErrorNorms>>& rates,
               const ExpectedRates& expected_rates) {
  std::vector<std::string> found;
  bool is_low = false;
  bool is_rising = true;
  int lost = 0;
  for (int norm = 0; norm < 2; ++norm) {
    const double expected = norm == 0 ? expected_rates.l2 : expected_rates.h1;
    std::optional<double> last;
    std::optional<double> before;
    for (const auto& row : rates) {
      if (row[norm].is_rounding || !row[norm].value || !row[norm].is_judged) continue;
      before = last;
      last = row[norm].value;
    }
    if (!rates.empty() && rates.back()[norm].is_rounding) ++lost;
    if (!last) continue;
    found.push_back(fmt::format("{:.2f} in {}", *last, kNormNames[norm]));
    if (!is_short_of(*last, expected)) continue;
    is_low = true;
    is_rising = is_rising && *last > 0.0 && (!before || *last > *before + kRise);
  }
  const std::string expectation =
      fmt::format("{:g} in L2 and {:g} in H1", expected_rates.l2, expected_rates.h1);
  if (found.empty()) {
    if (lost == 2) {
      return {RateVerdict::as_expected,
              fmt::format("no rate: {} has taken over from the start", expected_rates.floor)};
    }
    const bool is_halved = std::any_of(rates.begin(), rates.end(),
                                       [](const auto& row) { return row.front().is_judged; });
    return {RateVerdict::unknown,
            rates.size() < 2 || is_halved
                ? "no rate: it takes two errors"
                : "no rate that tells: the largest cell is nowhere about halved; finer meshes, by "
                  "--levels, halve it"};
  }
  const std::string text =
      fmt::format("rate {}", fmt::join(found, " and ")) +
      (found.size() < 2 && lost > 0 ? ", the other one is lost in " + expected_rates.floor : "");
  const std::string until =
      lost > 0 ? fmt::format(", until {} takes over", expected_rates.floor) : "";
  if (!is_low) return {RateVerdict::as_expected, text + ": as expected" + until};
  if (is_rising) {
    return {
        RateVerdict::unknown,
        fmt::format("{}: still below the expected {}; finer ones will tell", text, expectation)};
  }
  return {RateVerdict::too_low,
          fmt::format("{}: NOT the expected {}; {}", text, expectation, expected_rates.doubt)};
}

std::array<double, kErrorNorms> error_floors(const FloorInput& input) {
  constexpr double kSafety = 10.0;
  // The residual is measured against the first one, which is rough: the error it leaves is less.
  constexpr double kOfResidual = 0.05;
  const double epsilon = input.epsilon + kOfResidual * input.relative_residual;
  const double square = static_cast<double>(input.degree) * input.degree;
  const double size = kSafety * epsilon * input.magnitude;
  const double max = size * square * static_cast<double>(input.cells);
  return {max * std::sqrt(input.volume), size * std::sqrt(input.volume) * square / input.h, max};
}

}  // namespace tessera
