package main

import "slices"

// longJobs are the tests that take long, and those of several writers, which make test runs without the race detector.
// What takes longest comes first, and storms of processes on different databases are apart. A simulation has only one
// goroutine, so the race detector would only slow it down.
var longJobs = []job{
	{"internal/testkit/mergetest", []string{"-timeout=60m", "-run=^(TestRandom|TestCrash|TestBinding|TestBounds|TestClashes|TestCounters|TestProof|TestWitness)", "."}},
	{"drivers", []string{"-timeout=60m", "-race", "-run=^(TestFaults|TestSegmentFaults|TestRandomCreates)$", "./lease", "./segment", "./gorm"}},
	{"drivers", []string{"-timeout=60m", "-run=^(TestRandom|TestCrash|TestBinding|TestBounds|TestClashes|TestCounters|TestProof|TestWitness)", "./merge"}},
	{".", []string{"-timeout=60m", "-race", "-run=^(TestFaults|TestSegmentFaults)$", "./sqlsnow", "./sqlsnow/segments"}},
	{"internal/testkit/etcdtest", []string{"-timeout=60m", "-run=^(TestFaults|TestLeaderIsAlone|TestSnapshot|TestClocksAreWrong)", "."}},
	{"zksnow", []string{"-timeout=60m", "-run=^(TestFaults|TestSessionThatIsOver|TestWhoseTime)$", "."}},
	{"examples/merge-servers", []string{"-timeout=60m", "-run=^(TestKilled|TestFullDisk)$", "."}},
	{".", []string{"-timeout=30m", "-run=^(TestSimulation|TestMutantsAreCaught)", "./internal/protocol", "./sqlsnow/segments", "./sqlsnow/numbers"}},
	{".", []string{"-timeout=30m", "-run=^TestNumbers(On|Failover)", "./sqlsnow/numbers"}},
	{"drivers", []string{"-timeout=30m", "-run=^TestNumbers(On|Failover)", "./number"}},
	{"drivers", []string{"-timeout=60m", "-run=^TestRandom$", "./route", "-statements=250000"}},
	{"merge", []string{"-timeout=30m", "-race", "-run=^(TestRivals|TestIDsOfDates|TestIDsOfChangingSource|TestLostLease|TestPacksOfSeveralWriters|TestPauseFile|TestSmallPools|TestThrottle)$", "."}},
	{".", []string{"-timeout=30m", "-run=^TestOpenAPIClient$", "./httpsnow"}},
	{".", []string{"-timeout=30m", "-run=^TestHundredMillionIDs$", "."}},
	{".", []string{"-timeout=30m", "-run=^(TestRoundTrips|TestTextsAreUniform)$", "./opaque"}},
}

func (j job) long() bool { return slices.ContainsFunc(longJobs, j.is) }

// is reports whether j is the job other: one package may be in several.
func (j job) is(other job) bool { return j.dir == other.dir && slices.Equal(j.args, other.args) }
