package zksnow_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/zksnow"
)

var ctx = context.Background()

// connect returns the connection of the examples. It connects in the background.
func connect() *zk.Conn {
	conn, _, err := zk.Connect([]string{"zk1.internal", "zk2.internal", "zk3.internal"}, 10*time.Second)
	if err != nil {
		log.Fatal(err)
	}
	return conn
}

// A process that makes ids for the table of orders.
func Example() {
	conn, _, err := zk.Connect([]string{"zk1.internal", "zk2.internal", "zk3.internal"}, 10*time.Second)
	if err != nil {
		log.Fatal(err)
	}
	defer conn.Close() // after the lease
	keys, lease, err := zksnow.Open(ctx, conn, "", zksnow.Namespace{Name: "orders", Layout: snow.DefaultLayout()}, zksnow.LeaseConfig{})
	if err != nil {
		log.Fatal(err)
	}
	defer lease.Close(ctx) // frees the worker number for the next process

	id, err := keys.Next(ctx)
	if err != nil {
		log.Fatal(err) // snow.ErrLeaseExpired: ZooKeeper had no majority for a whole window
	}
	fmt.Println(id)
}

// An account that others don't have, and a root that only this account may change.
func ExampleOpen() {
	conn := connect()
	if err := conn.AddAuth("digest", []byte("snow:secret")); err != nil {
		log.Fatal(err)
	}
	_, err := conn.Create("/ids", nil, 0, zk.AuthACL(zk.PermAll))
	if err != nil && !errors.Is(err, zk.ErrNodeExists) {
		log.Fatal(err)
	}
	keys, lease, err := zksnow.Open(ctx, conn, "/ids", zksnow.Namespace{Name: "orders", Layout: snow.DefaultLayout()}, zksnow.LeaseConfig{})
	if err != nil {
		log.Fatal(err)
	}
	defer lease.Close(ctx)
	fmt.Println(keys.Next(ctx))
}

func ExampleInit() {
	err := zksnow.Init(ctx, connect(), "", zksnow.Namespace{Name: "orders", Layout: snow.DefaultLayout(), Workers: 64})
	if errors.Is(err, zksnow.ErrNamespaceMismatch) {
		log.Fatal("the ids of orders have another layout: ", err)
	}
}

func ExampleAcquire() {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	lease, err := zksnow.Acquire(ctx, connect(), "", zksnow.LeaseConfig{Namespace: "orders", Wait: true})
	var failed *zksnow.StoreError
	if errors.As(err, &failed) {
		log.Fatal("ZooKeeper: ", failed) // says what to look at
	}
	if err != nil {
		log.Fatal(err)
	}
	defer lease.Close(ctx)
	keys, err := snow.NewGenerator(lease, snow.Config{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(keys.Next(ctx))
}

// After an older copy of the servers' data was put back.
func ExampleFence() {
	if err := zksnow.Fence(ctx, connect(), "", "orders"); err != nil {
		log.Fatal(err)
	}
}

func ExampleWorkers() {
	all, err := zksnow.Workers(ctx, connect(), "", "orders")
	if err != nil {
		log.Fatal(err)
	}
	for _, w := range all {
		fmt.Println(w.Worker, w.State, w.Holder, w.Ceiling)
	}
}

func ExampleNamespaces() {
	all, err := zksnow.Namespaces(ctx, connect(), "")
	if err != nil {
		log.Fatal(err)
	}
	for _, ns := range all {
		fmt.Println(ns.Name, ns.Layout, ns.Workers)
	}
}

func ExampleClock() {
	now, err := zksnow.Clock(ctx, connect(), "")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("the leader's clock is ahead by", time.Until(now))
}

// A number for rows that are older than the namespace.
func ExampleReserve() {
	r, err := zksnow.Reserve(ctx, connect(), "", "orders", "rows of 2019")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(r.Worker)
}

func ExampleReservable() {
	r, err := zksnow.Reservable(ctx, connect(), "", "orders", "rows of 2019")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("Reserve would return", r.Worker)
}

func ExampleReclaim() {
	_, err := zksnow.Reclaim(ctx, connect(), "", "orders", "rows of 2019", 1023)
	var held *zksnow.HeldError
	if errors.As(err, &held) {
		log.Fatal("somebody else has it: ", held.Holder)
	}
}
