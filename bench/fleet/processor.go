package fleet

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// A usage is the processor time of a process, from /proc.
type usage struct {
	parent int
	self   time.Duration
	ended  time.Duration // of children that have ended
}

func usageOf(pid string) (u usage, err error) {
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return u, err
	}
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	if len(fields) < 15 {
		return u, fmt.Errorf("/proc/%s/stat has %d fields", pid, len(fields))
	}
	var values [15]int64
	for i := 1; i < len(values); i++ {
		if values[i], err = strconv.ParseInt(fields[i], 10, 64); err != nil {
			return u, err
		}
	}
	const unit = 10 * time.Millisecond // a hundredth of a second
	return usage{parent: int(values[1]), self: time.Duration(values[11]+values[12]) * unit, ended: time.Duration(values[13]+values[14]) * unit}, nil
}

// processorTime returns how long a server has been on processors, with its children.
func processorTime(pid int) (time.Duration, error) {
	server, err := usageOf(strconv.Itoa(pid))
	if err != nil {
		return 0, err
	}
	total := server.self + server.ended
	folders, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return 0, err
	}
	for _, folder := range folders {
		u, err := usageOf(filepath.Base(folder))
		switch {
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ESRCH): // it has ended
		case err != nil:
			return 0, err
		case u.parent == pid:
			total += u.self + u.ended
		}
	}
	return total, nil
}

// processorTimes returns how long servers have been on processors together.
func processorTimes(pids ...int) (total time.Duration, err error) {
	for _, pid := range pids {
		t, err := processorTime(pid)
		if err != nil {
			return 0, err
		}
		total += t
	}
	return total, nil
}

// ownTime returns how long this process has been on processors.
func ownTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
