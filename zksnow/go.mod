module github.com/shardsnow/snow/zksnow

go 1.25.0

require (
	github.com/go-zookeeper/zk v1.0.4
	github.com/shardsnow/snow v0.0.0
)

replace github.com/shardsnow/snow => ../
