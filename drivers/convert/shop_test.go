package convert_test

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/shardsnow/snow/sqlsnow"
)

// shopTables are the tables of a shop, parents first as far as there is no circle. A type in braces stands for what
// the seed chooses: {key:T} is a counted key with the number type of T, {T} a reference to it. Each table's number
// type is INT, INT UNSIGNED or BIGINT, but SMALLINT for a lookup table.
var shopTables = []struct{ name, columns string }{
	{"countries", "id {key:countries}, name VARCHAR(60) NOT NULL, PRIMARY KEY (id)"},
	{"currencies", "code CHAR(3) NOT NULL, name VARCHAR(40) NOT NULL, PRIMARY KEY (code)"},
	{"customers", `id {key:customers}, email VARCHAR(80) NOT NULL, country_id {countries} NOT NULL, referrer_id {customers} NULL,
		address_id {addresses} NULL, PRIMARY KEY (id), UNIQUE (email)`},
	{"addresses", "id {key:addresses}, customer_id {customers} NOT NULL, country_id {countries} NULL, street VARCHAR(80) NOT NULL, PRIMARY KEY (id)"},
	{"categories", "id {key:categories}, parent_id {categories} NULL, name VARCHAR(60) NOT NULL, PRIMARY KEY (id)"},
	{"suppliers", "id {key:suppliers}, country_id {countries} NOT NULL, name VARCHAR(60) NOT NULL, PRIMARY KEY (id)"},
	{"products", `id {key:products}, supplier_id {suppliers} NOT NULL, category_id {categories} NULL, image_id {images} NULL,
		sku VARCHAR(60) NOT NULL, price DECIMAL(10,2) NOT NULL, PRIMARY KEY (id), UNIQUE (sku)`},
	{"images", "id {key:images}, product_id {products} NOT NULL, path VARCHAR(80) NOT NULL, PRIMARY KEY (id)"},
	{"product_categories", "product_id {products} NOT NULL, category_id {categories} NOT NULL, PRIMARY KEY (product_id, category_id)"},
	{"carts", "id {key:carts}, customer_id {customers} NOT NULL, note VARCHAR(60) NOT NULL, PRIMARY KEY (id)"},
	{"cart_items", "cart_id {carts} NOT NULL, product_id {products} NOT NULL, quantity INT NOT NULL, PRIMARY KEY (cart_id, product_id)"},
	{"orders", `id {key:orders}, customer_id {customers} NOT NULL, address_id {addresses} NULL, currency CHAR(3) NOT NULL, note VARCHAR(60) NOT NULL,
		bucket INT GENERATED ALWAYS AS ({bucket}) {stored}, PRIMARY KEY (id)`},
	{"order_lines", `order_id {orders} NOT NULL, line INT NOT NULL, product_id {products} NOT NULL, quantity INT NOT NULL, note VARCHAR(60) NULL,
		PRIMARY KEY (order_id, line)`},
	{"payments", "id {key:payments}, order_id {orders} NOT NULL, reference VARCHAR(60) NOT NULL, amount DECIMAL(10,2) NOT NULL, PRIMARY KEY (id), UNIQUE (reference)"},
	{"refunds", "id {key:refunds}, payment_id {payments} NOT NULL, reason VARCHAR(60) NULL, PRIMARY KEY (id)"},
	{"shipments", "id {key:shipments}, order_id {orders} NOT NULL, address_id {addresses} NULL, carrier VARCHAR(40) NOT NULL, PRIMARY KEY (id)"},
	{"shipment_lines", `shipment_id {shipments} NOT NULL, order_id {orders} NOT NULL, line INT NOT NULL, packed VARCHAR(40) NULL,
		PRIMARY KEY (shipment_id, order_id, line)`},
	{"reviews", `id {key:reviews}, customer_id {customers} NOT NULL, product_id {products} NULL, reply_to {reviews} NULL, body TEXT NOT NULL,
		PRIMARY KEY (id)`},
	{"audit_log", "id {key:audit_log}, customer_id {customers} NULL, order_id {orders} NULL, what VARCHAR(60) NOT NULL, PRIMARY KEY (id)"},
	{"visits", "id {key:visits}, customer_id {customers} NULL, product_id {products} NULL, page VARCHAR(60) NOT NULL, PRIMARY KEY (id)"},
}

// shopKeys are the foreign keys: table, columns, table and columns that they refer to, ON DELETE.
var shopKeys = [][5]string{
	{"customers", "country_id", "countries", "id", ""},
	{"customers", "referrer_id", "customers", "id", "SET NULL"},
	{"customers", "address_id", "addresses", "id", "SET NULL"}, // a circle with the next one
	{"addresses", "customer_id", "customers", "id", "CASCADE"},
	{"addresses", "country_id", "countries", "id", ""},
	{"categories", "parent_id", "categories", "id", "SET NULL"},
	{"suppliers", "country_id", "countries", "id", ""},
	{"products", "supplier_id", "suppliers", "id", ""},
	{"products", "category_id", "categories", "id", "SET NULL"},
	{"products", "image_id", "images", "id", "SET NULL"}, // a circle with the next one
	{"images", "product_id", "products", "id", "CASCADE"},
	{"product_categories", "product_id", "products", "id", "CASCADE"},
	{"product_categories", "category_id", "categories", "id", "CASCADE"},
	{"carts", "customer_id", "customers", "id", "CASCADE"},
	{"cart_items", "cart_id", "carts", "id", "CASCADE"},
	{"cart_items", "product_id", "products", "id", "CASCADE"},
	{"orders", "customer_id", "customers", "id", ""},
	{"orders", "address_id", "addresses", "id", "SET NULL"},
	{"orders", "currency", "currencies", "code", ""},
	{"order_lines", "order_id", "orders", "id", "CASCADE"},
	{"order_lines", "product_id", "products", "id", ""},
	{"payments", "order_id", "orders", "id", ""},
	{"refunds", "payment_id", "payments", "id", "CASCADE"},
	{"shipments", "order_id", "orders", "id", "CASCADE"},
	{"shipments", "address_id", "addresses", "id", "SET NULL"},
	{"shipment_lines", "shipment_id", "shipments", "id", "CASCADE"},
	{"shipment_lines", "order_id, line", "order_lines", "order_id, line", "CASCADE"},
	{"reviews", "customer_id", "customers", "id", "CASCADE"},
	{"reviews", "product_id", "products", "id", "SET NULL"},
	{"reviews", "reply_to", "reviews", "id", "CASCADE"},
	{"visits", "customer_id", "customers", "id", "CASCADE"},
}

// shopFound are the references that no key declares.
var shopFound = map[string]string{
	"audit_log.customer_id": "customers",
	"audit_log.order_id":    "orders",
	"visits.product_id":     "products",
}

// shopView names columns that change.
const shopView = `CREATE VIEW order_totals AS SELECT o.id, o.customer_id, SUM(l.quantity) AS quantity
	FROM orders o JOIN order_lines l ON l.order_id = o.id GROUP BY o.id, o.customer_id`

// shopSchema returns the statements that make the shop of a seed.
func shopSchema(d sqlsnow.Dialect, seed uint64) (statements []string) {
	random := rand.New(rand.NewPCG(seed, 20))
	numbers, counters := []string{"INT", "INT UNSIGNED", "INT", "BIGINT"}, []string{" NOT NULL AUTO_INCREMENT"}
	smallint := "SMALLINT UNSIGNED"
	if d == sqlsnow.Postgres {
		numbers, smallint = []string{"integer", "integer", "integer", "bigint"}, "smallint"
		counters = []string{" GENERATED BY DEFAULT AS IDENTITY", " GENERATED ALWAYS AS IDENTITY", " serial"}
	}
	var replace []string
	for i, t := range shopTables {
		number := numbers[random.IntN(len(numbers))]
		switch {
		case t.name == "countries":
			number = smallint
		case t.name == "visits" || i == 2: // the long table, and the one that most others refer to
			number = numbers[0]
		}
		key := number + counters[random.IntN(len(counters))]
		if strings.HasSuffix(key, " serial") {
			key = map[string]string{"smallint": "smallserial", "integer": "serial", "bigint": "bigserial"}[number]
		}
		replace = append(replace, "{key:"+t.name+"}", key, "{"+t.name+"}", number)
	}
	// The conversion of a generated column that names a reference.
	if d == sqlsnow.Postgres {
		replace = append(replace, "{bucket}", "customer_id % 16", "{stored}", "STORED")
	} else {
		replace = append(replace, "{bucket}", "customer_id % 16", "{stored}", "VIRTUAL")
	}
	types := strings.NewReplacer(replace...)
	for _, t := range shopTables {
		statements = append(statements, fmt.Sprintf("CREATE TABLE %s (%s)", t.name, types.Replace(t.columns)))
	}
	for _, k := range shopKeys {
		action := ""
		if k[4] != "" {
			action = " ON DELETE " + k[4]
		}
		statements = append(statements, fmt.Sprintf("ALTER TABLE %s ADD CONSTRAINT fk_%s_%s FOREIGN KEY (%s) REFERENCES %s (%s)%s",
			k[0], k[0], strings.ReplaceAll(k[1], ", ", "_"), k[1], k[2], k[3], action))
	}
	return append(statements, shopView)
}
