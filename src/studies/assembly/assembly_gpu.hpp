// The part of the study assembly that runs on a GPU.
#pragma once

#include <string>
#include <vector>

#include "src/studies/assembly/assembly_method.hpp"
#include "src/studies/study_record.hpp"

namespace tessera {

/// The rows of a GPU for one mesh and one storage of the matrix. Builds without CUDA must not use
/// it.
class GpuAssemblyRows {
 public:
  /// All is referred to but the task. @param counts of addition_counts() @param serial the matrix
  /// as one thread of the CPU assembles it @param copy_bandwidth bytes per second
  GpuAssemblyRows(StudyRecord& record, const AssemblyTask& task, const std::vector<Index>& counts,
                  const std::vector<double>& serial, double copy_bandwidth)
      : record_(record),
        task_(task),
        counts_(counts),
        serial_(serial),
        copy_bandwidth_(copy_bandwidth) {}

  /// @param info with a way of the GPU @throws DeviceOutOfMemory, DeviceError
  [[nodiscard]] StudyRow measured(const AssemblyInfo& info, int operations,
                                  std::vector<std::string> parameters) const;

 private:
  [[nodiscard]] std::vector<StudyCell> metrics(const AssemblyInfo& info, const StudyRow& row,
                                               Index extra_bytes) const;
  [[nodiscard]] double min_bytes() const;

  StudyRecord& record_;
  AssemblyTask task_;
  const std::vector<Index>& counts_;
  const std::vector<double>& serial_;
  double copy_bandwidth_;
};

}  // namespace tessera
