#pragma once

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "tests/postprocess/temporary_directory.hpp"

namespace tessera::test {

/// What a run of the program left: exit code and all that it printed.
struct ProgramResult {
  int exit_code = -1;
  std::string output;
  std::string errors;
};

/// The program of this build as a child process in a directory of its own, where its outputs go.
class Program {
 public:
  /// Starts `tessera ARGUMENTS`.
  Program(const std::filesystem::path& directory, std::vector<std::string> arguments)
      : directory_(directory), child_(fork()) {
    if (child_ != 0) return;
    arguments.insert(arguments.begin(), TESSERA_PROGRAM);
    std::vector<char*> argv;
    argv.reserve(arguments.size() + 1);
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    redirect(STDOUT_FILENO, directory / "stdout.txt");
    redirect(STDERR_FILENO, directory / "stderr.txt");
    if (chdir(directory.c_str()) == 0) execv(TESSERA_PROGRAM, argv.data());
    _exit(127);
  }

  void signal(int number) const { kill(child_, number); }

  /// What it has written to stderr so far.
  std::string errors() const { return read_file(directory_ / "stderr.txt"); }

  ProgramResult wait() {
    int status = 0;
    waitpid(child_, &status, 0);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status),
            read_file(directory_ / "stdout.txt"), read_file(directory_ / "stderr.txt")};
  }

 private:
  static void redirect(int descriptor, const std::filesystem::path& path) {
    dup2(open(path.c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0644), descriptor);
  }

  std::filesystem::path directory_;
  pid_t child_;
};

inline ProgramResult run_program(const std::filesystem::path& directory,
                                 const std::vector<std::string>& arguments) {
  return Program(directory, arguments).wait();
}

inline void write_file(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path) << text;
}

inline nlohmann::json read_json(const std::filesystem::path& path) {
  return nlohmann::json::parse(read_file(path));
}

/// A case of a shipped file's folder.
inline std::filesystem::path shipped(const std::string& name) {
  return std::filesystem::path(TESSERA_CASES) / name;
}

}  // namespace tessera::test
