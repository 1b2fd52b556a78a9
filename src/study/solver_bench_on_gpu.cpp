// This file makes the solver bench of the GPU.
#include "src/study/solver_bench.hpp"

namespace tessera {

std::unique_ptr<SolverBench::Implementation> SolverBench::make_on_gpu(const StudyParameters& study,
                                                                      const StudyProblem& problem) {
  if (problem.precision == Precision::double_precision) {
    return std::make_unique<In<double, Device>>(study, problem);
  }
  return std::make_unique<In<float, Device>>(study, problem);
}

}  // namespace tessera
