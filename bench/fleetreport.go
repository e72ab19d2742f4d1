package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/shardsnow/snow/bench/fleet"
)

// What one small registry is to do for 20,000 leases.
const (
	fleetCores = 0.25        // of one core, while all renew
	fleetP99   = time.Second // of an Acquire while 1,000 start at once
)

// fleetReport returns the part of RESULTS.md about large fleets.
func fleetReport(s *section[[]fleet.Result]) string {
	var b strings.Builder
	b.WriteString("## A registry for large fleets\n\n" + s.about([]string{
		"github.com/go-sql-driver/mysql", "github.com/jackc/pgx/v5", "go.etcd.io/etcd/client/v3", "github.com/go-zookeeper/zk",
	}))
	fmt.Fprintf(&b, "Leases of one namespace on one server. Each is a real lease with its own goroutine, timers and statements. They share\n"+
		"%d connections in a few pools, where real processes have one or more each. The table says how often a lease\n"+
		"renews, without jitter. A namespace has 1.6 times as many numbers as its largest fleet has leases.\n"+
		"*Cores* is the server's processor time for a renewal, times the renewals of the fleet in a second. etcd and ZooKeeper\n"+
		"are three members on one machine, and all count. What they call a request is a statement here.\n\n", connectionsOf(s.Result))
	t := newTable(2, "server", "target", "wanted", "measured", "met")
	for _, r := range s.Result {
		if r.Store != fleet.MariaDB && r.Store != fleet.PostgreSQL {
			continue
		}
		l := r.Loads[len(r.Loads)-1]
		t.add(r.Version, "cores for "+grouped(int64(l.Leases))+" leases", "≤ "+three(fleetCores), three(l.Cores()), met(l.Cores() <= fleetCores))
		t.add(r.Version, "p99 of Acquire, "+grouped(int64(r.Burst.Leases))+" start at once", "≤ "+millis(fleetP99), millis(r.Burst.P99), met(r.Burst.P99 <= fleetP99))
	}
	b.WriteString("### Targets\n\n" + t.String())
	b.WriteString("### Renewing\n\n")
	t = newTable(1, "server", "leases", "every", "renewals/s", "in the busiest second", "statements/s", "cores", "of the server for a renewal", "of the client", "p50", "p99", "failures")
	for _, r := range s.Result {
		for _, l := range r.Loads {
			t.add(r.Version, grouped(int64(l.Leases)), l.Interval().String(), three(perSecond(l.Renewals, l.Took)), grouped(int64(l.Busiest)), three(perSecond(int(l.RoundTrips), l.Took)),
				three(l.Cores()), micros(l.PerRenewal()), micros(l.Client/time.Duration(max(l.Renewals, 1))), millis(l.P50), millis(l.P99), grouped(int64(l.Failures)))
		}
	}
	b.WriteString(t.String())
	fmt.Fprintf(&b, "On the line through these points, for %s leases:", grouped(fleetMost))
	for i, r := range s.Result {
		b.WriteString([]string{" ", ", "}[min(i, 1)] + r.Store + " " + three(r.CoresAt(fleetMost)) + " cores")
	}
	b.WriteString(".\nThat is an extrapolation: no fleet of this size was measured.\n\n" + fleetLimits(s.Result))
	b.WriteString("### One lease\n\n")
	t = newTable(1, "server", "statements for a renewal", "an hour", "memory of the process", "goroutines", "statements to start", "of the server to start")
	for _, r := range s.Result {
		l, start := r.Loads[len(r.Loads)-1], r.Largest
		t.add(r.Version, three(l.Trips()), three(l.Trips()*time.Hour.Seconds()/l.Interval().Seconds()), grouped(r.Bytes)+" bytes", three(r.Goroutines),
			three(float64(start.RoundTrips)/float64(max(start.Leases, 1))), micros(start.Processor/time.Duration(max(start.Leases, 1))))
	}
	b.WriteString(t.String())
	b.WriteString("### Starting at once\n\nProcesses that start in the same moment, until each has its number. As many of them\nask at the same time as there are connections.\n\n")
	t = newTable(1, "server", "processes", "the last one after", "p50", "p99")
	for _, r := range s.Result {
		for _, start := range []fleet.Start{r.Burst, r.Largest} {
			t.add(r.Version, grouped(int64(start.Leases)), millis(start.All), millis(start.P50), millis(start.P99))
		}
	}
	b.WriteString(t.String())
	b.WriteString("### After an outage\n\nThe server is killed and comes back. Times count from its return to the first renewal of each lease.\n" +
		"Leases wait longer and longer between attempts for half a minute of an outage, so after five minutes it is the same.\n\n")
	t = newTable(1, "server", "leases", "outage", "the last one after", "p50", "p99", "renewals in the busiest second", "attempts that failed", "numbers lost", "cores of the server")
	for _, r := range s.Result {
		back := r.Back
		t.add(r.Version, grouped(int64(r.Largest.Leases)), r.Outage.String(), millis(back.All), millis(back.P50), millis(back.P99), grouped(int64(back.Busiest)),
			grouped(int64(back.Failures)), grouped(int64(back.Lost)), three(back.Processor.Seconds()/max(back.All.Seconds(), 0.001)))
	}
	return b.String() + t.String()
}

// fleetLimits returns what limits a fleet that is larger than those that were measured.
func fleetLimits(all []fleet.Result) string {
	var b strings.Builder
	fmt.Fprintf(&b, "### What limits %s leases\n\nComputed from what the largest fleet took, not measured. A namespace of this size renews every minute.\n"+
		"Each process has a connection of its own as well, which is not counted.\n\n", grouped(fleetMost))
	t := newTable(1, "server", "renewals/s", "statements/s", "one core has enough to do with", "one core starts all in")
	for _, r := range all {
		l, start := r.Loads[len(r.Loads)-1], r.Largest
		perSecond := float64(fleetMost) / time.Minute.Seconds()
		most := time.Minute.Seconds() / max(l.PerRenewal().Seconds(), 1e-9)
		each := start.Processor.Seconds() / float64(max(start.Leases, 1))
		t.add(r.Version, three(perSecond), three(perSecond*l.Trips()), grouped(int64(most/1000)*1000)+" leases", seconds(time.Duration(each*fleetMost*float64(time.Second))))
	}
	b.WriteString(t.String())
	return b.String()
}

func connectionsOf(all []fleet.Result) int {
	if len(all) == 0 {
		return 0
	}
	return all[0].Connections
}

func perSecond(n int, took time.Duration) float64 { return float64(n) / max(took.Seconds(), 0.001) }

func millis(d time.Duration) string { return three(float64(d)/float64(time.Millisecond)) + " ms" }
