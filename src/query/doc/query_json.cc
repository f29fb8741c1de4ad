#include "query/doc/query_json.h"

#include <string_view>
#include <vector>

#include "tracedb/text/result_text.h"

namespace tracedb {
namespace {

// An object or a list that is being written.
class JsonText {
 public:
  explicit JsonText(char open) : text_(1, open) {}

  JsonText& Key(std::string_view key) {
    Comma();
    AppendJsonText(text_, key);
    text_ += ':';
    after_key_ = true;
    return *this;
  }
  JsonText& Text(std::string_view value) {
    Comma();
    AppendJsonText(text_, value);
    return *this;
  }
  JsonText& Raw(std::string_view json) {
    Comma();
    text_ += json;
    return *this;
  }
  JsonText& Bool(bool value) { return Raw(value ? "true" : "false"); }
  std::string End(char close) { return text_ + close; }

 private:
  void Comma() {
    if (text_.size() > 1 && !after_key_) text_ += ',';
    after_key_ = false;
  }

  std::string text_;
  bool after_key_ = false;
};

std::string Texts(const std::vector<std::string>& values) {
  JsonText list('[');
  for (const std::string& value : values) list.Text(value);
  return list.End(']');
}

std::string ParamAsJson(const QueryParam& param) {
  JsonText object('{');
  object.Key("name").Text(param.name).Key("type").Text(DocTypeName(param.type));
  object.Key("unit").Text(param.unit).Key("list").Bool(param.takes_list);
  object.Key("required").Bool(!param.default_text.has_value()).Key("default");
  if (param.default_text.has_value() && !param.default_is_null) {
    object.Text(*param.default_text);
  } else {
    object.Raw("null");
  }
  return object.Key("text").Text(param.text).End('}');
}

std::string ColumnAsJson(const QueryColumn& column) {
  JsonText object('{');
  object.Key("name").Text(column.name).Key("type").Text(DocTypeName(column.type));
  return object.Key("unit").Text(column.unit).Key("text").Text(column.text).End('}');
}

std::string PlotAsJson(const std::optional<PlotSpec>& plot) {
  if (!plot.has_value()) return "null";
  const std::string_view kind = plot->kind == PlotKind::kBar       ? "bar"
                                : plot->kind == PlotKind::kStacked ? "stacked"
                                                                   : "line";
  JsonText object('{');
  object.Key("kind").Text(kind).Key("values").Raw(Texts(plot->values));
  return object.Key("over").Text(plot->over).Key("by").Raw(Texts(plot->by)).End('}');
}

}  // namespace

std::string QueryAsJson(const QueryDoc& doc) {
  JsonText params('[');
  for (const QueryParam& param : doc.params) params.Raw(ParamAsJson(param));
  JsonText columns('[');
  for (const QueryColumn& column : doc.columns) columns.Raw(ColumnAsJson(column));
  JsonText object('{');
  object.Key("query").Text(doc.name).Key("title").Text(doc.title);
  object.Key("description").Text(doc.description).Key("params").Raw(params.End(']'));
  object.Key("columns").Raw(columns.End(']')).Key("plot").Raw(PlotAsJson(doc.plot));
  object.Key("when_empty").Text(doc.when_empty).Key("meaning").Text(doc.meaning);
  return object.Key("advice").Text(doc.advice).Key("sql").Text(doc.sql).End('}');
}

}  // namespace tracedb
