//go:build linux

package zkserver

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// The folder of Debian's jars. zookeeper.jar names the others; of the jars for logs, slf4j-simple writes to the
// standard error.
const (
	jars  = "/usr/share/java"
	begin = "org.apache.zookeeper.server.quorum.QuorumPeerMain"
)

// classPath returns the jars that a server needs.
func classPath() string {
	return filepath.Join(jars, "zookeeper.jar") + ":" + filepath.Join(jars, "slf4j-simple.jar")
}

// need skips the test with -short, and if a file is missing. If databases are required, it ignores -short, and a missing
// file fails the test.
func need(tb testing.TB) {
	tb.Helper()
	required := os.Getenv("SNOW_REQUIRE_DB") == "1"
	if testing.Short() && !required {
		tb.Skip("zkserver: ZooKeeper is left out under -short")
	}
	end := tb.Skipf
	if required {
		end = tb.Fatalf
	}
	if _, err := exec.LookPath("java"); err != nil {
		end("zkserver: %v: apt-get install default-jre-headless", err)
	}
	for _, name := range []string{"zookeeper.jar", "slf4j-simple.jar"} {
		if _, err := os.Stat(filepath.Join(jars, name)); err != nil {
			end("zkserver: %v: apt-get install libzookeeper-java", err)
		}
	}
}

// faker returns the path of Debian's library that shifts the clock of the program that loads it.
func faker(tb testing.TB) string {
	tb.Helper()
	found, _ := filepath.Glob("/usr/lib/*/faketime/libfaketimeMT.so.1")
	if len(found) == 0 {
		end := tb.Skipf
		if os.Getenv("SNOW_REQUIRE_DB") == "1" {
			end = tb.Fatalf
		}
		end("zkserver: libfaketime not found: apt-get install libfaketime")
	}
	return found[0]
}
