module github.com/shardsnow/snow/examples/shard-orders

go 1.25.0

require (
	github.com/go-sql-driver/mysql v1.10.1
	github.com/ncruces/go-sqlite3 v0.35.3
	github.com/ncruces/go-sqlite3/gormlite v0.34.0
	github.com/shardsnow/snow v0.0.0
	gorm.io/driver/mysql v1.6.0
	gorm.io/gorm v1.31.2
)

require (
	filippo.io/edwards25519 v1.2.0 // indirect
	github.com/jinzhu/inflection v1.0.0 // indirect
	github.com/jinzhu/now v1.1.5 // indirect
	github.com/ncruces/go-sqlite3-wasm/v3 v3.2.35304 // indirect
	github.com/ncruces/julianday v1.0.0 // indirect
	golang.org/x/sys v0.47.0 // indirect
	golang.org/x/text v0.40.0 // indirect
)

replace github.com/shardsnow/snow => ../../
