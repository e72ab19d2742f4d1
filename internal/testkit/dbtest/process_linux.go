package dbtest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// attributes puts a server into its own process group, so that Ctrl-C does not reach it, and has the system signal
// it when the test process ends.
func attributes(account *syscall.Credential, death syscall.Signal) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Credential: account, Pdeathsig: death}
}

// children returns the ids of a process's children.
func children(pid int) (ids []int) {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		if _, parent := stat(path); parent != pid {
			continue
		}
		if id, err := strconv.Atoi(filepath.Base(filepath.Dir(path))); err == nil {
			ids = append(ids, id)
		}
	}
	return ids
}

// states returns a letter for the state of each thread of a process; none if the process is gone.
func states(pid int) string {
	stats, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	var states []byte
	for _, path := range stats {
		if state, _ := stat(path); state != 0 {
			states = append(states, state)
		}
	}
	return string(states)
}

// stat reads "pid (name) state parent …"; zeros if the process is gone. The name may contain anything, even brackets.
func stat(path string) (state byte, parent int) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, 0
	}
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	if len(fields) < 2 {
		return 0, 0
	}
	parent, _ = strconv.Atoi(string(fields[1]))
	return fields[0][0], parent
}
