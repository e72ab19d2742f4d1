package main

import (
	"fmt"
	"strings"

	"github.com/shardsnow/snow/bench/merge"
)

// waysReport returns the part of RESULTS.md about the two ways to merge inside one server.
func waysReport(s *section[merge.Ways]) string {
	var b strings.Builder
	w := s.Result
	b.WriteString("## Rows in Go or in the server\n\n" + s.about([]string{"github.com/go-sql-driver/mysql"}))
	b.WriteString("MariaDB " + w.Version + ".\n\n" +
		"`merge` had two ways to do its work where source and target are on one server: each row goes through the Go process,\n" +
		"or SQL computes new ids, copies and compares rows inside the server. Each line is one round of four shapes of tables,\n" +
		"all verified: seconds of the merge, and in parentheses seconds of the floor, INSERT … SELECT of the same rows.\n\n")
	t := newTable(1, append([]string{"rows", "other work"}, w.Shapes...)...)
	for _, r := range w.Runs {
		name := "Go, "
		if r.Server {
			name = "server, "
		}
		if name += grouped(int64(r.Rows)); r.Note != "" {
			name += ", " + r.Note
		}
		cells := []string{name, fmt.Sprintf("%.2f cores", r.Others)}
		for i := range w.Shapes {
			cells = append(cells, fmt.Sprintf("%.2f (%.2f)", r.Run[i].Seconds(), r.Floor[i].Seconds()))
		}
		t.add(cells...)
	}
	b.WriteString(t.String())
	b.WriteString("How many times as long Go took as the server, and in parentheses the same with each run divided by its own floor. Only\n" +
		"the rounds with the least other work count.\n\n")
	t = newTable(1, append(append([]string{"rows"}, w.Shapes...), "all")...)
	for _, r := range w.Runs {
		server := w.Other(r)
		if r.Server || server == nil {
			continue
		}
		cells := []string{grouped(int64(r.Rows))}
		for i := range w.Shapes {
			ratio := r.Run[i].Seconds() / server.Run[i].Seconds()
			cells = append(cells, fmt.Sprintf("%.2f× (%.2f×)", ratio, ratio*server.Floor[i].Seconds()/r.Floor[i].Seconds()))
		}
		t.add(append(cells, fmt.Sprintf("%.2f×", r.Sum().Seconds()/server.Sum().Seconds()))...)
	}
	b.WriteString(t.String())
	b.WriteString("The decision: a second way must bring twice the speed, and the server brought it only to small tables without any index\n" +
		"or reference, so each row goes through Go.\n\n")
	return b.String()
}
