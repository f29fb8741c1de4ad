// Convolutions of one to three dimensions, forward and the gradients that were asked for.
#include <algorithm>
#include <array>
#include <optional>

#include "cost/cost_models.h"

namespace tracedb {
namespace {

// Where an operator has what. kNone: it has no such arg.
constexpr size_t kNone = static_cast<size_t>(-1);
struct ConvolutionArgs {
  std::string_view op;
  size_t bias, stride, padding, dilation, transposed, groups;
  bool always_transposed = false;
};
constexpr std::array<ConvolutionArgs, 17> kConvolutions = {{
    {"aten::convolution", 2, 3, 4, 5, 6, 8},
    {"aten::_convolution", 2, 3, 4, 5, 6, 8},
    {"aten::convolution_overrideable", 2, 3, 4, 5, 6, 8},
    {"aten::conv1d", 2, 3, 4, 5, kNone, 6},
    {"aten::conv2d", 2, 3, 4, 5, kNone, 6},
    {"aten::conv3d", 2, 3, 4, 5, kNone, 6},
    {"aten::cudnn_convolution", kNone, 3, 2, 4, kNone, 5},
    {"aten::cudnn_convolution_transpose", kNone, 4, 2, 5, kNone, 6, true},
    {"aten::cudnn_convolution_relu", 2, 3, 4, 5, kNone, 6},
    {"aten::cudnn_convolution_add_relu", 4, 5, 6, 7, kNone, 8},
    {"aten::miopen_convolution", 2, 4, 3, 5, kNone, 6},
    {"aten::miopen_depthwise_convolution", 2, 4, 3, 5, kNone, 6},
    {"aten::miopen_convolution_transpose", 2, 5, 3, 6, kNone, 7, true},
    {"aten::miopen_convolution_relu", 2, 3, 4, 5, kNone, 6},
    {"aten::mkldnn_convolution", 2, 4, 3, 5, kNone, 6},
    {"aten::_slow_conv2d_forward", 3, 4, 5, kNone, kNone, kNone},
    {"aten::_conv_depthwise2d", 3, 4, 5, 6, kNone, kNone},
}};

// One number is for all dimensions.
std::optional<std::vector<int64_t>> Spread(std::string_view given, size_t dimensions) {
  std::optional<std::vector<int64_t>> values = IntsFromText(given);
  if (!values.has_value()) return std::nullopt;
  if (values->size() == 1) values->assign(dimensions, (*values)[0]);
  if (values->size() != dimensions) return std::nullopt;
  return values;
}

struct Window {
  std::vector<int64_t> stride, padding, dilation;
};

std::optional<Window> WindowOf(const CostInput& in, size_t stride, size_t padding, size_t dilation,
                               size_t dimensions) {
  constexpr int64_t kMax = 1 << 30;
  const auto strides = Spread(in.args.GivenAt(stride), dimensions);
  const auto paddings = Spread(in.args.GivenAt(padding), dimensions);
  const auto dilations = dilation == kNone ? std::vector<int64_t>(dimensions, 1)
                                           : Spread(in.args.GivenAt(dilation), dimensions);
  if (!strides.has_value() || !paddings.has_value() || !dilations.has_value()) return std::nullopt;
  for (size_t i = 0; i < dimensions; ++i) {
    if ((*strides)[i] < 1 || (*strides)[i] > kMax) return std::nullopt;
    if ((*paddings)[i] < 0 || (*paddings)[i] > kMax) return std::nullopt;
    if ((*dilations)[i] < 1 || (*dilations)[i] > kMax) return std::nullopt;
  }
  return Window{*strides, *paddings, *dilations};
}

// Places of the result in one dimension; 0: it has none. Sizes are below 2^48, what is given below
// 2^31: only how far the taps reach can be too much.
int64_t OutSize(int64_t in, int64_t kernel, const Window& window, size_t i) {
  if (kernel < 1) return 0;
  const int64_t reach =
      (Count(window.dilation[i]) * (kernel - 1)).value().value_or(int64_t{1} << 60);
  const int64_t room = in + 2 * window.padding[i] - reach - 1;
  return room < 0 ? 0 : room / window.stride[i] + 1;
}

std::span<const int64_t> Spatial(const Tensor& tensor) {
  return std::span<const int64_t>(tensor.dims).subspan(2);
}

std::string ShapesText(const Tensor& input, const Tensor& weight, bool is_transposed) {
  return SizesText(input.dims) + " * " + SizesText(weight.dims) +
         (is_transposed ? " transposed" : "");
}

bool FitChannels(const Tensor& input, const Tensor& weight, bool is_transposed, int64_t groups) {
  if (groups < 1) return false;
  if (is_transposed) return weight.dims[0] == input.dims[1] && weight.dims[0] % groups == 0;
  return Count(weight.dims[1] * Count(groups)).value() == input.dims[1] &&
         weight.dims[0] % groups == 0;
}

}  // namespace

bool Convolution(const CostInput& in, CostDraft& draft) {
  const auto places = std::find_if(kConvolutions.begin(), kConvolutions.end(),
                                   [&](const ConvolutionArgs& args) { return args.op == in.op; });
  const Tensor* input = in.args.TensorAt(0);
  const Tensor* weight = in.args.TensorAt(1);
  if (places == kConvolutions.end() || input == nullptr || weight == nullptr) return false;
  const size_t rank = input->dims.size();
  if (rank < 3 || rank > 5 || weight->dims.size() != rank) return false;
  bool is_transposed = places->always_transposed;
  if (places->transposed != kNone) {
    const auto flag = FlagFromText(in.args.GivenAt(places->transposed));
    if (!flag.has_value()) return false;
    is_transposed = *flag;
  }
  // Depthwise convolutions and the slow one have no arg of groups: the channels tell.
  const bool is_depthwise = in.op == "aten::_conv_depthwise2d";
  const auto groups = is_depthwise              ? std::optional<int64_t>(input->dims[1])
                      : places->groups == kNone ? std::optional<int64_t>(1)
                                                : IntFromText(in.args.GivenAt(places->groups));
  if (!groups.has_value() || !FitChannels(*input, *weight, is_transposed, *groups)) return false;
  draft.dtype = ProductType(input->type, weight->type, in.around.kernel);
  if (draft.dtype.empty()) return false;
  draft.shapes = ShapesText(*input, *weight, is_transposed);
  const Count taps = Numel(*weight) * Count(2) * input->dims[0];
  const auto window = WindowOf(in, places->stride, places->padding, places->dilation, rank - 2);
  if (is_transposed) {  // each input place goes through all taps; the result's size is not needed
    draft.SetFlops(taps * Product(Spatial(*input)));
    return true;
  }
  if (!window.has_value()) return false;
  Count places_out = 1;
  for (size_t i = 0; i + 2 < rank; ++i) {
    const int64_t size = OutSize(input->dims[i + 2], weight->dims[i + 2], *window, i);
    if (size < 1) return false;
    places_out *= size;
  }
  draft.SetFlops(taps * places_out);
  draft.SetBytes(DistinctBytes(*input) + DistinctBytes(*weight) +
                 places_out * input->dims[0] * weight->dims[0] * BytesOf(input->type));
  const Tensor* bias = places->bias == kNone ? nullptr : in.args.TensorAt(places->bias);
  if (bias != nullptr) draft.bytes += DistinctBytes(*bias);
  return true;
}

// (grad_output, input, weight, bias_sizes, stride, padding, dilation, transposed, output_padding,
// groups, output_mask): one product for the input's gradient and one for the weight's, where asked.
bool ConvolutionBackward(const CostInput& in, CostDraft& draft) {
  const Tensor* grad = in.args.TensorAt(0);
  const Tensor* input = in.args.TensorAt(1);
  const Tensor* weight = in.args.TensorAt(2);
  if (grad == nullptr || input == nullptr || weight == nullptr) return false;
  const size_t rank = input->dims.size();
  if (rank < 3 || rank > 5 || weight->dims.size() != rank || grad->dims.size() != rank) {
    return false;
  }
  const auto transposed = FlagFromText(in.args.GivenAt(7));
  const auto groups = IntFromText(in.args.GivenAt(9));
  const auto mask = FlagsFromText(in.args.GivenAt(10));
  if (!transposed.has_value() || !groups.has_value() || !mask.has_value()) return false;
  if (mask->size() != 3 || (!(*mask)[0] && !(*mask)[1])) return false;
  if (!FitChannels(*input, *weight, *transposed, *groups)) return false;
  const Count out_channels =
      *transposed ? Count(weight->dims[1]) * *groups : Count(weight->dims[0]);
  if (grad->dims[0] != input->dims[0] || out_channels.value() != grad->dims[1]) return false;
  if (!*transposed) {
    const auto window = WindowOf(in, 4, 5, 6, rank - 2);
    if (!window.has_value()) return false;
    for (size_t i = 0; i + 2 < rank; ++i) {
      if (OutSize(input->dims[i + 2], weight->dims[i + 2], *window, i) != grad->dims[i + 2]) {
        return false;
      }
    }
  }
  draft.dtype = ProductType(input->type, weight->type, in.around.kernel);
  if (draft.dtype.empty()) return false;
  const Count places = Product(Spatial(*transposed ? *input : *grad));
  const int64_t products = int64_t{(*mask)[0]} + int64_t{(*mask)[1]};
  draft.SetFlops(Numel(*weight) * Count(2) * input->dims[0] * places * products);
  draft.SetBytes(DistinctBytes(*grad));
  if ((*mask)[0]) draft.bytes += DistinctBytes(*weight) + FullBytes(*input);
  if ((*mask)[1]) draft.bytes += DistinctBytes(*input) + FullBytes(*weight);
  if ((*mask)[2]) draft.bytes += Count(grad->dims[1]) * BytesOf(grad->type);
  draft.shapes = ShapesText(*input, *weight, *transposed);
  return true;
}

}  // namespace tracedb
