//go:build !race

package sqlsnow

const simRace = false
