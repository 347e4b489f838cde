#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace peruse {

enum class Activation : uint8_t {
  kNone,
  kGelu,         // 0.5 x (1 + erf(x / sqrt 2)), exact
  kGeluTanh,     // 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))
  kGeluFast,     // 0.5 x (1 + tanh(0.7978845608 x (1 + 0.044715 x^2)))
  kGeluClipped,  // clip(gelu(x), -10, 10)
  kQuickGelu,    // x sigmoid(1.702 x)
  kRelu,         // max(0, x)
  kRelu6,        // min(max(0, x), 6)
  kSilu,         // x sigmoid(x)
  kMish,         // x tanh(ln(1 + e^x))
  kTanh,
  kSigmoid,
  kLeakyRelu,    // max(0.01 x, x)
  kReluSquared,  // max(0, x)^2
  kLaplace,      // 0.5 (1 + erf((x - 0.707107) / (0.282095 sqrt 2)))
  kLog1pRelu,    // log(1 + max(0, x)), the activation of sparse vectors
  // The two factors of the gates in OpenAI's mixtures of experts:
  kCappedQuickGelu,  // y sigmoid(1.702 y) with y = min(x, 7)
  kClippedPlusOne,   // clip(x, -7, 7) + 1
};
inline constexpr Activation kLastActivation = Activation::kClippedPlusOne;

inline std::optional<Activation> ParseActivation(std::string_view name) {
  if (name == "gelu" || name == "gelu_python") return Activation::kGelu;
  if (name == "gelu_new" || name == "gelu_pytorch_tanh") return Activation::kGeluTanh;
  if (name == "gelu_python_tanh" || name == "gelu_accurate") return Activation::kGeluTanh;
  if (name == "gelu_fast") return Activation::kGeluFast;
  if (name == "gelu_10") return Activation::kGeluClipped;
  if (name == "quick_gelu") return Activation::kQuickGelu;
  if (name == "relu") return Activation::kRelu;
  if (name == "relu6") return Activation::kRelu6;
  if (name == "silu" || name == "swish") return Activation::kSilu;
  if (name == "mish") return Activation::kMish;
  if (name == "tanh") return Activation::kTanh;
  if (name == "sigmoid") return Activation::kSigmoid;
  if (name == "leaky_relu") return Activation::kLeakyRelu;
  if (name == "relu2") return Activation::kReluSquared;
  if (name == "laplace") return Activation::kLaplace;
  if (name == "linear") return Activation::kNone;
  return std::nullopt;
}

inline const char* ActivationName(Activation activation) {
  constexpr const char* kNames[] = {"linear",
                                    "gelu",
                                    "gelu_new",
                                    "gelu_fast",
                                    "gelu_10",
                                    "quick_gelu",
                                    "relu",
                                    "relu6",
                                    "silu",
                                    "mish",
                                    "tanh",
                                    "sigmoid",
                                    "leaky_relu",
                                    "relu2",
                                    "laplace",
                                    "log1p_relu",
                                    "capped_quick_gelu",
                                    "clipped_plus_one"};
  return kNames[static_cast<size_t>(activation)];
}

}  // namespace peruse
