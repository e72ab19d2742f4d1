//go:build unix && !linux

package dbtest

import (
	"bytes"
	"os/exec"
	"strconv"
	"syscall"
)

// attributes puts a server into its own process group, so that Ctrl-C does not reach it.
func attributes(account *syscall.Credential, _ syscall.Signal) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Credential: account}
}

// children returns the ids of a process's children.
func children(pid int) (ids []int) {
	for id, parent := range ps("-A", "-o", "pid=,ppid=") {
		if p, err := strconv.Atoi(parent); err == nil && p == pid {
			ids = append(ids, id)
		}
	}
	return ids
}

// states returns a letter for the state of a process; none if the process is gone.
func states(pid int) string {
	state := ps("-p", strconv.Itoa(pid), "-o", "pid=,state=")[pid]
	return state[:min(1, len(state))]
}

// ps returns the second column that ps prints by the process id in the first.
func ps(args ...string) map[int]string {
	out, _ := exec.Command("ps", args...).Output() // it fails if no process is found
	column := make(map[int]string)
	for line := range bytes.Lines(out) {
		fields := bytes.Fields(line)
		if len(fields) < 2 {
			continue
		}
		if id, err := strconv.Atoi(string(fields[0])); err == nil {
			column[id] = string(fields[1])
		}
	}
	return column
}
