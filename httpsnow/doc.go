// Package httpsnow gives ids to programs that are not written in Go, over HTTP.
//
//	handler, err := httpsnow.New(gen, httpsnow.Config{})
//	http.Handle("/ids/", http.StripPrefix("/ids", handler))
//
//	POST /v1/ids?count=3   {"ids":["175928847299117063", …]}
//	GET  /v1/ids/ID        what an id says: when it was made, by which worker
//	GET  /healthz /readyz  for the platform
//	GET  /metrics          Config.Metrics
//	GET  /openapi.json     all of this for programs
//	GET  /page/            Config.Page, for people
//
// The form of new ids is what the header Accept asks for: application/json,
// text/plain with one id in each line, or application/octet-stream with eight
// bytes for each id, the highest byte first. Quality values (;q=) are not read: the
// first form that is known counts.
//
// Ids are asked for with POST, because they are used up: a cache or a browser that
// fetches pages ahead must not ask for them. A request may be repeated: ids that
// nobody receives are skipped.
//
// Without Config.Tokens, pages of other origins in a browser get nothing: requests that they send are refused, and
// so are names that a stranger may own (DNS rebinding), see Config.Hosts.
//
// Errors are problem documents (RFC 9457). They do not show the error of the
// source, which is logged.
//
// # Promises
//
// An id is unique and ascends as the Source promises. Handlers of several
// processes need nothing from each other. What a request may cost is bounded: it has no body, at most
// Config.MaxIDs ids, and ends after Config.Timeout. The server that a handler runs in
// bounds the rest: see http.Server's ReadHeaderTimeout, ReadTimeout, WriteTimeout,
// IdleTimeout and MaxHeaderBytes.
//
// # Inside
//
//	config.go                  Config and its defaults
//	handler.go                 New; which path is what, methods, tokens, origins
//	give.go form.go            new ids, and the forms that they are written in
//	read.go                    what an id says
//	rate.go problem.go         the bound of ids a second; errors
//	deadline.go                a context with a timeout that costs no timer
//	openapi.go openapi.json
package httpsnow
