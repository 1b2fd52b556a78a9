// A ProgramTest runs the program in a directory of its own, where a small case is.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/src/program.hpp"

namespace tessera::testing {

inline constexpr char kCase[] =
    "title = \"small\"\n[mesh]\ncells = [4, 3, 2]\n[space]\ndegree = 3\n"
    "[problem]\nsource = \"3*pi^2*sin(pi*x)*sin(pi*y)*sin(pi*z)\"\n"
    "exact = \"sin(pi*x)*sin(pi*y)*sin(pi*z)\"\n[output]\ndirectory = \"out\"\n";

class ProgramTest : public ::testing::Test {
 protected:
  void SetUp() override { write_file(path() / "case.toml", kCase); }
  ProgramResult run(std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"run", "case.toml"});
    return run_program(path(), more);
  }
  const std::filesystem::path& path() const { return directory_.path(); }
  nlohmann::json result(const std::string& directory = "out") const {
    return read_json(path() / directory / "result.json");
  }

 private:
  TemporaryDirectory directory_;
};

}  // namespace tessera::testing
