module github.com/shardsnow/snow/examples/http-orders

go 1.25.0

require (
	github.com/ncruces/go-sqlite3 v0.35.3
	github.com/ncruces/go-sqlite3/gormlite v0.34.0
	github.com/shardsnow/snow v0.0.0
	gorm.io/gorm v1.31.2
)

require (
	github.com/jinzhu/inflection v1.0.0 // indirect
	github.com/jinzhu/now v1.1.5 // indirect
	github.com/ncruces/go-sqlite3-wasm/v3 v3.2.35304 // indirect
	github.com/ncruces/julianday v1.0.0 // indirect
	golang.org/x/sys v0.47.0 // indirect
	golang.org/x/text v0.40.0 // indirect
)

replace github.com/shardsnow/snow => ../../
