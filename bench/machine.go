package main

import (
	"bufio"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// A machine is the machine of a measurement. A field is empty if the system does
// not provide it.
type machine struct {
	CPU      string `json:"cpu"`
	Cores    int    `json:"cores"`
	MemoryMB int64  `json:"memory_mb"`
	Kernel   string `json:"kernel"`
	OS       string `json:"os"`
	Go       string `json:"go"`
}

func thisMachine() machine {
	kernel, _ := os.ReadFile("/proc/sys/kernel/osrelease")
	kb, _, _ := strings.Cut(field("/proc/meminfo", "MemTotal"), " ")
	memory, _ := strconv.ParseInt(kb, 10, 64)
	return machine{
		CPU:      field("/proc/cpuinfo", "model name"),
		Cores:    runtime.NumCPU(),
		MemoryMB: memory / 1024,
		Kernel:   runtime.GOOS + " " + strings.TrimSpace(string(kernel)),
		OS:       strings.Trim(fieldOf("/etc/os-release", "PRETTY_NAME", "="), `"`),
		Go:       runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH,
	}
}

// field returns the value of a name in a file of lines such as "name : value".
func field(path, name string) string { return fieldOf(path, name, ":") }

func fieldOf(path, name, separator string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		key, value, ok := strings.Cut(lines.Text(), separator)
		if ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// modules returns the versions of all modules in this program.
func modules() map[string]string {
	versions := map[string]string{}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			versions[m.Path] = m.Version
		}
	}
	return versions
}

// A load is the processor time that was used since the machine started, by all
// processes, and by this process with its children that have ended.
type load struct {
	at   time.Time
	busy time.Duration
	own  time.Duration
	ok   bool
}

func readLoad() load {
	l := load{at: time.Now()}
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		if syscall.Getrusage(who, &u) != nil {
			return l
		}
		l.own += time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	stat, err := os.ReadFile("/proc/stat")
	if err != nil {
		return l
	}
	line, _, _ := strings.Cut(string(stat), "\n")
	// cpu user nice system idle iowait irq softirq steal guest guest_nice, in
	// hundredths of a second. Guests are in user.
	for i, f := range strings.Fields(line) {
		if i == 1 || i == 2 || i == 3 || i >= 6 && i <= 8 {
			n, err := strconv.ParseInt(f, 10, 64)
			if err != nil {
				return l
			}
			l.busy += time.Duration(n) * 10 * time.Millisecond
		}
	}
	l.ok = true
	return l
}

// others returns how many cores other processes kept busy since l, on average, and
// false if the system does not say.
func (l load) others() (float64, bool) {
	now := readLoad()
	if !l.ok || !now.ok {
		return 0, false
	}
	busy := (now.busy - l.busy) - (now.own - l.own)
	return max(0, busy.Seconds()/now.at.Sub(l.at).Seconds()), true
}
