// Trains by the requested method, or by the better of two, and scores it by cross-validation if examples are few.
//
//   Trials trials(trainee, goal, options, method, training, validation);
//   trials.Begin();
//   while (trials.Advance()->more) ...
//   trials.report();   of the last training, on all training examples: the trainee's masters are the result
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/train/teacher.h"

namespace peruse::train {

class Trials {
 public:
  // Accuracy of a method on unseen examples.
  struct Score {
    Method method = Method::kHead;
    int32_t folds = 0;
    std::vector<Guess> guesses;  // by training example
    double accuracy = 0;
  };

  // `method` nullopt chooses between head and full training, by cross-validation or, if that takes too long, by a rule. `cross_validate`
  // also scores a requested method. `options` returns the options of a method. The trainee's weights are loaded; it and the generator
  // outlive this.
  Trials(Trainee& trainee, Goal goal, std::function<TeachOptions(Method)> options, std::optional<Method> method,
         bool cross_validate, std::vector<Example> training, std::vector<Example> validation, Trainee* generator);

  // As Teacher::Begin and Teacher::Advance, with the steps of all trainings.
  Result<Teacher::Plan> Begin();
  Result<Teacher::Progress> Advance();

  // Steps of all trainings; fewer after the head has been chosen.
  int64_t total_steps() const;
  const Teacher::Report& report() const { return teacher_->report(); }
  // Plan of the last training, with the bytes of the largest.
  const Teacher::Plan& plan() const { return plan_; }
  const TeachOptions& options() const { return teacher_->options(); }
  const std::vector<Score>& scores() const { return scores_; }
  const std::vector<Example>& training() const { return training_; }
  // The label of a training example, or its most probable one.
  int32_t LabelOf(size_t example) const;

 private:
  struct Training {
    Method method;
    int32_t fold = -1;  // fold to leave out; -1 validates on the caller's examples
  };

  int64_t StepsOf(const Training& training) const;
  // Approximate operations of full training.
  double CostOfFull() const;
  // The choice without a comparison: an embedder's vectors are good as they are, and a large model takes long.
  bool FullByRule() const;
  void ScoreByFolds(Method method);
  void Choose();
  Status Start(const Training& training);
  void Finish();

  Trainee& trainee_;
  const Goal goal_;
  const std::function<TeachOptions(Method)> options_;
  const std::optional<Method> asked_;
  const bool cross_validate_;
  std::vector<Example> training_, validation_;
  Trainee* const generator_;

  std::vector<Training> planned_;
  size_t current_ = 0;
  bool chosen_ = false;  // the last of planned_ is final
  std::vector<int32_t> folds_;
  std::vector<Score> scores_;
  std::unique_ptr<Teacher> teacher_;
  Teacher::Plan plan_;
  int64_t steps_before_ = 0;
};

}  // namespace peruse::train
