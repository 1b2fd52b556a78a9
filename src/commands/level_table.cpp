// This file prints the levels of a multigrid cycle.
#include "src/commands/level_table.hpp"

#include <fmt/format.h>

#include "mesh/box_text.hpp"
#include "postprocess/files/human_units.hpp"
#include "postprocess/files/text_table.hpp"

namespace tessera {

std::string level_table(const std::vector<LevelSummary>& levels, int dimension) {
  TextTable table({{"level"},
                   {"degree"},
                   {"cells", Align::left},
                   {"DoFs"},
                   {"operator", Align::left},
                   {"memory"},
                   {"traffic per cycle"},
                   {"share"}});
  double sum = 0.0;
  Index bytes = 0;
  for (const LevelSummary& level : levels) {
    sum += level.cycle_bytes;
    bytes += level.bytes;
  }
  for (std::size_t l = 0; l < levels.size(); ++l) {
    const LevelSummary& level = levels[l];
    table.add_row({std::to_string(l), std::to_string(level.shape.degree),
                   box_text(level.shape.cells, dimension),
                   human_count(static_cast<double>(level.dofs)), level.strategy,
                   bytes_text(level.bytes), human_bytes(level.cycle_bytes),
                   fmt::format("{:.1f} %", 100.0 * level.cycle_bytes / sum)});
  }
  table.add_row({"all", "", "", "", "", bytes_text(bytes), human_bytes(sum), "100 %"});
  return table.text();
}

}  // namespace tessera
