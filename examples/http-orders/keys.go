package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/shardsnow/snow/opaque"
)

// openKeys reads the file of keys, and returns the codec of the ids of orders. For a
// first look it may make the file: instances that start at the same time all read the file of the
// one that was first. In production the file comes from where secrets are kept.
func openKeys(path string, mayCreate bool) (*opaque.Codec, error) {
	keys, err := opaque.ReadKeys(path)
	if mayCreate && errors.Is(err, fs.ErrNotExist) {
		if err = createKeys(path); err == nil {
			keys, err = opaque.ReadKeys(path)
		}
	}
	if err != nil {
		return nil, err
	}
	return keys.Type("ord")
}

// createKeys makes a file with one key. It writes another file and gives that the name, so nobody
// reads half a key.
func createKeys(path string) error {
	secret := make([]byte, 32)
	_, _ = rand.Read(secret) // it never fails
	file, err := os.CreateTemp(filepath.Dir(path), "new-key-")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(file, "1 %x\n", secret)
	err = errors.Join(err, file.Close())
	if err == nil {
		if err = os.Link(file.Name(), path); errors.Is(err, fs.ErrExist) {
			err = nil // another instance was first
		}
	}
	return errors.Join(err, os.Remove(file.Name()))
}
