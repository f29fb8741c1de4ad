// What the page shows, asked of the database within a bounded time: what is not ready by then is
// left for the person to ask for.
#pragma once

#include <functional>
#include <string>

#include "serve/http/web_message.h"
#include "serve/site_page.h"
#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"
#include "tracedb/query/doc/query_catalog.h"

namespace tracedb {

// `stop` is asked while something runs. An error: the database cannot be read at all.
Result<PageContent> GatherPage(SqliteDb& db, const QueryCatalog& catalog, const WebRequest& request,
                               const std::function<bool()>& stop);

}  // namespace tracedb
