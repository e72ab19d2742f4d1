package main

import (
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"gorm.io/gorm"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/opaque"
)

const (
	mostBytes = 1 << 14 // of a request's body
	mostRows  = 200     // of a page
)

// An api answers requests from a store. Clients see the texts of its codec in place of ids.
type api struct {
	store    *store
	orders   *opaque.Codec
	stopping atomic.Bool
}

// An orderView is what clients see of an Order. Its id tells them neither the time nor
// how many orders there are.
type orderView struct {
	ID        opaque.ID `json:"id"`
	Buyer     string    `json:"buyer"`
	Item      string    `json:"item"`
	CreatedAt time.Time `json:"created_at"`
}

func (a *api) view(o Order) orderView {
	return orderView{a.orders.Encode(o.ID), o.Buyer, o.Item, o.CreatedAt}
}

func (a *api) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /orders", a.create)
	mux.HandleFunc("GET /orders/{id}", a.find)
	mux.HandleFunc("GET /orders", a.page)
	mux.HandleFunc("GET /readyz", a.ready)
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })
	return mux
}

// ready says whether the instance should get requests. livez does not look at the
// lease: a restart would throw away the window, and with it the keys of the next
// minutes.
func (a *api) ready(w http.ResponseWriter, _ *http.Request) {
	if a.stopping.Load() || !a.store.ready() {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
}

// create answers 201 with a new order, or 200 with the order that an earlier attempt
// of the same request has stored. So a client that got no answer sends the request
// again, with the same Idempotency-Key, to any instance.
func (a *api) create(w http.ResponseWriter, r *http.Request) {
	var o struct{ Buyer, Item string }
	in := json.NewDecoder(http.MaxBytesReader(w, r.Body, mostBytes))
	in.DisallowUnknownFields()
	if err := in.Decode(&o); err != nil {
		refuse(w, http.StatusBadRequest, "the body is no order: "+err.Error())
		return
	}
	request := r.Header.Get("Idempotency-Key")
	switch {
	case request == "" || len(request) > 64:
		refuse(w, http.StatusBadRequest, "want a header Idempotency-Key of 1 to 64 characters")
		return
	case o.Buyer == "" || len(o.Buyer) > 64 || o.Item == "" || len(o.Item) > 200:
		refuse(w, http.StatusBadRequest, "want a buyer of 1 to 64 bytes and an item of 1 to 200")
		return
	}
	order := Order{Buyer: o.Buyer, Request: request, Item: o.Item}
	created, err := a.store.create(r.Context(), &order)
	switch {
	case err != nil:
		fail(w, r, err)
	case order.Item != o.Item:
		refuse(w, http.StatusUnprocessableEntity, "this Idempotency-Key belongs to another order of the buyer")
	case created:
		w.Header().Set("Location", "/orders/"+a.orders.Encode(order.ID).Text())
		answer(w, http.StatusCreated, a.view(order))
	default:
		answer(w, http.StatusOK, a.view(order))
	}
}

// find answers with one order. Its text becomes its key, which says which database has it.
func (a *api) find(w http.ResponseWriter, r *http.Request) {
	id, err := a.orders.Parse(r.PathValue("id"))
	if err != nil {
		refuse(w, http.StatusNotFound, "there is no such order")
		return
	}
	order, err := a.store.find(r.Context(), id)
	switch {
	case errors.Is(err, gorm.ErrRecordNotFound):
		refuse(w, http.StatusNotFound, "there is no such order")
	case err != nil:
		fail(w, r, err)
	default:
		answer(w, http.StatusOK, a.view(order))
	}
}

// page answers with up to limit orders after the order after, of one buyer or of
// all. Next is the value of after for the next page; it is missing after the last.
func (a *api) page(w http.ResponseWriter, r *http.Request) {
	q, after, limit := r.URL.Query(), snow.ID(0), 50
	if text := q.Get("after"); text != "" {
		var err error
		if after, err = a.orders.Parse(text); err != nil {
			refuse(w, http.StatusBadRequest, err.Error())
			return
		}
	}
	if text := q.Get("limit"); text != "" {
		var err error
		if limit, err = strconv.Atoi(text); err != nil || limit < 1 || limit > mostRows {
			refuse(w, http.StatusBadRequest, "want a limit of 1 to "+strconv.Itoa(mostRows))
			return
		}
	}
	orders, err := a.store.page(r.Context(), q.Get("buyer"), after, limit)
	if err != nil {
		fail(w, r, err)
		return
	}
	page := struct {
		Orders []orderView `json:"orders"`
		Next   opaque.ID   `json:"next,omitzero"`
	}{Orders: make([]orderView, 0, len(orders))}
	for _, o := range orders {
		page.Orders = append(page.Orders, a.view(o))
	}
	if len(orders) == limit {
		page.Next = page.Orders[limit-1].ID
	}
	answer(w, http.StatusOK, page)
}

// answer writes a reply. If the client is gone, nobody is there to be told.
func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

func refuse(w http.ResponseWriter, status int, reason string) {
	answer(w, status, map[string]string{"error": reason})
}

// fail answers 503: the client may send the request again, also to another
// instance. That holds for a database that is down and for snow.ErrLeaseExpired.
func fail(w http.ResponseWriter, r *http.Request, err error) {
	slog.ErrorContext(r.Context(), "request failed", "method", r.Method, "path", r.URL.Path, "error", err)
	w.Header().Set("Retry-After", "1")
	refuse(w, http.StatusServiceUnavailable, "try again")
}
