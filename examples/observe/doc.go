// Package observe shows, in its tests, how expvar, Prometheus and
// OpenTelemetry get to know what generators and leases do. The page
// docs/metrics.md takes its code from here.
package observe
