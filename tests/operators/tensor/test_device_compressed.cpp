// These tests hold the kernels on compressed factors to the reference.
#include <gtest/gtest.h>

#include <vector>

#include "operators/strategy.hpp"
#include "operators/tensor/compressed/factors.hpp"
#include "operators/tensor/tensor.hpp"
#include "solvers/errors.hpp"
#include "solvers/memory/device_array.hpp"
#include "tests/device_test.hpp"
#include "tests/operators/reference.hpp"
#include "tests/operators/tensor/bent_box.hpp"

namespace tessera::testing {
namespace {

template <class T>
void expect_equal_to_reference(const BilinearForm& form, const char* scatter, double factor = 1.0) {
  const std::vector<double> input = random_input<T>(form.discretization->lattice.size(), 5);
  const auto a = make_operator<T, Device>({"tensor", scatter, FactorStorage::compressed}, form);
  const HostVector<T> result = applied(*a, vector_of<T>(input));
  EXPECT_LT(relative_difference(result, Reference(form).apply(input)), factor * tolerance<T>())
      << scatter;
}

TEST(DeviceCompressedFactors, HaveTheBytesOfTheirBits) {
  TESSERA_REQUIRE_DEVICE();
  if constexpr (kHasCuda) {
    const IndexTriple cells = {7, 4, 5};
    for (const double bend : {1e-5, 0.1}) {
      SCOPED_TRACE(::testing::Message() << "bend " << bend);
      const Discretization discretization = bent_box(2, 3, bend, cells, {1.0, 0.8, 1.3});
      const auto expect_bits = [&]<class T>(T) {
        const CompressedBits bits = (bend < 1e-3 ? few_bits : many_bits)(sizeof(T));
        const CompressedLayout layout = compressed_layout(2, 3, sizeof(T));
        const DeviceCompressedFactors<T> factors(form_on(discretization), layout);
        EXPECT_EQ(factors.bits(), bits);
        EXPECT_GT(factors.error_bound(), 0.0);
        EXPECT_LE(factors.error_bound(), compressed_tolerance<T>());
        EXPECT_EQ(factors.bytes(),
                  compressed_factor_bytes(layout, ReactionKind::none, 7 * 4 * 5, bits, sizeof(T)));
      };
      expect_bits(double{});
      expect_bits(float{});
    }
  }
}

// An update gives the bits that new factors have, so that others with another number of them are
// made anew.
TEST(DeviceCompressedFactors, AreUpdatedWithAsManyBits) {
  TESSERA_REQUIRE_DEVICE();
  if constexpr (kHasCuda) {
    const Discretization discretization = bent_box(3, 4, 1e-5, {4, 3, 2}, {1.0, 0.8, 1.3});
    const BilinearForm gentle = form_on(discretization);
    BilinearForm other = gentle;
    other.coefficient = constant_field(2.5);
    BilinearForm steep = gentle;
    steep.coefficient = field_of([](double x, double y, double) { return 1.0 + 5.0 * x * y; });
    BilinearForm steeper = gentle;
    steeper.coefficient = field_of([](double x, double y, double) { return 1.0 + 7.0 * x * y; });
    const auto updated = [&]<class T>(T, const BilinearForm& from, const BilinearForm& to) {
      const CompressedLayout layout = compressed_layout(3, 4, sizeof(T));
      return DeviceCompressedFactors<T>(from, layout).update(to, layout);
    };
    const auto expect_all = [&](auto value) {
      EXPECT_EQ(updated(value, gentle, other), Updated::yes);
      EXPECT_EQ(updated(value, steep, steeper), Updated::yes);
      EXPECT_EQ(updated(value, gentle, steep), Updated::no);
      EXPECT_EQ(updated(value, steep, gentle), Updated::no);
    };
    expect_all(double{});
    expect_all(float{});
  }
}

class DeviceCompressedOfDegree : public ::testing::TestWithParam<int> {};

TEST_P(DeviceCompressedOfDegree, EqualTheReference) {
  TESSERA_REQUIRE_DEVICE();
  if constexpr (kHasCuda) {
    const int degree = GetParam();
    const IndexTriple cells = degree < 4 ? IndexTriple{11, 4, 5} : IndexTriple{5, 2, 3};
    for (const int extra : {1, 2}) {
      for (const double bend : {0.0, 1e-5, 0.1}) {
        SCOPED_TRACE(::testing::Message() << "extra points " << extra << ", bend " << bend);
        const Discretization discretization =
            bent_box(degree, degree + extra, bend, cells, {1.0, 0.8, 1.3});
        for (const char* scatter : {"atomic", "coloring", "private"}) {
          expect_equal_to_reference<double>(form_on(discretization), scatter);
          expect_equal_to_reference<float>(form_on(discretization), scatter);
        }
      }
    }
  }
}

// Layers a tenth and a hundredth as thick as they are long, sheared by a multiple of their
// thickness.
TEST_P(DeviceCompressedOfDegree, EqualTheReferenceForFlatCells) {
  TESSERA_REQUIRE_DEVICE();
  if constexpr (kHasCuda) {
    const int degree = GetParam();
    for (const double thickness : {1e-2, 1e-4}) {
      const Discretization discretization =
          bent_box(degree, degree + 1, 0.05, {3, 4, 2}, {1.0, 10.0 * thickness, thickness});
      const BilinearForm form = form_on(discretization);
      const DeviceCompressedFactors<double> factors(
          form, compressed_layout(degree, degree + 1, sizeof(double)));
      const DeviceCompressedFactors<float> single(
          form, compressed_layout(degree, degree + 1, sizeof(float)));
      if (thickness < 1e-3) {
        EXPECT_EQ(factors.bits(), CompressedBits::b64);
        EXPECT_EQ(single.bits(), CompressedBits::b32);
      }
      constexpr double kIllConditioned = 10.0;
      expect_equal_to_reference<double>(form, "atomic", kIllConditioned);
      expect_equal_to_reference<float>(form, "atomic", kIllConditioned);
    }
  }
}

// All of the GPU's memory but `free`, in pieces that it has.
class HeldMemory {
 public:
  explicit HeldMemory(Index free) {
    constexpr Index kMin = Index{4} << 20;
    for (Index piece = Index{1} << 36; piece >= kMin; piece /= 2) {
      while (require_device().free_bytes - piece >= free) pieces_.emplace_back(piece);
    }
  }

 private:
  std::vector<DeviceArray<char>> pieces_;
};

// As memory falls they are made, then refused in words, and only then is there too little for
// packed ones, too.
TEST(DeviceAloneCompressedFactors, ThatCannotBeCompressedAndDoNotFitAreRefused) {
  TESSERA_REQUIRE_DEVICE();
  if constexpr (kHasCuda) {
    const IndexTriple cells = {80, 80, 50};
    const Discretization discretization = bent_box(2, 3, 0.05, cells, {1.0, 1e-5, 1e-6});
    const BilinearForm form = form_on(discretization);
    const CompressedLayout layout = compressed_layout(2, 3, sizeof(double));
    ASSERT_EQ(DeviceCompressedFactors<double>(form, layout).bits(), CompressedBits::b64);
    const Index most =
        compressed_factor_peak_bytes(layout, ReactionKind::none, StateKind::none,
                                     discretization.mesh.cell_count(), CompressedBits::b64, 8);
    int refused = 0;
    bool is_short = false;
    for (Index free = most + (Index{64} << 20); free > 0 && !is_short; free -= Index{16} << 20) {
      const HeldMemory held(free);
      try {
        const DeviceCompressedFactors<double> factors(form, layout);
        EXPECT_EQ(refused, 0);
      } catch (const UnsuitableChoice&) {
        ++refused;
      } catch (const DeviceOutOfMemory&) {
        is_short = true;
      }
    }
    EXPECT_GE(refused, 3);
    EXPECT_TRUE(is_short);
  }
}

INSTANTIATE_TEST_SUITE_P(Degrees, DeviceCompressedOfDegree,
                         ::testing::Range(1, kMaxFastDegree + 1));

}  // namespace
}  // namespace tessera::testing
