// Package sqlsnow leases worker numbers from a database.
package sqlsnow
