// These functions load cases and studies from text.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "src/parameters/case_parameters.hpp"
#include "src/parameters/messages/diagnostics.hpp"
#include "src/parameters/solver_keys.hpp"
#include "src/parameters/study_parameters.hpp"

namespace tessera {

inline const std::vector<KernelName> kTestKernels = {
    {"csr", false}, {"local", true}, {"tensor", true}, {"kronecker", false}};
inline const std::vector<std::string> kTestScatters = {"serial", "atomic", "coloring", "private"};

inline const std::vector<PreconditionerName> kTestPreconditioners = {
    {"none", MapOfCalls::the_same},
    {"jacobi", MapOfCalls::the_same},
    {"chebyshev", MapOfCalls::the_same, add_chebyshev_keys},
    {"multigrid", MapOfCalls::the_same, add_multigrid_keys},
    {"fast-diagonalization", MapOfCalls::the_same},
    {"block-jacobi", MapOfCalls::the_same, add_block_jacobi_keys},
    {"block-asynchronous-jacobi", MapOfCalls::another}};

inline const Registry<CaseParameters>& case_registry() {
  static const Registry<CaseParameters> registry =
      make_case_registry(kTestKernels, kTestScatters, kTestPreconditioners);
  return registry;
}

inline const Registry<StudyParameters>& study_registry() {
  static const Registry<StudyParameters> registry =
      make_study_registry(kTestKernels, kTestScatters, kTestPreconditioners);
  return registry;
}

inline CaseParameters parse_case(const std::string& text,
                                 const std::vector<Override>& overrides = {}) {
  return case_registry().parse(text, "case.toml", overrides).parameters;
}

/// The lines reported for a case; empty if it is accepted.
inline std::vector<std::string> case_errors(const std::string& text,
                                            const std::vector<Override>& overrides = {}) {
  std::vector<std::string> lines;
  try {
    parse_case(text, overrides);
  } catch (const InputError& error) {
    for (const Diagnostic& diagnostic : error.diagnostics()) {
      lines.push_back(format_diagnostic(diagnostic));
    }
  }
  return lines;
}

/// Expects one diagnostic a string, in this order and to the letter.
inline void expect_errors(const std::vector<std::string>& found,
                          const std::vector<std::string>& expected) {
  EXPECT_EQ(found, expected);
}

/// A case that is right, with more lines after its [mesh].
inline std::string case_with(const std::string& more) {
  return "[mesh]\ncells = [4, 4, 4]\n" + more;
}

}  // namespace tessera
