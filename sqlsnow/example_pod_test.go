package sqlsnow_test

import (
	"context"
	"database/sql"
	"fmt"
	"log"
	"os"
	"strconv"
	"time"

	"github.com/shardsnow/snow/sqlsnow"
)

// A pod of a StatefulSet whose number is its ordinal. Another pod of the same ordinal may still run, so the number is
// leased, and the process waits until it has it.
func ExampleAcquire_pod() {
	number, err := strconv.ParseUint(os.Getenv("POD_INDEX"), 10, 64)
	if err != nil {
		log.Fatal(err)
	}
	config := sqlsnow.LeaseConfig{Namespace: "pinned", Worker: &number}

	db, err := sql.Open("mysql", "app@tcp(registry.internal)/snow")
	if err != nil {
		log.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 4*time.Minute)
	defer cancel()
	lease, err := sqlsnow.Acquire(ctx, db, sqlsnow.MySQL, config)
	if err != nil {
		log.Fatal(err) // a *HeldError names the pod that has the number
	}
	fmt.Println(lease.Stats().Ready()) // what a readiness probe asks
}
