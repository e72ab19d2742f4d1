package service

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/shardsnow/snow/cmd/snow/internal/interrupt"
)

// inheritedSocket is the file descriptor of the first socket that systemd hands over.
const inheritedSocket = 3

// bind takes the address of --listen. Nobody is answered yet.
func (c *running) bind() (net.Listener, error) {
	var listener net.Listener
	var err error
	if path, ok := strings.CutPrefix(c.Listen, "unix:"); ok {
		listener, err = bindUnix(path)
	} else if c.Listen == "systemd" {
		listener, err = inherit()
	} else {
		listener, err = net.Listen("tcp", c.Listen)
	}
	if err != nil {
		return nil, fmt.Errorf("--listen: %w", err)
	}
	return listener, nil
}

// bindUnix makes a socket for the account and its group. A socket that a dead process has left is replaced.
func bindUnix(path string) (net.Listener, error) {
	address := &net.UnixAddr{Name: path, Net: "unix"}
	if info, err := os.Lstat(path); err == nil && info.Mode()&os.ModeSocket != 0 {
		if c, err := net.DialUnix("unix", nil, address); err == nil {
			_ = c.Close()
			return nil, fmt.Errorf("%s: another process answers there", path)
		}
		if err := os.Remove(path); err != nil {
			return nil, err
		}
	}
	listener, err := net.ListenUnix("unix", address)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o660); err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	return listener, nil
}

// inherit returns the socket of a systemd unit, as sd_listen_fds(3) describes.
func inherit() (net.Listener, error) {
	pid, n := os.Getenv("LISTEN_PID"), os.Getenv("LISTEN_FDS")
	if pid != strconv.Itoa(os.Getpid()) || n != "1" {
		return nil, fmt.Errorf("systemd hands over no socket, or not one (LISTEN_PID %.20q, LISTEN_FDS %.20q)", pid, n)
	}
	file := os.NewFile(inheritedSocket, "socket")
	listener, err := net.FileListener(file)
	return listener, errors.Join(err, file.Close()) // the listener has a copy
}

// isPrivate reports whether only this machine reaches an address.
func isPrivate(address net.Addr) bool {
	switch a := address.(type) {
	case *net.TCPAddr:
		return a.IP.IsLoopback()
	case *net.UnixAddr:
		return true
	}
	return false
}

// A certificate comes from --tls-cert and --tls-key. It may be read again while connections come.
type certificate struct {
	cert, key string // files
	current   atomic.Pointer[tls.Certificate]
}

// newCertificate reads the certificate, and returns nil without --tls-cert.
func (c *running) newCertificate(ctx context.Context) (*certificate, error) {
	if c.TLSCert == "" {
		return nil, nil
	}
	pair := &certificate{cert: c.TLSCert, key: c.TLSKey}
	return pair, pair.read(ctx)
}

// read reads the files, which may be pipes: ctx ends the wait for them.
func (c *certificate) read(ctx context.Context) error {
	pair, err := interrupt.Call(ctx, func() (tls.Certificate, error) { return tls.LoadX509KeyPair(c.cert, c.key) })
	if err != nil {
		return fmt.Errorf("--tls-cert, --tls-key: %w", err)
	}
	c.current.Store(&pair)
	return nil
}

func (c *certificate) config() *tls.Config {
	return &tls.Config{
		MinVersion:     tls.VersionTLS12,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return c.current.Load(), nil },
	}
}
