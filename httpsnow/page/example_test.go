package page_test

import (
	"database/sql"
	"log"
	"net/http"

	"github.com/shardsnow/snow/httpsnow/page"
	"github.com/shardsnow/snow/sqlsnow"
)

func ExampleNew() {
	var db *sql.DB // with the tables of package sqlsnow
	handler, err := page.New([]page.Database{{DB: db, Dialect: sqlsnow.MySQL}}, page.Config{})
	if err != nil {
		log.Print(err)
		return
	}
	http.Handle("/snow/", http.StripPrefix("/snow", handler))
}
