// These functions run the program and catch all that it prints.
#pragma once

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "tests/postprocess/temporary_directory.hpp"

namespace tessera::testing {

/// What a run of the program left: exit code and all that it printed.
struct ProgramResult {
  int exit_code = -1;
  std::string output;
  std::string errors;
};

/// The arguments, and after them --set for each of the settings.
inline std::vector<std::string> with_settings(std::vector<std::string> arguments,
                                              const std::vector<std::string>& settings) {
  for (const std::string& setting : settings) {
    arguments.insert(arguments.end(), {"--set", setting});
  }
  return arguments;
}

/// The program of this build as a child process in a directory of its own, where its outputs go. It
/// sees the GPU only if an argument names it, so that what a case leaves to the program does not
/// depend on the machine.
class Program {
 public:
  /// Starts `tessera ARGUMENTS`.
  /// @param prepare what the child does before, after its streams are set up
  /// @param launcher of processes, with its arguments: `mpirun -n 2`; empty for none
  Program(
      const std::filesystem::path& directory, std::vector<std::string> arguments,
      const std::function<void()>& prepare = [] {}, const std::vector<std::string>& launcher = {})
      : directory_(directory), child_(fork_without_old_output(directory)) {
    if (child_ != 0) return;
    // What runs in the background of a shell is made to ignore it.
    std::signal(SIGINT, SIG_DFL);
    arguments.insert(arguments.begin(), TESSERA_PROGRAM);
    arguments.insert(arguments.begin(), launcher.begin(), launcher.end());
    std::vector<char*> argv;
    argv.reserve(arguments.size() + 1);
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    const auto names_gpu = [](const std::string& text) {
      return text.find("cuda") != std::string::npos;
    };
    if (std::none_of(arguments.begin(), arguments.end(), names_gpu)) {
      setenv("CUDA_VISIBLE_DEVICES", "", 1);
    }
    // Tests share the cores, and what a run says must not depend on whether it notices.
    setenv("OMP_WAIT_POLICY", "passive", 1);
    redirect(STDOUT_FILENO, directory / "stdout.txt");
    redirect(STDERR_FILENO, directory / "stderr.txt");
    prepare();
    if (chdir(directory.c_str()) == 0) execv(argv.front(), argv.data());
    _exit(127);
  }

  void signal(int number) const { kill(child_, number); }
  pid_t id() const { return child_; }

  /// Waits until the condition holds; false if it did not for a minute, or the program ended.
  bool wait_until(const std::function<bool()>& condition) const {
    for (int n = 0; n < 6000; ++n) {
      if (condition()) return true;
      siginfo_t ended{};
      waitid(P_PID, static_cast<id_t>(child_), &ended, WEXITED | WNOHANG | WNOWAIT);
      if (ended.si_pid == child_) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
  }
  bool wait_for_output(const std::string& text) const {
    return wait_until([&] { return output().find(text) != std::string::npos; });
  }
  bool wait_for_errors(const std::string& text) const {
    return wait_until([&] { return errors().find(text) != std::string::npos; });
  }

  /// What it has written to stdout and stderr so far.
  std::string output() const { return read_file(directory_ / "stdout.txt"); }
  std::string errors() const { return read_file(directory_ / "stderr.txt"); }

  ProgramResult wait() {
    int status = 0;
    waitpid(child_, &status, 0);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status),
            read_file(directory_ / "stdout.txt"), read_file(directory_ / "stderr.txt")};
  }

 private:
  // What an earlier program printed must not be taken for this one's.
  static pid_t fork_without_old_output(const std::filesystem::path& directory) {
    std::filesystem::remove(directory / "stdout.txt");
    std::filesystem::remove(directory / "stderr.txt");
    return fork();
  }
  static void redirect(int descriptor, const std::filesystem::path& path) {
    dup2(open(path.c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0644), descriptor);
  }

  std::filesystem::path directory_;
  pid_t child_;
};

inline ProgramResult run_program(
    const std::filesystem::path& directory, const std::vector<std::string>& arguments,
    const std::function<void()>& prepare = [] {}) {
  return Program(directory, arguments, prepare).wait();
}

/// Names in a directory, sorted; empty if it is not there.
inline std::vector<std::string> names_in(const std::filesystem::path& directory) {
  std::vector<std::string> names;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(directory, none)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

/// An expression that takes long to evaluate: sin(x) + sin(2*x) + ...
inline std::string long_expression(int terms) {
  std::string text = "sin(x)";
  for (int k = 2; k <= terms; ++k) text += " + sin(" + std::to_string(k) + "*x)";
  return text;
}

inline void write_file(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path) << text;
}

/// The header and the rows of a CSV file, without the comments before them.
inline std::string read_rows(const std::filesystem::path& path) {
  std::string text = read_file(path);
  while (text.starts_with('#')) text.erase(0, text.find('\n') + 1);
  return text;
}

inline nlohmann::json read_json(const std::filesystem::path& path) {
  return nlohmann::json::parse(read_file(path));
}

/// A case of a shipped file's folder.
inline std::filesystem::path shipped(const std::string& name) {
  return std::filesystem::path(TESSERA_CASES) / name;
}

}  // namespace tessera::testing
