package audit

import (
	"fmt"
	"slices"
	"strconv"
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

// A share is the ids of a table that only one namespace can have made.
type share struct {
	layout      snow.Layout
	example     uint64
	datacenters []uint64
}

func (s *share) add(id uint64) {
	if p, err := s.layout.Decompose(snow.ID(id)); err == nil && !slices.Contains(s.datacenters, p.Datacenter) {
		s.datacenters = append(s.datacenters, p.Datacenter)
	}
}

// meets reports whether two namespaces can make the same id. Ids of different datacenters are apart, if their
// layouts are the same.
func (s *share) meets(o *share) bool {
	return s.layout != o.layout || slices.ContainsFunc(s.datacenters, func(d uint64) bool { return slices.Contains(o.datacenters, d) })
}

// makers finds a table that two namespaces write, and ids that no namespace made.
func (a *audit) makers(t *table, all []maker, now time.Time) {
	if len(all) == 0 || len(t.latest) == 0 {
		return
	}
	only := make(map[string]*share)
	var names []string
	var strange []uint64
	for _, id := range t.latest {
		var can []maker
		isRecent := false
		for _, m := range all {
			yes, young := m.can(snow.ID(id), now)
			if yes {
				can = append(can, m)
			}
			isRecent = isRecent || young
		}
		switch {
		case len(can) == 1:
			if only[can[0].name] == nil {
				only[can[0].name] = &share{layout: can[0].layout, example: id}
				names = append(names, can[0].name)
			}
			only[can[0].name].add(id)
		case len(can) == 0 && isRecent:
			strange = append(strange, id)
		}
	}
	slices.Sort(names)
	for i, x := range names {
		for _, y := range names[i+1:] {
			if !only[x].meets(only[y]) {
				continue
			}
			a.find(t, t.key[0], Error, fmt.Sprintf("the namespaces %s and %s both write it, and nothing keeps their ids apart: %d is of %s, %d is of %s",
				x, y, only[x].example, x, only[y].example, y),
				"let all programs that write a table lease from one namespace, or give each namespace a datacenter number of its own")
		}
	}
	if len(strange) > 0 {
		a.find(t, t.key[0], Error, fmt.Sprintf("%d of its latest %d ids are of worker numbers that nobody had leased then, such as %s",
			len(strange), len(t.latest), strconv.FormatUint(strange[0], 10)),
			`"snow id show" tells the worker number; let the program that made them lease from a namespace of this database, or leave out the table with --ignore`)
	}
}
