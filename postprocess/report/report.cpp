// This file puts the sections together and writes the page.
#include "postprocess/report/report.hpp"

#include <algorithm>

#include "postprocess/files/atomic_file.hpp"
#include "postprocess/files/file_head.hpp"
#include "postprocess/report/page.hpp"
#include "postprocess/report/plots/gnuplot.hpp"
#include "postprocess/report/runs/json_values.hpp"
#include "postprocess/report/sections.hpp"

namespace tessera::report {
namespace {

namespace fs = std::filesystem;

std::vector<const TableSource*> of_kind(const Sources& sources, TableKind kind) {
  std::vector<const TableSource*> tables;
  for (const TableSource& table : sources.tables) {
    if (table.kind == kind) tables.push_back(&table);
  }
  return tables;
}

std::string title_of(const Sources& sources) {
  std::string title;
  const auto add = [&](const std::string& name) {
    if (name.empty() || title.find(name) != std::string::npos) return;
    title += (title.empty() ? "" : "; ") + name;
  };
  for (const RunSource& run : sources.runs) add(text_at(run.result, "/title"));
  for (const TableSource& table : sources.tables) add(table.table.comment("title"));
  return title.empty() ? "Tessera report" : title;
}

Page make_page(const std::vector<ReportInput>& inputs) {
  const Sources sources = read_sources(inputs);
  Page page(title_of(sources));
  SeriesStyles strategies;
  SeriesStyles solvers;
  SeriesStyles degrees;
  add_runs(page, sources.runs);
  add_origins(page, sources.tables);
  add_operators(page, of_kind(sources, TableKind::operators), strategies);
  add_solvers(page, of_kind(sources, TableKind::solvers), solvers);
  add_scalings(page, sources.tables);
  add_convergence(page, of_kind(sources, TableKind::convergence), degrees);
  add_convergence_in_time(page, of_kind(sources, TableKind::convergence_in_time), degrees);
  add_all_rows(page, sources.tables);
  return page;
}

bool is_report(const fs::path& path) {
  return file_head(path).find(kGenerator) != std::string::npos;
}

}  // namespace

void require_writable_report(const fs::path& path, Overwrite overwrite) {
  std::error_code unknown;
  if (fs::is_directory(path, unknown)) throw BadInput(path.string() + ": is a directory");
  if (fs::exists(path, unknown) && overwrite == Overwrite::no && !is_report(path)) {
    throw BadInput(path.string() +
                   ": exists and is not a report of Tessera; --overwrite replaces it");
  }
  try {
    AtomicFile(path).write("x");
  } catch (const OutputError& error) {
    if (error.is_for_lack_of_space()) throw;
    throw BadInput(error.what());
  }
  require_gnuplot();
}

void write_report(const std::vector<ReportInput>& inputs, const fs::path& path) {
  write_text_file(path, make_page(inputs).text());
}

std::vector<PlotFile> make_plots(const std::vector<ReportInput>& inputs,
                                 const fs::path& directory) {
  std::vector<PlotFile> files;
  for (auto& [name, svg] : make_page(inputs).svg_files()) {
    files.push_back({directory / name, std::move(svg)});
  }
  return files;
}

}  // namespace tessera::report
