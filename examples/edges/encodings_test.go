package edges

import (
	"bytes"
	"encoding/binary"
	"encoding/gob"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/alicebob/miniredis/v2"
	"github.com/fxamacker/cbor/v2"
	"github.com/jinzhu/copier"
	"github.com/redis/go-redis/v9"
	"github.com/vmihailenco/msgpack/v5"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/shardsnow/snow"
)

func TestRedis(t *testing.T) {
	ctx, rdb := t.Context(), redis.NewClient(&redis.Options{Addr: miniredis.RunT(t).Addr()})
	t.Cleanup(func() { check(t, rdb.Close()) })
	buyer, other := snow.ID(1<<62+1), snow.ID(1<<62+3)

	err := rdb.Set(ctx, "buyer:"+id.String(), int64(buyer), 0).Err()
	if err == nil {
		err = rdb.SAdd(ctx, "orders:"+buyer.String(), int64(id), int64(other)).Err()
	}

	check(t, err)

	found, err := snow.ParseID(rdb.Get(ctx, "buyer:"+id.String()).Val())

	if err != nil || found != buyer {
		t.Errorf("got %v, %v, want %v", found, err, buyer)
	}
	var ids []snow.ID

	err = rdb.SMembers(ctx, "orders:"+buyer.String()).ScanSlice(&ids)

	if err == nil || !strings.Contains(err.Error(), "can't unmarshal") {
		t.Errorf("ScanSlice = %v: the page warns of nothing", err)
	}
	if err := rdb.Set(ctx, "id", id, 0).Err(); err == nil || !strings.Contains(err.Error(), "can't marshal snow.ID") {
		t.Errorf("Set of an id = %v: the page warns of nothing", err)
	}
	check(t, rdb.ZAdd(ctx, "set", redis.Z{Score: float64(other), Member: int64(other)}).Err())
	if got := rdb.ZScore(ctx, "set", other.String()).Val(); snow.ID(got) == other {
		t.Error("the score is the id: the page warns of nothing")
	}
	if got := rdb.ZRange(ctx, "set", 0, -1).Val(); len(got) != 1 || got[0] != other.String() {
		t.Errorf("the member is %v, want %v", got, other)
	}
}

// registerID makes msgpack store ids as integers.
func registerID() {
	msgpack.Register(snow.ID(0), func(e *msgpack.Encoder, v reflect.Value) error {
		return e.EncodeInt(v.Int())
	}, func(d *msgpack.Decoder, v reflect.Value) error {
		n, err := d.DecodeInt64()
		if err == nil {
			err = v.Addr().Interface().(*snow.ID).Scan(n) // refuses a negative number
		}
		return err
	})
}

func TestMsgpack(t *testing.T) {
	before, err := msgpack.Marshal(id)
	if err != nil || !bytes.Equal(before, append([]byte{0xc4, 18}, id.String()...)) { // binary
		t.Errorf("% x, %v: the page warns of nothing", before, err)
	}
	var got snow.ID
	if err := msgpack.Unmarshal(before, &got); got != id || err != nil {
		t.Errorf("got %v, %v, want %v", got, err, id)
	}

	registerID()
	want := binary.BigEndian.AppendUint64([]byte{0xcf}, uint64(id)) // an integer of 64 bits
	b, err := msgpack.Marshal(map[string]snow.ID{"id": id})
	if err != nil || !bytes.HasSuffix(b, want) {
		t.Errorf("% x, %v, want % x at the end", b, err, want)
	}
	var back struct {
		ID snow.ID `msgpack:"id"`
	}
	if err := msgpack.Unmarshal(b, &back); back.ID != id || err != nil {
		t.Errorf("got %v, %v, want %v", back.ID, err, id)
	}
	if err := msgpack.Unmarshal(before, &got); err == nil {
		t.Error("a value from before is read: the page warns of nothing")
	}
	negative, err := msgpack.Marshal(map[string]int{"id": -5})
	check(t, err)
	if err := msgpack.Unmarshal(negative, &back); err == nil {
		t.Errorf("-5 was read as %d", int64(back.ID))
	}
}

// In gob and CBOR an id is an integer.
func TestIntegers(t *testing.T) {
	var asID, asInt bytes.Buffer
	check(t, gob.NewEncoder(&asID).Encode(id))
	check(t, gob.NewEncoder(&asInt).Encode(int64(id)))
	a, err := cbor.Marshal(id)
	check(t, err)
	b, err := cbor.Marshal(int64(id))
	check(t, err)
	if !bytes.Equal(asID.Bytes(), asInt.Bytes()) || !bytes.Equal(a, b) {
		t.Errorf("gob: % x and % x, CBOR: % x and % x", asID.Bytes(), asInt.Bytes(), a, b)
	}
}

// A message's field is an int64, which is a string in JSON.
func TestProtobuf(t *testing.T) {
	message := wrapperspb.Int64(int64(id))
	if b, err := protojson.Marshal(message); string(b) != strconv.Quote(id.String()) || err != nil {
		t.Errorf("JSON %s, %v", b, err)
	}
	read := func(message *wrapperspb.Int64Value) (snow.ID, error) {
		var id snow.ID
		err := id.Scan(message.GetValue()) // refuses a negative number
		return id, err
	}
	if got, err := read(message); got != id || err != nil {
		t.Errorf("got %v, %v, want %v", got, err, id)
	}
	if got, err := read(wrapperspb.Int64(-5)); err == nil {
		t.Errorf("-5 was read as %d", int64(got))
	}
}

func TestCopier(t *testing.T) {
	type answer struct{ ID string }
	order, out := Order{ID: 65}, answer{}
	if err := copier.Copy(&out, order); out.ID != "A" || err != nil {
		t.Errorf("got %q, %v: the page warns of nothing", out.ID, err)
	}

	err := copier.CopyWithOption(&out, order, copier.Option{Converters: []copier.TypeConverter{{
		SrcType: snow.ID(0), DstType: "",
		Fn: func(id any) (any, error) { return id.(snow.ID).String(), nil },
	}}})

	if out.ID != "65" || err != nil {
		t.Errorf("got %q, %v, want 65", out.ID, err)
	}
}
