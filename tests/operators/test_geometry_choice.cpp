// These tests look at the forms of geometric factors, their choice and their bytes.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <stdexcept>

#include "mesh/lanes/simd.hpp"
#include "operators/device_strategy.hpp"
#include "operators/strategy.hpp"
#include "operators/tensor/compressed/factors.hpp"
#include "operators/tensor/geometry_choice.hpp"
#include "operators/tensor/geometry_size.hpp"
#include "tests/operators/problems.hpp"

namespace tessera::testing {
namespace {

using Forms = std::vector<GeometryForm>;
constexpr GeometryForm kStored = GeometryForm::stored;
constexpr GeometryForm kCompressed = GeometryForm::compressed;
constexpr GeometryForm kOnTheFly = GeometryForm::on_the_fly;
constexpr GeometryForm kStencil = GeometryForm::stencil;

GeometrySetting mapped(Processor processor, int dimension, int degree, int points) {
  return {processor, FactorKind::general, NodePositions::stored, dimension, degree,
          points,    "coloring"};
}

GeometrySetting graded(Processor processor, int dimension, int degree, int points) {
  return {processor, FactorKind::general, NodePositions::implied, dimension, degree,
          points,    "coloring"};
}

TEST(GeometryForms, DependOnProcessorMeshAndSize) {
  for (const int dimension : {2, 3}) {
    EXPECT_EQ(geometry_forms(mapped(Processor::cpu, dimension, 4, 5)), (Forms{kStored, kOnTheFly}));
    EXPECT_EQ(geometry_forms(mapped(Processor::cpu, dimension, 1, 2)),
              (Forms{kStored, kOnTheFly, kStencil}));
    EXPECT_EQ(geometry_forms(graded(Processor::cpu, dimension, 3, 4)), Forms{kStored});
    for (const Processor processor : {Processor::cpu, Processor::gpu}) {
      EXPECT_EQ(geometry_forms(mapped(processor, dimension, 9, 10)), Forms{kStored});
      EXPECT_EQ(geometry_forms(mapped(processor, dimension, 4, 7)), Forms{kStored});
      EXPECT_EQ(geometry_forms(mapped(processor, dimension, 1, 6)), (Forms{kStored, kStencil}));
      for (const FactorKind factors : {FactorKind::constant, FactorKind::scaled}) {
        GeometrySetting equal_cells = graded(processor, dimension, 1, 2);
        equal_cells.factors = factors;
        EXPECT_EQ(geometry_forms(equal_cells), Forms{kStored});
      }
    }
  }
}

TEST(GeometryForms, CompressedOnesAreForTheGpuIn3d) {
  EXPECT_EQ(geometry_forms(mapped(Processor::gpu, 3, 4, 6)),
            (Forms{kStored, kCompressed, kOnTheFly}));
  EXPECT_EQ(geometry_forms(mapped(Processor::gpu, 3, 1, 2)),
            (Forms{kStored, kCompressed, kOnTheFly, kStencil}));
  EXPECT_EQ(geometry_forms(graded(Processor::gpu, 3, 1, 3)),
            (Forms{kStored, kCompressed, kStencil}));
  EXPECT_EQ(geometry_forms(mapped(Processor::gpu, 2, 4, 6)), (Forms{kStored, kOnTheFly}));
  EXPECT_EQ(geometry_forms(mapped(Processor::gpu, 2, 1, 2)), (Forms{kStored, kOnTheFly, kStencil}));
  EXPECT_EQ(geometry_forms(graded(Processor::gpu, 2, 1, 3)), (Forms{kStored, kStencil}));
  EXPECT_EQ(why_no_geometry(kCompressed, mapped(Processor::gpu, 2, 4, 5)),
            "compressed is for 3D: 2D has stored, on-the-fly and stencil");
  EXPECT_EQ(why_no_geometry(kCompressed, mapped(Processor::cpu, 3, 4, 5)),
            "compressed is for the GPU: the CPU has stored, on-the-fly and stencil");
}

TEST(GeometryChoice, IsTheRule) {
  struct Case {
    GeometrySetting setting;
    GeometryForm form;
    std::string_view reason;
  };
  GeometrySetting equal_cells = graded(Processor::gpu, 3, 1, 2);
  equal_cells.factors = FactorKind::scaled;
  const std::vector<Case> cases = {
      {mapped(Processor::cpu, 3, 1, 2), kStencil, "degree 1"},
      {graded(Processor::gpu, 2, 1, 7), kStencil, "degree 1"},
      {mapped(Processor::cpu, 2, 2, 3), kStored, "2D on the CPU"},
      {mapped(Processor::cpu, 3, 8, 9), kStored, "3D on the CPU"},
      {mapped(Processor::gpu, 2, 8, 9), kStored, "2D on the GPU"},
      {graded(Processor::gpu, 3, 2, 4), kCompressed, "3D on the GPU"},
      {mapped(Processor::gpu, 3, 9, 10), kStored, "no unrolled kernel of this size"},
      {mapped(Processor::gpu, 3, 4, 7), kStored, "no unrolled kernel of this size"},
      {equal_cells, kStored, "equal cells"}};
  for (const Case& c : cases) {
    const ChosenGeometry chosen = choose_geometry(c.setting);
    EXPECT_EQ(chosen.form, c.form) << c.reason;
    EXPECT_EQ(chosen.reason, c.reason);
  }
}

TEST(GeometryChoice, IsAlwaysAFormThatThereIs) {
  for (const Processor processor : {Processor::cpu, Processor::gpu}) {
    for (const int dimension : {2, 3}) {
      for (int degree = 1; degree <= 10; ++degree) {
        for (int points = degree + 1; points <= degree + 4; ++points) {
          for (const GeometrySetting& setting : {mapped(processor, dimension, degree, points),
                                                 graded(processor, dimension, degree, points)}) {
            EXPECT_EQ(why_no_geometry(choose_geometry(setting).form, setting), "");
          }
        }
      }
    }
  }
}

// Blocks add bricks of cells in shared memory only in the unrolled kernels with stored factors.
TEST(GeometryForms, WithPatchesAreStored) {
  const auto with_patch = [](GeometrySetting setting) {
    setting.scatter = "patch";
    return setting;
  };
  const GeometrySetting curved = with_patch(mapped(Processor::gpu, 3, 4, 5));
  EXPECT_EQ(geometry_forms(curved), Forms{kStored});
  EXPECT_EQ(why_no_geometry(kCompressed, curved),
            "compressed is for the other scatter policies: patch has stored and, for degree 1, "
            "stencil");
  EXPECT_EQ(choose_geometry(curved).form, kStored);
  EXPECT_EQ(choose_geometry(curved).reason, "scatter policy patch");
  EXPECT_EQ(geometry_forms(with_patch(mapped(Processor::gpu, 3, 1, 2))),
            (Forms{kStored, kStencil}));
  EXPECT_EQ(choose_geometry(with_patch(mapped(Processor::gpu, 3, 1, 2))).form, kStencil);
  EXPECT_EQ(geometry_forms(with_patch(mapped(Processor::gpu, 2, 4, 5))), Forms{kStored});
}

TEST(PatchScatter, IsForTheUnrolledKernels) {
  const auto why_not = [](FactorKind factors, int degree, int points) {
    GeometrySetting setting = mapped(Processor::gpu, 3, degree, points);
    setting.factors = factors;
    setting.scatter = "patch";
    return why_no_scatter(kStored, setting);
  };
  for (const FactorKind factors : {FactorKind::scaled, FactorKind::general}) {
    EXPECT_EQ(why_not(factors, 8, 9), "");
    EXPECT_EQ(why_not(factors, 1, 3), "");
    EXPECT_EQ(
        why_not(factors, 4, 7),
        "the scatter policy patch is for degrees 1 to 8 with degree + 1 or degree + 2 points, "
        "not for degree 4 with 7 points");
    EXPECT_NE(why_not(factors, 9, 10), "");
  }
  EXPECT_EQ(why_not(FactorKind::constant, 4, 7), "");
  EXPECT_EQ(why_not(FactorKind::constant, 9, 10),
            "the scatter policy patch is for degrees 1 to 8, not for degree 9 with 10 points");
}

TEST(PatchScatter, IsRefusedWhereItWouldBeAtomic) {
  ProblemOptions options;
  options.geometry = Geometry::curved;
  Problem curved = make_problem(options);
  const StrategyName patch{"tensor", "patch"};
  EXPECT_EQ(why_unsuitable(patch, curved.form, Processor::gpu), "");
  for (const GeometryForm form : {kCompressed, kOnTheFly}) {
    curved.form.geometry = form;
    EXPECT_NE(why_unsuitable(patch, curved.form, Processor::gpu), "");
    EXPECT_EQ(why_unsuitable({"tensor", "atomic"}, curved.form, Processor::gpu), "");
  }
  options.degree = 9;
  options.cells = {1, 1, 1};
  const Problem of_degree_9 = make_problem(options);
  EXPECT_NE(why_unsuitable(patch, of_degree_9.form, Processor::gpu), "");
  EXPECT_EQ(why_unsuitable({"tensor", "atomic"}, of_degree_9.form, Processor::gpu), "");
}

TEST(GeometrySettings, AreThoseOfTheForm) {
  ProblemOptions options;
  options.degree = 3;
  options.points = 5;
  const Problem curved = make_problem(options);
  const GeometrySetting setting = geometry_setting(curved.form, Processor::gpu, "patch");
  EXPECT_EQ(setting.processor, Processor::gpu);
  EXPECT_EQ(setting.factors, FactorKind::general);
  EXPECT_EQ(setting.positions, NodePositions::stored);
  EXPECT_EQ(setting.dimension, 3);
  EXPECT_EQ(setting.degree, 3);
  EXPECT_EQ(setting.points, 5);
  EXPECT_EQ(setting.scatter, "patch");
  options.geometry = Geometry::graded;
  const Problem stretched = make_problem(options);
  EXPECT_EQ(geometry_setting(stretched.form, Processor::cpu, "coloring").factors,
            FactorKind::general);
  EXPECT_EQ(geometry_setting(stretched.form, Processor::cpu, "coloring").positions,
            NodePositions::implied);
}

TEST(GeometryErrors, FormsThatThereAreNotAreRefused) {
  ProblemOptions options;
  options.geometry = Geometry::curved;
  Problem curved = make_problem(options);
  for (const GeometryForm form : {kCompressed, kStencil}) {
    curved.form.geometry = form;
    EXPECT_THROW(make_operator<double>({"tensor", "serial"}, curved.form), std::invalid_argument);
    EXPECT_NE(why_unsuitable({"tensor", "serial"}, curved.form), "");
  }
  curved.form.geometry = kOnTheFly;
  EXPECT_EQ(why_unsuitable({"tensor", "serial"}, curved.form), "");
  for (const char* kernel : {"csr", "local"}) {
    const StrategyName name{kernel, std::string(kernel) == "csr" ? "none" : "serial"};
    EXPECT_EQ(why_unsuitable(name, curved.form),
              "the geometry on-the-fly is for the kernel tensor");
    EXPECT_THROW(make_operator<float>(name, curved.form), std::invalid_argument);
  }
}

// 4 x 3 x 2 cells in 3D, 4 x 3 in 2D.
Problem problem_of_sizes(int dimension, int degree, GeometryForm form) {
  ProblemOptions options;
  options.dimension = dimension;
  options.degree = degree;
  options.cells = {4, 3, dimension == 3 ? 2 : 1};
  Problem problem = make_problem(options);
  problem.form.geometry = form;
  return problem;
}

struct SizeCase {
  int dimension;
  int degree;
  GeometryForm form;
  Index value_bytes;
  Processor processor;
  Index bytes;
};

TEST(GeometryBytes, AreThoseOfTheForm) {
  const std::vector<SizeCase> cases = {
      {3, 2, kOnTheFly, 8, Processor::cpu, 24 * 27 * 8},
      {3, 2, kOnTheFly, 4, Processor::gpu, 3 * 8 * (9 * 7 * 5) + 24 * 27 * 4},
      // Groups of ten cells; what is needed if the values of a cell are too far apart to be packed.
      {3, 2, kCompressed, 8, Processor::gpu, 30 * (27 * 48 + 32)},
      {3, 2, kCompressed, 4, Processor::gpu, 30 * (27 * 24 + 32)},
      {3, 3, kCompressed, 8, Processor::gpu, 24 * (64 * 48 + 32)},
      // Rows of whole cache lines.
      {3, 1, kStencil, 8, Processor::cpu, 14 * 8 * (8 * 4 * 3)},
      {2, 1, kStencil, 4, Processor::gpu, 5 * 4 * (16 * 4)}};
  for (const SizeCase& c : cases) {
    const Problem problem = problem_of_sizes(c.dimension, c.degree, c.form);
    const OperatorSize size = operator_size(problem.form, c.value_bytes, c.processor);
    EXPECT_EQ(operator_bytes({"tensor", "atomic"}, size), c.bytes) << geometry_name(c.form);
    EXPECT_GE(operator_peak_bytes({"tensor", "atomic"}, size), c.bytes) << geometry_name(c.form);
  }
}

// Batches of cells are filled up to whole SIMD vectors, so their number depends on the machine.
TEST(GeometryBytes, OfStoredFactorsOnTheHostAreThoseOfTheBatches) {
  const Problem problem = problem_of_sizes(3, 2, kStored);
  for (const Index value_bytes : {Index{4}, Index{8}}) {
    const OperatorSize size = operator_size(problem.form, value_bytes, Processor::cpu);
    EXPECT_GE(batched_cells(size), 24);
    EXPECT_EQ(batched_cells(size) % (kSimdBytes / value_bytes), 0);
    EXPECT_EQ(operator_bytes({"tensor", "atomic"}, size),
              batched_cells(size) * 27 * 6 * value_bytes);
  }
}

TEST(GeometryBytes, AreCompressedForAConstantCoefficient) {
  for (const auto& [degree, value_bytes, bytes] : std::vector<std::array<Index, 3>>{
           {2, 8, 30 * (27 * 32 + 32)}, {2, 4, 30 * (27 * 16 + 32)}, {3, 8, 24 * (64 * 32 + 32)}}) {
    ProblemOptions options;
    options.dimension = 3;
    options.degree = static_cast<int>(degree);
    options.cells = {4, 3, 2};
    options.coefficient = Coefficient::constant;
    Problem problem = make_problem(options);
    problem.form.geometry = kCompressed;
    const OperatorSize size = operator_size(problem.form, value_bytes, Processor::gpu);
    EXPECT_EQ(operator_bytes({"tensor", "atomic"}, size), bytes) << degree;
  }
}

TEST(GeometryBytes, HaveNoPartForAConstantCoefficientNorForTheScatterOfAStencil) {
  ProblemOptions options;
  options.degree = 1;
  options.coefficient = Coefficient::constant;
  Problem problem = make_problem(options);
  problem.form.geometry = kOnTheFly;
  EXPECT_EQ(operator_bytes({"tensor", "serial"}, operator_size(problem.form, 8, Processor::cpu)),
            0);
  EXPECT_EQ(operator_bytes({"tensor", "atomic"}, operator_size(problem.form, 4, Processor::gpu)),
            24 * problem.size());
  problem.form.geometry = kStencil;
  for (const Processor processor : {Processor::cpu, Processor::gpu}) {
    const OperatorSize size = operator_size(problem.form, 8, processor);
    EXPECT_GE(operator_bytes({"tensor", "private"}, size), 112 * problem.size());
    EXPECT_EQ(operator_bytes({"tensor", "private"}, size),
              operator_bytes({"tensor", "atomic"}, size));
  }
}

// What a form is for: less than stored factors, and less while they are made, once there is more
// than is checked or packed at a time.
TEST(GeometryBytes, AreFewerThanOfStoredFactorsOnTheGpu) {
  const StrategyName tensor{"tensor", "atomic"};
  for (const int dimension : {2, 3}) {
    const Index n = dimension == 2 ? 3000 : 100;
    const BoxMesh mesh(dimension, {n, n, dimension == 2 ? 1 : n}, {0, 0, 0}, {1, 1, 1});
    for (const int degree : {2, 4, 8}) {
      const NodeLattice lattice(mesh, degree);
      const OperatorSize stored{mesh,           lattice,       {}, FactorKind::general, degree + 1,
                                sizeof(double), Processor::gpu};
      for (const GeometryForm form : {kCompressed, kOnTheFly}) {
        if (form == kCompressed && dimension == 2) continue;
        SCOPED_TRACE(std::to_string(dimension) + "D p=" + std::to_string(degree));
        OperatorSize size = stored;
        size.geometry = form;
        size.coefficient = CoefficientKind::constant;
        EXPECT_LT(operator_bytes(tensor, size), operator_bytes(tensor, stored));
        EXPECT_LT(operator_peak_bytes(tensor, size), operator_peak_bytes(tensor, stored));
      }
    }
  }
}

TEST(FactorsThatCannotBeCompressed, AreRefusedInWordsWhereTheyDoNotFit) {
  const auto make = [](const std::function<void()>& work) {
    make_unpacked(3e-10, compressed_tolerance<double>(), Index{700} << 20, work);
  };
  bool is_made = false;
  make([&] { is_made = true; });
  EXPECT_TRUE(is_made);
  EXPECT_THROW(make([] { throw DeviceError("lost"); }), DeviceError);
  try {
    make([] { throw DeviceOutOfMemory("out of GPU memory: 700 MiB were asked for"); });
    FAIL() << "nothing was thrown";
  } catch (const UnsuitableChoice& error) {
    EXPECT_EQ(error.choice(), Choice::geometry);
    EXPECT_STREQ(error.what(),
                 "compressed: within a cell of this map factors vary too much to be packed (they "
                 "would err by up to 3.0e-10, where 1e-11 is allowed), and unpacked they need 700 "
                 "MiB: out of GPU memory: 700 MiB were asked for; use \"on-the-fly\", or fewer "
                 "cells");
  }
}

}  // namespace
}  // namespace tessera::testing
