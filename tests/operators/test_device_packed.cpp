#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "operators/device_strategy.hpp"
#include "operators/packed_factors.hpp"
#include "operators/tensor.hpp"
#include "tests/device_test.hpp"
#include "tests/operators/problems.hpp"
#include "tests/operators/reference.hpp"

namespace tessera::testing {
namespace {

// A box of unequal cells, bent by `bend` of its size.
Discretization bent_box(int degree, int points, double bend, const IndexTriple& cells,
                        const Point& upper) {
  const BoxMesh mesh(3, cells, {0.0, 0.0, 0.0}, upper);
  const Basis1D basis =
      make_basis(degree, NodeFamily::gauss_lobatto, QuadratureRule::gauss, points);
  const auto bent = [=](int d) {
    return field_of([=](double x, double y, double z) {
      const double at[3] = {x, y, z};
      const double s = x / upper[0] + 0.7 * y / upper[1] - 0.4 * z / upper[2];
      return at[d] + bend * upper[d] * std::sin(2.0 * s + d);
    });
  };
  return make_mapped_discretization(mesh, basis, {bent(0), bent(1), bent(2)});
}

StiffnessForm form_on(const Discretization& discretization) {
  StiffnessForm form{&discretization, constant_field(1.5), {}, {}};
  form.dirichlet.set(0);
  form.dirichlet.set(3);
  return form;
}

template <class T>
void expect_equal_to_reference(const StiffnessForm& form, const char* scatter) {
  StiffnessForm compressed = form;
  compressed.geometry = GeometryForm::compressed;
  const Index n = form.discretization->lattice.size();
  const std::vector<double> input = random_input<T>(n, 5);
  const auto a = make_device_operator<T>({"tensor", scatter}, compressed);
  const HostVector<T> host = vector_of<T>(input);
  DeviceVector<T> x(n);
  DeviceVector<T> y(n);
  copy(host, x);
  fill(y, std::numeric_limits<T>::quiet_NaN());
  a->apply(x, y);
  HostVector<T> result(n);
  copy(y, result);
  EXPECT_LT(relative_difference(result, Reference(form).apply(input)), tolerance<T>()) << scatter;
}

TEST(DevicePackedFactors, TakeFewerBitsWhereTheyAreExactEnough) {
  TESSERA_REQUIRE_DEVICE();
  if constexpr (kHasCuda) {
    const IndexTriple cells = {7, 4, 5};
    const Point upper = {1.0, 0.8, 1.3};
    const Discretization mild = bent_box(3, 4, 1e-5, cells, upper);
    const Discretization harsh = bent_box(3, 4, 0.1, cells, upper);
    const DevicePackedFactors<double> few(form_on(mild), packed_layout(3, 4));
    const DevicePackedFactors<double> many(form_on(harsh), packed_layout(3, 4));
    EXPECT_EQ(few.bits(), PackedBits::b32);
    EXPECT_EQ(many.bits(), PackedBits::b42);
    EXPECT_LE(few.error_bound(), kPackedTolerance);
    EXPECT_LE(many.error_bound(), 1e-12);
    EXPECT_GT(few.error_bound(), 0.0);
    EXPECT_LT(few.bytes(), many.bytes());
    EXPECT_EQ(many.bytes(), packed_factor_bytes(packed_layout(3, 4), 7 * 4 * 5, 8));
  }
}

class PackedOfDegree : public ::testing::TestWithParam<int> {};

TEST_P(PackedOfDegree, EqualTheReferenceWithFewAndManyBits) {
  TESSERA_REQUIRE_DEVICE();
  if constexpr (kHasCuda) {
    const int degree = GetParam();
    const IndexTriple cells = degree < 4 ? IndexTriple{11, 4, 5} : IndexTriple{5, 2, 3};
    for (const int extra : {1, 2}) {
      for (const double bend : {1e-5, 0.1}) {
        SCOPED_TRACE(::testing::Message() << "extra points " << extra << ", bend " << bend);
        const Discretization discretization =
            bent_box(degree, degree + extra, bend, cells, {1.0, 0.8, 1.3});
        for (const char* scatter : {"atomic", "coloring", "private", "patch"}) {
          expect_equal_to_reference<double>(form_on(discretization), scatter);
          expect_equal_to_reference<float>(form_on(discretization), scatter);
        }
      }
    }
  }
}

// Entries of D differ by eight orders of magnitude; a form with one scale a cell would lose the
// smallest.
TEST_P(PackedOfDegree, AreExactForFlatCells) {
  TESSERA_REQUIRE_DEVICE();
  if constexpr (kHasCuda) {
    const int degree = GetParam();
    const Discretization discretization =
        bent_box(degree, degree + 1, 0.05, {3, 4, 2}, {1.0, 1e-2, 1e-4});
    const DevicePackedFactors<double> factors(form_on(discretization),
                                              packed_layout(degree, degree + 1));
    EXPECT_LE(factors.error_bound(), 1e-12);
    expect_equal_to_reference<double>(form_on(discretization), "atomic");
  }
}

INSTANTIATE_TEST_SUITE_P(Degrees, PackedOfDegree, ::testing::Range(1, kMostFastDegree + 1));

}  // namespace
}  // namespace tessera::testing
