// This file reads what launchers leave in the environment.
#include "solvers/ranks/launched_processes.hpp"

#include <unistd.h>

#include <array>
#include <charconv>
#include <cstdlib>
#include <initializer_list>
#include <string_view>

namespace tessera {
namespace {

// The first of the variables that is a number from `least` on, else `least`.
int number_in(std::initializer_list<const char*> variables, int least) {
  for (const char* const name : variables) {
    const char* const text = std::getenv(name);
    if (text == nullptr) continue;
    const std::string_view digits(text);
    int number = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    const bool is_number = error == std::errc() && end == digits.data() + digits.size();
    if (is_number && number >= least) return number;
  }
  return least;
}

}  // namespace

// Those of Open MPI, of MPICH and others, and of Slurm's srun.
int launched_processes() {
  return number_in({"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"}, 1);
}
int launched_processes_on_host() { return number_in({"OMPI_COMM_WORLD_LOCAL_SIZE"}, 0); }
int launched_rank() { return number_in({"OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"}, 0); }

std::string host_name() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0 || name[0] == '\0') return "unknown host";
  return name.data();
}

}  // namespace tessera
