package opaquecost

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/speps/go-hashids/v2"
	"github.com/sqids/sqids-go"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/opaque"
)

// A way writes and reads texts.
type way struct {
	name  string
	write func(snow.ID) (string, error)
	read  func(string) (snow.ID, error)
}

var errText = errors.New("the text is of no id")

func newWays() ([]way, error) {
	secret := make([]byte, 32)
	_, _ = rand.Read(secret) // it never fails
	ways := []way{{
		"ID.Base32, no cipher",
		func(id snow.ID) (string, error) { return id.Base32(), nil },
		snow.ParseBase32,
	}}
	for _, n := range []int{16, 32} {
		w, err := opaqueWay(fmt.Sprintf("opaque, AES-%d", 8*n), secret[:n])
		if err != nil {
			return nil, err
		}
		ways = append(ways, w)
	}
	gcm, err := gcmWay(secret[:16])
	if err != nil {
		return nil, err
	}
	sqid, err := sqidsWay()
	if err != nil {
		return nil, err
	}
	hashid, err := hashidsWay()
	return append(ways, gcm, sqid, hashid), err
}

func opaqueWay(name string, secret []byte) (way, error) {
	key, err := opaque.NewKey(1, secret)
	if err != nil {
		return way{}, err
	}
	keys, err := opaque.New(key)
	if err != nil {
		return way{}, err
	}
	orders, err := keys.Type("ord")
	if err != nil {
		return way{}, err
	}
	return way{name, func(id snow.ID) (string, error) { return orders.Encode(id).Text(), nil }, orders.Parse}, nil
}

// gcmWay writes a nonce, the 8 bytes of an id and a tag as base64, in 48 characters.
func gcmWay(secret []byte) (way, error) {
	block, err := aes.NewCipher(secret)
	if err != nil {
		return way{}, err
	}
	gcm, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return way{}, err
	}
	return way{
		"AES-GCM with a nonce",
		func(id snow.ID) (string, error) {
			plain := binary.BigEndian.AppendUint64(make([]byte, 0, 8), uint64(id))
			return base64.RawURLEncoding.EncodeToString(gcm.Seal(make([]byte, 0, 36), nil, plain, nil)), nil
		},
		func(text string) (snow.ID, error) {
			sealed, err := base64.RawURLEncoding.DecodeString(text)
			if err != nil {
				return 0, err
			}
			plain, err := gcm.Open(nil, nil, sealed, nil)
			if err != nil || len(plain) != 8 {
				return 0, errors.Join(err, errText)
			}
			return snow.ID(binary.BigEndian.Uint64(plain)), nil
		},
	}, nil
}

func sqidsWay() (way, error) {
	s, err := sqids.New()
	return way{
		"sqids, no cipher",
		func(id snow.ID) (string, error) { return s.Encode([]uint64{uint64(id)}) },
		func(text string) (snow.ID, error) {
			numbers := s.Decode(text)
			if len(numbers) != 1 {
				return 0, errText
			}
			return snow.ID(numbers[0]), nil
		},
	}, err
}

func hashidsWay() (way, error) {
	data := hashids.NewData()
	data.Salt = "a salt"
	h, err := hashids.NewWithData(data)
	return way{
		"hashids, no cipher",
		func(id snow.ID) (string, error) { return h.EncodeInt64([]int64{int64(id)}) },
		func(text string) (snow.ID, error) {
			numbers, err := h.DecodeInt64WithError(text)
			if err != nil || len(numbers) != 1 {
				return 0, errors.Join(err, errText)
			}
			return snow.ID(numbers[0]), nil
		},
	}, err
}
