// Package promsnow exports the statistics of generators, leases, segments and
// routers of GORM to Prometheus.
//
//	registry.MustRegister(promsnow.Generator("orders", keys), promsnow.Lease("orders", lease))
//
// The name becomes the label "source" of every metric, so that a process may
// have several sources. A collector calls Stats when it is scraped, and keeps
// nothing. No id waits for a lock that Stats takes. Collectors are safe for
// concurrent use.
//
// A generator has
//
//	snow_ids_issued_total           ids made
//	snow_waits_total                calls of Next and Fill that waited
//	snow_wait_seconds_total         the total time of these waits, as planned
//	snow_borrowed_seconds           how far the last id is ahead of the clock
//	snow_borrowed_peak_seconds      the largest value of snow_borrowed_seconds
//	snow_clock_steps_total          steps of the wall clock
//	snow_clock_lag_seconds          how far the wall clock is behind the ids
//	snow_layout_left_seconds        until the layout's timestamp runs out
//
// A lease has
//
//	snow_lease_info                 1, with the labels datacenter and worker
//	snow_lease_left_seconds         until ids end if no renewal succeeds any more
//	snow_lease_window_seconds       what was left after the last renewal
//	snow_lease_renewed_timestamp_seconds  the last renewal, in the database's time
//	snow_lease_renewals_total       renewals that succeeded
//	snow_lease_failures_total       statements and attempts that failed
//	snow_lease_swaps_total          how often another number was taken
//	snow_lease_skew_seconds         how far the database's clock is ahead
//	snow_lease_failing              1 if the last attempt failed, else 0
//
// Segments have
//
//	snow_segments_issued_total              ids given out
//	snow_segments_left                      numbers at hand
//	snow_segments_step                      how many are taken at once
//	snow_segments_refills_total             how often numbers were taken
//	snow_segments_waits_total               calls that had to wait for numbers
//	snow_segments_regressions_total         how often a row had gone back
//	snow_segments_database_up               1 if it answered last time, else 0
//	snow_segments_database_left             its numbers at hand
//	snow_segments_database_takes_total      how often it gave numbers
//	snow_segments_database_failures_total   how often it failed to
//
// The last four have the label "database": its index in the call of
// segments.Open.
//
// A router has
//
//	snow_route_statements_total             statements sent, by database
//	snow_route_replica_statements_total     statements sent to replicas
//	snow_route_refused_total                statements refused, by reason
//	snow_route_scatters_total               queries about several databases
//	snow_route_scatter_databases_total      databases that these queries asked
//
// The first two have the label "database", its index among the shards, and the
// second has "replica". The reasons are in [github.com/shardsnow/snow/gormsnow/route.Stats].
//
// The numbers come from [github.com/shardsnow/snow.Stats],
// [github.com/shardsnow/snow/sqlsnow.LeaseStats],
// [github.com/shardsnow/snow/sqlsnow/segments.Stats] and
// [github.com/shardsnow/snow/gormsnow/route/meter.Stats]. All generators of one
// Worker have the same numbers: register one of them.
//
// What to alert on is in docs/metrics.md of the repository.
package promsnow
