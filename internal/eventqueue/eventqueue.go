// Package eventqueue orders the events of a simulation by time. It is for tests.
package eventqueue

import (
	"container/heap"
	"time"
)

// A Queue holds the events that have not happened yet. The zero Queue is empty.
type Queue struct {
	events events
	added  int
}

// Add adds an event, after earlier ones for the same time.
func (q *Queue) Add(at time.Duration, do func()) {
	q.added++
	heap.Push(&q.events, event{at, q.added, do})
}

// Pop removes and returns the first event, unless it is after end.
func (q *Queue) Pop(end time.Duration) (at time.Duration, do func(), ok bool) {
	if len(q.events) == 0 || q.events[0].at > end {
		return 0, nil, false
	}
	e := heap.Pop(&q.events).(event)
	return e.at, e.do, true
}

type event struct {
	at    time.Duration
	order int
	do    func()
}

type events []event

func (e events) Len() int { return len(e) }
func (e events) Less(i, j int) bool {
	return e[i].at < e[j].at || e[i].at == e[j].at && e[i].order < e[j].order
}
func (e events) Swap(i, j int) { e[i], e[j] = e[j], e[i] }
func (e *events) Push(x any)   { *e = append(*e, x.(event)) }
func (e *events) Pop() any {
	last := (*e)[len(*e)-1]
	*e = (*e)[:len(*e)-1]
	return last
}
