// This file has the steps of a Lanczos iteration on the GPU, whose scalars stay there.
#include "solvers/adding_operator.hpp"
#include "solvers/fused_operations.hpp"
#include "solvers/memory/reduction.cuh"
#include "solvers/preconditioners/spectrum.hpp"

namespace tessera {
namespace {

using Index = std::int64_t;

// The sums of a step.
struct StepSums {
  double pq;
  double qq;  // comes along with p.q where an operator makes both
  double rz;  // of the residual after the step
};

// Where a step finds r.z of the residuals before and after the step before. Null before there are
// such steps.
struct LastSums {
  const double* rz_before;
  const StepSums* step;
};

// p = D^-1 r + beta p. Launch: the shape of reduction.cuh. 4 vectors, 3 in the first step.
template <class T>
__global__ void __launch_bounds__(kReductionThreads)
    direction_kernel(Index n, LastSums last, const T* __restrict__ d, const T* __restrict__ r,
                     T* __restrict__ p) {
  const bool is_first = last.step == nullptr;
  const T beta = is_first ? T{0} : static_cast<T>(last.step->rz / *last.rz_before);
  const Index stride = thread_count<kReductionThreads>();
  for (Index i = thread_number<kReductionThreads>(); i < n; i += stride) {
    const T z = d[i] * r[i];
    p[i] = is_first ? z : z + beta * p[i];
  }
}

// *result = the sum of term(i). Launch: as above; deterministic.
template <class Term>
__global__ void __launch_bounds__(kReductionThreads)
    sum_kernel(Index n, Term term, double* result, Sums<1>* partial, unsigned* arrived) {
  Sums<1> sum;
  const Index stride = thread_count<kReductionThreads>();
  for (Index i = thread_number<kReductionThreads>(); i < n; i += stride) sum[0] += term(i);
  reduce_over_grid(sum, partial, arrived, [=](const Sums<1>& total) { *result = total[0]; });
}

// r -= rz / pq q, then *rz_after = r.D^-1 r; q is left as zeros where that is asked for. Launch: as
// above. 4 vectors, 5 with zeros; deterministic.
template <Leave leave, class T>
__global__ void __launch_bounds__(kReductionThreads)
    residual_kernel(Index n, const double* rz, const double* pq, const T* __restrict__ d,
                    T* __restrict__ q, T* __restrict__ r, double* rz_after, Sums<1>* partial,
                    unsigned* arrived) {
  const T alpha = static_cast<T>(*rz / *pq);
  Sums<1> sum;
  const Index stride = thread_count<kReductionThreads>();
  for (Index i = thread_number<kReductionThreads>(); i < n; i += stride) {
    const T value = r[i] - alpha * q[i];
    r[i] = value;
    if constexpr (leave == Leave::zeros) q[i] = T{0};
    const double wide = static_cast<double>(value);
    sum[0] += static_cast<double>(d[i]) * wide * wide;
  }
  reduce_over_grid(sum, partial, arrived, [=](const Sums<1>& total) { *rz_after = total[0]; });
}

}  // namespace

template <class T>
std::vector<double> lanczos_sums(const LinearOperator<T, Device>& a,
                                 const DeviceVector<T>& inverse_diagonal, int steps,
                                 DeviceVector<T>& r, DeviceVector<T>& p, DeviceVector<T>& q) {
  // Between the pass that clears q and the product: r, D^-1, q and p.
  constexpr int kVectorsOfPasses = 4;
  const FusedOperations<T, Device>* const fused = a.fused();
  const auto* const adding = fused == nullptr ? as_adding(a, kVectorsOfPasses) : nullptr;
  const Index n = a.size();
  const T* const d = inverse_diagonal.data();
  ReductionBuffer<1> buffer;
  DeviceArray<double> first_rz(1);
  DeviceArray<StepSums> of_steps(steps);
  const auto over_entries = [&](const char* name) { return reduction_launch(name, n); };

  fill_random(r);
  if (adding != nullptr) fill(q, T{0});
  const auto queue_sum = [&](auto term, double* result) {
    launch(sum_kernel<decltype(term)>, over_entries("sum of an eigenvalue estimate"), n, term,
           result, buffer.partial(), buffer.arrived());
  };
  const auto residual_term = [d, r = r.data()] __device__(Index i) {
    const double wide = static_cast<double>(r[i]);
    return static_cast<double>(d[i]) * wide * wide;
  };
  const auto direction_term = [p = p.data(), q = q.data()] __device__(Index i) {
    return static_cast<double>(p[i]) * static_cast<double>(q[i]);
  };
  queue_sum(residual_term, first_rz.data());
  const double* rz = first_rz.data();
  LastSums last{nullptr, nullptr};
  for (int k = 0; k < steps; ++k) {
    stop_together(a.layout());
    StepSums* const sums = of_steps.data() + k;
    launch(direction_kernel<T>, over_entries("direction of an eigenvalue estimate"), n, last, d,
           r.data(), p.data());
    if (fused != nullptr) {
      fused->apply_dot(p, q, &sums->pq);
    } else {
      if (adding != nullptr) {
        adding->apply_to_zeros(p, q);
      } else {
        a.apply(p, q);
      }
      queue_sum(direction_term, &sums->pq);
    }
    launch(
        adding != nullptr ? residual_kernel<Leave::zeros, T> : residual_kernel<Leave::as_it_is, T>,
        over_entries("residual of an eigenvalue estimate"), n, rz, &sums->pq, d, q.data(), r.data(),
        &sums->rz, buffer.partial(), buffer.arrived());
    last = {rz, sums};
    rz = &sums->rz;
  }

  std::vector<double> all = to_host(first_rz);
  for (const StepSums& of_step : to_host(of_steps)) {
    all.push_back(of_step.pq);
    all.push_back(of_step.rz);
  }
  return all;
}

template std::vector<double> lanczos_sums(const LinearOperator<double, Device>&,
                                          const DeviceVector<double>&, int, DeviceVector<double>&,
                                          DeviceVector<double>&, DeviceVector<double>&);
template std::vector<double> lanczos_sums(const LinearOperator<float, Device>&,
                                          const DeviceVector<float>&, int, DeviceVector<float>&,
                                          DeviceVector<float>&, DeviceVector<float>&);

}  // namespace tessera
