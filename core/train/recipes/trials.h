// Trains by the requested method, or by the better of two. If examples are few, scores it by cross-validation. The last training uses all
// training examples, and leaves its result in the trainee.
//
//   Trials trials(trainee, goal, options, method, training, validation);
//   trials.Begin();
//   while (trials.Advance()->more) ...
//   trials.report();
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/train/recipes/teacher.h"

namespace peruse::train {

class Trials {
 public:
  struct Score {
    Method method = Method::kHead;
    int32_t folds = 0;
    std::vector<Guess> guesses;  // one for each training example
    double accuracy = 0;
  };

  // The method that competes with the head, and what decides between the two.
  struct Rival {
    Method method;
    double comparable;           // limits the floating-point operations of a comparison
    double standard_errors = 0;  // by how many of these its accuracy may be lower than the head's, and it is chosen
    double good_enough =
        2;  // the accuracy of the head, by cross-validation, with which it is not tried; above 1: never
  };

  // Without `method`, chooses between the head and a rival, by cross-validation or, if that takes too long, by a rule. The rival is
  // kContrast for sentence embedders and kFull for other models. `cross_validate` also scores a requested method. The trainee must have
  // weights; it and the generator must outlive the object.
  Trials(Trainee& trainee, Goal goal, std::function<TeachOptions(Method)> options, std::optional<Method> method,
         bool cross_validate, std::vector<Example> training, std::vector<Example> validation, Trainee* generator);

  // See Teacher::Begin and Teacher::Advance. Steps are those of all training runs.
  Result<Teacher::Plan> Begin();
  Result<Teacher::Progress> Advance();

  // Returns the number of steps of all training runs; it falls if the head is chosen.
  int64_t total_steps() const;
  const Teacher::Report& report() const { return teacher_->report(); }
  // Returns the plan of the last training run, but with the bytes of the largest run.
  const Teacher::Plan& plan() const { return plan_; }
  const TeachOptions& options() const { return teacher_->options(); }
  const std::vector<Score>& scores() const { return scores_; }
  const std::vector<Example>& training() const { return training_; }
  // Returns the label of a training example, or its most probable label.
  int32_t LabelOf(size_t example) const;

 private:
  struct Training {
    Method method;
    int32_t fold = -1;  // the fold to hold out; -1 means that the caller's validation examples are used
  };

  int64_t StepsOf(const Training& training) const;
  // Returns the floating-point operations of a training run by rival_.
  double CostOfRival() const;
  // Whether to train by rival_, decided without a comparison: not if that takes long.
  bool RivalByRule() const;
  // Returns null for a method without a score.
  const Score* ScoreOf(Method method) const;
  bool HeadIsGoodEnough() const;
  // Returns how to train by kContrast: briefly if the head's score is known and high, and there are three labels or more.
  const ContrastRecipe& Contrast() const;
  // Returns by how much the rival's accuracy may be lower than this one of the head.
  double Margin(double accuracy) const;
  void ScoreByFolds(Method method);
  void Choose();
  Status Start(const Training& training);
  void Finish();

  Trainee& trainee_;
  const Goal goal_;
  const Objective::Link link_;
  const Rival& rival_;
  const std::function<TeachOptions(Method)> options_;
  const std::optional<Method> asked_;
  const bool cross_validate_;
  std::vector<Example> training_, validation_;
  Trainee* const generator_;

  std::vector<Training> planned_;
  size_t current_ = 0;
  bool chosen_ = false;  // whether the last of planned_ is the final run
  std::vector<int32_t> folds_;
  std::vector<Score> scores_;
  std::unique_ptr<Teacher> teacher_;
  Teacher::Plan plan_;
  int64_t steps_before_ = 0;
};

}  // namespace peruse::train
