package httpsnow_test

import (
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/httpsnow"
)

// A program in any language asks for ids.
func Example() {
	worker, err := snow.Fixed(snow.DefaultLayout(), 7) // a lease of package sqlsnow, if there is more than one process
	if err != nil {
		log.Fatal(err)
	}
	gen, err := snow.NewGenerator(worker, snow.Config{})
	if err != nil {
		log.Fatal(err)
	}
	handler, err := httpsnow.New(gen, httpsnow.Config{})
	if err != nil {
		log.Fatal(err)
	}
	server := httptest.NewServer(handler)
	defer server.Close()

	response, err := http.Post(server.URL+"/v1/ids?count=3", "", nil)
	if err != nil {
		log.Print(err)
		return
	}
	defer response.Body.Close()
	var answer struct{ IDs []snow.ID }
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		log.Print(err)
		return
	}
	for _, id := range answer.IDs {
		parts, err := gen.Layout().Decompose(id)
		fmt.Println("an id of worker", parts.Worker, err)
	}
	// Output:
	// an id of worker 7 <nil>
	// an id of worker 7 <nil>
	// an id of worker 7 <nil>
}

func ExampleNew() {
	worker, err := snow.Fixed(snow.DefaultLayout(), 7) // a lease of package sqlsnow, if there is more than one process
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
