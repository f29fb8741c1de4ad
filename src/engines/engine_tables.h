// The tables of a gathered database, as SQL of an engine over Parquet: what ranks have written is
// read from their files, and gets the numbers and places that gather gave it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engines/engine_dialect.h"
#include "engines/engine_sql.h"

namespace tracedb {

// Other tables that the table is made of.
std::vector<std::string> EngineTableNeeds(std::string_view table);

// The SELECT that is the table. `shards`: the folder.
std::string EngineTableSql(Engine engine, std::string_view table, std::string_view shards);

}  // namespace tracedb
