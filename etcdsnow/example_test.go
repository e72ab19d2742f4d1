package etcdsnow_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/etcdsnow"
)

var (
	ctx    = context.Background()
	client *clientv3.Client
)

func Example() {
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{"etcd-0:2379", "etcd-1:2379", "etcd-2:2379"}})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	keys, lease, err := etcdsnow.Open(ctx, client, "", etcdsnow.Namespace{Name: "shop", Layout: snow.DefaultLayout()}, etcdsnow.LeaseConfig{})
	if err != nil {
		log.Fatal(err)
	}
	defer lease.Close(context.Background()) // others can have the number at once
	id, err := keys.Next(context.Background())
	fmt.Println(id, err)
}

// The prefix may be the team's, and the number a game server's.
func ExampleOpen() {
	number := uint64(7)
	keys, lease, err := etcdsnow.Open(ctx, client, "games/",
		etcdsnow.Namespace{Name: "players", Layout: snow.GameServers()}, etcdsnow.LeaseConfig{Worker: &number})
	held := new(etcdsnow.HeldError)
	if errors.As(err, &held) {
		log.Fatalf("server %d runs already, on %s", held.Worker, held.Holder)
	}
	if err != nil {
		log.Fatal(err)
	}
	defer lease.Close(ctx)
	id, err := keys.Next(ctx)
	fmt.Println(id, err)
}

func ExampleInit() {
	err := etcdsnow.Init(ctx, client, "", etcdsnow.Namespace{Name: "shop", Layout: snow.DefaultLayout(), Workers: 256})
	if errors.Is(err, etcdsnow.ErrNamespaceMismatch) {
		log.Fatal("another program made the namespace with other constants: ", err)
	}
}

func ExampleAcquire() {
	lease, err := etcdsnow.Acquire(ctx, client, "", etcdsnow.LeaseConfig{Namespace: "shop"})
	failed := new(etcdsnow.ClusterError)
	if errors.As(err, &failed) {
		log.Fatalf("%v: %s", failed.Code, failed.Do)
	}
	if err != nil {
		log.Fatal(err)
	}
	defer lease.Close(ctx)
	keys, err := snow.NewGenerator(lease, snow.Config{})
	if err != nil {
		log.Fatal(err)
	}
	id, err := keys.Next(ctx)
	fmt.Println(id, err)
}

func ExampleNamespaces() {
	all, err := etcdsnow.Namespaces(ctx, client, "")
	if err != nil {
		log.Fatal(err)
	}
	for _, ns := range all {
		fmt.Println(ns.Name, ns.Layout, ns.Workers)
	}
}

func ExampleWorkers() {
	all, err := etcdsnow.Workers(ctx, client, "", "shop")
	if err != nil {
		log.Fatal(err)
	}
	for _, w := range all {
		fmt.Println(w.Worker, w.State, w.Holder, w.Ceiling)
	}
}

// After etcdutl snapshot restore, and before any process can acquire a number.
func ExampleFence() {
	if err := etcdsnow.Fence(ctx, client, "", "shop"); err != nil {
		log.Fatal(err)
	}
}

func ExampleReserve() {
	r, err := etcdsnow.Reserve(ctx, client, "", "shop", "import of 2019")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("no process leases number", r.Worker)
}

func ExampleReservable() {
	r, err := etcdsnow.Reservable(ctx, client, "", "shop", "import of 2019")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("Reserve would take number", r.Worker)
}

func ExampleReclaim() {
	if _, err := etcdsnow.Reclaim(ctx, client, "", "shop", "import of 2019", 1023); err != nil {
		log.Fatal(err)
	}
}
