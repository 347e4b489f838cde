// Sentence: a message of a Status as hosts show it.
#pragma once

#include <string>
#include <string_view>

namespace peruse {

// Adds a full stop, and a capital letter if the message starts with a plain word. Names of files, tensors and options
// ("config.json", "max_length") stay as they are.
inline std::string Sentence(std::string_view message) {
  std::string sentence(message);
  size_t letters = 0;
  while (letters < sentence.size() && sentence[letters] >= 'a' && sentence[letters] <= 'z') ++letters;
  const bool is_word =
      letters > 0 && letters < sentence.size() && (sentence[letters] == ' ' || sentence[letters] == ',');
  if (is_word) sentence[0] = static_cast<char>(sentence[0] - 'a' + 'A');
  if (sentence.find_last_of(".?!") != sentence.size() - 1) sentence += '.';
  return sentence;
}

}  // namespace peruse
