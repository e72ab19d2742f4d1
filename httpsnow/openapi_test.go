package httpsnow

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/shardsnow/snow"
)

// Every path and method of the document is answered by the handler with a status that the document has, and the
// handler answers no other method there.
func TestOpenAPI(t *testing.T) {
	metrics := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	h := newHandler(t, &counter{}, Config{Layout: snow.DefaultLayout(), Metrics: metrics})
	w := ask(h, "GET", "/openapi.json")
	var document struct {
		OpenAPI string
		Paths   map[string]map[string]struct {
			Responses map[string]any
		}
	}
	if err := json.Unmarshal(w.Body.Bytes(), &document); err != nil || !strings.HasPrefix(document.OpenAPI, "3.1") {
		t.Fatalf("%q: %v", document.OpenAPI, err)
	}
	paths := []string{idsPath, idsPath + "/{id}", healthPath, readyPath, metricsPath, openAPIPath}
	for path := range document.Paths {
		if !slices.Contains(paths, path) {
			t.Errorf("the handler has no %s", path)
		}
	}
	for _, path := range paths {
		if len(document.Paths[path]) != 1 {
			t.Errorf("%s has %d methods in the document, want 1", path, len(document.Paths[path]))
		}
		for method, operation := range document.Paths[path] {
			if operation.Responses["200"] == nil {
				t.Errorf("%s %s: the document lacks status 200", method, path)
			}
			if w := ask(h, strings.ToUpper(method), strings.Replace(path, "{id}", "1", 1)); w.Code != 200 {
				t.Errorf("%s %s: status %d", method, path, w.Code)
			}
		}
	}
	for _, reference := range references(t, openAPI) {
		if !strings.Contains(string(openAPI), `"`+reference[strings.LastIndex(reference, "/")+1:]+`": {`) {
			t.Errorf("the document refers to %s, which it lacks", reference)
		}
	}
}

// references returns the values of all $ref.
func references(t *testing.T, document []byte) (all []string) {
	t.Helper()
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			if s, ok := v["$ref"].(string); ok {
				all = append(all, s)
			}
			for _, e := range v {
				walk(e)
			}
		case []any:
			for _, e := range v {
				walk(e)
			}
		}
	}
	var v any
	if err := json.Unmarshal(document, &v); err != nil {
		t.Fatal(err)
	}
	walk(v)
	if len(all) == 0 {
		t.Error("the document refers to nothing")
	}
	return all
}
