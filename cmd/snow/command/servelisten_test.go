package command

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A port that is not free costs no worker number.
func TestServeBindsBeforeItLeases(t *testing.T) {
	newRegistry(t)
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	got := execute(t, "serve", "-namespace", "shop", "-listen", taken.Addr().String())
	if got.status != 1 || !strings.Contains(got.stderr, "--listen: ") {
		t.Errorf("exit status %d: %s", got.status, got.stderr)
	}
	for _, w := range workersOf(t, "-all").Workers {
		if w.Fence > 0 {
			t.Errorf("worker %d was leased", w.Worker)
		}
	}
}

// A Unix socket needs no token, is for the account and its group, and replaces what a dead process has left. No
// other one.
func TestServeUnixSocket(t *testing.T) {
	newRegistry(t)
	path := filepath.Join(t.TempDir(), "snow.sock")
	dead, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Skip(err)
	}
	dead.SetUnlinkOnClose(false)
	_ = dead.Close()
	s := serve(t, "-namespace", "shop", "-listen", "unix:"+path)
	if s.url != "unix:"+path {
		t.Errorf("it listens on %s", s.url)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o660 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	client := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", path)
	}}}
	defer client.CloseIdleConnections()
	response, err := client.Post("http://snow/v1/ids", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	if response.StatusCode != 200 {
		t.Errorf("status %d", response.StatusCode)
	}
	if got := execute(t, "serve", "-namespace", "shop", "-listen", "unix:"+path); got.status != 1 || !strings.Contains(got.stderr, "another process answers") {
		t.Errorf("a socket that is used: exit status %d: %s", got.status, got.stderr)
	}
	client.CloseIdleConnections()
	s.stop()
	if status := <-s.end; status != 0 {
		t.Errorf("exit status %d: %s", status, s.log())
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("the socket is left behind")
	}
}

// writeCertificate writes a certificate for 127.0.0.1 with a serial number, and returns the pool that trusts it.
func writeCertificate(t *testing.T, cert, key string, serial int64) *x509.CertPool {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(serial), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	for file, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: der}, key: {Type: "PRIVATE KEY", Bytes: secret}} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	pool := x509.NewCertPool()
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool.AddCert(parsed)
	return pool
}

func TestServeTLS(t *testing.T) {
	newRegistry(t)
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	pool := writeCertificate(t, cert, key, 1)
	s := serve(t, "-namespace", "shop", "-tls-cert", cert, "-tls-key", key)
	if !strings.HasPrefix(s.url, "https://") {
		t.Errorf("it listens on %s", s.url)
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}}
	defer transport.CloseIdleConnections()
	response, err := (&http.Client{Transport: transport}).Post(s.url+"/v1/ids", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	if response.StatusCode != 200 {
		t.Errorf("status %d", response.StatusCode)
	}
	for args, want := range map[string]string{
		"-tls-cert " + cert:                      "want both or none",
		"-tls-cert " + cert + " -tls-key " + dir: "--tls-cert, --tls-key: ",
	} {
		got := execute(t, append([]string{"serve", "-namespace", "shop"}, strings.Fields(args)...)...)
		if got.status == 0 || !strings.Contains(got.stderr, want) {
			t.Errorf("%s: exit status %d: %s", args, got.status, got.stderr)
		}
	}
}

// SIGHUP reads the certificate again. If that fails, the one that there was goes on.
func TestServeReadsCertificateAgain(t *testing.T) {
	newRegistry(t)
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	writeCertificate(t, cert, key, 1)
	s := serve(t, "-namespace", "shop", "-tls-cert", cert, "-tls-key", key)
	serial := func() int64 {
		t.Helper()
		// any certificate: its serial number is compared
		dialer := &tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true}}
		c, err := dialer.DialContext(t.Context(), "tcp", strings.TrimPrefix(s.url, "https://"))
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		return c.(*tls.Conn).ConnectionState().PeerCertificates[0].SerialNumber.Int64()
	}
	hangup := func(logged string) {
		t.Helper()
		if p, err := os.FindProcess(os.Getpid()); err != nil || p.Signal(syscall.SIGHUP) != nil {
			t.Skip("there is no SIGHUP")
		}
		for !strings.Contains(s.log(), logged) {
			select {
			case <-t.Context().Done():
				t.Fatalf("no %q in %s", logged, s.log())
			case <-time.After(10 * time.Millisecond):
			}
		}
	}
	if got := serial(); got != 1 {
		t.Errorf("serial number %d", got)
	}
	writeCertificate(t, cert, key, 2)
	hangup("SIGHUP: read again")
	if got := serial(); got != 2 {
		t.Errorf("after a SIGHUP: serial number %d", got)
	}
	if err := os.WriteFile(key, []byte("geheim"), 0o600); err != nil {
		t.Fatal(err)
	}
	hangup("stays as it was")
	if got := serial(); got != 2 || strings.Contains(s.log(), "geheim") {
		t.Errorf("after a SIGHUP with a wrong key: serial number %d: %s", got, s.log())
	}
}
