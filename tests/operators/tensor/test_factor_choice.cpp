// Which storages of the factors there are, which is chosen, and their bytes.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <stdexcept>
#include <string>

#include "mesh/lanes/simd.hpp"
#include "operators/cells/batching.hpp"
#include "operators/cells/cell_kernel_limits.hpp"
#include "operators/strategy.hpp"
#include "operators/tensor/compressed/factors.hpp"
#include "operators/tensor/factor_choice.hpp"
#include "tests/operators/problems.hpp"
#include "tests/operators/suitable.hpp"

namespace tessera::testing {
namespace {

using Storages = std::vector<FactorStorage>;
constexpr FactorStorage kStored = FactorStorage::stored;
constexpr FactorStorage kCompressed = FactorStorage::compressed;
constexpr FactorStorage kOnTheFly = FactorStorage::on_the_fly;
constexpr char kColoring[] = "coloring";

FormShape shape_of(MeshKind kind, Processor processor, int dimension, int degree, int points) {
  const BoxMesh mesh(dimension, {4, 3, dimension == 3 ? 2 : 1}, {0, 0, 0}, {1, 1, 1});
  FormShape shape = mapped_shape(processor, mesh, degree);
  shape.points = points;
  shape.mesh_kind = kind;
  return shape;
}

FormShape mapped(Processor processor, int dimension, int degree, int points) {
  return shape_of(MeshKind::mapped, processor, dimension, degree, points);
}

FormShape graded(Processor processor, int dimension, int degree, int points) {
  return shape_of(MeshKind::graded, processor, dimension, degree, points);
}

FormShape uniform(Processor processor, int dimension, int degree, int points,
                  CoefficientKind coefficient) {
  FormShape shape = shape_of(MeshKind::uniform, processor, dimension, degree, points);
  shape.coefficient = coefficient;
  return shape;
}

TEST(FactorStorages, DependOnProcessorMeshAndSize) {
  for (const int dimension : {2, 3}) {
    for (const Processor processor : {Processor::cpu, Processor::gpu}) {
      EXPECT_EQ(factor_storages(kColoring, mapped(processor, dimension, 9, 10)), Storages{kStored});
      EXPECT_EQ(factor_storages(kColoring, mapped(processor, dimension, 4, 7)), Storages{kStored});
      EXPECT_EQ(factor_storages(kColoring, mapped(processor, dimension, 1, 6)), Storages{kStored});
      for (const CoefficientKind coefficient :
           {CoefficientKind::constant, CoefficientKind::separable, CoefficientKind::general}) {
        EXPECT_EQ(factor_storages(kColoring, uniform(processor, dimension, 1, 2, coefficient)),
                  Storages{kStored});
      }
    }
  }
}

TEST(FactorStorages, CompressedOnesAreFor3d) {
  for (const Processor processor : {Processor::cpu, Processor::gpu}) {
    EXPECT_EQ(factor_storages(kColoring, mapped(processor, 3, 4, 6)),
              (Storages{kStored, kCompressed, kOnTheFly}));
    EXPECT_EQ(factor_storages(kColoring, graded(processor, 3, 1, 3)),
              (Storages{kStored, kCompressed}));
    EXPECT_EQ(factor_storages(kColoring, mapped(processor, 2, 4, 6)),
              (Storages{kStored, kOnTheFly}));
    EXPECT_EQ(factor_storages(kColoring, graded(processor, 2, 1, 3)), Storages{kStored});
    EXPECT_EQ(why_no_factors(kCompressed, kColoring, mapped(processor, 2, 4, 5)),
              "compressed is for 3D: 2D has stored and on-the-fly");
  }
}

TEST(FactorStorages, CompressedOnesOfPlanesTakeNoReaction) {
  for (const int degree : {1, 2, 3}) {
    for (const Processor processor : {Processor::cpu, Processor::gpu}) {
      FormShape shape = mapped(processor, 3, degree, degree + 1);
      shape.reaction = ReactionKind::constant;
      EXPECT_EQ(why_no_factors(kCompressed, kColoring, shape),
                degree == 2 && processor == Processor::gpu
                    ? "compressed takes no reaction at degree 2 on the GPU"
                    : "");
    }
  }
}

TEST(FactorChoice, IsTheRule) {
  struct Case {
    FormShape shape;
    FactorStorage storage;
    std::string_view reason;
  };
  const std::vector<Case> cases = {
      {mapped(Processor::gpu, 3, 1, 2), kStored, "degree 1 on the GPU"},
      {mapped(Processor::cpu, 3, 1, 2), kCompressed, "3D on the CPU"},
      {mapped(Processor::cpu, 2, 2, 3), kStored, "2D on the CPU"},
      {mapped(Processor::cpu, 3, kMaxFastDegree, kMaxFastDegree + 1), kCompressed, "3D on the CPU"},
      {mapped(Processor::gpu, 2, kMaxFastDegree, kMaxFastDegree + 1), kStored, "2D on the GPU"},
      {graded(Processor::gpu, 3, 2, 4), kCompressed, "3D on the GPU"},
      {mapped(Processor::gpu, 3, 9, 10), kStored, "no unrolled kernel of this size"},
      {mapped(Processor::gpu, 3, 4, 7), kStored, "no unrolled kernel of this size"},
      {uniform(Processor::gpu, 3, 2, 3, CoefficientKind::general), kStored, "equal cells"}};
  for (const Case& c : cases) {
    const ChosenFactors chosen = choose_factors(kColoring, c.shape);
    EXPECT_EQ(chosen.storage, c.storage) << c.reason;
    EXPECT_EQ(chosen.reason, c.reason);
  }
}

TEST(FactorChoice, IsAlwaysAStorageThatThereIs) {
  for (const Processor processor : {Processor::cpu, Processor::gpu}) {
    for (const int dimension : {2, 3}) {
      for (int degree = 1; degree <= 10; ++degree) {
        for (int points = degree + 1; points <= degree + 4; ++points) {
          for (const FormShape& shape : {mapped(processor, dimension, degree, points),
                                         graded(processor, dimension, degree, points)}) {
            for (const char* scatter : {"coloring", "patch"}) {
              const FactorStorage storage = choose_factors(scatter, shape).storage;
              EXPECT_EQ(why_no_factors(storage, scatter, shape), "");
            }
          }
        }
      }
    }
  }
}

// Blocks add bricks of cells in shared memory only in the unrolled kernels with stored factors.
TEST(FactorStorages, WithPatchesAreStored) {
  const FormShape curved = mapped(Processor::gpu, 3, 4, 5);
  EXPECT_EQ(factor_storages("patch", curved), Storages{kStored});
  EXPECT_EQ(why_no_factors(kCompressed, "patch", curved),
            "compressed is for the other scatter policies: patch has stored");
  EXPECT_EQ(choose_factors("patch", curved).storage, kStored);
  EXPECT_EQ(choose_factors("patch", curved).reason, "scatter policy patch");
  EXPECT_EQ(factor_storages("patch", mapped(Processor::gpu, 2, 4, 5)), Storages{kStored});
}

TEST(PatchScatter, IsForTheUnrolledKernels) {
  const auto why_not = [](MeshKind kind, CoefficientKind coefficient, int degree, int points) {
    FormShape shape = shape_of(kind, Processor::gpu, 3, degree, points);
    shape.coefficient = coefficient;
    return why_no_scatter(kStored, "patch", shape);
  };
  for (const MeshKind kind : {MeshKind::uniform, MeshKind::mapped}) {
    const auto coefficient = CoefficientKind::general;
    EXPECT_EQ(why_not(kind, coefficient, kMaxFastDegree, kMaxFastDegree + 1), "");
    EXPECT_EQ(why_not(kind, coefficient, 1, 3), "");
    EXPECT_EQ(why_not(kind, coefficient, 4, 7),
              "the scatter policy patch is for degrees 1 to " + std::to_string(kMaxFastDegree) +
                  " with degree + 1 or degree + 2 points, not for degree 4 with 7 points");
    EXPECT_NE(why_not(kind, coefficient, 9, 10), "");
  }
  EXPECT_EQ(why_not(MeshKind::uniform, CoefficientKind::constant, 4, 7), "");
  EXPECT_EQ(why_not(MeshKind::uniform, CoefficientKind::constant, 9, 10),
            "the scatter policy patch is for degrees 1 to " + std::to_string(kMaxFastDegree) +
                ", not for degree 9 with 10 points");
}

TEST(PatchScatter, IsRefusedWhereItWouldBeAtomic) {
  ProblemOptions options;
  options.geometry = Geometry::curved;
  const FormShape curved = shape_on(make_problem(options).form, Processor::gpu);
  EXPECT_EQ(why_unsuitable({"tensor", "patch"}, curved), "");
  for (const FactorStorage storage : {kCompressed, kOnTheFly}) {
    EXPECT_NE(why_unsuitable({"tensor", "patch", storage}, curved), "");
    EXPECT_EQ(why_unsuitable({"tensor", "atomic", storage}, curved), "");
  }
  options.degree = 9;
  options.cells = {1, 1, 1};
  const FormShape of_degree_9 = shape_on(make_problem(options).form, Processor::gpu);
  EXPECT_NE(why_unsuitable({"tensor", "patch"}, of_degree_9), "");
  EXPECT_EQ(why_unsuitable({"tensor", "atomic"}, of_degree_9), "");
}

TEST(FormShapes, AreThoseOfTheForm) {
  ProblemOptions options;
  options.degree = 3;
  options.points = 5;
  const Problem curved = make_problem(options);
  const FormShape shape = form_shape(curved.form, Processor::gpu, 4);
  EXPECT_EQ(shape.processor, Processor::gpu);
  EXPECT_EQ(shape.value_bytes, 4);
  EXPECT_EQ(shape.factors(), FactorKind::general);
  EXPECT_EQ(shape.mesh_kind, MeshKind::mapped);
  EXPECT_EQ(shape.dimension(), 3);
  EXPECT_EQ(shape.degree(), 3);
  EXPECT_EQ(shape.points, 5);
  EXPECT_EQ(shape.mesh.cells(), curved.discretization->mesh.cells());
  EXPECT_EQ(shape.lattice.size(), curved.size());
  EXPECT_EQ(shape.dirichlet, curved.form.dirichlet);
  options.geometry = Geometry::graded;
  const FormShape stretched = shape_on(make_problem(options).form);
  EXPECT_EQ(stretched.factors(), FactorKind::general);
  EXPECT_EQ(stretched.mesh_kind, MeshKind::graded);
  options.geometry = Geometry::cartesian;
  options.coefficient = Coefficient::constant;
  EXPECT_EQ(shape_on(make_problem(options).form).factors(), FactorKind::constant);
  options.coefficient = Coefficient::variable;
  EXPECT_EQ(shape_on(make_problem(options).form).factors(), FactorKind::scaled);
}

TEST(FactorErrors, StoragesThatThereAreNotAreRefused) {
  ProblemOptions options;
  options.geometry = Geometry::curved;
  options.dimension = 2;
  const Problem plane = make_problem(options);
  const StrategyName compressed{"tensor", "serial", kCompressed};
  EXPECT_THROW(make_operator<double>(compressed, plane.form), std::invalid_argument);
  EXPECT_NE(why_unsuitable(compressed, shape_on(plane.form)), "");
  options.dimension = 3;
  const Problem curved = make_problem(options);
  const FormShape shape = shape_on(curved.form);
  EXPECT_EQ(why_unsuitable(compressed, shape), "");
  EXPECT_EQ(why_unsuitable({"tensor", "serial", kOnTheFly}, shape), "");
  for (const char* kernel : {"csr", "local"}) {
    const StrategyName name{kernel, std::string(kernel) == "csr" ? "none" : "serial", kOnTheFly};
    EXPECT_EQ(why_unsuitable(name, shape), "on-the-fly is for the kernel tensor");
    EXPECT_THROW(make_operator<float>(name, curved.form), std::invalid_argument);
  }
}

TEST(KernelChoice, IsTheRule) {
  const auto chosen = [](const FormShape& shape) { return choose_kernel(shape, kColoring).kernel; };
  for (const Processor processor : {Processor::cpu, Processor::gpu}) {
    EXPECT_EQ(chosen(uniform(processor, 3, 1, 2, CoefficientKind::constant)), "kronecker");
    EXPECT_EQ(chosen(uniform(processor, 3, 4, 5, CoefficientKind::separable)), "kronecker");
    EXPECT_EQ(chosen(uniform(processor, 3, 1, 2, CoefficientKind::general)), "tensor");
    EXPECT_EQ(chosen(graded(processor, 3, 1, 2)), "stencil");
    EXPECT_EQ(chosen(mapped(processor, 2, 1, 2)), "stencil");
    EXPECT_EQ(chosen(mapped(processor, 2, 2, 3)), "tensor");
  }
  EXPECT_EQ(choose_kernel(mapped(Processor::cpu, 2, 1, 2), kColoring).reason,
            "degree 1, the mesh is mapped");
  EXPECT_EQ(choose_strategy(mapped(Processor::gpu, 3, 2, 3), "atomic").text(),
            "tensor/atomic, compressed");
  EXPECT_EQ(choose_strategy(mapped(Processor::gpu, 3, 1, 2), "atomic").text(), "stencil");
}

// On the GPU kronecker is the faster one of long vectors only.
TEST(KernelChoice, DependsOnTheSizeOnTheGpu) {
  const auto chosen = [](FormShape shape, Index dofs, const char* scatter) {
    shape.lattice = NodeLattice(shape.mesh = BoxMesh(3, {dofs / 4 - 1, 1, 1}, {0, 0, 0}, {1, 1, 1}),
                                shape.degree());
    return choose_kernel(shape, scatter);
  };
  for (const CoefficientKind k : {CoefficientKind::constant, CoefficientKind::separable}) {
    const bool is_equal = k == CoefficientKind::constant;
    const FormShape shape = uniform(Processor::gpu, 3, 1, 2, k);
    EXPECT_EQ(chosen(shape, 99'996, "atomic").kernel, "tensor");
    EXPECT_EQ(chosen(shape, 99'996, "atomic").reason, "fewer than 100 thousand DoFs on the GPU");
    EXPECT_EQ(chosen(shape, 100'000, "atomic").kernel, "kronecker");
    EXPECT_EQ(chosen(shape, 99'996, "coloring").kernel, "kronecker");
    const auto reason = [&](int dimension, int p) {
      return choose_kernel(uniform(Processor::gpu, dimension, p, p + 1, k), "atomic").reason;
    };
    EXPECT_EQ(reason(3, 2), "fewer than 100 thousand DoFs on the GPU");
    EXPECT_EQ(reason(3, 4), is_equal ? "fewer than 900 thousand DoFs on the GPU"
                                     : "fewer than 100 thousand DoFs on the GPU");
    EXPECT_EQ(reason(3, 8), is_equal ? "fewer than 3 million DoFs on the GPU"
                                     : "fewer than 250 thousand DoFs on the GPU");
    EXPECT_EQ(reason(3, 9), "fewer than 2 million DoFs on the GPU");
    EXPECT_EQ(reason(2, 9), "fewer than 2 million DoFs on the GPU");
    EXPECT_EQ(choose_kernel(uniform(Processor::gpu, 2, 8, 9, k), "atomic").kernel, "kronecker");
    EXPECT_EQ(chosen(uniform(Processor::cpu, 3, 1, 2, k), 1000, "atomic").kernel, "kronecker");
  }
  const FormShape of_degree_1 = graded(Processor::gpu, 3, 1, 2);
  FormShape separable = of_degree_1;
  separable.coefficient = CoefficientKind::constant;
  EXPECT_EQ(choose_kernel(separable, "atomic").kernel, "stencil");
  EXPECT_EQ(choose_kernel(separable, "atomic").reason,
            "degree 1, fewer than 100 thousand DoFs on the GPU");
}

// Conjugate gradients in one kernel are faster than tensor where they fit the GPU.
TEST(KernelChoice, DependsOnThePreconditionerOnTheGpu) {
  const auto chosen = [](Index cells, int degree, CoefficientKind k, UsedBy use) {
    FormShape shape = uniform(Processor::gpu, 3, degree, degree + 1, k);
    shape.mesh = BoxMesh(3, {cells, cells, cells}, {0, 0, 0}, {1, 1, 1});
    shape.lattice = NodeLattice(shape.mesh, degree);
    return choose_kernel(shape, "atomic", use).kernel;
  };
  constexpr CoefficientKind kConstant = CoefficientKind::constant;
  EXPECT_EQ(chosen(20, 4, kConstant, UsedBy::any), "tensor");
  EXPECT_EQ(chosen(20, 4, kConstant, UsedBy::plain_cg), "kronecker");
  EXPECT_EQ(chosen(2, kMaxFastDegree, kConstant, UsedBy::plain_cg), "kronecker");
  EXPECT_EQ(chosen(2, kMaxFastDegree + 1, kConstant, UsedBy::plain_cg), "tensor");
  EXPECT_EQ(chosen(13, 8, kConstant, UsedBy::plain_cg), "tensor");
  EXPECT_EQ(chosen(10, 4, CoefficientKind::separable, UsedBy::plain_cg), "tensor");
}

TEST(ScatterChoice, IsTheFastestMeasured) {
  for (const char* kernel : {"tensor", "local"}) {
    const auto chosen = [&](Processor processor, Deterministic demanded) {
      return choose_scatter(kernel, processor, demanded).scatter;
    };
    EXPECT_EQ(chosen(Processor::cpu, Deterministic::no), "coloring");
    EXPECT_EQ(chosen(Processor::cpu, Deterministic::yes), "coloring");
    EXPECT_EQ(chosen(Processor::gpu, Deterministic::no), "atomic");
    EXPECT_EQ(chosen(Processor::gpu, Deterministic::yes), "coloring");
  }
  EXPECT_EQ(choose_scatter("tensor", Processor::gpu, Deterministic::yes).reason,
            "the fastest measured on the GPU with the same bits in every run");
  EXPECT_THROW(choose_scatter("csr", Processor::cpu, Deterministic::no), std::logic_error);
}

// 4 x 3 x 2 cells in 3D, 4 x 3 in 2D.
Problem problem_of_sizes(int dimension, int degree) {
  ProblemOptions options;
  options.dimension = dimension;
  options.degree = degree;
  options.cells = {4, 3, dimension == 3 ? 2 : 1};
  return make_problem(options);
}

struct SizeCase {
  int dimension;
  int degree;
  StrategyName strategy;
  Index value_bytes;
  Processor processor;
  Index bytes;
};

TEST(FactorBytesOfStrategies, AreThoseOfTheStorage) {
  const StrategyName on_the_fly{"tensor", "atomic", kOnTheFly};
  const StrategyName compressed{"tensor", "atomic", kCompressed};
  const std::vector<SizeCase> cases = {
      {3, 2, on_the_fly, 8, Processor::cpu, 24 * 27 * 8},
      {3, 2, on_the_fly, 4, Processor::gpu, 3 * 8 * (9 * 7 * 5) + 24 * 27 * 4},
      // Groups of ten cells; what is needed if the values of a cell are too far apart to be packed.
      {3, 2, compressed, 8, Processor::gpu, 30 * (27 * 48 + 32)},
      {3, 2, compressed, 4, Processor::gpu, 30 * (27 * 24 + 32)},
      {3, 3, compressed, 8, Processor::gpu, 24 * (64 * 48 + 32)},
      // Rows of whole cache lines.
      {3, 1, {"stencil"}, 8, Processor::cpu, 14 * 8 * (8 * 4 * 3)},
      {2, 1, {"stencil"}, 4, Processor::gpu, 5 * 4 * (16 * 4)}};
  for (const SizeCase& c : cases) {
    const Problem problem = problem_of_sizes(c.dimension, c.degree);
    const OperatorBytes bytes =
        operator_bytes(c.strategy, form_shape(problem.form, c.processor, c.value_bytes));
    EXPECT_EQ(bytes.held, c.bytes) << c.strategy.text();
    EXPECT_GE(bytes.peak, c.bytes) << c.strategy.text();
  }
}

// Batches of cells are filled up to whole SIMD vectors, so their number depends on the machine.
TEST(FactorBytesOfStrategies, OfStoredFactorsOnTheHostAreThoseOfTheBatches) {
  const Problem problem = problem_of_sizes(3, 2);
  for (const Index value_bytes : {Index{4}, Index{8}}) {
    const FormShape shape = form_shape(problem.form, Processor::cpu, value_bytes);
    EXPECT_GE(batched_cells(shape), 24);
    EXPECT_EQ(batched_cells(shape) % (kSimdBytes / value_bytes), 0);
    EXPECT_EQ(operator_bytes({"tensor", "atomic"}, shape).held,
              batched_cells(shape) * 27 * 6 * value_bytes);
  }
}

TEST(FactorBytesOfStrategies, AreCompressedForAConstantCoefficient) {
  for (const auto& [degree, value_bytes, bytes] : std::vector<std::array<Index, 3>>{
           {2, 8, 30 * (27 * 32 + 32)}, {2, 4, 30 * (27 * 16 + 32)}, {3, 8, 24 * (64 * 32 + 32)}}) {
    ProblemOptions options;
    options.dimension = 3;
    options.degree = static_cast<int>(degree);
    options.cells = {4, 3, 2};
    options.coefficient = Coefficient::constant;
    const FormShape shape = form_shape(make_problem(options).form, Processor::gpu, value_bytes);
    EXPECT_EQ(operator_bytes({"tensor", "atomic", kCompressed}, shape).held, bytes) << degree;
  }
}

TEST(FactorBytesOfStrategies, HaveNoPartForAConstantCoefficient) {
  ProblemOptions options;
  options.degree = 1;
  options.coefficient = Coefficient::constant;
  const Problem problem = make_problem(options);
  EXPECT_EQ(operator_bytes({"tensor", "serial", kOnTheFly}, shape_on(problem.form)).held, 0);
  EXPECT_EQ(
      operator_bytes({"tensor", "atomic", kOnTheFly}, form_shape(problem.form, Processor::gpu, 4))
          .held,
      24 * problem.size());
}

// What a storage is for: less than stored factors, and less while they are made, once there is more
// than is checked or packed at a time.
TEST(FactorBytesOfStrategies, AreFewerThanOfStoredFactorsOnTheGpu) {
  for (const int dimension : {2, 3}) {
    const Index n = dimension == 2 ? 3000 : 100;
    const BoxMesh mesh(dimension, {n, n, dimension == 2 ? 1 : n}, {0, 0, 0}, {1, 1, 1});
    for (const int degree : {2, 4, 8}) {
      FormShape shape = mapped_shape(Processor::gpu, mesh, degree);
      shape.coefficient = CoefficientKind::constant;
      const OperatorBytes stored = operator_bytes({"tensor", "atomic", kStored}, shape);
      for (const FactorStorage storage : {kCompressed, kOnTheFly}) {
        if (storage == kCompressed && dimension == 2) continue;
        SCOPED_TRACE(std::to_string(dimension) + "D p=" + std::to_string(degree));
        const OperatorBytes bytes = operator_bytes({"tensor", "atomic", storage}, shape);
        EXPECT_LT(bytes.held, stored.held);
        EXPECT_LT(bytes.peak, stored.peak);
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
    EXPECT_EQ(error.choice(), Choice::factors);
    EXPECT_STREQ(error.what(),
                 "compressed: within a cell of this map factors vary too much to be packed (they "
                 "would err by up to 3.0e-10, where 1e-11 is allowed), and unpacked they need 700 "
                 "MiB: out of GPU memory: 700 MiB were asked for; use \"on-the-fly\", or fewer "
                 "cells");
  }
}

}  // namespace
}  // namespace tessera::testing
