package edges

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/go-chi/chi/v5"
	"github.com/labstack/echo/v4"
	"github.com/ncruces/go-sqlite3/gormlite"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/opaque"
)

type Parcel struct { // a row: its ids never leave the program
	ID      snow.ID `gorm:"primaryKey"`
	OrderID snow.ID
	Item    string
}

type ParcelView struct { // what clients see of it
	ID    opaque.ID `json:"id"`
	Order opaque.ID `json:"order,omitzero"` // absent without an order
	Item  string    `json:"item"`
}

// views are the types of this program's ids, and its database.
type views struct {
	parcels, orders *opaque.Codec
	db              *gorm.DB
}

func newViews(t *testing.T) *views {
	t.Helper()
	key, err := opaque.NewKey(1, []byte("32 bytes that nobody else knows."))
	check(t, err)
	keys, err := opaque.New(key)
	check(t, err)
	v := new(views)

	v.parcels, err = keys.Type("par")
	check(t, err)
	v.orders, err = keys.Type("ord")
	check(t, err)

	v.db, err = gorm.Open(gormlite.Open("file::memory:"), &gorm.Config{Logger: logger.Discard})
	check(t, err)
	pool, err := v.db.DB()
	check(t, err)
	pool.SetMaxOpenConns(1)
	t.Cleanup(func() { _ = pool.Close() })
	check(t, v.db.AutoMigrate(&Parcel{}))
	check(t, v.db.Create([]Parcel{{ID: id, OrderID: 5, Item: "tea"}, {ID: id + 1, Item: "cup"}}).Error)
	return v
}

func (v *views) view(p Parcel) ParcelView {
	return ParcelView{v.parcels.Encode(p.ID), v.orders.Encode(p.OrderID), p.Item}
}

func (v *views) gin() http.Handler {
	gin.SetMode(gin.ReleaseMode)
	router := gin.New()

	router.GET("/parcels/:id", func(c *gin.Context) {
		var in struct {
			ID opaque.ID `uri:"id"`
		}
		err := c.ShouldBindUri(&in) // finds what is mistyped
		var id snow.ID
		if err == nil {
			id, err = v.parcels.Decode(in.ID) // finds another type
		}
		if err != nil {
			c.Status(http.StatusNotFound)
			return
		}
		var parcel Parcel
		if v.db.WithContext(c).First(&parcel, "id = ?", id).Error != nil {
			c.Status(http.StatusNotFound)
			return
		}
		c.JSON(http.StatusOK, ParcelView{v.parcels.Encode(parcel.ID), v.orders.Encode(parcel.OrderID), parcel.Item})
	})

	return router
}

func (v *views) chi() http.Handler {
	router := chi.NewRouter()

	router.Get("/parcels/{id}", func(w http.ResponseWriter, r *http.Request) {
		id, err := v.parcels.Parse(chi.URLParam(r, "id")) // or r.PathValue("id")
		var parcel Parcel
		if err == nil {
			err = v.db.WithContext(r.Context()).First(&parcel, "id = ?", id).Error
		}
		if err != nil {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		_ = json.NewEncoder(w).Encode(v.view(parcel))
	})

	return router
}

func (v *views) netHTTP() http.Handler {
	router := http.NewServeMux()
	router.HandleFunc("GET /parcels/{id}", func(w http.ResponseWriter, r *http.Request) {
		id, err := v.parcels.Parse(r.PathValue("id"))
		var parcel Parcel
		if err == nil {
			err = v.db.WithContext(r.Context()).First(&parcel, "id = ?", id).Error
		}
		if err != nil {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		_ = json.NewEncoder(w).Encode(v.view(parcel))
	})
	return router
}

func (v *views) echo() http.Handler {
	router := echo.New()
	router.GET("/parcels/:id", func(c echo.Context) error {
		var in struct {
			ID opaque.ID `param:"id"`
		}
		var parcel Parcel
		if c.Bind(&in) != nil {
			return echo.ErrNotFound
		}
		id, err := v.parcels.Decode(in.ID)
		if err != nil || v.db.First(&parcel, "id = ?", id).Error != nil {
			return echo.ErrNotFound
		}
		return c.JSON(http.StatusOK, v.view(parcel))
	})
	return router
}

func TestOpaqueRouters(t *testing.T) {
	v := newViews(t)
	tea, cup := v.parcels.Encode(id).Text(), v.parcels.Encode(id+1).Text()
	found := map[string]string{
		tea:                  `{"id":"` + tea + `","order":"` + v.orders.Encode(5).Text() + `","item":"tea"}`,
		strings.ToUpper(cup): `{"id":"` + cup + `","item":"cup"}`,
	}
	for name, router := range map[string]http.Handler{"gin": v.gin(), "chi": v.chi(), "net/http": v.netHTTP(), "echo": v.echo()} {
		for _, path := range []string{tea, strings.ToUpper(cup), tea[:8] + "0" + tea[9:], v.orders.Encode(id).Text(), v.parcels.Encode(7).Text(), id.String(), "x"} {
			w := httptest.NewRecorder()
			router.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/parcels/"+path, nil))
			want := found[path]
			if got := strings.TrimSpace(w.Body.String()); want == "" && w.Code != http.StatusNotFound || want != "" && (w.Code != http.StatusOK || got != want) {
				t.Errorf("%s, GET %s: %d %s, want %q", name, path, w.Code, got, want)
			}
		}
	}
}

// A query and a form are bound as a path is.
func TestOpaqueForms(t *testing.T) {
	v := newViews(t)
	order := v.orders.Encode(5)
	gin.SetMode(gin.ReleaseMode)
	router := gin.New()
	router.POST("/parcels", func(c *gin.Context) {
		var in struct {
			Order opaque.ID  `form:"order"`
			After *opaque.ID `form:"after"` // nil if it is absent
		}
		if err := c.ShouldBind(&in); err != nil {
			if !errors.Is(err, opaque.ErrCheck) && !errors.Is(err, opaque.ErrForm) {
				t.Errorf("the error is %v", err)
			}
			c.Status(http.StatusBadRequest)
			return
		}
		if in.After != nil || in.Order != order {
			t.Errorf("the form is %+v", in)
		}
	})
	for body, want := range map[string]int{
		"order=" + order.Text():             http.StatusOK,
		"order=" + order.Text() + "0":       http.StatusBadRequest,
		"order=" + order.Text() + "&after=": http.StatusBadRequest,
		"order=5":                           http.StatusBadRequest,
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/parcels", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		w := httptest.NewRecorder()
		if router.ServeHTTP(w, r); w.Code != want {
			t.Errorf("%s: %d, want %d", body, w.Code, want)
		}
	}
}
