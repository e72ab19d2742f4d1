//go:build unix

package leasefaults

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"time"

	"github.com/shardsnow/snow"
)

// load makes ids as fast as the layout allows until done is closed. It returns nil when the worker ends.
func (w *worker) load(from snow.Worker, done <-chan struct{}, file io.Writer) error {
	g, err := snow.NewGenerator(from, snow.Config{MaxAhead: maxAhead})
	if err != nil {
		return err
	}
	ids := make([]snow.ID, batch)
	var issued uint64
	expired := false
	made, one := time.Now(), false // when the last id was begun; ids are made one at a time
	for round := 1; w.Limit == 0 || issued < w.Limit; round++ {
		n, last, err := fill(g, ids, one)
		if n > 0 {
			if err := write(file, ids[:n]); err != nil {
				return err
			}
			issued, made = issued+uint64(n), last
			w.update(func(r *report) {
				r.Issued += uint64(n)
				r.LastID = int64(ids[n-1])
				if expired {
					r.Resumed++
				}
			})
			expired = false
		}
		switch {
		case err == nil && w.Fixed == nil:
			one = round%8 == 0
			continue // until an error, even if done is closed: ids that were made before Close count
		case err == nil:
		case !errors.Is(err, snow.ErrLeaseExpired):
			return err
		case !one:
			one = true
			continue // less than a batch may be left
		case !expired:
			expired = true
			idle := time.Since(made)
			w.update(func(r *report) { r.Idle = idle; r.expire(from) })
		}
		wait := time.Duration(0)
		if expired {
			wait = pause
		}
		select {
		case <-done:
			return nil
		case <-time.After(wait):
		}
	}
	return nil
}

// expire records how much of a lease was left when ids stopped.
func (r *report) expire(from snow.Worker) {
	r.Expired++
	lease, ok := from.(Lease)
	if !ok || r.LastID == 0 {
		return
	}
	r.Short = lease.Stats().Ceiling.Sub(layout().Time(snow.ID(r.LastID)).Add(layout().Tick()))
}

// fill returns how many of ids it made before the error, and when it began to make the last one.
func fill(g *snow.Generator, ids []snow.ID, one bool) (n int, last time.Time, err error) {
	if last = time.Now(); !one {
		if err = g.Fill(context.Background(), ids); err == nil {
			n = len(ids)
		}
		return n, last, err
	}
	for n := range ids {
		begin := time.Now()
		id, err := g.Next(context.Background())
		if err != nil {
			return n, last, err
		}
		ids[n], last = id, begin
	}
	return len(ids), last, nil
}

// write appends ids in one system call, so that a kill can tear only the end.
func write(file io.Writer, ids []snow.ID) error {
	var text [batch * 8]byte
	b := text[:0]
	for _, id := range ids {
		b = binary.LittleEndian.AppendUint64(b, uint64(id))
	}
	_, err := file.Write(b)
	return err
}
