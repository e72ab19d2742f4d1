package main

import (
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"syscall"
	"testing"
)

// full is what MariaDB says in its several ways.
var full = regexp.MustCompile(`is full|No more room|No space left`)

// A disk that is full under MariaDB ends a run. With more room the next one goes
// on. The disk is a small tmpfs that has the target's tables and nothing else.
//
// At some sizes MariaDB itself ends, because it has no room to roll back, and may
// not start again. Then it is done once more, with other sizes.
func TestFullDiskOfMariaDB(t *testing.T) {
	for _, step := range []int{512, 1024, 640, 384, 896, 1280} {
		if survived := fullDisk(t, step); survived || t.Failed() {
			return
		}
		t.Logf("in steps of %d kB: the server ended", step)
	}
	t.Error("the server ended every time")
}

// fullDisk gives the disk so many kB more each time it is full. It reports
// whether the server survived that.
func fullDisk(t *testing.T, step int) (survived bool) {
	s := newStage(t, "mysql", 1000)
	calm := s.world(t)
	s.do(t, s.run(calm)...)
	want := s.dump(t, calm)

	target := s.create(t)
	db := s.open(t, target)
	var data, name string
	if err := errors.Join(db.QueryRowContext(t.Context(), "SELECT @@datadir, DATABASE()").Scan(&data, &name), db.Close()); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(data, name)
	room := 16 << 10 // kB
	resize := func(flags uintptr) error {
		return syscall.Mount("tmpfs", dir, "tmpfs", flags, fmt.Sprintf("size=%dk", room))
	}
	if err := resize(0); errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.ENOENT) {
		t.Skipf("mount a tmpfs at the server's data: %v", err)
	} else if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	s.prepare(t, target)
	var disk syscall.Statfs_t
	if err := syscall.Statfs(dir, &disk); err != nil {
		t.Fatal(err)
	}
	room = int((disk.Blocks-disk.Bfree)*uint64(disk.Bsize)>>10) + 64
	if err := resize(syscall.MS_REMOUNT); err != nil {
		t.Fatal(err)
	}
	failed := 0
	for {
		got := runProgram(t, s.run(target, "-wait", "10s")...)
		if got.code == 0 {
			break
		}
		if failed++; !full.MatchString(got.stderr) || failed > 200 {
			db, err := sql.Open("mysql", target)
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(db.PingContext(t.Context()), db.Close()); err != nil {
				return false
			}
			t.Fatalf("with %d kB: %s", room, got.stderr)
		}
		room += step
		if err := resize(syscall.MS_REMOUNT); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("it was full %d times, and in the end %d kB were enough", failed, room)
	if failed == 0 {
		t.Error("the disk was never full")
	}
	if got := s.dump(t, target); got != want {
		t.Errorf("after %d times: %s", failed, difference(got, want))
	}
	return true
}
