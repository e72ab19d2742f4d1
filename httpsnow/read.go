package httpsnow

import (
	"encoding/json"
	"net/http"
	"time"

	"github.com/shardsnow/snow"
)

// A reading is what an id says, as JSON.
type reading struct {
	ID         snow.ID     `json:"id"`
	Base32     string      `json:"base32"`
	Layout     snow.Layout `json:"layout"`
	Time       string      `json:"time"` // start of the tick, in UTC
	Datacenter uint64      `json:"datacenter"`
	Worker     uint64      `json:"worker"`
	Sequence   uint64      `json:"sequence"`
	Lane       *uint64     `json:"lane,omitempty"` // the highest bits of the sequence, in layouts with lanes
	Shard      uint64      `json:"shard"`
}

// read answers what an id says, which is in decimal or in base32. A text that can be both is read as decimal.
func (h *Handler) read(w http.ResponseWriter, text string) {
	id, err := snow.ParseID(text)
	if err != nil {
		var err32 error
		if id, err32 = snow.ParseBase32(text); err32 != nil {
			problem(w, http.StatusBadRequest, err.Error())
			return
		}
	}
	p, err := h.cfg.Layout.Decompose(id)
	if err != nil {
		problem(w, http.StatusBadRequest, err.Error())
		return
	}
	answer := reading{
		ID: id, Base32: id.Base32(), Layout: h.cfg.Layout, Time: p.Time.Format(time.RFC3339Nano),
		Datacenter: p.Datacenter, Worker: p.Worker, Sequence: p.Sequence, Shard: p.Shard,
	}
	if bits := h.cfg.Layout.Bits(); bits.Lane > 0 {
		lane := p.Sequence >> (bits.Sequence - bits.Lane)
		answer.Lane = &lane
	}
	b, err := json.Marshal(answer)
	if err != nil {
		problem(w, http.StatusInternalServerError, "the answer can't be written")
		return
	}
	w.Header()["Content-Type"] = jsonType
	_, _ = w.Write(append(b, '\n')) // the client is gone
}
