//go:build race

package sqlsnow

const simRace = true // a simulation has one thread: there is nothing to find, slowly
