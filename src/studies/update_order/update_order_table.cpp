// This file lays out the rows of the study update-order.
#include "src/studies/update_order/update_order_table.hpp"

#include <algorithm>
#include <iterator>

namespace tessera {
namespace {

// The metrics of a part among those of all.
std::vector<StudyCell> cells_of(const std::string& part, const std::vector<StudyCell>& own) {
  const StudyLayout layout = update_order_layout();
  std::vector<StudyCell> cells(layout.metrics.size());
  const auto first =
      std::find_if(layout.metrics.begin(), layout.metrics.end(),
                   [&](const StudyColumn& column) { return column.parts == std::vector{part}; });
  std::copy(own.begin(), own.end(), cells.begin() + std::distance(layout.metrics.begin(), first));
  return cells;
}

double percent_of(std::int64_t count, std::int64_t all) {
  return 100.0 * static_cast<double>(count) / static_cast<double>(std::max<std::int64_t>(all, 1));
}

}  // namespace

StudyLayout update_order_layout() {
  const auto of = [](const char* part, std::string name, std::string header) {
    return StudyColumn{.name = std::move(name), .header = std::move(header), .parts = {part}};
  };
  StudyColumn histogram = of(kProbePart, "histogram", "");
  histogram.place = StudyColumn::Place::file;
  return {.parameters = {{"part"},
                         of(kProbePart, "path", ""),
                         {"block"},
                         of(kStartPart, "wave", ""),
                         of(kRelaxationPart, "problem", ""),
                         of(kRelaxationPart, "blocks", ""),
                         of(kRelaxationPart, "every", ""),
                         of(kRelaxationPart, "sweeps", "")},
          .metrics = {of(kProbePart, "executions", ""),
                      of(kProbePart, "inconsistent_per_execution", "inconsistent"),
                      of(kProbePart, "block_first", "block-first"),
                      of(kProbePart, "block_last", "block-last"),
                      of(kProbePart, "warp_first", "warp-first"),
                      of(kProbePart, "warp_last", "warp-last"), of(kProbePart, "elsewhere", ""),
                      histogram, of(kStartPart, "launches", ""),
                      of(kStartPart, "increasing_percent", "increasing%"),
                      of(kStartPart, "increasing_by_clock_percent", "by clock%"),
                      of(kStartPart, "same_multiprocessor_percent", "same SM%"),
                      of(kStartPart, "displacement", ""), of(kRelaxationPart, "least", ""),
                      of(kRelaxationPart, "mean", ""), of(kRelaxationPart, "most", ""),
                      of(kRelaxationPart, "spread_over_mean", "spread/mean"),
                      of(kRelaxationPart, "deviation_over_mean", "dev/mean"),
                      of(kRelaxationPart, "radius", "rho")},
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
  return {kProbePart, path_name(path), std::to_string(block), "", "", "", "", ""};
}

std::vector<std::string> start_parameters(int block, Wave wave) {
  const char* const name = wave == Wave::first ? "first" : wave == Wave::later ? "later" : "all";
  return {kStartPart, "", std::to_string(block), name, "", "", "", ""};
}

std::vector<std::string> relaxation_parameters(const std::string& problem,
                                               const std::string& blocks, int every, int sweeps) {
  return {kRelaxationPart,       "", "", "", problem, blocks, std::to_string(every),
          std::to_string(sweeps)};
}

std::vector<StudyCell> probe_cells(std::int64_t executions, const InconsistencyCounts& counts,
                                   int block) {
  const InconsistencyPlaces places = places_of(counts, block);
  const auto number = [](std::int64_t count) { return static_cast<double>(count); };
  return cells_of(kProbePart,
                  {number(executions), number(places.all()) / number(executions),
                   number(places.block_first), number(places.block_last), number(places.warp_first),
                   number(places.warp_last), number(places.elsewhere), histogram_text(counts)});
}

std::vector<StudyCell> start_cells(std::int64_t launches, const StartOrder& order) {
  return cells_of(kStartPart,
                  {static_cast<double>(launches), percent_of(order.increasing, order.pairs),
                   percent_of(order.increasing_by_clock, order.pairs),
                   percent_of(order.same_multiprocessor, order.pairs),
                   static_cast<double>(order.displacement)});
}

std::vector<StudyCell> relaxation_cells(const ResidualSpread& spread, double radius) {
  return cells_of(kRelaxationPart,
                  {spread.min, spread.mean, spread.max, (spread.max - spread.min) / spread.mean,
                   spread.deviation / spread.mean, radius});
}

}  // namespace tessera
