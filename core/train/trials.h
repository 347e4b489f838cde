// Trains by the method that is asked for, or by the better one of two, and says how good the result is: cross-validation where examples are few.
//
//   Trials trials(trainee, goal, options, method, training, validation);
//   trials.Begin();
//   while (trials.Advance()->more) ...
//   trials.report();   of the last training, on all training examples: the trainee's masters are what was learnt
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
  // How good a method is on examples that it had not seen.
  struct Score {
    Method method = Method::kHead;
    int32_t folds = 0;
    std::vector<Guess> guesses;  // by training example
    double accuracy = 0;
  };

  // `method`: none lets cross-validation choose between the head and everything, or a rule where that takes long. `cross_validate`: score
  // the method that was asked for, too. The trainee's weights are loaded; it and the generator outlive this.
  // `options`: by method.
  Trials(Trainee& trainee, Goal goal, std::function<TeachOptions(Method)> options, std::optional<Method> method,
         bool cross_validate, std::vector<Example> training, std::vector<Example> validation, Trainee* generator);

  // Those of Teacher::Begin and Teacher::Advance. Steps are those of all trainings.
  Result<Teacher::Plan> Begin();
  Result<Teacher::Progress> Advance();

  // Steps of all trainings; fewer once the head was chosen.
  int64_t total_steps() const;
  const Teacher::Report& report() const { return teacher_->report(); }
  // Plan of the last training, with the bytes of the largest.
  const Teacher::Plan& plan() const { return plan_; }
  const TeachOptions& options() const { return teacher_->options(); }
  // Scores of the methods, one a method.
  const std::vector<Score>& scores() const { return scores_; }
  const std::vector<Example>& training() const { return training_; }
  // The label of a training example, or its most probable one.
  int32_t LabelOf(size_t example) const;

 private:
  struct Training {
    Method method;
    int32_t fold = -1;  // fold to leave out; -1 leaves out none and validates on the caller's examples
  };

  int64_t StepsOf(const Training& training) const;
  // Operations of a training of everything, roughly.
  double CostOfFull() const;
  // Where nothing is compared: an embedder's vectors are good as they are, and a large model takes long.
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
  bool chosen_ = false;  // the last of planned_ is what is kept
  std::vector<int32_t> folds_;
  std::vector<Score> scores_;
  std::unique_ptr<Teacher> teacher_;
  Teacher::Plan plan_;
  int64_t steps_before_ = 0;
};

}  // namespace peruse::train
