package promsnow

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/gormsnow/route/meter"
	"github.com/shardsnow/snow/sqlsnow"
	"github.com/shardsnow/snow/sqlsnow/segments"
)

// Generator returns a collector of the statistics of g, for example a
// [*snow.Generator]. If g is nil, scrapes fail with an error.
func Generator(name string, g interface{ Stats() snow.Stats }) prometheus.Collector {
	c := &collector[snow.Stats]{name: name}
	if g != nil {
		c.stats = g.Stats
	}
	c.counter("snow_ids_issued_total", "Ids made.", func(s snow.Stats) float64 { return float64(s.Issued) })
	c.counter("snow_waits_total", "Calls of Next and Fill that waited.", func(s snow.Stats) float64 { return float64(s.Waits) })
	c.counter("snow_wait_seconds_total", "Total time of these waits, as planned when they began.", func(s snow.Stats) float64 { return s.Waited.Seconds() })
	c.gauge("snow_borrowed_seconds", "How far the last id is ahead of the clock.", func(s snow.Stats) float64 { return s.Borrowed.Seconds() })
	c.gauge("snow_borrowed_peak_seconds", "The largest value of snow_borrowed_seconds so far.", func(s snow.Stats) float64 { return s.MostBorrowed.Seconds() })
	c.counter("snow_clock_steps_total", "Steps of the wall clock that were noticed.", func(s snow.Stats) float64 { return float64(s.ClockSteps) })
	c.gauge("snow_clock_lag_seconds", "How far the wall clock is behind the ids.", func(s snow.Stats) float64 { return s.ClockLag.Seconds() })
	c.gauge("snow_layout_left_seconds", "Until the timestamp of the layout runs out.", func(s snow.Stats) float64 { return s.Left.Seconds() })
	return c
}

// Lease returns a collector of the statistics of l, for example a
// [*sqlsnow.Lease]. If l is nil, scrapes fail with an error.
func Lease(name string, l interface{ Stats() sqlsnow.LeaseStats }) prometheus.Collector {
	c := &collector[sqlsnow.LeaseStats]{name: name}
	if l != nil {
		c.stats = l.Stats
	}
	c.add("snow_lease_info", "1, with the number that is leased.", prometheus.GaugeValue, func(s sqlsnow.LeaseStats) []sample {
		return []sample{{1, []string{strconv.FormatUint(s.Datacenter, 10), strconv.FormatUint(s.Worker, 10)}}}
	}, "datacenter", "worker")
	c.gauge("snow_lease_left_seconds", "Until ids end if no renewal succeeds any more.", func(s sqlsnow.LeaseStats) float64 { return s.Left.Seconds() })
	c.gauge("snow_lease_window_seconds", "What was left when the window was confirmed last.", func(s sqlsnow.LeaseStats) float64 { return s.Window().Seconds() })
	c.gauge("snow_lease_renewed_timestamp_seconds", "The last renewal that succeeded, in the time of the database.", func(s sqlsnow.LeaseStats) float64 {
		return float64(s.Renewed.UnixMilli()) / 1000
	})
	c.counter("snow_lease_renewals_total", "Renewals that succeeded.", func(s sqlsnow.LeaseStats) float64 { return float64(s.Renewals) })
	c.counter("snow_lease_failures_total", "Statements and attempts that failed.", func(s sqlsnow.LeaseStats) float64 { return float64(s.Failures) })
	c.counter("snow_lease_swaps_total", "Times that the number was lost and another one taken.", func(s sqlsnow.LeaseStats) float64 { return float64(s.Swaps) })
	c.gauge("snow_lease_skew_seconds", "How far the clock of the database was ahead of the process's clock.", func(s sqlsnow.LeaseStats) float64 { return s.Skew.Seconds() })
	c.gauge("snow_lease_failing", "1 if the last attempt failed, else 0.", func(s sqlsnow.LeaseStats) float64 { return truth(s.Err != nil) })
	return c
}

// Segments returns a collector of the statistics of s, for example
// [*segments.Segments]. If s is nil, scrapes fail with an error.
func Segments(name string, s interface{ Stats() segments.Stats }) prometheus.Collector {
	c := &collector[segments.Stats]{name: name}
	if s != nil {
		c.stats = s.Stats
	}
	c.counter("snow_segments_issued_total", "Ids given out.", func(s segments.Stats) float64 { return float64(s.Issued) })
	c.gauge("snow_segments_left", "Numbers at hand.", func(s segments.Stats) float64 { return float64(s.Left) })
	c.gauge("snow_segments_step", "How many numbers are taken at once.", func(s segments.Stats) float64 { return float64(s.Step) })
	c.counter("snow_segments_refills_total", "Times that numbers were taken in the background.", func(s segments.Stats) float64 { return float64(s.Refills) })
	c.counter("snow_segments_waits_total", "Calls that had to wait for numbers.", func(s segments.Stats) float64 { return float64(s.Waits) })
	c.counter("snow_segments_regressions_total", "Times that a row was found to have gone back.", func(s segments.Stats) float64 {
		return float64(s.Regressions)
	})
	each := func(value func(segments.Database) float64) func(segments.Stats) []sample {
		return func(s segments.Stats) (all []sample) {
			for i, d := range s.Databases {
				all = append(all, sample{value(d), []string{strconv.Itoa(i)}})
			}
			return all
		}
	}
	c.add("snow_segments_database_up", "1 if the database answered when it was asked last, else 0.", prometheus.GaugeValue,
		each(func(d segments.Database) float64 { return truth(d.Up) }), "database")
	c.add("snow_segments_database_left", "Numbers of the database at hand.", prometheus.GaugeValue,
		each(func(d segments.Database) float64 { return float64(d.Left) }), "database")
	c.add("snow_segments_database_takes_total", "Times that the database gave numbers.", prometheus.CounterValue,
		each(func(d segments.Database) float64 { return float64(d.Takes) }), "database")
	c.add("snow_segments_database_failures_total", "Times that the database failed to give numbers.", prometheus.CounterValue,
		each(func(d segments.Database) float64 { return float64(d.Failures) }), "database")
	return c
}

// Router returns a collector of the statistics of r, for example a *route.Router, which route.RouterOf returns. It does
// not import GORM. If r is nil, scrapes fail with an error.
func Router(name string, r interface{ Stats() meter.Stats }) prometheus.Collector {
	c := &collector[meter.Stats]{name: name}
	if r != nil {
		c.stats = r.Stats
	}
	c.add("snow_route_statements_total", "Statements sent to the database.", prometheus.CounterValue, func(s meter.Stats) (all []sample) {
		for i, d := range s.Databases {
			all = append(all, sample{float64(d.Statements), []string{strconv.Itoa(i)}})
		}
		return all
	}, "database")
	c.add("snow_route_replica_statements_total", "Statements sent to a replica.", prometheus.CounterValue, func(s meter.Stats) (all []sample) {
		for i, d := range s.Databases {
			for j, n := range d.Replicas {
				all = append(all, sample{float64(n), []string{strconv.Itoa(i), strconv.Itoa(j)}})
			}
		}
		return all
	}, "database", "replica")
	c.add("snow_route_refused_total", "Statements refused.", prometheus.CounterValue, func(s meter.Stats) (all []sample) {
		for reason, n := range s.Refused {
			all = append(all, sample{float64(n), []string{reason}})
		}
		return all
	}, "reason")
	c.counter("snow_route_scatters_total", "Queries about several databases.", func(s meter.Stats) float64 { return float64(s.Scattered) })
	c.counter("snow_route_scatter_databases_total", "Databases that these queries asked.", func(s meter.Stats) float64 { return float64(s.Asked) })
	return c
}
