package audit

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/sqlsnow"
)

// recent bounds the age of ids that some namespace must have made. Older ones may have been brought from elsewhere.
const recent = 7 * 24 * time.Hour

// A maker is a namespace with its present rows.
type maker struct {
	name    string
	layout  snow.Layout
	workers map[uint64]sqlsnow.WorkerInfo
}

func newMaker(name string, l snow.Layout, workers []sqlsnow.WorkerInfo) maker {
	m := maker{name, l, make(map[uint64]sqlsnow.WorkerInfo, len(workers))}
	for _, w := range workers {
		m.workers[w.Worker] = w
	}
	return m
}

// can reports whether the namespace can have made an id, as far as its present rows tell: a row has its last lease
// only. isRecent says that the id's time in the namespace's layout is within the last days.
func (m maker) can(id snow.ID, now time.Time) (can, isRecent bool) {
	p, err := m.layout.Decompose(id)
	if err != nil {
		return false, false
	}
	isRecent = p.Time.After(now.Add(-recent)) && p.Time.Before(now.Add(time.Minute))
	w, ok := m.workers[p.Worker]
	switch {
	case !ok || w.Fence == 0 && w.State != sqlsnow.Reserved: // nobody ever had the number
		return false, isRecent
	case w.State == sqlsnow.Reserved:
		return true, isRecent
	case !p.Time.Before(w.Ceiling):
		return false, isRecent
	case p.Time.Add(m.layout.Tick()).After(w.Claimed):
		return w.State != sqlsnow.Claimed || w.Fence > 1, isRecent // a claim has no window yet
	}
	return w.Fence > 1, isRecent // somebody may have had it before
}

// makers finds a table that two namespaces write, and ids that no namespace made.
func (a *audit) makers(t *table, all []maker, now time.Time) {
	if len(all) == 0 || len(t.latest) == 0 {
		return
	}
	only := make(map[string]uint64) // an id that nobody else can have made
	var strange []uint64
	for _, id := range t.latest {
		var can []string
		isRecent := false
		for _, m := range all {
			yes, young := m.can(snow.ID(id), now)
			if yes {
				can = append(can, m.name)
			}
			isRecent = isRecent || young
		}
		if _, known := only[strings.Join(can, "")]; len(can) == 1 && !known {
			only[can[0]] = id
		}
		if len(can) == 0 && isRecent {
			strange = append(strange, id)
		}
	}
	if len(only) > 1 {
		var examples []string
		for name, id := range only {
			examples = append(examples, formatID(id)+" is of "+name)
		}
		slices.Sort(examples)
		a.find(t, t.key[0], Error, fmt.Sprintf("%d namespaces write it, and nothing keeps their ids apart: %s", len(only), strings.Join(examples, ", ")),
			"let all programs that write a table lease from one namespace")
	}
	if len(strange) > 0 {
		a.find(t, t.key[0], Error, fmt.Sprintf("%d of its latest %d ids are of worker numbers that nobody had leased then, such as %s",
			len(strange), len(t.latest), formatID(strange[0])),
			`"snow id show" tells the worker number; let the program that made them lease from a namespace of this database, or leave out the table with --ignore`)
	}
}
