// This file turns results into JSON and CSV.
#include "postprocess/files/result_files.hpp"

#include <fmt/format.h>

#include <iterator>
#include <string>

namespace tessera {
namespace {

using Json = nlohmann::ordered_json;

Json json_or_null(const std::optional<double>& number) { return number ? Json(*number) : Json(); }

Json cells_json(const std::array<std::int64_t, 3>& cells, int dimension) {
  Json json = Json::array();
  for (int d = 0; d < dimension; ++d) json.push_back(cells[d]);
  return json;
}

Json levels_json(const std::vector<RunResult::Level>& levels, int dimension) {
  Json json = Json::array();
  for (const RunResult::Level& level : levels) {
    json.push_back({{"degree", level.degree},
                    {"cells", cells_json(level.cells, dimension)},
                    {"dofs", level.dofs},
                    {"operator", level.strategy},
                    {"bytes", level.bytes},
                    {"largest_eigenvalue", level.largest_eigenvalue}});
  }
  return json;
}

Json solver_json(const RunResult::Solver& solver, int dimension) {
  return {{"method", solver.method},
          {"preconditioner", solver.preconditioner},
          {"status", solver.status},
          {"iterations", solver.iterations},
          {"converged", solver.converged},
          {"initial_relative_residual", solver.initial_relative_residual},
          {"relative_residual", solver.relative_residual},
          {"relative_tolerance", solver.relative_tolerance},
          {"likely_causes", solver.likely_causes},
          {"levels", levels_json(solver.levels, dimension)},
          {"notes", solver.notes}};
}

}  // namespace

Json to_json(const RunResult& result) {
  Json json = {
      {"title", result.title},         {"dimension", result.dimension},
      {"degree", result.degree},       {"cells", cells_json(result.cells, result.dimension)},
      {"dofs", result.dofs},           {"kernel", result.kernel},
      {"scatter", result.scatter},     {"geometry", result.geometry},
      {"device", result.device},       {"threads", result.threads},
      {"precision", result.precision}, {"solver", solver_json(result.solver, result.dimension)},
      {"notes", result.notes}};
  if (result.error) {
    json["error"] = {{"l2", result.error->l2},
                     {"h1_seminorm", result.error->h1_seminorm},
                     {"max", result.error->max}};
  }
  json["solution"] = {{"min", result.solution.min},
                      {"max", result.solution.max},
                      {"integral", result.solution.integral},
                      {"energy", result.solution.energy}};
  json["timing"] = {
      {"setup_s", result.timing.setup_s},           {"solve_s", result.timing.solve_s},
      {"apply_s", result.timing.apply_s},           {"dofs_per_s", result.timing.dofs_per_s},
      {"gbytes_per_s", result.timing.gbytes_per_s}, {"total_s", result.timing.total_s}};
  json["energy_use"] = {{"cpu_j", json_or_null(result.energy_use.cpu_j)},
                        {"gpu_j", json_or_null(result.energy_use.gpu_j)},
                        {"j_per_dof", json_or_null(result.energy_use.j_per_dof)},
                        {"note", result.energy_use.note}};
  json["memory"] = {{"operator_bytes", result.memory.operator_bytes},
                    {"peak_bytes", result.memory.peak_bytes},
                    {"peak_device_bytes", nullptr}};
  if (result.memory.peak_device_bytes) {
    json["memory"]["peak_device_bytes"] = *result.memory.peak_device_bytes;
  }
  json["provenance"] = {
      {"version", result.provenance.version},   {"commit", result.provenance.commit},
      {"compiler", result.provenance.compiler}, {"machine", result.provenance.machine},
      {"gpu", result.provenance.gpu},           {"started", result.provenance.started}};
  if (!result.timers.is_null()) json["timers"] = result.timers;
  return json;
}

std::string result_text(const RunResult& result) {
  // The library writes null for numbers that are not finite, and must not throw on odd bytes in a
  // title.
  return to_json(result).dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string residuals_csv(std::span<const double> relative_residuals, double reference_norm) {
  std::string csv = "iteration,residual,relative_residual\n";
  for (std::size_t i = 0; i < relative_residuals.size(); ++i) {
    fmt::format_to(std::back_inserter(csv), "{},{:.10e},{:.10e}\n", i,
                   relative_residuals[i] * reference_norm, relative_residuals[i]);
  }
  return csv;
}

}  // namespace tessera
