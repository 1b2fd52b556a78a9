// These functions report what operators launch on the GPU, for the studies that ask for it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "mesh/index.hpp"
#include "src/launches/launch_report.hpp"
#include "src/studies/study_options.hpp"
#include "src/studies/study_record.hpp"
#include "src/studies/study_table.hpp"

namespace tessera {

/// What one operator or multigrid cycle launches.
struct OperatorLaunches {
  std::string name;  ///< "tensor/atomic, stored"
  int degree;
  Index dofs;
  LaunchReport report;
};

/// The options `--case`, `--degrees` and `--dofs` of a study that visits launches.
[[nodiscard]] std::vector<OwnOption> launch_options();

/// Visits the operator and the preconditioner of the case that the options name, or, without one,
/// tensor, local and csr with each scatter policy on a mapped mesh, kronecker on a uniform one, and
/// multigrid's cycle, by degree and size. What is not for the GPU or does not fit has a report that
/// is not measured.
/// @param show_status hears what is measured next
/// @throws InputError for the case, Interrupted, DeviceError
void visit_launches(const StudyOptions& options, WaveStep step,
                    const std::function<void(const std::string&)>& show_status,
                    const std::function<void(const OperatorLaunches&)>& visit);

/// Adds a row for each launch of a report, or one that says why nothing was measured. Parameters
/// are `operator`, `degree`, `dofs` and, where the study has that column, `work`.
/// @param head has variant and part
/// @param fill puts what was measured of a launch into its row
void add_launch_rows(StudyRecord& record, const OperatorLaunches& launches, const StudyRow& head,
                     const std::function<void(const LaunchRecord&, StudyRow&)>& fill);

}  // namespace tessera
