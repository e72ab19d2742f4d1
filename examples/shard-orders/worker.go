package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"

	"gorm.io/gorm"

	"github.com/shardsnow/snow/gormsnow"
)

// workerFlag, as the only argument, makes this program one of the processes that insert.
const workerFlag = "-insert-for-another-process"

// A job says what such a process has to do. It is sent as JSON to its standard
// input, because everybody on the machine can read arguments.
type job struct {
	Registry  string // the file with the leases
	Database  location
	Purchases []Purchase // the process skips purchases that are stored already
	Halt      int        // after so many inserts, wait to be killed; never if negative
}

// News is what the process sends back when it is ready, when it waits to be
// killed, and when it is done.
type news struct {
	Worker uint64
	Stored int // orders that it has committed
	Done   bool
}

var errLeft = errors.New("the program that gave the job is gone")

// work does one job. It leases a worker number, reports it, and waits for the
// signal to start, so that two processes start at the same time.
func work(ctx context.Context, stdin io.Reader, stdout io.Writer) (err error) {
	in, out := json.NewDecoder(stdin), json.NewEncoder(stdout)
	var j job
	if err := in.Decode(&j); err != nil {
		return errLeft
	}
	keys, err := newMaker(ctx, j.Registry)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, keys.close(ctx)) }()
	d, err := openDatabase(ctx, j.Database)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.close()) }()
	if err := d.Use(gormsnow.New(keys)); err != nil {
		return err
	}
	if err := out.Encode(news{Worker: keys.lease.Stats().Worker}); err != nil {
		return err
	}
	var start string
	if err := in.Decode(&start); err != nil {
		return errLeft
	}
	i := inserter{database: d, keys: keys, halt: j.Halt, waitForDeath: func(stored int) error {
		_ = out.Encode(news{Stored: stored})
		_ = in.Decode(new(string)) // nothing comes
		return errLeft
	}}
	if err := i.insert(ctx, j.Purchases); err != nil {
		return err
	}
	return out.Encode(news{Stored: i.stored, Done: true})
}

type inserter struct {
	*database
	keys         *maker
	stored       int
	halt         int
	waitForDeath func(stored int) error
}

// insert inserts the orders that are not stored yet. It makes a key for each of
// them, with the shard of its buyer. The plugin makes the keys of the lines.
func (i *inserter) insert(ctx context.Context, purchases []Purchase) error {
	var there []int
	if err := i.Model(&Order{}).Pluck("file_line", &there).Error; err != nil {
		return err
	}
	slices.Sort(there)
	purchases = slices.DeleteFunc(purchases, func(p Purchase) bool {
		_, found := slices.BinarySearch(there, p.FileLine)
		return found
	})
	for some := range slices.Chunk(purchases, batch) {
		orders := make([]Order, len(some))
		for n, p := range some {
			id, err := i.keys.newKey(ctx, p.Buyer)
			if err != nil {
				return err
			}
			orders[n] = newOrder(id, p)
		}
		err := i.Transaction(func(tx *gorm.DB) error {
			if i.halt >= 0 && i.stored+len(orders) > i.halt {
				some := orders[:i.halt-i.stored]
				if len(some) > 0 {
					if err := tx.Create(&some).Error; err != nil {
						return err
					}
				}
				return i.waitForDeath(i.stored)
			}
			return tx.Create(&orders).Error
		})
		if err != nil {
			return err
		}
		i.stored += len(orders)
	}
	return nil
}
