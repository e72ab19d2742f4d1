package ids

import (
	"crypto/rand"
	"encoding/binary"
	"strings"
	"time"

	bwmarrin "github.com/bwmarrin/snowflake"
	gofrs "github.com/gofrs/uuid/v5"
	google "github.com/google/uuid"
	influx "github.com/influxdata/influxdb/v2/pkg/snowflake"
	"github.com/nats-io/nuid"
	"github.com/oklog/ulid/v2"
	"github.com/rs/xid"
	"github.com/segmentio/ksuid"
	sonyflake1 "github.com/sony/sonyflake"
	sonyflake2 "github.com/sony/sonyflake/v2"
)

// Names of rows that targets and charts refer to.
const (
	Bwmarrin     = "bwmarrin/snowflake"
	BwmarrinWide = "bwmarrin/snowflake, 20 bits"
	Sonyflake12  = "sony/sonyflake v2, 1 ms and 12 bits"
	Sonyflake20  = "sony/sonyflake v2, 1 ms and 20 bits"
	Influx       = "influxdb/pkg/snowflake"
)

// randPool makes google/uuid read random bytes for 16 ids at a time.
var randPool = &Setting{On: google.EnableRandPool, Off: google.DisableRandPool}

// peers are the generators to compare with, each used as in its README. If a format
// limits the rate, a variant follows that is as wide as the package allows.
func peers() []Generator {
	list := []Generator{
		{
			Name: Bwmarrin, Module: "github.com/bwmarrin/snowflake", Format: "41+10+12", Bits: 63, Mutex: true,
			PerSecond: 4_096_000, New: newBwmarrin(10, 12),
		},
		{
			Name: BwmarrinWide, Module: "github.com/bwmarrin/snowflake", Format: "41+2+20", Bits: 63, Mutex: true,
			New: newBwmarrin(2, 20),
		},
		{
			Name: "sony/sonyflake v1", Module: "github.com/sony/sonyflake", Format: "39+8+16, 10 ms", Bits: 63, Mutex: true,
			PerSecond: 25_600,
			New: func() (Start, error) {
				sf, err := sonyflake1.New(sonyflake1.Settings{MachineID: func() (uint16, error) { return 3, nil }})
				return shared(func(n int) (id uint64, err error) {
					for range n {
						if id, err = sf.NextID(); err != nil {
							return 0, err
						}
					}
					return id, nil
				}), err
			},
		},
		{
			Name: "sony/sonyflake v2", Module: "github.com/sony/sonyflake/v2", Format: "39+8+16, 10 ms", Bits: 63, Mutex: true,
			PerSecond: 25_600, New: newSonyflake2(sonyflake2.Settings{}),
		},
		{
			Name: Sonyflake12, Module: "github.com/sony/sonyflake/v2", Format: "41+12+10", Bits: 63, Mutex: true,
			PerSecond: 4_096_000,
			New:       newSonyflake2(sonyflake2.Settings{TimeUnit: time.Millisecond, BitsSequence: 12, BitsMachineID: 10}),
		},
		{
			Name: Sonyflake20, Module: "github.com/sony/sonyflake/v2", Format: "41+20+2", Bits: 63, Mutex: true,
			New: newSonyflake2(sonyflake2.Settings{TimeUnit: time.Millisecond, BitsSequence: 20, BitsMachineID: 2}),
		},
		{
			Name: Influx, Module: "github.com/influxdata/influxdb/v2", Format: "42+10+12, borrows without bound", Bits: 64,
			New: func() (Start, error) {
				g := influx.New(3)
				return shared(func(n int) (id uint64, err error) {
					for range n {
						id = g.Next()
					}
					return id, nil
				}), nil
			},
		},
		{
			Name: "rs/xid", Module: "github.com/rs/xid", Format: "32+24+16+24, 1 s", Bits: 96,
			New: func() (Start, error) {
				return shared(func(n int) (uint64, error) {
					var id xid.ID
					for range n {
						id = xid.New()
					}
					return low64(id[:]), nil
				}), nil
			},
		},
		{
			Name: "oklog/ulid, Make", Module: "github.com/oklog/ulid/v2", Format: "48+80 random", Bits: 128, Mutex: true,
			New: func() (Start, error) {
				return shared(func(n int) (uint64, error) {
					var id ulid.ULID
					for range n {
						id = ulid.Make()
					}
					return low64(id[:]), nil
				}), nil
			},
		},
		{
			Name: "oklog/ulid, monotonic crypto/rand", Module: "github.com/oklog/ulid/v2", Format: "48+80 random", Bits: 128, Mutex: true,
			New: func() (Start, error) {
				entropy := &ulid.LockedMonotonicReader{MonotonicReader: ulid.Monotonic(rand.Reader, 0)}
				return shared(func(n int) (uint64, error) {
					var id ulid.ULID
					var err error
					for range n {
						if id, err = ulid.New(ulid.Now(), entropy); err != nil {
							return 0, err
						}
					}
					return low64(id[:]), nil
				}), nil
			},
		},
		{
			Name: "google/uuid v4", Module: "github.com/google/uuid", Format: "122 random", Bits: 128,
			New: newGoogle(google.NewRandom),
		},
		{
			Name: "google/uuid v4, rand pool", Module: "github.com/google/uuid", Format: "122 random", Bits: 128, Mutex: true,
			Setting: randPool, New: newGoogle(google.NewRandom),
		},
		{
			Name: "google/uuid v7", Module: "github.com/google/uuid", Format: "48+12+62 random", Bits: 128, Mutex: true,
			New: newGoogle(google.NewV7),
		},
		{
			Name: "google/uuid v7, rand pool", Module: "github.com/google/uuid", Format: "48+12+62 random", Bits: 128, Mutex: true,
			Setting: randPool, New: newGoogle(google.NewV7),
		},
		{
			Name: "gofrs/uuid v7", Module: "github.com/gofrs/uuid/v5", Format: "48+74 random", Bits: 128, Mutex: true,
			New: func() (Start, error) {
				return shared(func(n int) (uint64, error) {
					var id gofrs.UUID
					var err error
					for range n {
						if id, err = gofrs.NewV7(); err != nil {
							return 0, err
						}
					}
					return low64(id[:]), nil
				}), nil
			},
		},
		{
			Name: "segmentio/ksuid", Module: "github.com/segmentio/ksuid", Format: "32+128 random, 1 s", Bits: 160, Mutex: true,
			New: func() (Start, error) {
				return shared(func(n int) (uint64, error) {
					var id ksuid.KSUID
					var err error
					for range n {
						if id, err = ksuid.NewRandom(); err != nil {
							return 0, err
						}
					}
					return low64(id[:]), nil
				}), nil
			},
		},
		{
			Name: "nats-io/nuid", Module: "github.com/nats-io/nuid", Format: "22 characters", Bits: 131, Mutex: true,
			New: func() (Start, error) {
				return shared(func(n int) (uint64, error) {
					for range n {
						nuid.Next()
					}
					return 0, nil
				}), nil
			},
			Number: func() (uint64, error) { return base62(nuid.Next()[12:]), nil },
		},
	}
	for i := range list {
		list[i].Kind = Peer
	}
	return list
}

// newBwmarrin sets the widths, which are variables of the package, only while it
// makes a node.
func newBwmarrin(nodeBits, stepBits uint8) func() (Start, error) {
	return func() (Start, error) {
		defer func(n, s uint8) { bwmarrin.NodeBits, bwmarrin.StepBits = n, s }(bwmarrin.NodeBits, bwmarrin.StepBits)
		bwmarrin.NodeBits, bwmarrin.StepBits = nodeBits, stepBits
		node, err := bwmarrin.NewNode(3)
		return shared(func(n int) (uint64, error) {
			var id bwmarrin.ID
			for range n {
				id = node.Generate()
			}
			return uint64(id), nil
		}), err
	}
}

func newSonyflake2(s sonyflake2.Settings) func() (Start, error) {
	s.MachineID = func() (int, error) { return 3, nil }
	return func() (Start, error) {
		sf, err := sonyflake2.New(s)
		return shared(func(n int) (uint64, error) {
			var id int64
			var err error
			for range n {
				if id, err = sf.NextID(); err != nil {
					return 0, err
				}
			}
			return uint64(id), nil
		}), err
	}
}

func newGoogle(next func() (google.UUID, error)) func() (Start, error) {
	return func() (Start, error) {
		return shared(func(n int) (uint64, error) {
			var id google.UUID
			var err error
			for range n {
				if id, err = next(); err != nil {
					return 0, err
				}
			}
			return low64(id[:]), nil
		}), nil
	}
}

// low64 returns the last eight bytes of a binary id as a number.
func low64(id []byte) uint64 { return binary.BigEndian.Uint64(id[len(id)-8:]) }

// base62 returns the number in a text of nuid, whose digits are 0 to 9, A to Z and
// a to z, in this order.
func base62(s string) (n uint64) {
	const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	for _, c := range []byte(s) {
		n = n*62 + uint64(strings.IndexByte(digits, c))
	}
	return n
}
