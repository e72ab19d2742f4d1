package edges

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/go-chi/chi/v5"
	"github.com/labstack/echo/v4"

	"github.com/shardsnow/snow"
)

const id snow.ID = 286467607756828714

// An Order is what the routers answer with.
type Order struct {
	ID     snow.ID  `json:"id"`
	Parent *snow.ID `json:"parent"`
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func ginRouter() http.Handler {
	gin.SetMode(gin.ReleaseMode)
	router := gin.New()

	router.GET("/orders/:id", func(c *gin.Context) {
		var in struct {
			ID     snow.ID  `uri:"id"`
			Parent *snow.ID `form:"parent"` // nil without ?parent=
		}
		if c.ShouldBindUri(&in) != nil || c.ShouldBindQuery(&in) != nil {
			c.Status(http.StatusBadRequest)
			return
		}
		c.JSON(http.StatusOK, Order{in.ID, in.Parent})
	})

	return router
}

func echoRouter() http.Handler {
	router := echo.New()

	router.GET("/orders/:id", func(c echo.Context) error {
		var in struct {
			ID     snow.ID  `param:"id"`
			Parent *snow.ID `query:"parent"` // nil without ?parent=
		}
		if err := c.Bind(&in); err != nil {
			return err // status 400
		}
		return c.JSON(http.StatusOK, Order{in.ID, in.Parent})
	})

	return router
}

func chiRouter() http.Handler {
	router := chi.NewRouter()

	router.Get("/orders/{id}", func(w http.ResponseWriter, r *http.Request) {
		id, err := snow.ParseID(chi.URLParam(r, "id")) // or r.PathValue("id")
		if err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		_ = json.NewEncoder(w).Encode(Order{ID: id})
	})

	return router
}

func TestRouters(t *testing.T) {
	const order, child = `{"id":"286467607756828714","parent":null}`, `{"id":"286467607756828714","parent":"5"}`
	for name, router := range map[string]http.Handler{"gin": ginRouter(), "echo": echoRouter(), "chi": chiRouter()} {
		for path, want := range map[string]string{
			"286467607756828714":         order,
			"-5":                         "",
			"+5":                         "",
			"007":                        "",
			"%20":                        "",
			"9223372036854775808":        "",
			"286467607756828714x":        "",
			id.String() + "?parent=5":    child,
			id.String() + "?parent=-5":   "",
			id.String() + "?parent=007":  "",
			id.String() + "?parent=%2B5": "",
			id.String() + "?parent=":     "",
		} {
			if name == "chi" && strings.Contains(path, "?") {
				continue
			}
			w := httptest.NewRecorder()
			router.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/orders/"+path, nil))
			got := strings.TrimSpace(w.Body.String())
			if want == "" && w.Code != http.StatusBadRequest || want != "" && (w.Code != http.StatusOK || got != want) {
				t.Errorf("%s, GET %s: %d %s, want %q", name, path, w.Code, got, want)
			}
		}
	}
}
