#include "core/base/sentence.h"

#include <gtest/gtest.h>

namespace peruse {
namespace {

TEST(Sentence, BeginsAndEndsAsOne) {
  EXPECT_EQ(Sentence("the weights do not fit"), "The weights do not fit.");
  EXPECT_EQ(Sentence("option top_k must be at least 1"), "Option top_k must be at least 1.");
  EXPECT_EQ(Sentence("a label, or two"), "A label, or two.");
  EXPECT_EQ(Sentence("It has one already."), "It has one already.");
  EXPECT_EQ(Sentence("HTML or XML: is the address right?"), "HTML or XML: is the address right?");
}

TEST(Sentence, NamesStayAsTheyAre) {
  EXPECT_EQ(Sentence("config.json has no model_type"), "config.json has no model_type.");
  EXPECT_EQ(Sentence("max_length is 9"), "max_length is 9.");
  EXPECT_EQ(Sentence("safetensors: the header is empty"), "safetensors: the header is empty.");
  EXPECT_EQ(Sentence("word"), "word.");
  EXPECT_EQ(Sentence(""), "");
}

}  // namespace
}  // namespace peruse
