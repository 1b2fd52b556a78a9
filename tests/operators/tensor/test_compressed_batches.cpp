// These tests hold compressed factors of the host to their error bound, and their operators to the
// reference.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "mesh/geometry/cell_geometry.hpp"
#include "mesh/geometry/geometric_factors.hpp"
#include "operators/cells/batching.hpp"
#include "operators/form/updatable.hpp"
#include "operators/strategy.hpp"
#include "operators/tensor/compressed/batches.hpp"
#include "operators/tensor/with_rule.hpp"
#include "tests/operators/reference.hpp"
#include "tests/operators/suitable.hpp"
#include "tests/operators/tensor/bent_box.hpp"

namespace tessera::testing {
namespace {

constexpr FactorStorage kCompressed = FactorStorage::compressed;

// The lanes of a batch that are cells of their own.
template <class F>
void for_each_cell(const CellBatches& batches, F&& f) {
  for (const Brick& brick : batches.bricks()) {
    batches.for_each_batch(brick, [&](const CellBatch& batch) {
      for (int lane = 0; lane < batch.active; ++lane) f(batch.index, lane);
    });
  }
}

// The largest error of an entry as a share of sqrt(D_aa D_bb).
template <CompressedBits bits, class T>
double largest_error(const CompressedBatches<T>& compressed, const GeometricFactors<T>& stored,
                     const CellBatches& batches, const std::vector<double>& weights) {
  double largest = 0.0;
  for_each_cell(batches, [&](Index batch, int lane) {
    const BatchHeader<T> header(compressed.batch(batch));
    const WordLanes<T>* words = compressed.batch(batch) + kHeaderVectors<T>;
    for (std::size_t q = 0; q < weights.size(); ++q, words += kPointVectors<T, bits>) {
      Lanes<T> entries[6];
      read_entries<bits>(words, header, entries);
      const Lanes<T>* exact = stored.batch(batch) + 6 * q;
      for (int e = 0; e < 6; ++e) {
        const auto [a, b] = diagonal_of_entry(e);
        const double scale =
            std::sqrt(static_cast<double>(exact[a][lane]) * static_cast<double>(exact[b][lane]));
        const double error = weights[q] * static_cast<double>(entries[e][lane]) - exact[e][lane];
        largest = std::max(largest, std::abs(error) / scale);
      }
    }
  });
  return largest;
}

// Unpacked, every entry is that of stored factors but for the error bound and roundings.
template <class T>
void expect_within_the_bound(const BilinearForm& form, CompressedBits bits) {
  const Discretization& discretization = *form.discretization;
  const auto batches = make_batches<T>(discretization);
  const CompressedBatches<T> compressed(form, *batches);
  const GeometricFactors<T> stored(discretization, *batches, form.coefficient, form.reaction);
  ASSERT_TRUE(compressed.are_packed());
  ASSERT_GT(compressed.error_bound(), 0.0);
  ASSERT_EQ(compressed.bits(), bits);
  constexpr double kRounding = sizeof(T) == 8 ? 4e-15 : 1e-6;
  const std::vector<double> weights = tensor_weights(discretization.basis.quadrature, 3);
  const double largest =
      bits == few_bits(sizeof(T))
          ? largest_error<few_bits(sizeof(T))>(compressed, stored, *batches, weights)
          : largest_error<many_bits(sizeof(T))>(compressed, stored, *batches, weights);
  EXPECT_LE(largest, compressed.error_bound() + kRounding);
  // The bound is not far above what there is.
  EXPECT_GE(largest + kRounding, compressed.error_bound() / 16.0);
}

template <class T>
void expect_equal(const BilinearForm& form, const char* scatter, const std::vector<double>& input,
                  const std::vector<double>& product, const std::vector<double>& diagonal,
                  double factor) {
  const auto a = make_operator<T>({"tensor", scatter, kCompressed}, form);
  EXPECT_LT(relative_difference(applied(*a, vector_of<T>(input)), product), factor * tolerance<T>())
      << scatter;
  HostVector<T> own(a->size());
  a->diagonal(own);
  EXPECT_LT(relative_difference(own, diagonal), factor * tolerance<T>()) << scatter;
}

// Product and diagonal in both precisions.
void expect_equal_to_reference(const BilinearForm& form, const std::vector<const char*>& scatters,
                               double factor = 1.0) {
  const std::vector<double> input = random_input<float>(form.discretization->lattice.size(), 5);
  const Reference reference(form);
  const std::vector<double> product = reference.apply(input);
  const std::vector<double> diagonal = reference.diagonal();
  for (const char* scatter : scatters) {
    expect_equal<double>(form, scatter, input, product, diagonal, factor);
    expect_equal<float>(form, scatter, input, product, diagonal, factor);
  }
}

class CompressedOfDegree : public ::testing::TestWithParam<int> {};

TEST_P(CompressedOfDegree, AreWithinTheirErrorBound) {
  const int degree = GetParam();
  for (const int extra : {1, 2}) {
    for (const double bend : {1e-5, 0.1}) {
      SCOPED_TRACE(::testing::Message() << "extra points " << extra << ", bend " << bend);
      const Discretization discretization =
          bent_box(degree, degree + extra, bend, {11, 2, 3}, {1.0, 0.8, 1.3});
      const auto expect_bits_of = [](const BilinearForm& form, auto bits) {
        expect_within_the_bound<double>(form, bits(sizeof(double)));
        expect_within_the_bound<float>(form, bits(sizeof(float)));
      };
      BilinearForm form = form_on(discretization);
      expect_bits_of(form, bend < 1e-3 ? few_bits : many_bits);
      form.coefficient = field_of([](double x, double y, double z) { return 1.0 + x * y + z * z; });
      expect_bits_of(form, many_bits);
    }
  }
}

TEST_P(CompressedOfDegree, EqualTheReference) {
  const int degree = GetParam();
  const IndexTriple cells = degree < 4 ? IndexTriple{11, 4, 5} : IndexTriple{9, 2, 1};
  for (const int extra : {1, 2}) {
    SCOPED_TRACE(::testing::Message() << "extra points " << extra);
    const Discretization discretization =
        bent_box(degree, degree + extra, 0.1, cells, {1.0, 0.8, 1.3});
    BilinearForm form = form_on(discretization);
    expect_equal_to_reference(form, {"serial", "atomic", "coloring", "private"});
    form.reaction = constant_field(2.5);
    expect_equal_to_reference(form, {"coloring"});
    form.reaction = field_of([](double x, double y, double) { return x * x + y * y; });
    expect_equal_to_reference(form, {"coloring"});
  }
}

// The points are the nodes: stored factors need no interpolation then.
TEST_P(CompressedOfDegree, EqualTheReferenceInSpectralElements) {
  const int degree = GetParam();
  ProblemOptions options;
  options.degree = degree;
  options.cells = {9, 2, 1};
  options.rule = QuadratureRule::gauss_lobatto;
  for (const Reaction reaction : {Reaction::none, Reaction::variable}) {
    options.reaction = reaction;
    const Problem problem = make_problem(options);
    ASSERT_TRUE(is_collocated(problem.discretization->basis));
    expect_equal_to_reference(problem.form, {"coloring"});
  }
}

// Layers a tenth and a hundredth as thick as they are long, sheared by a multiple of their
// thickness: the thinner ones cannot be packed.
TEST_P(CompressedOfDegree, EqualTheReferenceForFlatCells) {
  const int degree = GetParam();
  for (const double thickness : {1e-2, 1e-4}) {
    const Discretization discretization =
        bent_box(degree, degree + 1, 0.05, {3, 4, 2}, {1.0, 10.0 * thickness, thickness});
    const BilinearForm form = form_on(discretization);
    if (thickness < 1e-3) {
      const auto batches = make_batches<double>(discretization);
      EXPECT_FALSE(CompressedBatches<double>(form, *batches).are_packed());
    }
    constexpr double kIllConditioned = 10.0;
    expect_equal_to_reference(form, {"coloring"}, kIllConditioned);
    const auto a = make_operator<double>({"tensor", "coloring", kCompressed}, form);
    EXPECT_EQ(a->name(), "tensor/coloring, compressed");
    const OperatorBytes foreseen =
        operator_bytes({"tensor", "coloring", kCompressed}, shape_on(form));
    EXPECT_LE(a->bytes(), foreseen.peak);
    if (thickness > 1e-3) {
      EXPECT_EQ(a->bytes(), foreseen.held);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Degrees, CompressedOfDegree, ::testing::Range(1, kMaxFastDegree + 1));

TEST(CompressedBatches, HaveTheBytesThatAreForeseen) {
  for (const double bend : {1e-5, 0.1}) {
    const Discretization discretization = bent_box(2, 3, bend, {7, 4, 5}, {1.0, 0.8, 1.3});
    BilinearForm form = form_on(discretization);
    for (const double reaction : {0.0, 3.0}) {
      form.reaction = constant_field(reaction);
      const auto expect_bytes = [&]<class T>(T) {
        const auto batches = make_batches<T>(discretization);
        const CompressedBits bits = (bend < 1e-3 ? few_bits : many_bits)(sizeof(T));
        EXPECT_EQ(CompressedBatches<T>(form, *batches).bytes(),
                  compressed_batch_bytes(reaction_kind(form.reaction),
                                         batches->batch_count() * kLanes<T>, 3, bits, sizeof(T)));
      };
      expect_bytes(double{});
      expect_bytes(float{});
    }
  }
}

// An update gives the bits that a new operator has, so that one with another number of them is
// made anew.
TEST(CompressedBatches, AreUpdatedWithAsManyBits) {
  const Discretization discretization = bent_box(3, 4, 1e-5, {4, 3, 2}, {1.0, 0.8, 1.3});
  const BilinearForm gentle = form_on(discretization);
  BilinearForm other = gentle;
  other.coefficient = field_of([](double x, double y, double) { return 2.0 + 0.01 * x * y; });
  BilinearForm steep = gentle;
  steep.coefficient = field_of([](double x, double y, double) { return 1.0 + 5.0 * x * y; });
  BilinearForm steeper = gentle;
  steeper.coefficient = field_of([](double x, double y, double) { return 1.0 + 7.0 * x * y; });
  const auto expect_updated = [&]<class T>(T, const BilinearForm& from, const BilinearForm& to) {
    const StrategyName strategy{"tensor", "coloring", kCompressed};
    const auto a = make_operator<T>(strategy, from);
    const auto b = make_operator<T>(strategy, to);
    const HostVector<T> x = vector_of<T>(random_input<T>(a->size(), 7));
    EXPECT_EQ(update_in_place(*a, to), a->bytes() == b->bytes() ? Updated::yes : Updated::no);
    if (a->bytes() == b->bytes()) {
      EXPECT_EQ(values_of(applied(*a, x)), values_of(applied(*b, x)));
    }
  };
  const auto expect_all = [&](auto value) {
    expect_updated(value, gentle, other);
    expect_updated(value, steep, steeper);
    expect_updated(value, gentle, steep);
    expect_updated(value, steep, gentle);
  };
  expect_all(double{});
  expect_all(float{});
  const auto bytes_of = [&](const BilinearForm& form) {
    return make_operator<double>({"tensor", "coloring", kCompressed}, form)->bytes();
  };
  EXPECT_EQ(bytes_of(gentle), bytes_of(other));
  EXPECT_EQ(bytes_of(steep), bytes_of(steeper));
  EXPECT_LT(bytes_of(gentle), bytes_of(steep));
}

// What could not be packed is made anew: it would be packed now.
TEST(CompressedBatches, AreNotUpdatedBeyondWhatCanBePacked) {
  const Discretization discretization = bent_box(3, 4, 0.1, {4, 3, 2}, {1.0, 0.8, 1.3});
  const BilinearForm smooth = form_on(discretization);
  BilinearForm rough = smooth;
  rough.coefficient = field_of([](double x, double, double) { return std::exp(400.0 * x); });
  const StrategyName strategy{"tensor", "coloring", kCompressed};
  const auto a = make_operator<double>(strategy, smooth);
  const auto b = make_operator<double>(strategy, rough);
  EXPECT_EQ(update_in_place(*a, rough), Updated::no);
  EXPECT_EQ(update_in_place(*b, smooth), Updated::no);
  const HostVector<double> x = vector_of<double>(random_input<double>(a->size(), 7));
  EXPECT_EQ(b->name(), "tensor/coloring, compressed");
  EXPECT_LT(relative_difference(applied(*b, x), Reference(rough).apply(values_of(x))),
            kDoubleTolerance);
}

TEST(FixedPoints, HoldTheirRange) {
  for (const auto& [low, high] :
       {std::pair{1.0, 1.5}, {-3.0, 7.0}, {0.0, 0.0}, {1e-300, 2e-300}, {-1e10, -1e-10}}) {
    const double least = std::max(std::abs(low), std::abs(high));
    const FixedPoint entry = find_fixed_point<double>(low, high, least, 42);
    ASSERT_NE(entry.exponent, kNoExponent) << low;
    const double one = power_of_two(entry.exponent);
    EXPECT_GE(low - entry.offset, one);
    EXPECT_LT(high - entry.offset, 2.0 * one);
    EXPECT_EQ(from_upper_word<double>(entry.word & ~kExponentBits), entry.offset);
    EXPECT_EQ(static_cast<int>(entry.word & kExponentBits), entry.exponent + 1023);
  }
  EXPECT_EQ(find_fixed_point<float>(0.0, 1e300, 1.0, 21).exponent, kNoExponent);
  EXPECT_EQ(find_fixed_point<double>(0.0, std::nan(""), 1.0, 42).exponent, kNoExponent);
}

}  // namespace
}  // namespace tessera::testing
