// Where CSV files come from, and their rows as they are.
#include <fmt/format.h>

#include <algorithm>

#include "postprocess/report/html.hpp"
#include "postprocess/report/sections.hpp"

namespace tessera::report {
namespace {

// More would make the page too large to be sent; the CSV file has them.
constexpr std::size_t kMaxRows = 1000;

}  // namespace

void add_origins(Page& page, const std::vector<TableSource>& tables) {
  if (tables.empty()) return;
  page.heading(2, "What was measured, and how to repeat it");
  for (const TableSource& source : tables) {
    const CsvTable& table = source.table;
    page.heading(3, source.name);
    std::string facts;
    std::string toml;
    for (const auto& [key, value] : table.comments()) {
      if (key == "toml") {
        toml += value + '\n';
      } else if (value.empty()) {
        page.html(paragraph(key));
      } else {
        facts += fmt::format("<dt>{}</dt><dd>{}</dd>\n", escaped(key), escaped(value));
      }
    }
    if (!facts.empty()) page.html("<dl>\n" + facts + "</dl>\n");
    if (!toml.empty()) page.html(folded("Its file, with all defaults", toml));
    if (table.comments().empty()) {
      page.html(
          gap("The file does not say on which machine, by which command and version it was "
              "made."));
    }
  }
}

void add_all_rows(Page& page, const std::vector<TableSource>& tables) {
  if (tables.empty()) return;
  page.heading(2, "All measurements");
  for (const TableSource& source : tables) {
    const CsvTable& table = source.table;
    page.heading(3, source.name);
    std::vector<std::vector<std::string>> rows;
    for (std::size_t i = 0; i < std::min(table.size(), kMaxRows); ++i) rows.push_back(table.row(i));
    if (table.size() > kMaxRows) {
      page.html(gap(fmt::format("The first {} of {} rows.", kMaxRows, table.size())));
    }
    page.html(html_table(table.columns(), rows));
  }
}

}  // namespace tessera::report
