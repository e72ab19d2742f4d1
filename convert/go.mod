module github.com/shardsnow/snow/convert

go 1.25.0

require go.yaml.in/yaml/v4 v4.0.0

replace (
	github.com/shardsnow/snow => ../
	github.com/shardsnow/snow/merge => ../merge
)
