// This file lays out the rows of the study update-order.
#include "src/studies/update_order/update_order_table.hpp"

#include <algorithm>
#include <iterator>

namespace tessera {
namespace {

constexpr char kProbe[] = "probe";
constexpr char kStart[] = "start";
constexpr char kRelaxation[] = "relaxation";

// The metrics of a part among those of all.
std::vector<StudyCell> cells_of(const std::string& part, const std::vector<StudyCell>& own) {
  const StudyLayout layout = update_order_layout();
  std::vector<StudyCell> cells(layout.metrics.size());
  const auto first = std::find_if(layout.metrics.begin(), layout.metrics.end(),
                                  [&](const StudyColumn& column) { return column.part == part; });
  std::copy(own.begin(), own.end(), cells.begin() + std::distance(layout.metrics.begin(), first));
  return cells;
}

double percent_of(std::int64_t count, std::int64_t all) {
  return 100.0 * static_cast<double>(count) / static_cast<double>(std::max<std::int64_t>(all, 1));
}

}  // namespace

StudyLayout update_order_layout() {
  const auto of = [](const char* part, std::string name, std::string header) {
    return StudyColumn{.name = std::move(name), .header = std::move(header), .part = part};
  };
  StudyColumn histogram = of(kProbe, "histogram", "");
  histogram.place = StudyColumn::Place::file;
  return {
      .parameters = {{"part"},
                     of(kProbe, "path", ""),
                     {"block"},
                     of(kStart, "wave", ""),
                     of(kRelaxation, "problem", ""),
                     of(kRelaxation, "blocks", ""),
                     of(kRelaxation, "every", ""),
                     of(kRelaxation, "sweeps", "")},
      .metrics = {of(kProbe, "executions", ""),
                  of(kProbe, "inconsistent_an_execution", "inconsistent"),
                  of(kProbe, "block_first", "block-first"), of(kProbe, "block_last", "block-last"),
                  of(kProbe, "warp_first", "warp-first"), of(kProbe, "warp_last", "warp-last"),
                  of(kProbe, "elsewhere", ""), histogram, of(kStart, "launches", ""),
                  of(kStart, "increasing_percent", "increasing%"),
                  of(kStart, "increasing_by_clock_percent", "by clock%"),
                  of(kStart, "same_multiprocessor_percent", "same SM%"),
                  of(kStart, "displacement", ""), of(kRelaxation, "least", ""),
                  of(kRelaxation, "mean", ""), of(kRelaxation, "most", ""),
                  of(kRelaxation, "spread_over_mean", "spread/mean"),
                  of(kRelaxation, "deviation_over_mean", "dev/mean"),
                  of(kRelaxation, "radius", "rho")},
      .time_unit = "us of an execution or a sweep"};
}

std::string probe_name(ProbeKernel kernel) {
  switch (kernel) {
    case ProbeKernel::kernel0:
      return "kernel0";
    case ProbeKernel::kernel1:
      return "kernel1";
    default:
      return "kernel2";
  }
}

std::string path_name(LoadPath path) { return path == LoadPath::l2 ? "l2" : "cached"; }

std::vector<std::string> probe_parameters(LoadPath path, int block) {
  return {kProbe, path_name(path), std::to_string(block), "", "", "", "", ""};
}

std::vector<std::string> start_parameters(int block, Wave wave) {
  const char* const name = wave == Wave::first ? "first" : wave == Wave::later ? "later" : "all";
  return {kStart, "", std::to_string(block), name, "", "", "", ""};
}

std::vector<std::string> relaxation_parameters(const std::string& problem,
                                               const std::string& blocks, int every, int sweeps) {
  return {kRelaxation, "", "", "", problem, blocks, std::to_string(every), std::to_string(sweeps)};
}

std::vector<StudyCell> probe_cells(std::int64_t executions, const InconsistencyCounts& counts,
                                   int block) {
  const InconsistencyPlaces places = places_of(counts, block);
  const auto number = [](std::int64_t count) { return static_cast<double>(count); };
  return cells_of(kProbe,
                  {number(executions), number(places.all()) / number(executions),
                   number(places.block_first), number(places.block_last), number(places.warp_first),
                   number(places.warp_last), number(places.elsewhere), histogram_text(counts)});
}

std::vector<StudyCell> start_cells(std::int64_t launches, const StartOrder& order) {
  return cells_of(kStart, {static_cast<double>(launches), percent_of(order.increasing, order.pairs),
                           percent_of(order.increasing_by_clock, order.pairs),
                           percent_of(order.same_multiprocessor, order.pairs),
                           static_cast<double>(order.displacement)});
}

std::vector<StudyCell> relaxation_cells(const ResidualSpread& spread, double radius) {
  return cells_of(kRelaxation, {spread.least, spread.mean, spread.most,
                                (spread.most - spread.least) / spread.mean,
                                spread.deviation / spread.mean, radius});
}

}  // namespace tessera
