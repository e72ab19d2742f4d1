package main

import "slices"

// longJobs are the tests that take long. A simulation has one thread: the race detector finds nothing there, slowly.
var longJobs = []job{
	{".", []string{"-timeout=30m", "-run=^TestHundredMillionIDs$", "."}},
	{".", []string{"-timeout=30m", "-run=^(TestSimulation|TestMutantsAreCaught)", "./sqlsnow"}},
	{".", []string{"-timeout=60m", "-race", "-run=^(TestFaults|TestSegmentFaults)$", "./sqlsnow"}},
	{"internal/mergetest", []string{"-timeout=60m", "-run=^(TestRandom|TestCrash)", "."}},
	{"merge", []string{"-timeout=30m", "-race", "-run=^(TestRivals|TestServerMints)", "./..."}},
	{"drivers", []string{"-timeout=60m", "-race", "-run=^(TestFaults|TestSegmentFaults|TestRandomCreates)$", "./lease", "./segment", "./gorm"}},
	{"drivers", []string{"-timeout=60m", "-run=^(TestRandom|TestCrash|TestClashes)", "./merge"}},
	{"examples/merge-servers", []string{"-timeout=60m", "-run=^TestKilled$", "."}},
}

func (j job) long() bool {
	return slices.ContainsFunc(longJobs, func(l job) bool { return l.dir == j.dir && slices.Equal(l.args, j.args) })
}
