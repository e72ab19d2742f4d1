// Command shard-orders shows why two databases need keys that can't collide,
// and how GORM gets them from snow. It reads orders from a CSV file, splits
// them by buyer over two databases, lets two processes insert at the same time
// and kills one of them, merges the databases, and checks everything it claims:
//
//	go run ./examples/shard-orders -report report.html
//
// This file is the story. worker.go has what the processes do, and lease.go where
// they get their keys from. The rest supports it: command.go and csv.go read
// flags and orders, process.go starts and kills processes, database.go opens
// the databases, merge.go and check.go copy and compare their rows, report.go and
// screen.go write to the terminal, page.go and chart.go write the page.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"gorm.io/gorm"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/gormsnow"
)

// A key has 63 bits: 41 for the time in milliseconds, 8 for the number of the
// worker that makes it, 10 to count within a millisecond, 4 for the shard.
var bits = snow.Bits{Timestamp: 41, Worker: 8, Sequence: 10, Shard: 4}

// shardOf gives each buyer one of the 16 shards, for ever.
func shardOf(buyer string) uint64 { return snow.HashShard(buyer) % 16 }

const batch = 50 // rows in one INSERT

func main() {
	signal.Ignore(syscall.SIGPIPE) // `| head` must not end the program before it cleans up
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	context.AfterFunc(ctx, stop) // a second signal ends it at once
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// prepare sets what never changes: the meaning of the bits of a key, and the
// database of each shard.
func (s *story) prepare() (err error) {
	epoch := time.Date(2024, time.January, 1, 0, 0, 0, 0, time.UTC)
	if s.layout, err = snow.NewLayout(epoch, time.Millisecond, bits); err != nil {
		return err
	}
	s.homes, err = snow.NewShards(s.layout, 0, 1)
	return err
}

// A story is the run of the example: two databases, the purchases of each, and the
// screen that shows what happens.
type story struct {
	*screen
	layout    snow.Layout
	homes     *snow.Shards[int] // the database of each shard: dbs[0] for the even ones, dbs[1] for the odd ones
	dbs       [2]*database
	purchases [2][]Purchase
	registry  string // the file with the leases
	seen      findings
}

func (s *story) tell(ctx context.Context) error {
	s.introduce()
	for _, part := range []func(context.Context) error{s.autoIncrement, s.snowKeys, s.insideAKey} {
		if err := part(ctx); err != nil {
			return err
		}
	}
	s.end()
	return nil
}

// autoIncrement is part 1: each database counts for itself.
func (s *story) autoIncrement(context.Context) error {
	s.title("1  AUTO_INCREMENT: each database counts for itself")
	for i, d := range s.dbs {
		orders := newAutoOrders(s.purchases[i])
		if err := d.CreateInBatches(orders, batch).Error; err != nil {
			return err
		}
		o := orders[0]
		s.row(fmt.Sprintf("order %d in %s", o.ID, d.location.Name), "%s: %s", o.Buyer, o.Item)
	}
	a, b, err := keys[int64](s, &AutoOrder{})
	if err != nil {
		return err
	}
	s.row("all keys in A", "%s", abbreviate(a, 3))
	s.row("all keys in B", "%s", abbreviate(b, 3))
	n := clashes(a, b)
	s.check(countsUp(a) && countsUp(b), "Both databases hand out 1, 2, 3 and so on.")
	s.seen.before = [2]tally{{2 * n, len(a) + len(b)}}
	s.check(n > 0, "%s keys clash: each is one order in A and another one in B.", count(n))

	s.say("Now B is to be merged into A, as when two servers become one:")
	m, err := mergeBIntoA[AutoOrder, AutoOrderLine](s)
	if err != nil {
		return err
	}
	s.check(s.dbs[0].isDuplicateKey(m.refused), "A refuses B's orders, because their keys are taken.")
	s.check(m.after == m.before, "The refused merge changed nothing.")
	return nil
}

// snowKeys is part 2: processes make the keys, before the insert.
func (s *story) snowKeys(ctx context.Context) error {
	s.title("2  snow: the program makes the key, before the insert")
	s.say("The same orders again. Now each database has a process that makes the keys. The two processes run at the " +
		"same time and never talk to each other. But each has leased a worker number from a lease database, here " +
		"a third SQLite file. The number is a part of every key that the process makes, and nobody else has the number at " +
		"that time, so the two never make the same key.")
	if err := makeRegistry(ctx, s.registry, s.layout); err != nil {
		return err
	}
	if err := s.insertAtOnce(ctx); err != nil {
		return err
	}
	a, b, err := keys[snow.ID](s, &Order{})
	if err != nil {
		return err
	}
	lineA, lineB, err := keys[snow.ID](s, &OrderLine{})
	if err != nil {
		return err
	}
	s.seen.orders, s.seen.lines = [2][]snow.ID{a, b}, [2][]snow.ID{lineA, lineB}
	s.row("keys in A", "%s", abbreviate(a, 1))
	s.row("keys in B", "%s", abbreviate(b, 1))
	if n := s.simultaneous(a, b); n > 0 {
		s.row("at the same moment", "%s of these keys were made in the same millisecond as keys of another process", count(n))
	}
	n, lines := clashes(a, b), clashes(lineA, lineB)
	s.seen.after = [2]tally{{2 * n, len(a) + len(b)}, {2 * lines, len(lineA) + len(lineB)}}
	s.check(n == 0, "%s of %s order keys clash.", count(n), count(len(a)+len(b)))
	s.check(lines == 0, "%s of %s keys of order lines clash.", count(lines), count(len(lineA)+len(lineB)))

	s.say("The same merge:")
	m, err := mergeBIntoA[Order, OrderLine](s)
	if err != nil {
		return err
	}
	merged, err := s.dbs[0].readOrders()
	if err != nil {
		return err
	}
	complete, attached := s.compare(merged)
	s.check(m.refused == nil, "The merge succeeds.")
	s.check(complete, "All %s orders are in A, each of them once.", count(len(a)+len(b)))
	s.check(attached, "All %s order lines still point to their own orders.", count(len(lineA)+len(lineB)))
	return nil
}

// insertAtOnce starts a process for each database, kills the one of B halfway, and
// lets another one take over.
func (s *story) insertAtOnce(ctx context.Context) (err error) {
	var running [2]*process
	for i, d := range s.dbs {
		j := job{Registry: s.registry, Database: d.location, Purchases: s.purchases[i], Halt: -1}
		if i == 1 {
			j.Halt = len(s.purchases[1]) / 2
		}
		if running[i], err = startProcess(ctx, j); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, running[i].kill()) }()
		s.row("process for "+d.location.Name, "pid %d, worker number %d", running[i].cmd.Process.Pid, running[i].worker)
	}
	for _, p := range running {
		if err := p.begin(); err != nil {
			return err
		}
	}
	halfway, err := running[1].next()
	if err != nil {
		return err
	}
	if err := running[1].kill(); err != nil {
		return err
	}
	s.seen.killed = time.Now()
	stored, err := s.dbs[1].count(&Order{})
	if err != nil {
		return err
	}
	s.row("killed", "pid %d, in the middle of a transaction", running[1].cmd.Process.Pid)

	heir, err := startProcess(ctx, job{Registry: s.registry, Database: s.dbs[1].location, Purchases: s.purchases[1], Halt: -1})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, heir.kill()) }()
	s.row("takes over for B", "pid %d, worker number %d", heir.cmd.Process.Pid, heir.worker)
	if err := heir.begin(); err != nil {
		return err
	}
	for _, p := range []*process{running[0], heir} {
		if _, err := p.finish(); err != nil {
			return err
		}
	}
	s.seen.workers = []uint64{running[0].worker, running[1].worker, heir.worker}
	s.check(stored == halfway.Stored && stored < len(s.purchases[1]), "B has the %s orders that the killed process had committed, no more.", count(stored))
	s.check(heir.worker != running[1].worker, "Its successor has another number: the old one is still leased.")
	return nil
}

// insideAKey is part 3: what a key says, and what a key before the insert is good for.
func (s *story) insideAKey(ctx context.Context) error {
	s.title("3  What a key says, and what it is good for")
	d := s.dbs[1]
	var order Order
	if err := d.Order("id DESC").First(&order).Error; err != nil {
		return err
	}
	parts, err := s.layout.Decompose(order.ID)
	if err != nil {
		return err
	}
	s.anatomy(order.ID, parts)
	s.check(time.Since(parts.Time).Abs() < time.Minute, "The key says when it was made: just now.")
	s.check(parts.Worker == s.seen.workers[2], "It says who made it: the process that took over.")
	s.check(parts.Shard == shardOf(order.Buyer), "It says which shard its buyer has, %s.", order.Buyer)

	s.say("Every buyer belongs to one of 16 shards; the even ones are in A, the odd ones in B. Because the shard is in " +
		"the last bits of the key, DELETE ... WHERE id %% 2 = 1 removes the orders of B from A again, and the key " +
		"alone is enough to find its row:")
	if err := s.takeBOutOfA(); err != nil {
		return err
	}
	found, err := s.find(order.ID)
	if err != nil {
		return err
	}
	a, b, err := keys[snow.ID](s, &Order{})
	if err != nil {
		return err
	}
	s.check(found.ID == order.ID && found.Buyer == order.Buyer, "Order %s is found in B by its key alone.", order.ID)
	s.check(s.allLiveIn(0, a) && s.allLiveIn(1, b), "So is each of the %s orders, in A or in B.", count(len(a)+len(b)))

	s.say("The key exists before the row. A program that sent an order and got no answer can send it again with " +
		"the same key, and the order is stored only once:")
	keys, err := newMaker(ctx, s.registry)
	if err != nil {
		return err
	}
	err = d.Use(gormsnow.New(keys))
	if err == nil {
		err = s.sendTwice(ctx, d, keys, order.Purchase)
	}
	return errors.Join(err, keys.close(ctx))
}

// takeBOutOfA undoes the merge. It needs no list of orders: the keys say which they are.
func (s *story) takeBOutOfA() error {
	return s.dbs[0].Transaction(func(tx *gorm.DB) error {
		if err := tx.Where("order_id % 2 = 1").Delete(&OrderLine{}).Error; err != nil {
			return err
		}
		return tx.Where("id % 2 = 1").Delete(&Order{}).Error
	})
}

// find reads an order from the database of its shard.
func (s *story) find(id snow.ID) (o Order, err error) {
	d := s.dbs[s.homes.Of(id)]
	err = d.Preload("Lines").First(&o, "id = ?", id).Error
	return o, err
}

// sendTwice inserts an order twice with the same key, like a program that got no
// answer to its first attempt.
func (s *story) sendTwice(ctx context.Context, d *database, keys *maker, p Purchase) error {
	id, err := keys.newKey(ctx, p.Buyer)
	if err != nil {
		return err
	}
	before, err := d.count(&Order{})
	if err != nil {
		return err
	}
	for _, attempt := range []string{"first attempt", "second attempt"} {
		order := newOrder(id, p)
		err := d.Create(&order).Error
		switch {
		case err == nil:
			s.row(attempt, "inserted")
		case d.isDuplicateKey(err):
			s.row(attempt, "refused: there is an order with this key")
		default:
			return err
		}
	}
	after, err := d.count(&Order{})
	if err != nil {
		return err
	}
	s.check(after == before+1, "The order is in %s once, after two attempts.", d.location.Name)
	return nil
}
