// These tests capture what operators launch on the GPU.
#include <gtest/gtest.h>

#include "operators/strategy.hpp"
#include "src/case/choices.hpp"
#include "src/case/model.hpp"
#include "src/case/setup.hpp"
#include "src/case/shape.hpp"
#include "src/case/strategy.hpp"
#include "src/solve/preconditioner_table.hpp"
#include "src/solve/solve_launches.hpp"
#include "tests/device_test.hpp"

namespace tessera::testing {
namespace {

constexpr char kCase[] =
    "[mesh]\ncells = [8, 8, 8]\nmap = [\"x\", \"y\", \"z + 0.1*sin(pi*x)\"]\n"
    "[space]\ndegree = 3\n[problem]\nsource = \"1\"\n[run]\ndevice = \"cuda\"\n"
    "[solver]\npreconditioner = \"multigrid\"\n";

void expect_measured(const LaunchReport& report) {
  EXPECT_EQ(report.not_measured, "");
  ASSERT_FALSE(report.launches.empty());
  EXPECT_GT(report.seconds, 0.0);
  double share = 0.0;
  for (const LaunchRecord& launch : report.launches) {
    EXPECT_FALSE(launch.kernel.empty());
    EXPECT_EQ(launch.foreseen.blocks, launch.blocks_per_multiprocessor) << launch.full_name;
    EXPECT_GE(launch.blocks(), 1);
    EXPECT_LE(launch.wave_blocks, launch.slots());
    EXPECT_GT(launch.seconds, 0.0);
    EXPECT_GT(launch.wave_seconds, 0.0);
    share += report.share(launch);
  }
  EXPECT_GT(share, 0.2);
}

HostVector<double> copied(const DeviceVector<double>& x) {
  HostVector<double> values(x.size());
  copy(x, values);
  return values;
}

TEST(DeviceLaunches, AreSeenOfOperatorsAndCycles) {
  TESSERA_REQUIRE_DEVICE();
  for (const char* const kernel : {"tensor", "local", "csr"}) {
    CaseParameters parameters =
        make_case_registry()
            .parse(kCase, "case.toml",
                   {{.assignment = std::string("operator.kernel=") + kernel, .shown_as = ""}})
            .parameters;
    static_cast<void>(resolve_choices(parameters));
    const CaseModel model = make_case_model(parameters, Processor::gpu);
    const BilinearForm form = stiffness_form(model.problem, model.discretization);
    const auto a = make_operator<double, Device>(case_strategy(parameters), form);
    const LaunchReport apply = apply_launches(*a, WaveStep::measure);
    expect_measured(apply);
    EXPECT_GT(apply.min_bytes, 0.0);
    if (kernel != std::string("tensor")) continue;
    const PreconditionerSetup<double, Device> made =
        make_preconditioner<double, Device>({parameters, form, *a, 1.0});
    const LaunchReport cycle = preconditioner_launches(*made.preconditioner, kMultigrid);
    EXPECT_EQ(cycle.work, "multigrid cycle");
    expect_measured(cycle);
    // The operator does the same as before it was looked at.
    DeviceVector<double> x(a->size());
    DeviceVector<double> y(a->size());
    fill(x, 1.0);
    a->apply(x, y);
    const HostVector<double> before = copied(y);
    static_cast<void>(apply_launches(*a));
    a->apply(x, y);
    const HostVector<double> after = copied(y);
    for (std::int64_t i = 0; i < a->size(); ++i) EXPECT_NEAR(after[i], before[i], 1e-12);
  }
}

TEST(DeviceLaunches, WhatCannotBeCapturedIsNotMeasured) {
  TESSERA_REQUIRE_DEVICE();
  const LaunchReport report = report_launches("waiting", 0.0, [] { synchronize_device(); });
  EXPECT_NE(report.not_measured, "");
  // The GPU is as usable as before.
  DeviceVector<double> x(10);
  fill(x, 2.0);
  EXPECT_EQ(copied(x)[9], 2.0);
}

}  // namespace
}  // namespace tessera::testing
