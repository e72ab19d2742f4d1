package main

import (
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
// on. The disk is a small tmpfs that has the end of InnoDB's system tablespace,
// and so the tables.
//
// With tables in files of their own, MariaDB 10.11 aborts at a third of all sizes:
// a rollback needs more pages, too, and a small file has none in reserve. It may
// not start again then.
func TestFullDiskOfMariaDB(t *testing.T) {
	dir, room := t.TempDir(), 64<<10 // kB
	resize := func(flags uintptr) error {
		return syscall.Mount("tmpfs", dir, "tmpfs", flags, fmt.Sprintf("size=%dk", room))
	}
	if err := resize(0); errors.Is(err, syscall.EPERM) {
		t.Skipf("it takes the right to mount a tmpfs: %v", err)
	} else if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	s := newStage(t, "mysql", 3000,
		"innodb_data_home_dir=", "innodb_data_file_path=ibdata1:12M;"+filepath.Join(dir, "more")+":1M:autoextend",
		"innodb_autoextend_increment=1", "innodb_file_per_table=0")
	calm := s.world(t)
	s.do(t, s.run(calm)...)
	want := s.dump(t, calm)

	target := s.world(t)
	var disk syscall.Statfs_t
	if err := syscall.Statfs(dir, &disk); err != nil {
		t.Fatal(err)
	}
	room = int((disk.Blocks - disk.Bfree) * uint64(disk.Bsize) >> 10)
	if err := resize(syscall.MS_REMOUNT); err != nil {
		t.Fatal(err)
	}
	failed := 0
	for {
		got := runMerge(t, s.run(target, "-wait", "10s")...)
		if got.code == 0 {
			break
		}
		if failed++; !full.MatchString(got.stderr) || failed > 200 {
			t.Fatalf("with %d kB: %s", room, got.stderr)
		}
		room += 1024
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
}
