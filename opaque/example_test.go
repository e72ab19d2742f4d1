package opaque_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net/http"
	"os"
	"path/filepath"

	"gorm.io/gorm"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/opaque"
)

func Example() {
	key, err := opaque.NewKey(1, []byte("32 bytes that nobody else knows."))
	if err != nil {
		log.Fatal(err)
	}
	keys, err := opaque.New(key)
	if err != nil {
		log.Fatal(err)
	}
	orders, err := keys.Type("ord")
	if err != nil {
		log.Fatal(err)
	}

	out := orders.Encode(286467607756828714)
	fmt.Println(out)
	fmt.Println(orders.Encode(286467607756828715)) // the next id of the same worker

	id, err := orders.Parse(out.Text())
	fmt.Println(id, err)

	_, err = orders.Parse("ord_1xxxxxxxxxxxxxx")
	fmt.Println(errors.Is(err, opaque.ErrCheck))
	fmt.Println(key)
	// Output:
	// ord_11m6bp6t15r7nr7
	// ord_11bc62szqeyqdym
	// 286467607756828714 <nil>
	// true
	// opaque.Key(version 1, AES-256)
}

func ExampleNew() {
	last, err := opaque.NewKey(1, []byte("the secret of the last year ...."))
	if err != nil {
		log.Fatal(err)
	}
	current, err := opaque.NewKey(2, []byte("the secret of this year ........"))
	if err != nil {
		log.Fatal(err)
	}
	keys, err := opaque.New(last, current)
	fmt.Println(keys, err)
	// Output: opaque.Keys(versions 1 2, encoding with 2) <nil>
}

func ExampleNewKey() {
	_, err := opaque.NewKey(1, []byte("too short"))
	fmt.Println(err)
	// Output: opaque: key 1: the secret has 9 bytes: want 16, 24 or 32
}

// A new key only decodes until all processes have it.
func ExampleParseKeys() {
	list, err := opaque.ParseKeys([]byte(`
		# openssl rand -hex 32
		1 5eed2f4b8a9d0c77c1b6e0e94f2a1d38aa51c7e04c6b9f13d2e8075b6a49f0c1
		2 0b7c4e92d15f3a6688e1c9b04d7f2a5361fe8a0c9b3d7e42f5a1068dc3b9e754 decode
	`))
	if err != nil {
		log.Fatal(err)
	}
	keys, err := opaque.New(list...)
	fmt.Println(keys, err)
	// Output: opaque.Keys(versions 1 2, encoding with 1) <nil>
}

func ExampleReadKeys() {
	dir, err := os.MkdirTemp("", "keys")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "ids")
	if err := os.WriteFile(path, []byte("1 5eed2f4b8a9d0c77c1b6e0e94f2a1d38\n"), 0o600); err != nil {
		log.Print(err)
		return
	}

	keys, err := opaque.ReadKeys(path)
	if err != nil {
		log.Print(err)
		return
	}
	fmt.Println(keys)
	// Output: opaque.Keys(versions 1, encoding with 1)
}

// A program without the key can tell what was mistyped.
func ExampleParseID() {
	id, err := opaque.ParseID("ORD_11M6BP6T15R7NR7")
	fmt.Println(id, id.Prefix(), err)
	_, err = opaque.ParseID("ord_11m6pb6t15r7nr7")
	fmt.Println(err)
	// Output:
	// ord_11m6bp6t15r7nr7 ord <nil>
	// opaque: parse opaque id "ord_11m6pb6t15r7nr7": the check character is wrong
}

// An Order of the database has the snow.ID, and an orderAnswer for clients has the opaque.ID.
func ExampleCodec() {
	type Order struct {
		ID   snow.ID `gorm:"primaryKey"`
		Item string
	}
	type orderAnswer struct {
		ID   opaque.ID `json:"id"`
		Item string    `json:"item"`
	}
	var db *gorm.DB
	var orders *opaque.Codec // keys.Type("ord")

	http.HandleFunc("GET /orders/{id}", func(w http.ResponseWriter, r *http.Request) {
		id, err := orders.Parse(r.PathValue("id"))
		if err != nil {
			http.Error(w, "there is no such order", http.StatusNotFound)
			return
		}
		var order Order
		if err := db.WithContext(r.Context()).First(&order, "id = ?", id).Error; err != nil {
			http.Error(w, "there is no such order", http.StatusNotFound)
			return
		}
		_ = json.NewEncoder(w).Encode(orderAnswer{orders.Encode(order.ID), order.Item})
	})
}
