#include <fmt/format.h>

#include <cstdio>
#include <new>
#include <variant>

#include "postprocess/atomic_file.hpp"
#include "solvers/device.hpp"
#include "src/commands.hpp"
#include "src/cpu_check.hpp"
#include "src/memory_estimate.hpp"
#include "src/parameters/diagnostics.hpp"
#include "src/solution_file.hpp"

namespace tessera {
namespace {

template <class... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};
template <class... Functions>
Overloaded(Functions...) -> Overloaded<Functions...>;

ExitCode fail(ExitCode code, const std::string& message) {
  fmt::print(stderr, "{}\n", message);
  return code;
}

ExitCode execute(const Command& command) {
  try {
    return std::visit(Overloaded{[](const RunCommand& c) { return run(c); },
                                 [](const CheckCommand& c) { return check(c); },
                                 [](const CompareCommand& c) { return compare(c); },
                                 [](const DefaultsCommand& c) { return print_defaults(c); },
                                 [](const ListCommand& c) { return list(c); },
                                 [](const InfoCommand& c) { return info(c); },
                                 [](const FinishedCommand& c) {
                                   fmt::print("{}", c.standard_output);
                                   fmt::print(stderr, "{}", c.standard_error);
                                   return static_cast<ExitCode>(c.exit_code);
                                 }},
                      command);
  } catch (const InputError& error) {
    return fail(ExitCode::input_error, error.what());
  } catch (const NotEnoughMemory& error) {
    return fail(ExitCode::no_resources, fmt::format("tessera: {}", error.what()));
  } catch (const OutputError& error) {
    return fail(ExitCode::no_resources, fmt::format("tessera: {}", error.what()));
  } catch (const NoDevice& error) {
    return fail(ExitCode::no_resources,
                fmt::format("tessera: {}; device = \"cpu\" needs none", error.what()));
  } catch (const DeviceError& error) {
    return fail(ExitCode::no_resources, fmt::format("tessera: {}", error.what()));
  } catch (const std::bad_alloc&) {
    return fail(ExitCode::no_resources,
                "tessera: out of memory; tessera check tells what a case needs");
  } catch (const std::exception& error) {
    return fail(ExitCode::no_resources,
                fmt::format("tessera: internal error, please report it: {}", error.what()));
  }
}

}  // namespace
}  // namespace tessera

int main(int argc, char** argv) {
  const std::string missing = tessera::missing_cpu_features();
  if (!missing.empty()) {
    fmt::print(stderr,
               "tessera: this build needs a CPU with {}; build it on this machine, or with "
               "-DTESSERA_ARCH=x86-64-v2\n",
               missing);
    return static_cast<int>(tessera::ExitCode::no_resources);
  }
  return static_cast<int>(
      tessera::execute(tessera::parse_command_line(argc, argv, tessera::program_name())));
}
