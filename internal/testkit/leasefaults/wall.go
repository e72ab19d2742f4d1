//go:build unix && !shiftedwall

package leasefaults

import (
	"errors"
	"time"
)

// shiftWall sets how wrong the wall clock of this process is. Only a process that [buildShifted] built can do it.
func shiftWall(by time.Duration) error {
	if by != 0 {
		return errors.New("the wall clock of this process can't be shifted")
	}
	return nil
}
