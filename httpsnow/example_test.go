package httpsnow_test

import (
	"fmt"
	"log"
	"net/http"
	"time"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/httpsnow"
)

func ExampleNew() {
	worker, err := snow.Fixed(snow.Default(), 0, 7) // a lease of package sqlsnow, if there is more than one process
	if err != nil {
		log.Fatal(err)
	}
	gen, err := snow.NewGenerator(worker, snow.Config{})
	if err != nil {
		log.Fatal(err)
	}
	ids, err := httpsnow.New(gen, httpsnow.Config{})
	if err != nil {
		log.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/ids/", http.StripPrefix("/ids", ids)) // curl -X POST http://127.0.0.1:8017/ids/v1/ids
	server := &http.Server{Addr: "127.0.0.1:8017", Handler: mux, ReadTimeout: 10 * time.Second, WriteTimeout: 20 * time.Second}
	fmt.Println(server.Addr)
	// Output: 127.0.0.1:8017
}
