// This template reports what the parts of a solve launch on the GPU.
#pragma once

#include <string>
#include <vector>

#include "solvers/linear_operator.hpp"
#include "solvers/memory/device.hpp"
#include "solvers/preconditioner.hpp"
#include "src/launches/launch_report.hpp"
#include "src/parameters/case_parameters.hpp"

namespace tessera {

/// What one application of the operator launches.
template <class T>
LaunchReport apply_launches(const LinearOperator<T, Device>& a, WaveStep step = WaveStep::leave) {
  LaunchReport report{.work = "apply"};
  try {
    DeviceVector<T> x(a.size());
    DeviceVector<T> y(a.size());
    fill(x, T{1});
    return report_launches(
        report.work, a.cost().bytes, [&] { a.apply(x, y); }, step);
  } catch (const DeviceOutOfMemory& error) {
    report.not_measured = error.what();
  }
  return report;
}

/// The same of a preconditioner. @param name of its row in the table of preconditioners
template <class T>
LaunchReport preconditioner_launches(const Preconditioner<T, Device>& m, const std::string& name,
                                     WaveStep step = WaveStep::leave) {
  LaunchReport report{.work = name == kMultigrid ? "multigrid cycle" : name};
  try {
    DeviceVector<T> r(m.size());
    DeviceVector<T> z(m.size());
    fill(r, T{1});
    return report_launches(
        report.work, 0.0, [&] { m.apply(r, z); }, step);
  } catch (const DeviceOutOfMemory& error) {
    report.not_measured = error.what();
  }
  return report;
}

/// Both, without a preconditioner that is a diagonal: solvers multiply by that in passing.
/// @param m null: none
template <class T>
std::vector<LaunchReport> solve_launches(const LinearOperator<T, Device>& a,
                                         const Preconditioner<T, Device>* m,
                                         const std::string& name) {
  std::vector<LaunchReport> reports = {apply_launches(a)};
  if (m != nullptr && m->as_diagonal() == nullptr) {
    reports.push_back(preconditioner_launches(*m, name));
  }
  return reports;
}

}  // namespace tessera
