// These tests look at products and fused operations of the Kronecker operator, on host and GPU.
#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "tests/everywhere.hpp"
#include "tests/operators/kronecker/kronecker_checks.hpp"
#include "tests/operators/test_names.hpp"
#include "tests/operators/without_fused_operations.hpp"
#include "tests/solvers/solve_once.hpp"

namespace tessera::testing {
namespace {

class Kronecker : public EveryProcessorTest<DegreeAndProcessor> {
 protected:
  static ProblemOptions options() {
    const auto [dimension, degree, processor] = GetParam();
    return kronecker_options(dimension, degree, tile_cells_for(processor, dimension, degree));
  }
};

TEST_P(Kronecker, EqualsTheReference) {
  in_space_of_processor([]<class Space>() {
    for_each_kind(options(), [](const Problem& problem) {
      expect_equal_to_reference<double, Space>(problem);
      expect_equal_to_reference<float, Space>(problem);
    });
  });
}

TEST_P(Kronecker, EqualsTheReferenceOnThinMeshes) {
  ProblemOptions options = Kronecker::options();
  const bool flat = options.dimension == 2;
  for (const IndexTriple& cells :
       {IndexTriple{1, 1, 1}, IndexTriple{1, 3, flat ? 1 : 2}, IndexTriple{4, 1, 1}}) {
    options.cells = cells;
    for_each_kind(options, [](const Problem& problem) {
      const std::vector<double> input = random_input<double>(problem.size(), 37);
      const Expected expected = expected_of<Host>(problem, input);
      in_space_of_processor([&]<class Space>() {
        expect_equal_to(expected, *make_kronecker<double, Space>(problem.form), input);
      });
    });
  }
}

// Widths of cells, or the coefficient, vary along one axis, and along the others cells are alike.
TEST_P(Kronecker, EqualsTheReferenceWithCellsThatDifferAlongOneAxis) {
  ProblemOptions options = Kronecker::options();
  for (int axis = 0; axis < options.dimension; ++axis) {
    for (const bool varies : {false, true}) {
      options.geometry = varies ? Geometry::cartesian : Geometry::graded;
      options.coefficient = varies ? Coefficient::separable : Coefficient::constant;
      options.graded_axis = axis;
      Problem problem = make_problem(options);
      if (varies) {
        problem.form.coefficient = varying_along(axis, (*problem.form.coefficient.factors)[axis]);
      }
      SCOPED_TRACE(describe(options));
      SCOPED_TRACE(axis);
      in_space_of_processor([&]<class Space>() {
        expect_equal_to_reference<double, Space>(problem);
        expect_equal_to_reference<float, Space>(problem);
        expect_fused_operations_equal_compositions<double, Space>(problem);
      });
    }
  }
}

// Whichever end of a row of two nodes is constrained, the other is free.
TEST_P(Kronecker, EqualsTheReferenceWithOneCellAlongXAndOneDirichletFace) {
  ProblemOptions options = Kronecker::options();
  options.boundary = Boundary::none;
  options.cells[0] = 1;
  for (int face = 0; face < face_count(options.dimension); ++face) {
    Problem problem = make_problem(options);
    problem.form.dirichlet[face] = true;
    SCOPED_TRACE(face);
    in_space_of_processor([&]<class Space>() {
      expect_equal_to_reference<double, Space>(problem);
      expect_fused_operations_equal_compositions<double, Space>(problem);
    });
  }
}

// In single precision exactly; in double precision the GPU's products are not taken of differences.
TEST_P(Kronecker, KeepsConstantsInItsNullSpace) {
  ProblemOptions options = Kronecker::options();
  options.boundary = Boundary::none;
  in_space_of_processor([&]<class Space>() {
    for (const Coefficient coefficient : {Coefficient::constant, Coefficient::separable}) {
      for (const Geometry geometry : {Geometry::cartesian, Geometry::graded}) {
        options.coefficient = coefficient;
        options.geometry = geometry;
        SCOPED_TRACE(describe(options));
        Problem problem = make_problem(options);
        if (std::is_same_v<Space, Host>) expect_constants_in_null_space<double, Space>(problem);
        expect_constants_in_null_space<float, Space>(problem);
        for (const int face : {1, 2}) problem.form.robin.push_back({face, constant_field(0.3)});
        expect_constants_in_null_space<float, Space>(problem);
        if (options.dimension == 2) continue;
        for (const int face : {4, 5}) problem.form.robin.push_back({face, constant_field(0.7)});
        expect_constants_in_null_space<float, Space>(problem);
      }
    }
  });
}

TEST_P(Kronecker, FusedFormsEqualCompositions) {
  in_space_of_processor([]<class Space>() {
    for_each_kind(options(), [](const Problem& problem) {
      expect_fused_operations_equal_compositions<double, Space>(problem);
      expect_fused_operations_equal_compositions<float, Space>(problem);
    });
  });
}

// CG on the fused forms, where x lags behind by an iteration, against the host's without them.
TEST_P(Kronecker, CgHasTheIteratesOfTheHostWithoutFusedForms) {
  ProblemOptions options = Kronecker::options();
  options.boundary = Boundary::dirichlet;
  const Problem problem = make_problem(options);
  const auto host = make_kronecker_operator<double>(problem.form);
  const HostVector<double> b = vector_of<double>(random_values(problem.size(), 41));
  const std::vector<double> guess = random_values(problem.size(), 43);
  in_space_of_processor([&]<class Space>() {
    const auto a = make_kronecker<double, Space>(problem.form);
    const auto rhs = in_space<Space>(b);
    for (const int iterations : {1, 2, 3, 6, 7}) {
      SCOPED_TRACE(iterations);
      SolveOptions limited;
      limited.relative_tolerance = 1e-300;
      limited.max_iterations = iterations;
      HostVector<double> expected_x = vector_of<double>(guess);
      const SolveReport expected =
          cg(WithoutFusedOperations(*host), nullptr, b, expected_x, limited);
      auto x = vector_in<double, Space>(guess);
      const SolveReport report = cg(*a, nullptr, rhs, x, limited);
      ASSERT_EQ(report.iterations, expected.iterations);
      EXPECT_LT(relative_difference(on_host(x), values_of(expected_x)), 1e-9);
      EXPECT_NEAR(report.true_relative_residual, expected.true_relative_residual,
                  1e-9 * expected.true_relative_residual);
    }
  });
}

// b at constrained nodes is a vector that A maps to itself: beta is 0, and x must not lag behind.
TEST_P(Kronecker, CgEndsAtOnceWhereOneDirectionIsEnough) {
  ProblemOptions options = Kronecker::options();
  options.boundary = Boundary::dirichlet;
  const Problem problem = make_problem(options);
  std::vector<double> b(static_cast<std::size_t>(problem.size()), 0.0);
  b.front() = 2.0;
  b.back() = -3.0;
  const auto check = [&]<class T, class Space>() {
    const auto a = make_kronecker<T, Space>(problem.form);
    const auto rhs = vector_in<T, Space>(b);
    Vector<T, Space> x(problem.size());
    const SolveReport report = cg(*a, nullptr, rhs, x, {});
    EXPECT_EQ(report.status, SolveStatus::converged);
    EXPECT_EQ(report.iterations, 1);
    EXPECT_EQ(values_of(on_host(x)), b);
  };
  in_space_of_processor([&]<class Space>() {
    check.template operator()<double, Space>();
    check.template operator()<float, Space>();
  });
}

TEST_P(Kronecker, IsSymmetric) {
  ProblemOptions options = Kronecker::options();
  options.coefficient = Coefficient::separable;
  const Problem problem = make_problem(options);
  in_space_of_processor([&]<class Space>() {
    const auto a = make_kronecker<double, Space>(problem.form);
    const HostVector<double> x = vector_of<double>(random_values(problem.size(), 1));
    const HostVector<double> y = vector_of<double>(random_values(problem.size(), 2));
    const HostVector<double> ax = applied(*a, x);
    const HostVector<double> ay = applied(*a, y);
    EXPECT_NEAR(dot(ax, y), dot(x, ay), 1e-13 * norm(ax) * norm(y));
  });
}

INSTANTIATE_TEST_SUITE_P(Degrees, Kronecker,
                         ::testing::Combine(::testing::Values(2, 3), ::testing::Range(1, 10),
                                            ::testing::ValuesIn(every_processor())),
                         name_with_processor);
INSTANTIATE_TEST_SUITE_P(HighDegrees, Kronecker,
                         ::testing::Values(std::tuple{2, 12, Processor::cpu}), name_with_processor);

using Box = std::pair<int, IndexTriple>;

class KroneckerCells : public EveryProcessorTest<std::tuple<Box, Processor>> {};

TEST_P(KroneckerCells, EqualsTheReference) {
  const auto& [dimension, cells] = std::get<Box>(GetParam());
  for (const int degree : {1, 2, 3, 4}) {
    ProblemOptions options = kronecker_options(dimension, degree, cells);
    for (const Boundary boundary : {Boundary::mixed, Boundary::dirichlet}) {
      for (const Coefficient coefficient : {Coefficient::constant, Coefficient::separable}) {
        options.boundary = boundary;
        options.coefficient = coefficient;
        SCOPED_TRACE(describe(options));
        const Problem problem = make_problem(options);
        in_space_of_processor([&]<class Space>() {
          expect_equal_to_reference<double, Space>(problem);
          expect_equal_to_reference<float, Space>(problem);
        });
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, KroneckerCells,
    ::testing::Combine(::testing::Values(Box{2, IndexTriple{1, 1, 1}}, Box{2, IndexTriple{1, 9, 1}},
                                         Box{2, IndexTriple{7, 1, 1}}, Box{2, IndexTriple{8, 5, 1}},
                                         Box{2, IndexTriple{16, 2, 1}},
                                         Box{2, IndexTriple{33, 3, 1}},
                                         Box{3, IndexTriple{1, 1, 1}}, Box{3, IndexTriple{1, 1, 9}},
                                         Box{3, IndexTriple{1, 9, 1}}, Box{3, IndexTriple{9, 1, 1}},
                                         Box{3, IndexTriple{8, 2, 5}},
                                         Box{3, IndexTriple{16, 5, 2}},
                                         Box{3, IndexTriple{17, 2, 1}}),
                       ::testing::ValuesIn(every_processor())),
    [](const auto& tested) {
      return std::to_string(tested.index) + place_name(std::get<Processor>(tested.param));
    });

}  // namespace
}  // namespace tessera::testing
