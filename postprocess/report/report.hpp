// A report is one page about runs, comparisons and tables.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "postprocess/files/output_directory.hpp"
#include "postprocess/report/sources.hpp"

namespace tessera::report {

/// Refuses a path where something is that no report may replace, before anything is computed.
/// @throws BadInput if a file is there that is not a report and overwriting is not allowed, or a
///         directory, or if nothing can be written there
/// @throws OutputError if the disk is full
/// @throws PlotError if there is no gnuplot
void require_writable_report(const std::filesystem::path& path, Overwrite overwrite);

/// Writes a page about the inputs that needs no other file: what was computed and how to repeat it,
/// plots with their numbers, machine and provenance. The same inputs give the same page.
/// @throws BadInput, PlotError, OutputError
void write_report(const std::vector<ReportInput>& inputs, const std::filesystem::path& path);

/// A plot as an SVG file of its own.
struct PlotFile {
  std::filesystem::path path;
  std::string svg;
};

/// The plots of that page as files in a directory.
/// @throws BadInput, PlotError
std::vector<PlotFile> make_plots(const std::vector<ReportInput>& inputs,
                                 const std::filesystem::path& directory);

}  // namespace tessera::report
