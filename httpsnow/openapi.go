package httpsnow

import (
	_ "embed" // for openapi.json
	"net/http"
)

//go:embed openapi.json
var openAPI []byte

func serveOpenAPI(w http.ResponseWriter) {
	w.Header()["Content-Type"] = jsonType
	_, _ = w.Write(openAPI) // the client is gone
}
