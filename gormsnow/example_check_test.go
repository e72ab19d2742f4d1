package gormsnow_test

import (
	"errors"
	"log"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/gormsnow"
)

// An audit at start-up, before the first insert.
func ExampleCheck() {
	type Order struct {
		ID      snow.ID `snow:"shard=BuyerID"`
		BuyerID snow.ID
	}

	db := openDryRun() // of course, a dry run has no tables to look at
	err := gormsnow.Check(db, &Order{})
	var finding *gormsnow.CheckError
	if errors.As(err, &finding) {
		log.Fatalf("%s: %s: %s", finding.Column, finding.Problem, finding.Remedy)
	}
}
