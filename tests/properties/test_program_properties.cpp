// These tests run the program on random cases.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>
#include <vector>

#include "tests/properties/random_case.hpp"
#include "tests/src/program.hpp"

namespace tessera::testing {
namespace {

namespace fs = std::filesystem;
using testing::ProgramResult;
using testing::read_file;
using testing::run_program;

std::string group(const std::string& text, const char* pattern) {
  std::smatch match;
  return std::regex_search(text, match, std::regex(pattern)) ? match[1].str() : std::string();
}

void require_equal(const char* what, const std::string& checked, const std::string& run) {
  if (checked == run && !run.empty()) return;
  RC_FAIL(fmt::format("{}: \"{}\" by check, \"{}\" by run", what, checked, run));
}

// The lines of the levels' table, without its times and shares.
std::string level_lines(const std::string& output) {
  std::string lines;
  for (std::size_t at = output.find("level  degree"); at < output.size();) {
    const std::size_t end = std::min(output.find('\n', at), output.size());
    const std::string line = output.substr(at, end - at);
    if (line.find("  all ") == 0 || line.empty()) break;
    lines += line + "\n";
    at = end + 1;
  }
  return lines;
}

nlohmann::json result_of(const fs::path& directory) {
  return nlohmann::json::parse(read_file(directory / "result.json"));
}

void check_program(const RandomCase& random_case) {
  const testing::TemporaryDirectory scratch;
  const fs::path& directory = scratch.path();
  testing::write_file(directory / "case.toml", random_case.text);
  const ProgramResult checked = run_program(directory, {"check", "case.toml"});
  const ProgramResult run = run_program(directory, {"run", "case.toml", "--output", "first"});
  const bool refused = checked.exit_code != 0;
  if (refused || run.exit_code == 1) {
    if (checked.exit_code != run.exit_code || checked.errors != run.errors) {
      RC_FAIL(fmt::format("check ends with {} and run with {}:\n{}{}", checked.exit_code,
                          run.exit_code, checked.errors, run.errors));
    }
    return;
  }
  if (run.exit_code != 0 && run.exit_code != 2) {
    RC_FAIL(fmt::format("run ends with {}:\n{}", run.exit_code, run.errors));
  }

  const nlohmann::json result = result_of(directory / "first");
  require_equal("DoFs", group(checked.output, "(\\d+) DoFs"), result.at("dofs").dump());
  const std::string kernel = result.at("kernel").get<std::string>();
  require_equal("kernel", group(checked.output, "\noperator ([a-z]+)"), kernel);
  for (const nlohmann::json& choice : result.at("choices")) {
    const std::string reason = " (auto: " + choice.at("reason").get<std::string>() + ")";
    for (const std::string& output : {checked.output, run.output}) {
      if (output.find(reason) == std::string::npos) {
        RC_FAIL(fmt::format("{}:{} is not said in\n{}", choice.at("key").dump(), reason, output));
      }
    }
  }
  require_equal("levels", "|" + level_lines(checked.output), "|" + level_lines(run.output));
  require_equal("memory", group(checked.output, "largest at a time ([^,]+),"),
                group(run.output, "memory    about (.*) of .* available"));

  // The case as resolved repeats the run; so it does with atomic additions but for the order of
  // sums.
  const ProgramResult again =
      run_program(directory, {"run", "first/case.toml", "--output", "second", "--quiet"});
  if (again.exit_code != run.exit_code) {
    RC_FAIL(fmt::format("run ends with {}, and run of its resolved case with {}:\n{}",
                        run.exit_code, again.exit_code, again.errors));
  }
  const std::string resolved = read_file(directory / "first/case.toml");
  const auto has = [&](const char* text) { return resolved.find(text) != std::string::npos; };
  const bool is_repeatable =
      has("deterministic = true") || !(has("\"atomic\"") || has("asynchronous") || has("\"cuda\""));
  if (!is_repeatable) return;
  if (read_file(directory / "first/residuals.csv") !=
      read_file(directory / "second/residuals.csv")) {
    RC_FAIL("run of the resolved case has other residuals");
  }
  const nlohmann::json repeated = result_of(directory / "second");
  for (const char* part : {"solution", "error"}) {
    if (result.value(part, nlohmann::json()) != repeated.value(part, nlohmann::json())) {
      RC_FAIL(fmt::format("run of the resolved case has another {}", part));
    }
  }
}

TEST(TheProgram, DoesInARunWhatItsCheckSays) {
  Refusals refusals;
  const CaseRange range{.max_dofs = 600, .max_work = 4e4};
  // Few: each is run twice, and a run measures the machine's bandwidth.
  expect_for_all(random_cases(range), 8, [&](const RandomCase& random_case) {
    refusals.load(random_case);
    check_program(random_case);
  });
  refusals.expect_at_most(0.5);
}

}  // namespace
}  // namespace tessera::testing
