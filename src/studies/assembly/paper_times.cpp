#include "src/studies/assembly/paper_times.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace tessera {
namespace {

constexpr std::array<int, 5> kThreads = {1, 2, 4, 8, 16};

struct PaperRow {
  std::string_view variant;
  int operations;
  /// By kThreads; fewer where it was not run on more.
  std::vector<double> milliseconds;
};

const std::vector<PaperRow>& table_2() {
  static const std::vector<PaperRow> rows = {
      {"serial", 1, {4.09}},
      {"transaction/entry", 1, {10.87, 6.18, 3.65, 2.35, 1.47}},
      {"atomic", 1, {9.52, 5.20, 3.22, 1.92, 1.23}},
      {"lock-entry", 1, {23.20, 12.68, 7.42, 4.17, 2.39}},
      {"serial", 100, {6.50}},
      {"transaction/entry", 100, {13.47, 7.79, 4.54, 2.64, 1.63}},
      {"atomic", 100, {12.30, 6.58, 3.90, 2.30, 1.42}},
      {"lock-entry", 100, {26.39, 14.33, 8.43, 4.70, 2.70}},
      {"serial", 1000, {26.33}},
      {"transaction/entry", 1000, {33.38, 17.68, 9.62, 5.16, 2.91}},
      {"atomic", 1000, {39.41, 20.46, 11.05, 6.00, 3.77}},
      {"lock-entry", 1000, {46.26, 24.31, 13.95, 7.17, 4.23}},
  };
  return rows;
}

}  // namespace

std::optional<double> paper_milliseconds(std::string_view variant, int operations, int threads) {
  const auto column = static_cast<std::size_t>(
      std::find(kThreads.begin(), kThreads.end(), threads) - kThreads.begin());
  for (const PaperRow& row : table_2()) {
    if (row.variant == variant && row.operations == operations &&
        column < row.milliseconds.size()) {
      return row.milliseconds[column];
    }
  }
  return std::nullopt;
}

}  // namespace tessera
