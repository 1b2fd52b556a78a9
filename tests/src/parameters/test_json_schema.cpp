// These tests validate files by the JSON schema.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <utility>

#include "tests/src/parameters/registries.hpp"

namespace tessera {
namespace {

/// Validates TOML texts against a schema as an editor does, with Python's jsonschema.
class JsonSchema : public ::testing::Test {
 protected:
  void SetUp() override {
    if (std::system("python3 -c 'import jsonschema, tomllib' 2>/dev/null") != 0) {
      GTEST_SKIP() << "needs python3 >= 3.11 with jsonschema";
    }
    base_ = ::testing::TempDir() + "tessera_schema_" + std::to_string(getpid());
  }

  void TearDown() override {
    for (const char* end : {".json", ".toml", ".py"}) std::remove((base_ + end).c_str());
  }

  /// @returns 0 = valid, 1 = not valid, others: something is wrong with the schema or the test.
  int validate(const std::string& schema, const std::string& toml) const {
    std::ofstream(base_ + ".json") << schema;
    std::ofstream(base_ + ".toml") << toml;
    std::ofstream(base_ + ".py") << R"toml(
import json, jsonschema, sys, tomllib
base = sys.argv[1]
schema = json.load(open(base + ".json"))
case = tomllib.load(open(base + ".toml", "rb"))
jsonschema.Draft202012Validator.check_schema(schema)
errors = list(jsonschema.Draft202012Validator(schema).iter_errors(case))
sys.exit(7 if errors else 0)
)toml";
    const int status = std::system(("python3 '" + base_ + ".py' '" + base_ + "'").c_str());
    const int code = status / 256;
    return code == 7 ? 1 : code == 0 ? 0 : 2;
  }

  std::string base_;
};

TEST_F(JsonSchema, AcceptsDefaultsAndResolvedFiles) {
  const std::string schema = case_registry().json_schema();
  EXPECT_EQ(validate(schema, case_registry().defaults_text()), 0);
  EXPECT_EQ(validate(schema, case_registry().to_toml(parse_case(
                                 "[mesh]\ndimension = 2\ncells = [3, 4]\nmap = [\"x\", \"y\"]\n"
                                 "spacing = [[0, 0.5, 0.9, 1], { geometric = 2 }]\n"
                                 "[boundary]\ntop = { type = \"robin\", alpha = 1 }\n"
                                 "[time]\nend = 1\n"))),
            0);
  EXPECT_EQ(validate(study_registry().json_schema(), study_registry().defaults_text()), 0);
  EXPECT_EQ(validate(study_registry().json_schema(), "[study]\ndofs = [1e6]\n"), 0);
}

TEST_F(JsonSchema, RefusesWhatTheChecksRefuse) {
  const std::string schema = case_registry().json_schema();
  for (const char* wrong :
       {"", "[mesh]\ncells = [0, 1, 1]\n", "[mesh]\ncells = [1, 1, 1]\nunknown = 1\n",
        "[mesh]\ncells = [1, 1, 1]\nspacing = [\"even\", \"uniform\", \"uniform\"]\n",
        "[mesh]\ncells = [1, 1, 1]\nspacing = [{ geometric = 0 }, \"uniform\", \"uniform\"]\n",
        "[mesh]\ncells = [1, 1, 1]\nspacing = [[0], \"uniform\", \"uniform\"]\n",
        "[mesh]\ncells = [1, 1, 1]\n[space]\ndegree = 33\n",
        "[mesh]\ncells = [1, 1, 1]\n[space]\nnodes = \"gauss\"\n",
        "[mesh]\ncells = [1, 1, 1]\n[solver]\nrelative_tolerance = 1.0\n",
        "[mesh]\ncells = [1, 1, 1]\n[problem]\nsource = \"\"\n",
        "[mesh]\ncells = [1, 1, 1]\n[boundary]\nleft = { typ = \"robin\" }\n",
        "[mesh]\ncells = [1, 1, 1]\n[time]\nstart = 0\n",
        "[mesh]\ncells = [1, 1, 1]\n[time]\nend = 1\nstep = 0\n",
        "[mesh]\ncells = [1, 1, 1]\n[other]\n", "[mesh]\ncells = [1]\n"}) {
    EXPECT_EQ(validate(schema, wrong), 1) << wrong;
    EXPECT_FALSE(case_errors(wrong).empty()) << wrong;
  }
}

TEST(JsonSchemaText, HasDefaultsAndDescriptions) {
  const std::string schema = case_registry().json_schema();
  for (const char* part :
       {"\"$schema\": \"https://json-schema.org/draft/2020-12/schema\"",
        "\"additionalProperties\": false", "\"description\": \"Number of cells along each axis.\"",
        "\"default\": \"auto\"", "\"exclusiveMaximum\": 1.0"}) {
    EXPECT_NE(schema.find(part), std::string::npos) << part;
  }
}

}  // namespace
}  // namespace tessera
