package page_test

import (
	"database/sql"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"

	_ "github.com/go-sql-driver/mysql"

	"github.com/shardsnow/snow/httpsnow/page"
	"github.com/shardsnow/snow/sqlsnow"
)

func Example() {
	db, err := sql.Open("mysql", "shop@tcp(127.0.0.1:1)/shop") // with the tables of package sqlsnow
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	handler, err := page.New([]page.Database{{DB: db, Dialect: sqlsnow.MySQL}}, page.Config{})
	if err != nil {
		log.Print(err)
		return
	}
	mux := http.NewServeMux()
	mux.Handle("/snow/", http.StripPrefix("/snow", handler))

	answer := httptest.NewRecorder()
	mux.ServeHTTP(answer, httptest.NewRequest("GET", "/snow/", nil))
	fmt.Println(answer.Code, answer.Header().Get("Content-Type"))
	fmt.Println("is the database down?", strings.Contains(answer.Body.String(), "The database has not answered since"))
	// Output:
	// 200 text/html; charset=utf-8
	// is the database down? true
}

func ExampleNew() {
	var db *sql.DB // with the tables of package sqlsnow
	handler, err := page.New([]page.Database{{DB: db, Dialect: sqlsnow.MySQL}}, page.Config{})
	if err != nil {
		log.Print(err)
		return
	}
	http.Handle("/snow/", http.StripPrefix("/snow", handler))
}
