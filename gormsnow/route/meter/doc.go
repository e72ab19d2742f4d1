// Package meter has the statistics of a router of GORM, for programs that show them and do not import GORM.
//
// Package route makes them: route.RouterOf(db) returns a router, and its method Stats a [Stats].
package meter
