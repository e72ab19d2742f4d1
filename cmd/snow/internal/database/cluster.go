package database

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// A Cluster is a store of worker numbers that is no SQL database.
type Cluster struct {
	Scheme         string   // "etcd" or "zookeeper"
	Addrs          []string // host:port of the members
	Path           string   // below which its keys are, without slashes at its ends; may be empty
	User, Password string   // empty for none
	TLS            bool
	CA, Cert, Key  string // files as PEM; empty for none
}

// Place says where the cluster is, without secrets.
func (c *Cluster) Place() string {
	return strings.TrimSuffix(strings.Join(c.Addrs, ", ")+"/"+c.Path, "/")
}

// clusterPorts has the schemes of DSNs of clusters, and their ports.
var clusterPorts = map[string]string{"etcd": "2379", "zookeeper": "2181"}

// isCluster reports whether a DSN is of a cluster.
func isCluster(dsn string) bool {
	scheme, _, ok := strings.Cut(dsn, "://")
	return ok && clusterPorts[scheme] != ""
}

// parseCluster reads scheme://user:password@host:port,host:port/path?tls=true&ca=FILE&cert=FILE&key=FILE. User and
// password are percent-encoded. Errors hold nothing of the DSN but its scheme and the names of parameters.
func parseCluster(dsn string) (*Cluster, error) {
	scheme, rest, _ := strings.Cut(dsn, "://")
	bad := func(what string) error {
		return fmt.Errorf("%s: want %s://host:port,host:port/path, with user:password@ before it and ?tls=true after it where needed", what, scheme)
	}
	c := &Cluster{Scheme: scheme}
	rest, query, _ := strings.Cut(rest, "?")
	if i := strings.LastIndex(rest, "@"); i >= 0 {
		user, password, ok := strings.Cut(rest[:i], ":")
		var err, err2 error
		c.User, err = url.PathUnescape(user)
		c.Password, err2 = url.PathUnescape(password)
		if !ok || err != nil || err2 != nil || c.User == "" {
			return nil, bad("the user of the DSN can't be read")
		}
		rest = rest[i+1:]
	}
	hosts, path, _ := strings.Cut(rest, "/")
	for host := range strings.SplitSeq(hosts, ",") {
		if name, port, ok := strings.Cut(host, ":"); !ok && name != "" {
			host += ":" + clusterPorts[scheme]
		} else if name == "" || port == "" {
			return nil, bad("a host of the DSN is empty")
		}
		c.Addrs = append(c.Addrs, host)
	}
	c.Path = strings.Trim(path, "/")
	values, err := url.ParseQuery(query)
	if err != nil {
		return nil, bad("the parameters of the DSN can't be read")
	}
	for name, all := range values {
		value := all[0]
		switch name {
		case "tls":
			if value != "true" && value != "false" {
				return nil, errors.New("tls in the DSN: want true or false")
			}
			c.TLS = value == "true"
		case "ca":
			c.CA = value
		case "cert":
			c.Cert = value
		case "key":
			c.Key = value
		default:
			return nil, fmt.Errorf("the DSN has a parameter %q: want tls, ca, cert or key", name)
		}
	}
	if !c.TLS && (c.CA != "" || c.Cert != "" || c.Key != "") {
		return nil, errors.New("ca, cert and key in the DSN need tls=true")
	}
	if (c.Cert == "") != (c.Key == "") {
		return nil, errors.New("cert and key in the DSN need each other")
	}
	return c, nil
}
