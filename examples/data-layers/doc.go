// Package datalayers shows, in its tests, how rows get their keys with data
// layers other than GORM, and what goes wrong with each. The page
// docs/data-layers.md takes its code from here.
package datalayers
