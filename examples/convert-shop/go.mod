module github.com/shardsnow/snow/examples/convert-shop

go 1.25.0

require (
	github.com/go-sql-driver/mysql v1.10.1
	github.com/shardsnow/snow v0.0.0
	github.com/shardsnow/snow/convert v0.0.0
)

require (
	filippo.io/edwards25519 v1.2.0 // indirect
	github.com/shardsnow/snow/merge v0.0.0 // indirect
	go.yaml.in/yaml/v4 v4.0.0 // indirect
)

replace (
	github.com/shardsnow/snow => ../../
	github.com/shardsnow/snow/convert => ../../convert
	github.com/shardsnow/snow/merge => ../../merge
)
