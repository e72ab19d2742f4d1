package zksnow

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/go-zookeeper/zk"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/internal/names"
	"github.com/shardsnow/snow/internal/protocol"
	"github.com/shardsnow/snow/internal/versioned"
	"github.com/shardsnow/snow/lease"
)

// DefaultRoot is the znode that has all others below it, if a call's root is empty.
const DefaultRoot = "/snow"

// A Namespace is one space of ids. Its worker numbers are leased to the processes that make the ids. Tables that share
// keys need the same namespace: ids of two namespaces can be equal. Its LossWindow must be zero: no failover loses what
// ZooKeeper has confirmed.
type Namespace = lease.Namespace

// options say that the time that counts is not this process's, and that reading a row is a request.
var options = versioned.Options{Page: 64}

// Init makes a namespace, with a znode for each of its worker numbers. If it exists with the same constants, Init
// makes the znodes that are missing and returns nil, so every process may call it when it starts. If it exists with
// other constants, Init returns [ErrNamespaceMismatch].
//
// If the namespace exists, or some of its znodes that were in use, then missing znodes were deleted, and processes
// may still use their windows: Init makes the znodes so that nobody can lease them before the longest window is over.
// If the namespace is gone with all of its znodes, Init can't tell that it existed. If processes may still use it,
// call [Fence] right after Init.
//
// All znodes that Init and leases make get the ACL of the root. If the root is missing, Init makes it with
// zk.WorldACL(zk.PermAll): anybody who reaches the servers can then change everything. To have another ACL, make the
// root with it before.
//
// Init returns a [*snow.FieldError] if a field is out of bounds, a [*DamagedError] for a znode that it can't read,
// and a [*StoreError] for any other error of ZooKeeper.
func Init(ctx context.Context, conn *zk.Conn, root string, ns Namespace) error {
	if err := initNamespace(ctx, conn, root, ns); err != nil {
		return fmt.Errorf("zksnow: init namespace %q: %w", ns.Name, err)
	}
	return nil
}

func initNamespace(ctx context.Context, conn *zk.Conn, root string, ns Namespace) error {
	s, err := newStore(conn, root)
	if err != nil {
		return err
	}
	want, err := ns.Params()
	if err != nil {
		return err
	}
	if want.Loss > 0 {
		return &snow.FieldError{
			Field: "LossWindow", Value: want.Loss.String(), Bound: "want 0: ZooKeeper confirms what a majority has on disk, and no failover loses it",
		}
	}
	if _, err := s.Now(ctx); err != nil { // makes the clock, and finds out early that there is no session
		return exported("init", err)
	}
	return exported("init", versioned.Create(ctx, s, want, options))
}

// Namespaces returns the namespaces with these names, in that order, as [Init] made them: nothing in them is left out
// or zero but LossWindow. Without names it returns all, by name. It returns the errors of [Acquire]; a name that does
// not exist is [ErrNoNamespace].
func Namespaces(ctx context.Context, conn *zk.Conn, root string, names ...string) ([]Namespace, error) {
	all, err := namespaces(ctx, conn, root, names)
	if err != nil {
		return nil, fmt.Errorf("zksnow: namespaces: %w", err)
	}
	return all, nil
}

func namespaces(ctx context.Context, conn *zk.Conn, root string, chosen []string) ([]Namespace, error) {
	if len(chosen) == 0 {
		s, err := newStore(conn, root)
		if err != nil {
			return nil, err
		}
		if chosen, err = versioned.Names(ctx, s); err != nil {
			return nil, exported("read the names", err)
		}
	}
	all := make([]Namespace, 0, len(chosen))
	for _, name := range chosen {
		r, err := open(ctx, conn, root, name)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", name, err)
		}
		p := &r.Params
		all = append(all, Namespace{Name: p.Name, Layout: p.Layout, Workers: int(p.Workers), Window: p.Window, PinnedWindow: p.Pinned})
	}
	return all, nil
}

// open reads the constants of a namespace.
func open(ctx context.Context, conn *zk.Conn, root, namespace string) (*versioned.Registry, error) {
	if err := names.Check("namespace", namespace); err != nil {
		return nil, err
	}
	s, err := newStore(conn, root)
	if err != nil {
		return nil, err
	}
	r, err := versioned.Open(ctx, s, namespace, options)
	return r, exported("read the namespace", err)
}

// newStore returns the tree below a root.
func newStore(conn *zk.Conn, root string) (*store, error) {
	if conn == nil {
		return nil, &snow.FieldError{Field: "conn", Value: "nil", Bound: "want one of zk.Connect"}
	}
	if root == "" {
		root = DefaultRoot
	}
	valid := strings.HasPrefix(root, "/") && len(root) <= 255 && utf8.ValidString(root) && !strings.ContainsFunc(root, unicode.IsControl)
	for _, part := range strings.Split(root[min(len(root), 1):], "/") {
		valid = valid && part != "" && part != "." && part != ".."
	}
	if !valid || root == "/zookeeper" || strings.HasPrefix(root, "/zookeeper/") {
		return nil, &snow.FieldError{
			Field: "root", Value: strconv.Quote(root[:min(len(root), 80)]),
			Bound: "want the path of a znode, such as /snow, of at most 255 bytes, without a slash at its end and outside of /zookeeper",
		}
	}
	return newStoreOf(conn, root), nil
}

// Fence makes it safe to lease worker numbers after a copy of the servers' data was put back, when ZooKeeper has
// forgotten windows that processes still use. It moves the ceiling of every number to the end of the longest window
// that could have been granted before the call. Processes that hold a number need not be stopped. Those whose window
// lasts two minutes more go on. In the last two minutes of a window, a clock can't tell whether somebody else had the
// number since, in history that is gone. So those processes lose the number, finish their window, and are like new
// ones. Until the longest window is over, new processes get a [*NoWorkerError], or wait for the number that they
// asked for.
//
// Call it after the data was put back, and let no Acquire reach the servers before it has returned. If ctx ends before,
// call it again: it moves the rows in groups.
//
// The ceilings are the longest window and 122 s beyond the leader's clock or this process's, whichever is later. That
// covers every window if the clock of each process was within 30 s of the right time. Fence returns a [*ClockError] if
// the leader's clock is more than 30 s from this process's, a [*DamagedError] if it moved all rows but one that
// was written by hand or is missing, and the errors of [Init].
func Fence(ctx context.Context, conn *zk.Conn, root, namespace string) error {
	r, err := open(ctx, conn, root, namespace)
	if err == nil {
		err = fence(ctx, r)
	}
	if err != nil {
		return fmt.Errorf("zksnow: fence namespace %q: %w", namespace, exported("fence", err))
	}
	return nil
}

func fence(ctx context.Context, r *versioned.Registry) error {
	us, err := r.Now(ctx)
	if err != nil {
		return err
	}
	now := time.Now()
	if err := protocol.CheckClock(us, now); err != nil {
		return err
	}
	_, err = r.Fence(ctx, now)
	return err
}

// Clock returns the leader's clock, which the times of [Workers] are to be compared with. It is older than the reply
// by up to a round trip. It returns the errors of Acquire.
func Clock(ctx context.Context, conn *zk.Conn, root string) (time.Time, error) {
	s, err := newStore(conn, root)
	if err != nil {
		return time.Time{}, fmt.Errorf("zksnow: clock: %w", err)
	}
	us, err := s.Now(ctx)
	if err != nil {
		return time.Time{}, fmt.Errorf("zksnow: clock: %w", exported("clock", err))
	}
	return time.UnixMicro(us).UTC(), nil
}
