// These tests compare programs on the GPU with the host's.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "mesh/field/program_field.hpp"
#include "operators/cells/fields/device_program.hpp"
#include "tests/device_test.hpp"
#include "tests/operators/load/device_points.hpp"

namespace tessera::testing {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr Index kCount = 1000;

class DevicePrograms : public ::testing::Test {
 protected:
  void SetUp() override {
    TESSERA_REQUIRE_DEVICE();
    std::mt19937_64 random(5);
    std::uniform_real_distribution<double> uniform(0.05, 0.95);
    for (int d = 0; d < 3; ++d) {
      for (double& value : at_[d]) value = uniform(random);
      on_device_[d] = DeviceArray<double>(at_[d]);
    }
  }

  PointBlock points() const { return {at_[0].size(), at_[0].data(), at_[1].data(), at_[2].data()}; }

  // Values and derivatives on both.
  void compare(const FieldProgram& program, double tolerance) const {
    const DevicePoints device_points{kCount, on_device_[0].data(), on_device_[1].data(),
                                     on_device_[2].data()};
    const DeviceProgram on_device(program);
    const std::vector<double> poison(kCount, kNan);
    std::array<DeviceArray<double>, 4> out;
    for (auto& array : out) array = DeviceArray<double>(poison);
    evaluate_on_device(on_device, device_points, out[0].data());
    evaluate_gradient_on_device(on_device, device_points,
                                {out[1].data(), out[2].data(), out[3].data()});
    std::array<std::vector<double>, 4> expected;
    for (auto& values : expected) values = poison;
    evaluate(program, points(), expected[0].data());
    evaluate_gradient(program, points(),
                      {expected[1].data(), expected[2].data(), expected[3].data()});
    for (int k = 0; k < 4; ++k) {
      const std::vector<double> found = to_host(out[k]);
      for (Index i = 0; i < kCount; ++i) {
        if (std::isnan(expected[k][i])) {
          ASSERT_TRUE(std::isnan(found[i])) << "component " << k << ", point " << i;
        } else {
          ASSERT_NEAR(found[i], expected[k][i], tolerance * (1.0 + std::abs(expected[k][i])))
              << "component " << k << ", point " << i;
        }
      }
    }
  }

 private:
  std::array<std::vector<double>, 3> at_ = {
      std::vector<double>(kCount), std::vector<double>(kCount), std::vector<double>(kCount)};
  std::array<DeviceArray<double>, 3> on_device_;
};

TEST_F(DevicePrograms, HaveTheValuesAndDerivativesOfTheHost) {
  for (int k = 0; k < static_cast<int>(Operation::select); ++k) {
    const auto operation = static_cast<Operation>(k);
    if (!has_one_argument(operation) && !has_two_arguments(operation)) continue;
    SCOPED_TRACE("operation " + std::to_string(k));
    // f(1.2 + x, y) or f(1.2 + x), where acosh is real and asin is not.
    compare({{{Operation::push, Operand::x, 0.0},
              {Operation::add, Operand::constant, 1.2},
              {operation, has_two_arguments(operation) ? Operand::y : Operand::stack, 3.0}},
             1},
            1e-14);
    compare({{{Operation::push, Operand::z, 0.0},
              {operation, has_two_arguments(operation) ? Operand::x : Operand::stack, -2.0}},
             1},
            1e-12);
  }
}

TEST_F(DevicePrograms, MayBeDeep) {
  for (const int depth : {DeviceProgram::kShallow, DeviceProgram::kShallow + 1, 100}) {
    SCOPED_TRACE(depth);
    // x - (y - (x - (y - ...))), kept on the stack from left to right.
    FieldProgram program;
    for (int i = 0; i < depth; ++i) {
      program.code.push_back({Operation::push, i % 2 == 0 ? Operand::x : Operand::y, 0.0});
    }
    for (int i = 1; i < depth; ++i) {
      program.code.push_back({Operation::subtract, Operand::stack, 0.0});
    }
    program.depth = depth;
    compare(program, 1e-13);
  }
}

TEST_F(DevicePrograms, FollowTheirFrame) {
  compare({{{Operation::push, Operand::x, 0.0},
            {Operation::multiply, Operand::y, 0.0},
            {Operation::sin, Operand::stack, 0.0},
            {Operation::add, Operand::z, 0.0}},
           1,
           {1.0, 2.0, 3.0},
           4.0,
           0.5,
           7.0},
          1e-13);
}

TEST_F(DevicePrograms, TellTheFirstValueThatIsNotAllowed) {
  std::vector<double> values(kCount, 1.0);
  const auto first = [&](Allowed allowed) {
    const DeviceArray<double> on_device(values);
    return first_forbidden(on_device.data(), kCount, allowed);
  };
  for (const Allowed allowed : {Allowed::finite, Allowed::positive, Allowed::non_negative}) {
    EXPECT_EQ(first(allowed), kCount);
  }
  values[900] = -1.0;
  values[700] = 0.0;
  EXPECT_EQ(first(Allowed::finite), kCount);
  EXPECT_EQ(first(Allowed::positive), 700);
  EXPECT_EQ(first(Allowed::non_negative), 900);
  values[500] = std::numeric_limits<double>::infinity();
  values[300] = kNan;
  for (const Allowed allowed : {Allowed::finite, Allowed::positive, Allowed::non_negative}) {
    EXPECT_EQ(first(allowed), 300);
  }
}

}  // namespace
}  // namespace tessera::testing
