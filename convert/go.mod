module github.com/shardsnow/snow/convert

go 1.25.0

replace (
	github.com/shardsnow/snow => ../
	github.com/shardsnow/snow/merge => ../merge
)
