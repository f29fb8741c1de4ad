// What the program makes of series of step times, for noise_oracle.py.
//
//     series_noise < SERIES
//
// Pairs of lines, base and new, as numbers parted by blanks. Each pair is judged as runs of one a
// side; prints
// rank_p trend_p(base) trend_p(new) first count (base's steady part) first count (new's) block
// drift verdict base change low high least_visible(- none)
// And with "holm" or "student" first on a line: Holm's of the numbers; of t and degrees p, and of
// degrees the 95 % quantile; "runs" before base: each number is a run.
#include "compare/series_noise.h"

#include <iomanip>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "compare/series_tests.h"

namespace tracedb {
namespace {

std::vector<double> Numbers(std::istream& in) {
  std::vector<double> numbers;
  for (double number = 0; in >> number;) numbers.push_back(number);
  return numbers;
}

std::vector<double> NextLine() {
  std::string line;
  std::getline(std::cin, line);
  std::istringstream fields(line);
  return Numbers(fields);
}

std::span<const double> Steady(const std::vector<double>& steps, const SteadyPart& part) {
  if (part.count == 0) return steps;
  return std::span(steps).subspan(part.first, part.count);
}

void Print(const Judgement& judgement) {
  std::string verdict(VerdictName(judgement.verdict));
  std::cout << verdict.substr(0, verdict.find(' ')) << ' ' << judgement.base << ' '
            << judgement.change << ' ' << judgement.low << ' ' << judgement.high << ' ';
  if (judgement.least_visible.has_value()) {
    std::cout << *judgement.least_visible << '\n';
  } else {
    std::cout << "-\n";
  }
}

void JudgePair(const std::vector<double>& base, const std::vector<double>& now) {
  constexpr double kEffectMin = 0.01;
  const SteadyPart of_base = FindSteadyPart(base, kEffectMin);
  const SteadyPart of_new = FindSteadyPart(now, kEffectMin);
  std::cout << RankTestP(base, now) << ' ' << TrendTestP(base) << ' ' << TrendTestP(now) << ' '
            << of_base.first << ' ' << of_base.count << ' ' << of_new.first << ' ' << of_new.count
            << ' ' << BlockLength(base) << ' ' << Drift(base) << ' ';
  Margins margins;
  margins.effect_min = kEffectMin * MiddleMean(Steady(base, of_base));
  margins.unfit = WhyUnfit(WhyUnfit(of_base).empty() ? of_new : of_base);
  Print(JudgeSteps(Steady(base, of_base), Steady(now, of_new), margins));
}

void Answer(const std::string& line) {
  std::istringstream fields(line);
  std::string first;
  fields >> first;
  if (first == "holm") {
    for (const double p : HolmAdjusted(Numbers(fields))) std::cout << p << ' ';
    std::cout << '\n';
  } else if (first == "student") {
    const std::vector<double> numbers = Numbers(fields);
    std::cout << StudentP(numbers[0], numbers[1]) << ' ' << StudentQuantile95(numbers[1]) << '\n';
  } else if (first == "runs") {
    const std::vector<double> base = Numbers(fields);
    const std::vector<double> now = NextLine();
    Margins margins;
    margins.effect_min = 0.01 * base.front();
    const Judgement judgement = JudgeRuns(base, now, {}, margins);
    std::cout << judgement.p << ' ';
    Print(judgement);
  } else {
    std::istringstream again(line);
    const std::vector<double> base = Numbers(again);
    JudgePair(base, NextLine());
  }
}

}  // namespace
}  // namespace tracedb

int main() {
  std::cout << std::setprecision(17);
  for (std::string line; std::getline(std::cin, line);) tracedb::Answer(line);
  return 0;
}
