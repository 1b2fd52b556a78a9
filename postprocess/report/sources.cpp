// This file reads what a report is made of.
#include "postprocess/report/sources.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

namespace tessera::report {
namespace {

namespace fs = std::filesystem;

constexpr std::array kRunFiles = {"result.json", "residuals.csv", "timings.csv", "case.toml",
                                  "steps.csv"};
// CSV files of a run, which are no studies.
constexpr std::array kRunTables = {"residuals.csv", "timings.csv", "probes.csv", "steps.csv",
                                   "launches.csv"};

template <class Names>
bool contains(const Names& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// What is no table at all is told of by what it is not, rather than by its lines.
CsvTable csv_of(const std::string& name, const std::string& text) {
  try {
    return {name, text};
  } catch (const BadInput&) {
    if (text.starts_with("# Tessera") || name.ends_with(".csv")) throw;
    throw BadInput(name + ": neither a directory of results nor a CSV file of Tessera");
  }
}

TableKind kind_of(const std::string& name, const CsvTable& table) {
  if (table.has_all({"kernel", "scatter", "degree", "dofs", "min_s", "dofs_per_s", "outcome"})) {
    return TableKind::operators;
  }
  if (table.has_all({"solver", "degree", "dofs", "iterations", "min_s", "outcome"})) {
    return TableKind::solvers;
  }
  if (table.has_all({"degree", "cells", "dofs", "h", "l2", "rate_l2"})) {
    return TableKind::convergence;
  }
  if (table.has_all({"degree", "step", "steps", "l2", "rate_l2"})) {
    return TableKind::convergence_in_time;
  }
  if (table.names_tessera()) return TableKind::other;
  throw BadInput(name +
                 ": not a CSV file of Tessera: its columns are none of compare's or convergence's, "
                 "and its first line does not begin with \"# Tessera\"");
}

bool is_run(const fs::path& directory) {
  return std::any_of(kRunFiles.begin(), kRunFiles.end(),
                     [&](const char* name) { return fs::exists(directory / name); });
}

std::vector<fs::path> entries(const fs::path& directory) {
  std::error_code error;
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(directory, error)) paths.push_back(entry.path());
  if (error) throw BadInput(directory.string() + ": " + error.message());
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::optional<CsvTable> run_table(RunSource& run, const char* name) {
  const fs::path path = run.directory / name;
  if (!fs::exists(path)) {
    run.gaps.push_back(fmt::format("{} is missing.", name));
    return std::nullopt;
  }
  return CsvTable(path.string(), file_content(path));
}

// Empty if there is none.
std::string read_picture(RunSource& run, const char* name) {
  if (!fs::exists(run.directory / name)) return "";
  std::string picture = file_content(run.directory / name);
  if (picture.starts_with("\x89PNG")) return picture;
  run.gaps.push_back(fmt::format("{} is not a PNG file.", name));
  return "";
}

RunSource read_run(const fs::path& directory, const std::string& label) {
  RunSource run;
  run.label = label;
  run.directory = directory;
  const fs::path result = directory / "result.json";
  if (fs::exists(result)) {
    run.result = nlohmann::ordered_json::parse(file_content(result), nullptr, false);
    if (!run.result.is_object()) {
      throw BadInput(result.string() + ": not a JSON object: the file is damaged or cut off");
    }
    if (!run.result.contains("dofs") || !run.result.contains("solver")) {
      throw BadInput(result.string() +
                     ": not a result of Tessera: it has no \"dofs\" or \"solver\"");
    }
  } else {
    run.gaps.emplace_back("The run is unfinished: result.json is missing.");
  }
  if (fs::exists(directory / "steps.csv")) {
    run.steps = run_table(run, "steps.csv");
  } else {
    run.residuals = run_table(run, "residuals.csv");
  }
  run.timings = run_table(run, "timings.csv");
  if (fs::exists(directory / "probes.csv")) run.probes = run_table(run, "probes.csv");
  if (fs::exists(directory / "case.toml")) {
    run.case_text = clean_text(file_content(directory / "case.toml"));
  } else {
    run.gaps.emplace_back("case.toml is missing.");
  }
  run.picture = read_picture(run, "solution.png");
  run.animation = read_picture(run, "animation.png");
  return run;
}

class Reader {
 public:
  Sources read(const std::vector<ReportInput>& inputs) {
    for (const ReportInput& input : inputs) {
      try {
        read(input, label_of(input, inputs));
      } catch (const fs::filesystem_error& error) {
        throw BadInput(fmt::format("{}: {}", input.path.string(), error.code().message()));
      }
    }
    return std::move(sources_);
  }

 private:
  void read(const ReportInput& input, const std::string& label) {
    if (input.text) {
      add_table(input.path.string(), label, *input.text);
    } else if (fs::is_directory(input.path)) {
      add_directory(input.path, label);
    } else if (fs::is_regular_file(input.path)) {
      add_table(input.path.string(), label, file_content(input.path));
    } else {
      throw BadInput(input.path.string() + (fs::exists(input.path)
                                                ? ": neither a file nor a directory"
                                                : ": no such file or directory"));
    }
  }

  static std::string short_name(const fs::path& path) {
    const fs::path given = path.has_filename() ? path : path.parent_path();
    return given.extension() == ".csv" ? given.stem().string() : given.filename().string();
  }

  // The last part of the path, or all of it where another input's is the same.
  static std::string label_of(const ReportInput& input, const std::vector<ReportInput>& inputs) {
    const std::string name = short_name(input.path);
    const auto same = std::count_if(inputs.begin(), inputs.end(), [&](const ReportInput& other) {
      return short_name(other.path) == name;
    });
    return clean_text(same > 1 || name == "." || name == ".." ? input.path.string() : name);
  }

  void add_table(const std::string& name, const std::string& label, const std::string& text) {
    CsvTable table = csv_of(name, text);
    const TableKind kind = kind_of(name, table);
    if (table.size() == 0) throw BadInput(name + ": no rows below its header");
    sources_.tables.push_back({label, clean_text(name), kind, std::move(table)});
  }

  void add_directory(const fs::path& directory, const std::string& label) {
    if (is_run(directory)) {
      sources_.runs.push_back(read_run(directory, label));
      return;
    }
    const std::size_t before = sources_.runs.size() + sources_.tables.size();
    std::vector<fs::path> tables;
    for (const fs::path& path : entries(directory)) {
      if (fs::is_directory(path)) {
        if (is_run(path)) {
          sources_.runs.push_back(
              read_run(path, clean_text(label + "/" + path.filename().string())));
        }
      } else if (path.extension() == ".csv" && !contains(kRunTables, path.filename().string())) {
        tables.push_back(path);
      }
    }
    for (const fs::path& path : tables) {
      // Series of one problem from two tables are two.
      const std::string own = tables.size() == 1 ? label : label + "/" + path.stem().string();
      add_table(path.string(), clean_text(own), file_content(path));
    }
    if (sources_.runs.size() + sources_.tables.size() == before) {
      throw BadInput(directory.string() +
                     ": no results of Tessera: neither result.json, nor directories that have one, "
                     "nor CSV files");
    }
  }

  Sources sources_;
};

}  // namespace

std::string file_content(const fs::path& path) {
  constexpr std::uintmax_t kMaxBytes = std::uintmax_t{64} << 20;
  std::error_code error;
  if (fs::file_size(path, error) > kMaxBytes && !error) {
    throw BadInput(path.string() + ": too large for a report");
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) throw BadInput(fmt::format("{}: {}", path.string(), std::strerror(errno)));
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

Sources read_sources(const std::vector<ReportInput>& inputs) { return Reader().read(inputs); }

}  // namespace tessera::report
