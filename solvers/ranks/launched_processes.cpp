// This file asks the environment how many processes a launcher started.
#include <array>
#include <charconv>
#include <cstdlib>
#include <string_view>

#include "solvers/ranks/mpi_ranks.hpp"

namespace tessera {

int launched_processes() {
  // Those of Open MPI, and of MPICH and others.
  for (const char* const name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}) {
    const char* const text = std::getenv(name);
    if (text == nullptr) continue;
    const std::string_view digits(text);
    int count = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), count);
    if (error == std::errc() && end == digits.data() + digits.size() && count > 0) return count;
  }
  return 1;
}

}  // namespace tessera
