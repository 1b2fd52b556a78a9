// The rows of the study update-order have three parts: probe, start and relaxation.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "solvers/preconditioners/residual_spread.hpp"
#include "src/studies/study_table.hpp"
#include "src/studies/update_order/order_probe.hpp"

namespace tessera {

/// The parts of the study, each with columns of its own.
inline constexpr char kProbePart[] = "probe";
inline constexpr char kStartPart[] = "start";
inline constexpr char kRelaxationPart[] = "relaxation";

/// Parameters and metrics of all parts; a row leaves those of the other parts empty.
[[nodiscard]] StudyLayout update_order_layout();

/// "kernel1", "l2".
[[nodiscard]] std::string probe_name(ProbeKernel kernel);
[[nodiscard]] std::string path_name(LoadPath path);

/// The variant whose rows are about the order in which blocks start.
inline constexpr const char* kStarts = "starts";
/// Blocks of a launch: those of its first wave, which start on an empty GPU, the later ones, or
/// all.
enum class Wave { first, later, all };

/// Outer sweeps after which residuals are kept.
inline constexpr std::array<int, 12> kKeptSweeps = {1,  10, 20, 30, 40,  50,
                                                    60, 70, 80, 90, 100, 200};

[[nodiscard]] std::vector<std::string> probe_parameters(LoadPath path, int block);
[[nodiscard]] std::vector<std::string> start_parameters(int block, Wave wave);
/// @param every sweeps after which all threads wait for each other
[[nodiscard]] std::vector<std::string> relaxation_parameters(const std::string& problem,
                                                             const std::string& blocks, int every,
                                                             int sweeps);

[[nodiscard]] std::vector<StudyCell> probe_cells(std::int64_t executions,
                                                 const InconsistencyCounts& counts, int block);
[[nodiscard]] std::vector<StudyCell> start_cells(std::int64_t launches, const StartOrder& order);
/// @param radius rho(|I - D^-1 A|)
[[nodiscard]] std::vector<StudyCell> relaxation_cells(const ResidualSpread& spread, double radius);

}  // namespace tessera
