// These tests parse command lines.
#include <gtest/gtest.h>

#include "src/parameters/command_line.hpp"
#include "tests/src/parameters/registries.hpp"

namespace tessera {
namespace {

Command parse(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "/usr/bin/tessera");
  return parse_command_line(static_cast<int>(arguments.size()), arguments.data(), "tessera 1.2.3");
}

/// Expects a usage error and returns its message.
std::string usage_error(const std::vector<const char*>& arguments) {
  const Command command = parse(arguments);
  const auto* finished = std::get_if<FinishedCommand>(&command);
  if (finished == nullptr) return "accepted";
  EXPECT_EQ(finished->exit_code, 1);
  EXPECT_EQ(finished->standard_output, "");
  return finished->standard_error;
}

std::string help(const std::vector<const char*>& arguments) {
  const Command command = parse(arguments);
  const auto* finished = std::get_if<FinishedCommand>(&command);
  if (finished == nullptr) return "accepted";
  EXPECT_EQ(finished->exit_code, 0);
  EXPECT_EQ(finished->standard_error, "");
  return finished->standard_output;
}

TEST(CommandLine, Run) {
  const auto command = std::get<RunCommand>(
      parse({"run", "case.toml", "--set", "operator.kernel=csr", "--set", "mesh.cells=[8,8,8]",
             "--output", "there", "--overwrite", "--quiet", "--threads", "4"}));
  EXPECT_EQ(command.case_file, "case.toml");
  EXPECT_EQ(command.verbosity, Verbosity::quiet);
  ASSERT_EQ(command.overrides.size(), 5U);
  EXPECT_EQ(command.overrides[0].assignment, "operator.kernel=csr");
  EXPECT_EQ(command.overrides[1].assignment, "mesh.cells=[8,8,8]");
  const CaseParameters p = parse_case("", command.overrides);
  EXPECT_EQ(p.operation.kernel, "csr");
  EXPECT_EQ(p.mesh.cells[2], 8);
  EXPECT_EQ(p.output.directory, "there");
  EXPECT_TRUE(p.output.overwrite);
  EXPECT_EQ(p.run.threads, 4);
}

TEST(CommandLine, Study) {
  EXPECT_EQ(std::get<StudyCommand>(parse({"study"})).study, "");
  const auto plain = std::get<StudyCommand>(parse({"study", "n-body"}));
  EXPECT_EQ(plain.study, "n-body");
  EXPECT_EQ(plain.device, "");
  EXPECT_EQ(plain.size, StudySize::full);
  EXPECT_FALSE(plain.repetitions);
  EXPECT_TRUE(plain.threads.empty());
  EXPECT_TRUE(plain.own.empty());
  const auto command = std::get<StudyCommand>(parse({"study",
                                                     "n-body",
                                                     "--particles",
                                                     "64,128",
                                                     "--threads",
                                                     "4,1,4",
                                                     "--quick",
                                                     "--only",
                                                     "serial,private",
                                                     "--steps=8",
                                                     "--seed",
                                                     "7",
                                                     "--time-limit",
                                                     "0.5",
                                                     "--repetitions",
                                                     "9",
                                                     "--csv",
                                                     "a.csv",
                                                     "--device",
                                                     "cuda",
                                                     "-q"}));
  EXPECT_EQ(command.threads, (std::vector<int>{1, 4}));
  EXPECT_EQ(command.only, (std::vector<std::string>{"serial", "private"}));
  EXPECT_EQ(command.own, (std::vector<std::string>{"--particles", "64,128", "--steps=8"}));
  EXPECT_EQ(command.size, StudySize::quick);
  EXPECT_EQ(command.seed, 7U);
  EXPECT_EQ(command.time_limit_s, 0.5);
  EXPECT_EQ(command.repetitions, 9);
  EXPECT_EQ(command.csv, "a.csv");
  EXPECT_EQ(command.device, "cuda");
  EXPECT_EQ(command.verbosity, Verbosity::quiet);
  EXPECT_EQ(command.arguments.front(), "n-body");
  EXPECT_EQ(command.arguments.back(), "-q");
}

TEST(CommandLine, Convergence) {
  const auto plain = std::get<ConvergenceCommand>(parse({"convergence", "case.toml"}));
  EXPECT_EQ(plain.case_file, "case.toml");
  EXPECT_TRUE(plain.overrides.empty());
  EXPECT_TRUE(plain.degrees.empty());
  EXPECT_EQ(plain.levels, 4);
  EXPECT_EQ(plain.max_dofs, 0);
  const auto command = std::get<ConvergenceCommand>(
      parse({"convergence", "case.toml", "--degrees", "4,2,2", "--levels=6", "--max-dofs",
             "1000000", "--time-limit", "2.5", "--csv", "a.csv", "--plot", "b.svg", "--report",
             "c.html", "--threads", "2", "--quiet"}));
  EXPECT_EQ(command.degrees, (std::vector<int>{2, 4}));
  EXPECT_EQ(command.levels, 6);
  EXPECT_EQ(command.max_dofs, 1000000);
  EXPECT_EQ(command.time_limit_s, 2.5);
  EXPECT_EQ(command.csv, "a.csv");
  EXPECT_EQ(command.plot, "b.svg");
  EXPECT_EQ(command.report, "c.html");
  EXPECT_EQ(command.verbosity, Verbosity::quiet);
  EXPECT_EQ(parse_case(case_with(""), command.overrides).run.threads, 2);
  for (const char* wrong : {"--degrees=0", "--degrees=1,two", "--levels=0", "--max-dofs=-1",
                            "--max-dofs=1.5", "--max-dofs=0", "--time-limit=0"}) {
    EXPECT_NE(usage_error({"convergence", "case.toml", wrong}), "accepted") << wrong;
  }
  EXPECT_EQ(
      std::get<ConvergenceCommand>(parse({"convergence", "case.toml", "--max-dofs=2e5"})).max_dofs,
      200000);
}

TEST(CommandLine, RestartsNeedNoCase) {
  const auto command = std::get<RunCommand>(parse({"run", "--restart", "out"}));
  EXPECT_EQ(command.case_file, "");
  EXPECT_EQ(command.restart, "out");
  const auto other = std::get<RunCommand>(parse({"run", "case.toml", "--restart", "out"}));
  EXPECT_EQ(other.case_file, "case.toml");
  EXPECT_EQ(other.restart, "out");
}

TEST(CommandLine, LaunchesAreReportedIfAskedFor) {
  const auto run = [](std::vector<const char*> arguments) {
    return std::get<RunCommand>(parse(std::move(arguments))).launches;
  };
  EXPECT_EQ(run({"run", "case.toml"}), LaunchReports::no);
  EXPECT_EQ(run({"run", "case.toml", "--launches"}), LaunchReports::yes);
  const auto compare = [](std::vector<const char*> arguments) {
    return std::get<CompareCommand>(parse(std::move(arguments))).launches;
  };
  EXPECT_EQ(compare({"compare", "study.toml"}), LaunchReports::no);
  EXPECT_EQ(compare({"compare", "study.toml", "--launches"}), LaunchReports::yes);
}

TEST(CommandLine, RunWithoutOptionsOverridesNothing) {
  const auto command = std::get<RunCommand>(parse({"run", "case.toml"}));
  EXPECT_TRUE(command.overrides.empty());
  EXPECT_EQ(command.verbosity, Verbosity::normal);
}

TEST(CommandLine, SetTakesOneValueSoTheFileMayFollow) {
  const auto command = std::get<RunCommand>(
      parse({"run", "--set", "space.degree=3", "case.toml", "--set=title=a b"}));
  EXPECT_EQ(command.case_file, "case.toml");
  ASSERT_EQ(command.overrides.size(), 2U);
  EXPECT_EQ(command.overrides[1].assignment, "title=a b");
}

TEST(CommandLine, OptionsAreNamedInDiagnostics) {
  const auto command = std::get<RunCommand>(parse({"run", "c.toml", "--threads", "9999"}));
  expect_errors(case_errors(case_with(""), command.overrides),
                {"--threads 9999: run.threads = 9999: must be an integer from 0 to 4096"});
}

TEST(CommandLine, DirectoriesNeedNoQuoting) {
  const auto command = std::get<RunCommand>(parse({"run", "c.toml", "-o", "C:\\a \"b\" [1]"}));
  EXPECT_EQ(parse_case(case_with(""), command.overrides).output.directory, "C:\\a \"b\" [1]");
}

TEST(CommandLine, Check) {
  const auto command = std::get<CheckCommand>(parse({"check", "c.toml", "--set", "title=a"}));
  EXPECT_EQ(command.case_file, "c.toml");
  ASSERT_EQ(command.overrides.size(), 1U);
  EXPECT_EQ(command.ranks, 1);
}

TEST(CommandLine, CheckForSeveralProcesses) {
  EXPECT_EQ(std::get<CheckCommand>(parse({"check", "c.toml", "-n", "4"})).ranks, 4);
  EXPECT_EQ(std::get<CheckCommand>(parse({"check", "c.toml", "--ranks", "12"})).ranks, 12);
  for (const char* const number : {"0", "-1", "two", "1.5", "1000000"}) {
    EXPECT_NE(usage_error({"check", "c.toml", "-n", number}).find("--ranks"), std::string::npos)
        << number;
  }
}

TEST(CommandLine, Compare) {
  const auto command = std::get<CompareCommand>(
      parse({"compare", "s.toml", "--set", "study.degrees=[2]", "--csv", "m.csv", "-q"}));
  EXPECT_EQ(command.study_file, "s.toml");
  EXPECT_EQ(command.verbosity, Verbosity::quiet);
  const auto p = study_registry().parse("", "s.toml", command.overrides).parameters;
  EXPECT_EQ(p.degrees, std::vector<int>{2});
  EXPECT_EQ(p.output, "m.csv");
}

TEST(CommandLine, Defaults) {
  const auto plain = std::get<DefaultsCommand>(parse({"defaults"}));
  EXPECT_EQ(plain.kind, FileKind::case_file);
  EXPECT_EQ(plain.format, DefaultsFormat::toml);
  const auto study =
      std::get<DefaultsCommand>(parse({"defaults", "--study", "--format", "schema"}));
  EXPECT_EQ(study.kind, FileKind::study_file);
  EXPECT_EQ(study.format, DefaultsFormat::schema);
  EXPECT_EQ(std::get<DefaultsCommand>(parse({"defaults", "--format", "markdown"})).format,
            DefaultsFormat::markdown);
  EXPECT_EQ(std::get<DefaultsCommand>(parse({"defaults", "--schema"})).format,
            DefaultsFormat::schema);
  EXPECT_EQ(std::get<DefaultsCommand>(parse({"defaults", "--reference"})).format,
            DefaultsFormat::markdown);
}

TEST(CommandLine, ListAndInfo) {
  EXPECT_TRUE(std::holds_alternative<ListCommand>(parse({"list"})));
  EXPECT_EQ(std::get<InfoCommand>(parse({"info"})).measure, Measure::once);
  EXPECT_EQ(std::get<InfoCommand>(parse({"info", "--measure"})).measure, Measure::anew);
}

TEST(CommandLine, HelpAndVersion) {
  EXPECT_EQ(help({"--version"}), "tessera 1.2.3\n");
  for (const char* part : {"run", "check", "compare", "defaults", "list", "info",
                           "Examples:", "tessera run case.toml", "Exit codes"}) {
    EXPECT_NE(help({"--help"}).find(part), std::string::npos) << part;
  }
  for (const char* part : {"CASE", "--set KEY=VALUE", "--output DIR", "--overwrite", "--threads N",
                           "--quiet", "Examples:"}) {
    EXPECT_NE(help({"run", "--help"}).find(part), std::string::npos) << part;
  }
  EXPECT_NE(help({"compare", "-h"}).find("--csv FILE"), std::string::npos);
}

TEST(CommandLine, UsageErrors) {
  EXPECT_EQ(usage_error({"rnu", "case.toml"}),
            "tessera: \"rnu\" is not a command; did you mean run?\ntessera --help tells more.\n");
  EXPECT_EQ(usage_error({"case.toml"}),
            "tessera: \"case.toml\" is not a command; did you mean tessera run case.toml?\n"
            "tessera --help tells more.\n");
  EXPECT_EQ(usage_error({"banana"}),
            "tessera: \"banana\" is not a command; the commands are run, check, compare, "
            "convergence, study, report, defaults, "
            "list, info\ntessera --help tells more.\n");
  EXPECT_NE(usage_error({}).find("a command is needed: run, check"), std::string::npos);
  EXPECT_NE(usage_error({"run"}).find("CASE is required"), std::string::npos);
  EXPECT_NE(usage_error({"run"}).find("tessera run --help"), std::string::npos);
  EXPECT_NE(usage_error({"run", "c.toml", "--fast"}).find("--fast"), std::string::npos);
  EXPECT_EQ(usage_error({"run", "c.toml", "--thread=4"}),
            "tessera: unknown option --thread; did you mean --threads?\n"
            "tessera run --help tells more.\n");
  EXPECT_NE(usage_error({"run", "c.toml", "--threads", "many"}).find("--threads"),
            std::string::npos);
  EXPECT_NE(usage_error({"run", "c.toml", "--set"}).find("--set"), std::string::npos);
  EXPECT_NE(usage_error({"defaults", "--format", "xml"}).find("xml"), std::string::npos);
  EXPECT_NE(usage_error({"--banana"}).find("--banana"), std::string::npos);
}

}  // namespace
}  // namespace tessera
