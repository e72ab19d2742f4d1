package route_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"gorm.io/driver/mysql"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/gormsnow"
)

type (
	User struct {
		ID     snow.ID `gorm:"primaryKey;not null" snow:"shard=Name"`
		Name   string
		Email  string
		Orders []Order `gorm:"foreignKey:BuyerID"`
	}
	Order struct {
		ID        snow.ID `gorm:"primaryKey;not null" snow:"shard=BuyerID"`
		BuyerID   snow.ID
		Buyer     *User
		State     string
		Amount    int
		Lines     []Line
		DeletedAt gorm.DeletedAt
	}
	Line struct {
		ID        snow.ID `gorm:"primaryKey;not null" snow:"shard=OrderID"`
		OrderID   snow.ID
		Item      string
		ProductID *int
		Product   *Product
	}
	Product struct {
		ID   int `gorm:"primaryKey;autoIncrement:false"`
		Name string
	}
	Account struct { // hashed by a number, and a composite key
		ID     snow.ID `gorm:"primaryKey;snowflake" snow:"shard=Tenant"`
		Tenant int     `gorm:"primaryKey;autoIncrement:false"`
	}
	Ticket struct { // a key that is a text, and a field that is stored otherwise
		ID     string `gorm:"primaryKey;snowflake" snow:"shard=Holder"`
		Holder Secret
	}
	Gift struct { // whose field may be NULL
		ID      snow.ID `gorm:"primaryKey;not null" snow:"shard=GiverID"`
		GiverID *snow.ID
	}
	Topic struct {
		ID      snow.ID `gorm:"primaryKey;not null" snow:"shard=OwnerID"`
		OwnerID snow.ID
		Related []*Topic `gorm:"many2many:topic_pairs"`
	}
	Parcel struct { // whose receiver may be in another shard
		ID         snow.ID `gorm:"primaryKey;not null" snow:"shard=SenderID"`
		SenderID   snow.ID
		ReceiverID snow.ID
		Receiver   *User
	}
	Visit struct { // which is in the shard of a hash, not of the topic that it refers to
		ID      snow.ID `gorm:"primaryKey;not null" snow:"shard=TopicID"`
		TopicID int64
		Topic   *Topic
	}
	Plain struct {
		ID snow.ID
	}
)

// A Secret is stored in upper case.
type Secret string

// Value implements [driver.Valuer].
func (s Secret) Value() (driver.Value, error) { return strings.ToUpper(string(s)), nil }

func layout(t testing.TB) snow.Layout {
	l, err := snow.NewLayout(time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC), time.Millisecond, snow.Bits{Timestamp: 41, Worker: 10, Sequence: 8, Shard: 4})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func generator(t testing.TB) *snow.Generator {
	w, err := snow.Fixed(layout(t), 7)
	if err != nil {
		t.Fatal(err)
	}
	g, err := snow.NewGenerator(w, snow.Config{})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// A fake is a database that answers at once: its rows to queries, one row affected.
type fake struct {
	mu       sync.Mutex
	sent     []string
	prepared []string // and closed or not
	fails    error    // of queries
	hangs    bool     // queries wait for the end of their context
	breaks   error    // instead of the first row
	rows     [][]driver.Value
}

func (f *fake) add(text string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.sent = append(f.sent, text)
}

// take returns what was sent, and forgets it.
func (f *fake) take() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	sent := f.sent
	f.sent = nil
	return sent
}

func (f *fake) Connect(context.Context) (driver.Conn, error) { return f, nil }
func (f *fake) Driver() driver.Driver                        { return nil }
func (f *fake) Prepare(query string) (driver.Stmt, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.prepared = append(f.prepared, query)
	return prepared{f, query}, nil
}
func (f *fake) Close() error              { return nil }
func (f *fake) Begin() (driver.Tx, error) { f.add("BEGIN"); return f, nil }
func (f *fake) Commit() error             { f.add("COMMIT"); return nil }
func (f *fake) Rollback() error           { f.add("ROLLBACK"); return nil }
func (f *fake) QueryContext(ctx context.Context, query string, _ []driver.NamedValue) (driver.Rows, error) {
	f.add(query)
	if f.hangs {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return &someRows{query, f.breaks, f.rows}, f.fails
}

func (f *fake) ExecContext(_ context.Context, query string, _ []driver.NamedValue) (driver.Result, error) {
	f.add(query)
	return driver.RowsAffected(1), nil
}

// prepared is a statement of a fake.
type prepared struct {
	f     *fake
	query string
}

func (prepared) Close() error  { return nil }
func (prepared) NumInput() int { return -1 }
func (p prepared) Exec([]driver.Value) (driver.Result, error) {
	return p.f.ExecContext(context.Background(), p.query, nil)
}

func (p prepared) Query([]driver.Value) (driver.Rows, error) {
	return p.f.QueryContext(context.Background(), p.query, nil)
}

type someRows struct {
	query  string
	breaks error
	rows   [][]driver.Value
}

func (r *someRows) Columns() (names []string) {
	list, _, _ := strings.Cut(r.query, " FROM ")
	for column := range strings.SplitSeq(strings.TrimPrefix(list, "SELECT "), ",") {
		if column == "*" {
			return []string{"id", "amount", "deleted_at"}
		}
		names = append(names, strings.Trim(column[strings.LastIndexAny(column, " .")+1:], "`"))
	}
	return names
}
func (*someRows) Close() error { return nil }
func (r *someRows) Next(row []driver.Value) error {
	switch {
	case r.breaks != nil:
		return r.breaks
	case len(r.rows) == 0:
		return io.EOF
	}
	copy(row, r.rows[0])
	r.rows = r.rows[1:]
	return nil
}

// databases returns n databases with the plugin, and the mapping to them.
func databases(t testing.TB, n int, options ...func(*gorm.Config)) ([]*fake, *snow.Shards[*gorm.DB]) {
	t.Helper()
	fakes, dbs, err := fakeDatabases(generator(t), n, func(pool *sql.DB) { t.Cleanup(func() { pool.Close() }) }, options...)
	if err != nil {
		t.Fatal(err)
	}
	shards, err := snow.NewShards(layout(t), dbs...)
	if err != nil {
		t.Fatal(err)
	}
	return fakes, shards
}

func exampleLayout() snow.Layout {
	l, err := snow.NewLayout(time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC), time.Millisecond, snow.Bits{Timestamp: 41, Worker: 10, Sequence: 8, Shard: 4})
	check(err)
	return l
}

func exampleDatabases() []*gorm.DB {
	worker, err := snow.Fixed(exampleLayout(), 7)
	check(err)
	g, err := snow.NewGenerator(worker, snow.Config{})
	check(err)
	_, dbs, err := fakeDatabases(g, 4, func(*sql.DB) {})
	check(err)
	return dbs
}

func exampleShards() *snow.Shards[*gorm.DB] {
	shards, err := snow.NewShards(exampleLayout(), exampleDatabases()...)
	check(err)
	return shards
}

func fakeDatabases(g *snow.Generator, n int, opened func(*sql.DB), options ...func(*gorm.Config)) ([]*fake, []*gorm.DB, error) {
	fakes, dbs := make([]*fake, n), make([]*gorm.DB, n)
	for i := range n {
		fakes[i] = new(fake)
		pool := sql.OpenDB(fakes[i])
		opened(pool)
		config := gorm.Config{Logger: logger.Discard}
		for _, option := range options {
			option(&config)
		}
		db, err := gorm.Open(mysql.New(mysql.Config{Conn: pool, SkipInitializeWithVersion: true}), &config)
		if err != nil {
			return nil, nil, err
		}
		if err := db.Use(gormsnow.New(g)); err != nil {
			return nil, nil, err
		}
		dbs[i] = db
	}
	return fakes, dbs, nil
}
