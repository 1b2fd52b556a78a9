// These tests assemble matrices on triangles on a GPU.
#include <gtest/gtest.h>

#include "src/studies/assembly/assembly_check.hpp"
#include "src/studies/assembly/assembly_method.hpp"
#include "src/studies/assembly/delaunay_square.hpp"
#include "tests/device_test.hpp"
#include "tests/src/studies/made_up.hpp"

namespace tessera::testing {
namespace {

constexpr auto kExact = CountingResult::Exactness::exact;

std::vector<double> serial_matrix(const TriangleMesh& mesh, const AssemblyTarget& target,
                                  const std::vector<std::vector<Index>>& colors) {
  std::vector<double> values(target.entries, 0.0);
  const AssemblyTask task = {.mesh = mesh, .target = target, .colors = colors, .values = values};
  assembly_table().front().make(task, {Contribution::Kind::stiffness, 1}, {})->assemble(0);
  return values;
}

TEST(DeviceAssemblies, AreRightInEveryWayOnTheGpu) {
  TESSERA_REQUIRE_DEVICE();
  TriangleMesh mesh = delaunay_square();
  number_randomly(mesh, 3);
  const std::vector<std::vector<Index>> colors = greedy_colors(mesh);
  for (const MatrixStorage storage : {MatrixStorage::csr, MatrixStorage::full}) {
    const AssemblyTarget target = assembly_target(mesh, storage);
    const std::vector<Index> counts = addition_counts(mesh, target);
    const std::vector<double> serial = serial_matrix(mesh, target, colors);
    int ways = 0;
    for (const AssemblyInfo& info : assembly_table()) {
      const bool is_stored =
          info.storages == AssemblyInfo::Storages::both || storage == MatrixStorage::csr;
      if (!info.on_gpu || !is_stored) continue;
      ++ways;
      DeviceAssembly assembly(mesh, target, colors, *info.on_gpu);
      EXPECT_GE(assembly.extra_bytes(), 0);
      // The second time without what the first has left.
      for (int time = 0; time < 2; ++time) {
        EXPECT_GT(assembly.assemble({Contribution::Kind::ones}), 0.0);
        const CountingResult result = counting_result(target, counts, assembly.values());
        EXPECT_GE(result.lost_share, 0.0) << info.name;
        if (info.sharing != Sharing::unprotected) {
          EXPECT_EQ(result.exactness, kExact) << info.name;
        }
      }
      if (info.sharing == Sharing::unprotected) continue;
      assembly.assemble({Contribution::Kind::stiffness, 1});
      EXPECT_EQ(stiffness_fault(target, assembly.values(), serial), "") << info.name;
      assembly.assemble({Contribution::Kind::stiffness, 50});
      EXPECT_EQ(stiffness_fault(target, assembly.values(), serial), "") << info.name;
    }
    EXPECT_EQ(ways, storage == MatrixStorage::csr ? 7 : 5);
  }
}

TEST(DeviceAssemblies, TheStudyMeasuresThemOnTheGpu) {
  TESSERA_REQUIRE_DEVICE();
  const StudyInfo& study = find_study("assembly");
  StudyOptions options = options_of("assembly", {"--ops", "1"});
  options.processor = Processor::gpu;
  StudyRecord record(study, options, "a GPU", Verbosity::quiet);
  study.measure(record);
  EXPECT_EQ(record.wrong_rows(), 0) << record.csv();
  const StudyTable& table = record.table();
  ASSERT_EQ(table.rows().size(), 2U + 5U + 7U);
  const std::vector<std::string> csr = {"csr", "1", "4146", "random"};
  EXPECT_EQ(table.at("serial", 1, csr).processor, Processor::cpu);
  EXPECT_EQ(table.at("unprotected", 1, csr).correctness, Correctness::wrong_by_design);
  for (const char* variant : {"atomic", "cas", "coloring", "private", "rows", "gather"}) {
    const StudyRow& row = table.at(variant, 1, csr);
    EXPECT_EQ(row.correctness, Correctness::right) << variant;
    EXPECT_GT(table.metric(row, "billion_additions_per_s"), 0.0);
    EXPECT_GT(table.metric(row, "copy_percent"), 0.0);
  }
  EXPECT_TRUE(verdict("assembly", "A5", table).starts_with("not measured"));
  EXPECT_FALSE(verdict("assembly", "A10", table).empty());
}

}  // namespace
}  // namespace tessera::testing
