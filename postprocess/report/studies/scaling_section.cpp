// Numbers of processes side by side.
#include "postprocess/report/html.hpp"
#include "postprocess/report/sections.hpp"
#include "postprocess/report/studies/scaling.hpp"

namespace tessera::report {

void add_scalings(Page& page, const std::vector<TableSource>& tables) {
  bool has_heading = false;
  for (const TableSource& source : tables) {
    for (const Scaling& scaling : scalings(source.table)) {
      if (!has_heading) {
        page.heading(2, "How processes share the work");
        page.html(paragraph(
            "Speed-up is of DoFs per second, against the fewest ranks; efficiency is speed-up for "
            "each rank. It is foreseen where applications were measured: from the bytes that they "
            "move, the planes that ranks exchange, and the memory's speed with so many ranks."));
        has_heading = true;
      }
      page.heading(3, scaling.title);
      std::vector<std::vector<std::string>> rows;
      for (const ScalingRow& row : scaling.rows) rows.push_back(scaling_cells(row));
      page.html(html_table(scaling_header(), rows));
    }
  }
}

}  // namespace tessera::report
