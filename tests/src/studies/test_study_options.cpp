// These tests read the options that one study has.
#include <gtest/gtest.h>

#include "src/parameters/messages/diagnostics.hpp"
#include "src/studies/studies.hpp"

namespace tessera {
namespace {

const std::vector<OwnOption> kOptions = {
    {.name = "updates",
     .placeholder = "N",
     .preset = "100",
     .min = 1,
     .max = 1000,
     .quick_preset = "10"},
    {.name = "sizes",
     .placeholder = "N,...",
     .preset = "4,8",
     .min = 2,
     .max = 64,
     .numbers = OwnOption::Numbers::several},
    {.name = "order", .placeholder = "up|down", .preset = "up", .choices = {"up", "down"}},
    {.name = "kernels",
     .placeholder = "N",
     .preset = "1",
     .max = 9,
     .processors = {Processor::gpu}},
    {.name = "case",
     .placeholder = "CASE.toml",
     .preset = "",
     .numbers = OwnOption::Numbers::none,
     .reads_file = true}};

OwnValues values(const std::vector<std::string>& arguments, StudySize size = StudySize::full) {
  return {"made-up", kOptions, arguments, size, Processor::cpu};
}

std::string error_of(const std::vector<std::string>& arguments) {
  try {
    values(arguments);
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(OwnOptions, HavePresets) {
  EXPECT_EQ(values({}).number("updates"), 100);
  EXPECT_EQ(values({}, StudySize::quick).number("updates"), 10);
  EXPECT_EQ(values({}, StudySize::quick).text("order"), "up");
  EXPECT_EQ(values({}).numbers("sizes"), (std::vector<std::int64_t>{4, 8}));
}

TEST(OwnOptions, AreReadInBothForms) {
  const OwnValues given = values({"--updates", "7", "--order=down", "--sizes", "2,3,64"});
  EXPECT_EQ(given.number("updates"), 7);
  EXPECT_EQ(given.text("order"), "down");
  EXPECT_EQ(given.numbers("sizes"), (std::vector<std::int64_t>{2, 3, 64}));
  EXPECT_EQ(values({"--updates", "7"}, StudySize::quick).number("updates"), 7);
}

TEST(OwnOptions, MistakesAreNamed) {
  EXPECT_EQ(error_of({"--update", "7"}),
            "--update: the study made-up has no such option; did you mean --updates?");
  EXPECT_EQ(error_of({"--colour", "7"}),
            "--colour: the study made-up has no such option; its own are --updates, --sizes, "
            "--order, --kernels, --case");
  EXPECT_EQ(error_of({"--updates"}), "--updates: needs a value, N");
  EXPECT_EQ(error_of({"--updates", "0"}), "--updates 0: must be a whole number from 1 to 1000");
  EXPECT_EQ(error_of({"--updates=1,2"}), "--updates 1,2: must be a whole number from 1 to 1000");
  EXPECT_EQ(error_of({"--sizes=2,,3"}),
            "--sizes 2,,3: must be whole numbers, as 1,2,4, from 2 to 64");
  EXPECT_EQ(error_of({"--sizes=99999999999999999999"}),
            "--sizes 99999999999999999999: must be whole numbers, as 1,2,4, from 2 to 64");
  EXPECT_EQ(error_of({"--order", "sideways"}), "--order sideways: must be up or down");
  EXPECT_EQ(error_of({"--kernels", "2"}),
            "--kernels: does nothing in the study made-up on the CPU: --device cuda uses it");
  EXPECT_EQ(error_of({"--case", "no/such.toml"}), "--case no/such.toml: there is no such file");
}

TEST(StudyOptions, OnlySelectsVariantsAndTheirKinds) {
  StudyOptions options;
  EXPECT_TRUE(options.selects("anything"));
  options.only = {"transaction", "lock/row"};
  EXPECT_TRUE(options.selects("transaction"));
  EXPECT_TRUE(options.selects("transaction/row"));
  EXPECT_TRUE(options.selects("lock/row"));
  EXPECT_FALSE(options.selects("lock/entry"));
  EXPECT_FALSE(options.selects("transactions"));
}

// What the table says of each study can be given on the command line.
TEST(Studies, EveryRowIsComplete) {
  ASSERT_FALSE(studies().empty());
  for (const StudyInfo& study : studies()) {
    EXPECT_EQ(&find_study(study.name), &study);
    EXPECT_FALSE(study.question.empty()) << study.name;
    EXPECT_FALSE(study.document.empty()) << study.name;
    EXPECT_FALSE(study.needs.empty()) << study.name;
    EXPECT_FALSE(study.processors.empty()) << study.name;
    EXPECT_FALSE(study.variants.empty()) << study.name;
    EXPECT_NE(study.measure, nullptr) << study.name;
    for (const StudySize size : {StudySize::full, StudySize::quick}) {
      const OwnValues presets(study.name, study.options, {}, size, Processor::cpu);
      for (const OwnOption& option : study.options) {
        ASSERT_FALSE(option.processors.empty()) << study.name << " " << option.name;
        EXPECT_NO_THROW(OwnValues(study.name, study.options,
                                  {"--" + option.name, presets.text(option.name)}, size,
                                  option.processors.front()))
            << study.name << " " << option.name;
      }
    }
    EXPECT_NE(study_list().find(study.name + "\n"), std::string::npos);
  }
}

TEST(Studies, AMisspelledNameIsCorrected) {
  try {
    find_study("synchronisation");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_EQ(std::string(error.what()),
              "tessera study synchronisation: is not a study; did you mean synchronization?");
  }
}

}  // namespace
}  // namespace tessera
