#include "solvers/convergence_spread.hpp"

#include <cmath>

namespace tessera {

std::vector<ResidualSpread> residual_spread(const std::vector<std::vector<double>>& runs,
                                            const std::vector<double>& synchronous) {
  const auto count = static_cast<double>(runs.size());
  std::vector<ResidualSpread> spreads;
  for (std::size_t i = 0; i < synchronous.size(); ++i) {
    ResidualSpread spread{static_cast<int>(i) + 1, runs[0][i], 0.0, runs[0][i], 0.0,
                          synchronous[i]};
    for (const std::vector<double>& run : runs) {
      if (std::isnan(run[i])) spread.least = spread.most = run[i];
      if (run[i] < spread.least) spread.least = run[i];
      if (run[i] > spread.most) spread.most = run[i];
      spread.mean += run[i] / count;
    }
    double variance = 0.0;
    for (const std::vector<double>& run : runs) {
      variance += (run[i] - spread.mean) * (run[i] - spread.mean) / count;
    }
    spread.deviation = std::sqrt(variance);
    spreads.push_back(spread);
  }
  return spreads;
}

}  // namespace tessera
