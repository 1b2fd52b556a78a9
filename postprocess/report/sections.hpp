// The sections of a report.
#pragma once

#include <vector>

#include "postprocess/report/page.hpp"
#include "postprocess/report/plots/series_styles.hpp"
#include "postprocess/report/sources.hpp"

namespace tessera::report {

/// What an application of each strategy costs: speed by degree and by size, memory, set-up, and the
/// roofline.
void add_operators(Page& page, const std::vector<const TableSource*>& tables, SeriesStyles& styles);

/// Time to solution, iterations and energy by size, for each solver.
void add_solvers(Page& page, const std::vector<const TableSource*>& tables, SeriesStyles& styles);

/// Speed-up and efficiency of what several numbers of ranks measured.
void add_scalings(Page& page, const std::vector<TableSource>& tables);

/// Errors over the width of cells, and over the time they cost.
void add_convergence(Page& page, const std::vector<const TableSource*>& tables,
                     SeriesStyles& styles);
/// The same over the length of steps.
void add_convergence_in_time(Page& page, const std::vector<const TableSource*>& tables,
                             SeriesStyles& styles);

/// Runs side by side, then each by itself.
void add_runs(Page& page, const std::vector<RunSource>& runs);
/// @param residuals stands among the run's figures, if it has panels
void add_run(Page& page, const RunSource& run, Figure residuals);
/// Of a run in time its steps, and the values at its probes.
void add_time(Page& page, const RunSource& run);

/// What made each table, and how to repeat it.
void add_origins(Page& page, const std::vector<TableSource>& tables);
/// All rows of each table, as they are.
void add_all_rows(Page& page, const std::vector<TableSource>& tables);

}  // namespace tessera::report
