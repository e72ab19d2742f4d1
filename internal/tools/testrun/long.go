package main

import (
	"path/filepath"
	"slices"
	"strings"
)

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
	{"drivers", []string{"-timeout=60m", "-run=^TestRandom$", "./route", "-statements=40000"}},
	{"merge", []string{"-timeout=30m", "-race", "-run=^(TestRivals|TestIDsOfDates|TestIDsOfChangingSource|TestLostLease|TestPacksOfSeveralWriters|TestPauseFile|TestSmallPools|TestThrottle)$", "."}},
	{".", []string{"-timeout=30m", "-run=^TestOpenAPIClient$", "./httpsnow"}},
	{".", []string{"-timeout=30m", "-run=^TestHundredMillionIDs$", "."}},
	{".", []string{"-timeout=30m", "-run=^(TestRoundTrips|TestTextsAreUniform)$", "./opaque"}},
}

func (j job) long() bool { return slices.ContainsFunc(longJobs, j.is) }

// beforeLong returns the usual job without the tests that a job of the long ones runs longer, and with the race
// detector if this one does.
func (j job) beforeLong() job {
	if j.pattern() != "" {
		return j
	}
	var done []string
	for _, l := range longJobs {
		if l.dir == j.dir && (l.races() || !j.races()) && slices.ContainsFunc(j.args, l.has) {
			done = append(done, l.pattern())
		}
	}
	return j.without(strings.Join(done, "|"))
}

// has reports whether the job tests a package, by its import path.
func (j job) has(pkg string) bool {
	path, isModule := strings.CutPrefix(pkg, rootPackage)
	rel, err := filepath.Rel("/"+j.dir, "/"+strings.TrimPrefix(path, "/"))
	return isModule && err == nil && slices.ContainsFunc(j.args, func(arg string) bool { return arg == "." && rel == "." || arg == "./"+rel })
}

// races reports whether the job has the race detector.
func (j job) races() bool { return slices.Contains(j.args, "-race") }

// pattern returns the names of tests that a job runs, or nothing if it has no -run.
func (j job) pattern() string {
	for _, arg := range j.args {
		if pattern, ok := strings.CutPrefix(arg, "-run="); ok {
			return pattern
		}
	}
	return ""
}

// is reports whether j is the job other: one package may be in several.
func (j job) is(other job) bool { return j.dir == other.dir && slices.Equal(j.args, other.args) }
