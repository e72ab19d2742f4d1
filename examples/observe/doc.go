// Package observe shows in its tests how generators and leases report to expvar,
// Prometheus and OpenTelemetry. The code in docs/metrics.md is from here.
package observe
