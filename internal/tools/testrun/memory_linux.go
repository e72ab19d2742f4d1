package main

import "syscall"

// memory returns a folder that is kept in memory, where databases sync at once, or "" where there is none with room
// for them.
func memory() string {
	const (
		folder     = "/dev/shm"
		room       = 6 << 30
		noPrograms = 8 // ST_NOEXEC: see statvfs(3)
	)
	var fs syscall.Statfs_t
	if syscall.Statfs(folder, &fs) != nil || fs.Bavail*uint64(fs.Bsize) < room || fs.Flags&noPrograms != 0 {
		return ""
	}
	return folder
}
