// In the static program alone: names of hosts are looked up by what is linked, files and DNS. The C
// library would load other ways, as nsswitch.conf of the machine has them, from libraries that are
// of another version than itself.
#include <netdb.h>
#include <nss.h>

namespace {

const int kConfigured = __nss_configure_lookup("hosts", "files dns");

}  // namespace
