// vLLM's and SGLang's operators. How long the sequences of a batch are stands in no arg; where the
// engine annotates its steps it is in the annotation's name, as sums over the sequences that are
// read in (context) and those that go on (generation):
//   execute_32_context_0(sq0sk0sqsq0sqsk0)_generation_32(sq32sk55086sqsq32sqsk55086)
// q is how many tokens of a sequence are worked on, k how many it has: sk the sum of k, sqsk that
// of q times k. Without it there is no figure. That a layer looks at a window of its sequences
// alone is in none of both: such layers count as if they looked at all.
#include <algorithm>
#include <array>
#include <charconv>

#include "cost/cost_models.h"

namespace tracedb {
namespace {

struct Sums {
  int64_t q = 0, k = 0, q_q = 0, q_k = 0;

  // Each token sees those before it and itself: of k keys the first of q tokens misses q - 1.
  Count Pairs() const {
    const int64_t missed = q_q >= q ? (q_q - q) / 2 : -1;
    return missed < 0 || q_k < missed ? Count(-1) : Count(q_k - missed);
  }
};

bool TakeNumber(std::string_view& text, std::string_view word, int64_t& number) {
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  const auto [stop, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code != std::errc() || number < 0) return false;
  text.remove_prefix(static_cast<size_t>(stop - text.data()));
  return true;
}

// "context_0(sq0sk0sqsq0sqsk0)"
bool TakeSums(std::string_view annotation, std::string_view kind, Sums& sums) {
  const size_t at = annotation.find(kind);
  if (at == annotation.npos) return false;
  std::string_view text = annotation.substr(at);
  int64_t sequences = 0;
  return TakeNumber(text, kind, sequences) && TakeNumber(text, "(sq", sums.q) &&
         TakeNumber(text, "sk", sums.k) && TakeNumber(text, "sqsq", sums.q_q) &&
         TakeNumber(text, "sqsk", sums.q_k) && text.starts_with(')');
}

struct Batch {
  Sums context, generation;
  int64_t tokens() const { return context.q + generation.q; }
};

bool TakeBatch(const CostInput& in, Batch& batch) {
  constexpr int64_t kMax = int64_t{1} << 50;
  if (!TakeSums(in.around.annotation, "context_", batch.context)) return false;
  if (!TakeSums(in.around.annotation, "generation_", batch.generation)) return false;
  for (const Sums* sums : {&batch.context, &batch.generation}) {
    if (sums->q > kMax || sums->k > kMax) return false;
  }
  return true;
}

// Where an operator has q, and where k and v or the cache that holds them.
struct EngineArgs {
  std::string_view op;
  size_t q, k, v;
  bool is_cache;  // k and v are [pages, page, heads, size] with pages of one token
};
constexpr std::array<EngineArgs, 5> kEngineArgs = {{
    {"vllm::unified_attention_with_output", 0, 1, 2, false},
    {"vllm::unified_attention", 0, 1, 2, false},
    {"sglang_profiler::attention_paged_attention_ragged", 2, 3, 4, true},
    {"aiter::paged_attention_ragged", 2, 3, 4, true},
    {"sglang::unified_attention_with_output", 0, 1, 2, false},
}};

// vLLM's own: the cache is packed in a way of its own, the number of heads is an arg.
struct PagedArgs {
  std::string_view op;
  size_t q, heads, lengths, longest;
};
constexpr std::array<PagedArgs, 2> kPagedArgs = {{
    {"_C::paged_attention_v1", 1, 4, 7, 9},
    {"_C::paged_attention_v2", 4, 7, 10, 12},
}};

struct Heads {
  int64_t q = 0, kv = 0, qk_size = 0, v_size = 0;
};

bool SetContextAttention(const CostInput& in, const Batch& batch, const Tensor& q,
                         const Heads& heads, int64_t kv_item, CostDraft& draft) {
  if (heads.kv < 1 || heads.q % heads.kv != 0 || q.dims[0] < batch.tokens()) return false;
  draft.dtype = ProductType(q.type, q.type, in.around.kernel);
  if (draft.dtype.empty()) return false;
  const Count pairs = batch.context.Pairs() + batch.generation.Pairs();
  const Count sizes = Count(heads.qk_size) + heads.v_size;
  draft.SetFlops(Count(2) * heads.q * pairs * sizes);
  const Count rows = Count(batch.tokens()) * heads.q * sizes * BytesOf(q.type);
  const Count context = Count(batch.context.k) + batch.generation.k;
  draft.SetBytes(rows + context * heads.kv * sizes * kv_item);
  draft.shapes = "q " + SizesText(q.dims) + " heads " + std::to_string(heads.kv) + " keys " +
                 std::to_string(batch.context.k + batch.generation.k);
  return true;
}

bool PagedAttention(const CostInput& in, const PagedArgs& args, CostDraft& draft) {
  const Tensor* q = in.args.TensorAt(args.q);
  const Tensor* lengths = in.args.TensorAt(args.lengths);
  const auto kv_heads = IntFromText(in.args.GivenAt(args.heads));
  const auto longest = IntFromText(in.args.GivenAt(args.longest));
  if (q == nullptr || lengths == nullptr || q->dims.size() != 3) return false;
  const Tensor* cache = in.args.TensorAt(args.q + 1);
  if (!kv_heads.has_value() || cache == nullptr || BytesOf(cache->type) == 0) return false;
  Batch batch;
  const bool is_single = lengths->dims == std::vector<int64_t>{1} && longest.has_value() &&
                         *longest > 0 && *longest < (int64_t{1} << 40);
  if (is_single) {
    batch.generation = {1, *longest, 1, *longest};
  } else if (!TakeBatch(in, batch)) {
    return false;
  }
  const Heads heads{q->dims[1], *kv_heads, q->dims[2], q->dims[2]};
  return SetContextAttention(in, batch, *q, heads, BytesOf(cache->type), draft);
}

// Multi-head latent attention: what a token leaves in the cache is one row for all heads. Decoding
// works on these rows (sizes of the cache), reading in on keys and values made of them.
struct Latent {
  int64_t heads = 0, qk_size = 0, v_size = 0;
  int64_t row = 0, v_row = 0;
};

bool SetLatentAttention(const CostInput& in, const Batch& batch, const Tensor& q,
                        const Latent& sizes, CostDraft& draft) {
  draft.dtype = ProductType(q.type, q.type, in.around.kernel);
  if (draft.dtype.empty() || q.dims[0] < batch.tokens()) return false;
  const Count decoded = batch.generation.Pairs() * (Count(sizes.row) + sizes.v_row);
  const Count read_in = batch.context.Pairs() * (Count(sizes.qk_size) + sizes.v_size);
  draft.SetFlops(Count(2) * sizes.heads * (decoded + read_in));
  const Count generation =
      Count(batch.generation.q) * sizes.heads * (Count(sizes.row) + sizes.v_row) +
      Count(batch.generation.k) * sizes.row;
  const Count context = (Count(batch.context.q) + batch.context.k) * sizes.heads *
                        (Count(sizes.qk_size) + sizes.v_size);
  draft.SetBytes((generation + context) * BytesOf(q.type));
  draft.shapes = "q " + SizesText(q.dims) + " latent " + std::to_string(sizes.row) + " keys " +
                 std::to_string(batch.context.k + batch.generation.k);
  return true;
}

// (q, kv_c, k_pe, output): [tokens, heads, size], [tokens, rank], [tokens, (1,) rope].
bool UnifiedLatent(const CostInput& in, const Batch& batch, CostDraft& draft) {
  const Tensor* q = in.args.TensorAt(0);
  const Tensor* latent = in.args.TensorAt(1);
  const Tensor* rope = in.args.TensorAt(2);
  const Tensor* out = in.args.TensorAt(3);
  if (q == nullptr || latent == nullptr || rope == nullptr || out == nullptr) return false;
  if (q->dims.size() != 3 || latent->dims.size() != 2 || rope->dims.empty()) return false;
  if (q->dims[1] < 1 || out->dims.size() < 2 || out->dims[0] != q->dims[0]) return false;
  const std::span<const int64_t> out_sizes = out->dims;
  const auto out_size = Product(out_sizes.subspan(1)).value();
  if (!out_size.has_value() || *out_size % q->dims[1] != 0) return false;
  Latent sizes{q->dims[1], q->dims[2], *out_size / q->dims[1], 0, latent->dims[1]};
  sizes.row = latent->dims[1] + rope->dims.back();
  return SetLatentAttention(in, batch, *q, sizes, draft);
}

// (out, q_nope, q_pe, cache, ...): [batch, heads, rank], .., .., [pages, page, rank + rope].
bool CutlassLatent(const CostInput& in, const Batch& batch, CostDraft& draft) {
  const Tensor* out = in.args.TensorAt(0);
  const Tensor* q = in.args.TensorAt(1);
  const Tensor* rope = in.args.TensorAt(2);
  const Tensor* cache = in.args.TensorAt(3);
  if (out == nullptr || q == nullptr || rope == nullptr || cache == nullptr) return false;
  if (q->dims.size() != 3 || out->dims != q->dims || rope->dims.size() != 3) return false;
  const int64_t row = q->dims[2] + rope->dims[2];
  if (cache->dims.empty() || cache->dims.back() != row || batch.context.q > 0) return false;
  return SetLatentAttention(in, batch, *q, {q->dims[1], row, q->dims[2], row, q->dims[2]}, draft);
}

// (q, cache, head_size_v, ...): [batch, queries, heads, rank + rope], [pages, page, 1, rank +
// rope].
bool FlashLatent(const CostInput& in, const Batch& batch, CostDraft& draft) {
  const Tensor* q = in.args.TensorAt(0);
  const Tensor* cache = in.args.TensorAt(1);
  const auto v_size = IntFromText(in.args.GivenAt(2));
  if (q == nullptr || cache == nullptr || !v_size.has_value() || q->dims.size() != 4) return false;
  if (cache->dims.empty() || cache->dims.back() != q->dims[3] || *v_size < 1) return false;
  if (*v_size > q->dims[3] || batch.context.q > 0) return false;
  Tensor rows = *q;
  rows.dims[0] = (Count(q->dims[0]) * q->dims[1]).value().value_or(0);
  const int64_t row = q->dims[3];
  if (!SetLatentAttention(in, batch, rows, {q->dims[2], row, *v_size, row, *v_size}, draft)) {
    return false;
  }
  return true;
}

}  // namespace

bool EngineContextAttention(const CostInput& in, CostDraft& draft) {
  for (const PagedArgs& args : kPagedArgs) {
    if (args.op == in.op) return PagedAttention(in, args, draft);
  }
  Batch batch;
  if (!TakeBatch(in, batch)) return false;
  if (in.op == "vllm::unified_mla_attention_with_output") return UnifiedLatent(in, batch, draft);
  if (in.op.ends_with("cutlass_mla_decode")) return CutlassLatent(in, batch, draft);
  if (in.op.ends_with("fwd_kvcache_mla")) return FlashLatent(in, batch, draft);
  const auto args = std::find_if(kEngineArgs.begin(), kEngineArgs.end(),
                                 [&](const EngineArgs& known) { return known.op == in.op; });
  if (args == kEngineArgs.end()) return false;
  const Tensor* q = in.args.TensorAt(args->q);
  const Tensor* k = in.args.TensorAt(args->k);
  const Tensor* v = in.args.TensorAt(args->v);
  if (q == nullptr || k == nullptr || v == nullptr || q->dims.size() != 3) return false;
  const size_t rank = args->is_cache ? 4 : 3;
  if (k->dims.size() != rank || v->dims.size() != rank) return false;
  if (args->is_cache && (k->dims[1] != 1 || v->dims[1] != 1)) return false;
  if (k->dims[rank - 2] != v->dims[rank - 2] || k->dims.back() != q->dims[2]) return false;
  const Heads heads{q->dims[1], k->dims[rank - 2], q->dims[2], v->dims.back()};
  return SetContextAttention(in, batch, *q, heads, BytesOf(k->type), draft);
}

// (positions, query, key, head_size, cos_sin_cache, is_neox): query and key are turned in place.
bool RotaryEmbedding(const CostInput& in, CostDraft& draft) {
  const Tensor* positions = in.args.TensorAt(0);
  const Tensor* q = in.args.TensorAt(1);
  const Tensor* table = in.args.TensorAt(4);
  if (positions == nullptr || q == nullptr || table == nullptr) return false;
  if (BytesOf(q->type) == 0 || BytesOf(positions->type) == 0) return false;
  draft.SetBytes(DistinctBytes(*positions) + DistinctBytes(*q) * 2);
  if (const Tensor* k = in.args.TensorAt(2)) draft.bytes += DistinctBytes(*k) * 2;
  draft.shapes = SizesText(q->dims);
  return true;
}

// (key, value, key_cache, value_cache, slots, ...): key and value go into their places.
bool CacheStore(const CostInput& in, CostDraft& draft) {
  const Tensor* k = in.args.TensorAt(0);
  const Tensor* v = in.args.TensorAt(1);
  const Tensor* k_cache = in.args.TensorAt(2);
  const Tensor* v_cache = in.args.TensorAt(3);
  const Tensor* slots = in.args.TensorAt(4);
  if (k == nullptr || v == nullptr || k_cache == nullptr || v_cache == nullptr) return false;
  if (slots == nullptr || BytesOf(k->type) == 0 || BytesOf(k_cache->type) == 0) return false;
  draft.SetBytes(DistinctBytes(*k) + DistinctBytes(*v) + DistinctBytes(*slots) +
                 Numel(*k) * BytesOf(k_cache->type) + Numel(*v) * BytesOf(v_cache->type));
  draft.shapes = SizesText(k->dims) + " " + SizesText(v->dims);
  return true;
}

}  // namespace tracedb
