package zksnow

import (
	"crypto/sha256"
	"encoding/hex"
)

// tag returns the name of the child that a znode with a value has. A version does not prove that a value is as it was
// read: after a snapshot is put back, or a znode is deleted and made again, versions repeat. So each write of a value
// also deletes the child that the former value had, and makes the child of the new one. This fails if the former value
// is another one, whatever its version is. No two values of a znode are equal, because each has a count of its writes
// or a random number.
func tag(value []byte) string {
	sum := sha256.Sum256(value)
	return hex.EncodeToString(sum[:16])
}
