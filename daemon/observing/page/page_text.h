// The status page as one document, put together at build time from page.html, page.css and page.js,
// and the hashes by which its style and its script are allowed to be what they are. Constant.
#pragma once

namespace ringdeal {

extern const char kPageText[];
// SHA-256 in base64, as a Content-Security-Policy wants it.
extern const char kPageStyleHash[];
extern const char kPageScriptHash[];

}  // namespace ringdeal
