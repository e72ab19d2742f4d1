// Package datalayers shows in its tests how rows get their keys with data layers
// other than GORM, and what can go wrong with each. The code in
// docs/data-layers.md is from here.
package datalayers
