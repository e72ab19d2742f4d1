package main

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/sqlsnow"
)

// A server is a game server, and how its rows get their keys.
type server struct {
	name   string
	opened time.Time
	rows   int
	seed   uint64
	counts bool // AUTO_INCREMENT; otherwise keys of snow
	worker uint64
}

// lasted is how long a server has been open. The dates of rows are spread evenly over it.
const lasted = 300 * 24 * time.Hour

// A game is the rows of a server as they are made.
type game struct {
	server
	random *rand.Rand
	taken  map[int64]bool // keys of snow, which no two rows of a server share

	players, guilds, kinds, items []int64 // keys

	statements *statements
}

// fillServer makes the tables of a server and its rows, in about the shares of
// a real one.
func fillServer(ctx context.Context, db *sql.DB, d sqlsnow.Dialect, s server) error {
	for _, text := range gameSchema(d, s.counts) {
		if _, err := db.ExecContext(ctx, text); err != nil {
			return err
		}
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	g := &game{
		server: s, random: rand.New(rand.NewPCG(s.seed, 17)), taken: make(map[int64]bool),
		statements: &statements{ctx: ctx, tx: tx, dialect: d},
	}
	if err := g.fill(); err != nil {
		return err
	}
	return tx.Commit()
}

func (g *game) fill() error {
	players := g.rows * 20 / 100
	parts := []struct {
		table   string
		columns string
		rows    int
		row     func(i, n int) []any
	}{
		{"guilds", "id, name, leader_id, created_at", max(1, g.rows/200), g.guild},
		{"players", "id, name, guild_id, invited_by, gold, created_at", players, g.player},
		{"item_kinds", "id, code, title", 40, g.kind},
		{"items", "id, owner_id, kind_id, amount, created_at", g.rows * 45 / 100, g.item},
		{"mails", "id, recipient_id, body, created_at", g.rows * 15 / 100, g.mail},
		{"friendships", "player_id, friend_id, created_at", g.rows * 15 / 100, g.friendship},
		{"ranks", "board, slot, player_id, score", max(1, g.rows/100), g.rank},
		{"parties", "id, leader_id, members", max(1, g.rows/100), g.party},
		{"journal", "id, subject_type, subject_id, entry, created_at", g.rows * 25 / 1000, g.entry},
	}
	for _, p := range parts {
		for i := range p.rows {
			if err := g.statements.insert(p.table, p.columns, p.row(i, p.rows)); err != nil {
				return err
			}
		}
		if err := g.statements.flush(); err != nil {
			return fmt.Errorf("%s: %w", p.table, err)
		}
	}
	for i, guild := range g.guilds {
		if err := g.statements.exec("UPDATE guilds SET leader_id = "+strconv.FormatInt(g.players[i%len(g.players)], 10)+" WHERE id = "+strconv.FormatInt(guild, 10), nil); err != nil {
			return err
		}
	}
	return nil
}

// key returns the key of row i of a table: the number that comes next, with
// gaps where rows were deleted, or an id of snow that tells when it was made.
func (g *game) key(keys *[]int64, i int, created time.Time) int64 {
	id := counted(i)
	if !g.counts {
		layout := snow.GameServers()
		tick := created.Truncate(layout.Tick())
		for sequence := uint64(0); ; sequence++ {
			if sequence == 1<<layout.Bits().Sequence {
				tick, sequence = tick.Add(layout.Tick()), 0
			}
			made, err := layout.Compose(snow.Parts{Time: tick, Worker: g.worker, Sequence: sequence})
			if err == nil && !g.taken[int64(made)] && (len(*keys) == 0 || int64(made) > (*keys)[len(*keys)-1]) {
				id = int64(made)
				g.taken[id] = true
				break
			}
		}
	}
	*keys = append(*keys, id)
	return id
}

// counted is the key that AUTO_INCREMENT gave to row i, if other rows have been
// deleted since.
func counted(i int) int64 { return int64(i) + int64(i)/7 + 1 }

func (g *game) guild(i, n int) []any {
	created := g.date(i, n)
	name := fmt.Sprintf("%s of %s", pick(g.random, colours), pick(g.random, regions))
	if i >= 20 { // the first ones have names that people think of everywhere
		name += " " + g.name + "-" + strconv.Itoa(i)
	} else {
		name = colours[i%len(colours)] + " of " + regions[i%len(regions)]
	}
	return []any{g.key(&g.guilds, i, created), name, nil, sqlTime(created)}
}

func (g *game) player(i, n int) []any {
	created := g.date(i, n)
	name := pick(g.random, firsts) + pick(g.random, seconds) + "-" + strconv.Itoa(i)
	if i%10 == 0 { // one in ten has a name that somebody has on any server
		name = firsts[i/10%len(firsts)] + seconds[i/10/len(firsts)%len(seconds)] + strconv.Itoa(i/10/len(firsts)/len(seconds))
	}
	var guild, inviter any
	if g.random.IntN(4) > 0 {
		guild = pick(g.random, g.guilds)
	}
	if i > 0 && g.random.IntN(3) == 0 {
		inviter = pick(g.random, g.players)
	}
	return []any{g.key(&g.players, i, created), name, guild, inviter, g.random.Int64N(1_000_000), sqlTime(created)}
}

// kind is a word that all servers share, under a key that each server has chosen.
func (g *game) kind(i, n int) []any {
	word := (i*7 + int(g.seed)*3) % n
	code := fmt.Sprintf("kind-%02d", word)
	return []any{g.key(&g.kinds, i, g.opened), code, "Title of " + code}
}

func (g *game) item(i, n int) []any {
	created := g.date(i, n)
	var at any = sqlTime(created)
	if i%500 == 3 {
		at = nil
	}
	return []any{g.key(&g.items, i, created), pick(g.random, g.players), pick(g.random, g.kinds), 1 + g.random.IntN(99), at}
}

func (g *game) mail(i, n int) []any {
	var attached []string
	for range g.random.IntN(3) {
		attached = append(attached, fmt.Sprintf(`{"id": %d, "note": "take %d"}`, pick(g.random, g.items), g.random.IntN(9)))
	}
	body := fmt.Sprintf(`{"from": %d, "text": "Mail \"%d\" of %s", "items": [%s]}`, pick(g.random, g.players), i, g.name, strings.Join(attached, ", "))
	created := g.date(i, n)
	return []any{g.key(new([]int64), i, created), pick(g.random, g.players), body, sqlTime(created)}
}

// friendship i is between a player and one of the players who came next, so that
// no two are the same.
func (g *game) friendship(i, n int) []any {
	first := i % len(g.players)
	friend := (first + 1 + i/len(g.players)) % len(g.players)
	return []any{g.players[first], g.players[friend], sqlTime(g.date(i, n))}
}

func (g *game) rank(i, _ int) []any {
	return []any{[]string{"arena", "tower"}[i%2], i/2 + 1, pick(g.random, g.players), 1_000_000 - i*7}
}

func (g *game) party(i, n int) []any {
	var members []string
	for range 1 + g.random.IntN(5) {
		members = append(members, strconv.FormatInt(pick(g.random, g.players), 10))
	}
	return []any{g.key(new([]int64), i, g.date(i, n)), pick(g.random, g.players), strings.Join(members, ",")}
}

func (g *game) entry(i, n int) []any {
	subject := []string{"player", "guild", "item"}[i%3]
	of := [][]int64{g.players, g.guilds, g.items}[i%3]
	created := g.date(i, n)
	return []any{g.key(new([]int64), i, created), subject, pick(g.random, of), "the " + subject + " was seen", sqlTime(created)}
}

// date is when row i of n was made. Dates ascend, except for a few rows that came late.
func (g *game) date(i, n int) time.Time {
	at := g.opened.Add(lasted / time.Duration(max(n, 1)) * time.Duration(i))
	if g.counts && i%300 == 7 {
		at = at.Add(-time.Hour)
	}
	return at
}

// sqlTime writes a time as all three databases read it.
func sqlTime(t time.Time) string { return t.Format(time.DateTime) }

func pick[T any](r *rand.Rand, from []T) T { return from[r.IntN(len(from))] }

var (
	colours = []string{"Knights", "Ravens", "Wolves", "Lanterns", "Shields", "Tides", "Embers", "Thorns", "Bells", "Sails"}
	regions = []string{"the North", "Ashford", "the Lake", "Old Mill", "the Gate", "Redhill", "the Pass"}
	firsts  = []string{"swift", "grey", "iron", "quiet", "brave", "amber", "frost", "wild", "lucky", "stone"}
	seconds = []string{"fox", "hawk", "bear", "lynx", "otter", "crane", "viper", "moth", "heron", "boar"}
)

// statements gathers rows into INSERT statements.
type statements struct {
	ctx     context.Context // of one fillServer
	tx      *sql.Tx
	dialect sqlsnow.Dialect
	head    string
	values  []string
	args    []any
}

func (s *statements) insert(table, columns string, row []any) error {
	marks := make([]string, len(row))
	for i := range row {
		marks[i] = "?"
		if s.dialect == sqlsnow.Postgres {
			marks[i] = "$" + strconv.Itoa(len(s.args)+i+1)
		}
	}
	s.head = "INSERT INTO " + table + " (" + columns + ") VALUES "
	s.values = append(s.values, "("+strings.Join(marks, ", ")+")")
	s.args = append(s.args, row...)
	if len(s.values) == 500 {
		return s.flush()
	}
	return nil
}

func (s *statements) flush() error {
	if len(s.values) == 0 {
		return nil
	}
	err := s.exec(s.head+strings.Join(s.values, ", "), slices.Clone(s.args))
	s.values, s.args = s.values[:0], s.args[:0]
	return err
}

func (s *statements) exec(text string, args []any) error {
	_, err := s.tx.ExecContext(s.ctx, text, args...)
	return err
}
