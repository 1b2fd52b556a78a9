// This file runs programs for many points on the GPU, a thread for each point.
#include "operators/cells/fields/device_program.cuh"
#include "tests/operators/load/device_points.hpp"

namespace tessera::testing {
namespace {

constexpr int kThreads = 128;

/// Calls take(i, value) for every point i. Launch: blocks of kThreads threads, a thread for each
/// point, up to a largest grid, which strides. A point costs 24 B read, what `take` writes and the
/// arithmetic of the program, whose instructions come from the first cache. Deterministic.
template <class Number, class Take>
__global__ void __launch_bounds__(kThreads)
    program_kernel(FieldProgramView program, DevicePoints points, Number* stacks, Take take) {
  for (Index i = thread_number<kThreads>(); i < points.n; i += thread_count<kThreads>()) {
    take(i, evaluate_at<kThreads>(program, stacks, points.x[i], points.y[i], points.z[i]));
  }
}

template <class Number, class Take>
void for_each_value(const DeviceProgram& program, const DevicePoints& points, Take take) {
  if (points.n == 0) return;
  constexpr Index kMaxBlocks = 1 << 16;
  constexpr Index kMaxDeepBlocks = 1 << 9;
  const bool is_deep = program.depth() > DeviceProgram::kShallow;
  const unsigned blocks = blocks_for(points.n, kThreads, is_deep ? kMaxDeepBlocks : kMaxBlocks);
  DeviceArray<Number> stacks(is_deep ? Index{blocks} * kThreads * program.depth() : 0);
  launch(program_kernel<Number, Take>, {"evaluating a field", blocks, kThreads}, program.view(),
         points, stacks.data(), take);
}

}  // namespace

void evaluate_on_device(const DeviceProgram& program, const DevicePoints& points, double* values) {
  for_each_value<double>(program, points,
                         [=] __device__(Index i, double value) { values[i] = value; });
}

void evaluate_gradient_on_device(const DeviceProgram& program, const DevicePoints& points,
                                 const std::array<double*, 3>& gradient) {
  double* const dx = gradient[0];
  double* const dy = gradient[1];
  double* const dz = gradient[2];
  for_each_value<Dual<double>>(program, points, [=] __device__(Index i, const Dual<double>& value) {
    dx[i] = value.d[0];
    dy[i] = value.d[1];
    dz[i] = value.d[2];
  });
}

namespace {

/// Launch: as program_kernel.
__global__ void first_forbidden_kernel(const double* values, Index n, Allowed allowed,
                                       unsigned long long* first) {
  for (Index i = thread_number<kThreads>(); i < n; i += thread_count<kThreads>()) {
    if (!is_allowed(values[i], allowed)) atomicMin(first, static_cast<unsigned long long>(i));
  }
}

}  // namespace

Index first_forbidden(const double* values, Index n, Allowed allowed) {
  if (n == 0) return 0;
  DeviceArray<unsigned long long> first(
      std::vector<unsigned long long>{static_cast<unsigned long long>(n)});
  launch(first_forbidden_kernel, {"checking a field", blocks_for(n, kThreads, 1 << 16), kThreads},
         values, n, allowed, first.data());
  return static_cast<Index>(to_host(first)[0]);
}

}  // namespace tessera::testing
