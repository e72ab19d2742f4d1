package merge

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/shardsnow/snow/internal/testkit/dbtest"
	snowmerge "github.com/shardsnow/snow/merge"
	"github.com/shardsnow/snow/merge/plan"
	"github.com/shardsnow/snow/sqlsnow"
)

// A gameTable is a table, and its share of a source's rows, in percent. A column that refers to a table says so.
type gameTable struct {
	name    string
	percent int
	columns string
	values  string // of row seq; {accounts} is the number of accounts, and so on
}

func gameTables() []gameTable {
	id := "id INT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY, "
	to := func(column, table string) string {
		return column + " INT UNSIGNED NOT NULL, FOREIGN KEY (" + column + ") REFERENCES " + table + " (id)"
	}
	const when = "TIMESTAMPADD(SECOND, seq, '2024-03-01')"
	return []gameTable{
		{
			"accounts", 5, id + "name VARCHAR(32) NOT NULL, email VARCHAR(64) NOT NULL, created_at DATETIME NOT NULL, UNIQUE (name)",
			"seq, CONCAT('account-', @source, '-', seq), CONCAT('a', seq, '@', @source, '.example'), " + when,
		},
		{
			"guilds", 1, id + "name VARCHAR(32) NOT NULL, founded_at DATETIME NOT NULL, " + to("founder_id", "accounts") + ", UNIQUE (name)",
			"seq, CONCAT('Guild ', @source, ' ', seq), " + when + ", 1 + seq * 7919 % {accounts}",
		},
		{
			"characters", 8, id + "name VARCHAR(32) NOT NULL, level INT NOT NULL, gold BIGINT NOT NULL, x FLOAT NOT NULL, y FLOAT NOT NULL, created_at DATETIME NOT NULL, " +
				to("account_id", "accounts") + ", " + to("guild_id", "guilds") + ", UNIQUE (name)",
			"seq, CONCAT('Hero', @source, seq), seq % 80, seq * 31 % 99991, seq % 977 / 4, seq % 1009 / 8, " + when + ", 1 + seq % {accounts}, 1 + seq * 31 % {guilds}",
		},
		{
			"items", 34, id + "kind INT NOT NULL, amount INT NOT NULL, attributes VARCHAR(80) NOT NULL, created_at DATETIME NOT NULL, " + to("owner_id", "characters"),
			"seq, seq * 7 % 4001, 1 + seq % 20, CONCAT('durability=', seq % 101, ' enchant=', seq % 17), " + when + ", 1 + seq * 3 % {characters}",
		},
		{
			"mails", 10, id + "subject VARCHAR(40) NOT NULL, body VARCHAR(300) NOT NULL, sent_at DATETIME NOT NULL, " + to("sender_id", "characters") + ", " + to("receiver_id", "characters"),
			"seq, CONCAT('Offer ', seq % 997), REPEAT('All that you have is worth it. ', 1 + seq % 6), " + when + ", 1 + seq * 17 % {characters}, 1 + seq * 7919 % {characters}",
		},
		{
			"mail_items", 6, to("mail_id", "mails") + ", " + to("item_id", "items") + ", slot TINYINT NOT NULL, PRIMARY KEY (mail_id, item_id)",
			"1 + seq % {mails}, seq, seq % 12",
		},
		{
			"quests", 16, to("character_id", "characters") + ", quest INT NOT NULL, status TINYINT NOT NULL, done_at DATETIME NULL, PRIMARY KEY (character_id, quest)",
			"1 + seq % {characters}, seq, seq % 5, IF(seq % 3 = 0, NULL, " + when + ")",
		},
		{
			"friends", 8, to("character_id", "characters") + ", " + to("friend_id", "characters") + ", note VARCHAR(30) NOT NULL, PRIMARY KEY (character_id, friend_id)",
			"seq % {characters} + 1, 1 + seq * 7919 % {characters}, CONCAT('met at ', seq % 61)",
		},
		{
			"skills", 10, to("character_id", "characters") + ", skill INT NOT NULL, value INT NOT NULL, PRIMARY KEY (character_id, skill)",
			"1 + seq % {characters}, seq, seq % 450",
		},
		{
			"auctions", 2, id + "price BIGINT NOT NULL, ends_at DATETIME NOT NULL, " + to("item_id", "items") + ", " + to("seller_id", "characters"),
			"seq, seq * 13 % 100003, " + when + ", seq, 1 + seq * 31 % {characters}",
		},
	}
}

// createdBy are the columns with the times of new ids.
var createdBy = map[string]string{"accounts": "created_at", "guilds": "founded_at", "characters": "created_at", "items": "created_at", "mails": "sent_at", "auctions": "ends_at"}

// gameSource makes a database with so many rows.
func gameSource(ctx context.Context, tb testing.TB, server *dbtest.Server, source string, rows int) (*sql.DB, string, error) {
	name := server.CreateDatabase(tb)
	db, err := sql.Open("mysql", server.DSN(name))
	if err != nil {
		return nil, "", err
	}
	db.SetMaxOpenConns(1) // it has the variable
	var counts []string
	texts := []string{"SET @source = '" + source + "'"}
	for _, t := range gameTables() {
		n := max(1, rows*t.percent/100)
		counts = append(counts, "{"+t.name+"}", strconv.Itoa(n))
		texts = append(texts, "CREATE TABLE "+t.name+" ("+t.columns+")",
			fmt.Sprintf("INSERT INTO %s SELECT %s FROM seq_1_to_%d", t.name, strings.NewReplacer(counts...).Replace(t.values), n))
	}
	for _, text := range texts {
		if _, err := db.ExecContext(ctx, text); err != nil {
			db.Close()
			return nil, "", fmt.Errorf("%s: %w", text, err)
		}
	}
	db.SetMaxOpenConns(0)
	return db, name, nil
}

// gamePlan is what people would decide on.
func gamePlan(ctx context.Context, sources []snowmerge.Source, ids plan.IDs) (*plan.Plan, error) {
	p, err := snowmerge.Inspect(ctx, sqlsnow.MySQL, sources...)
	if err != nil {
		return nil, err
	}
	for _, t := range p.Tables {
		if t.NewIDs = nil; createdBy[t.Name] != "" {
			t.NewIDs, t.IDs = p.Sources, ids
			if !ids.AreNumbers() {
				t.Created = createdBy[t.Name]
			}
		}
		for _, c := range t.Columns {
			c.Decided = true
		}
		for _, u := range t.Unique {
			if u.Decided = true; slices.Equal(u.Columns, []string{"name"}) {
				u.Rule = plan.RuleSuffix
			}
		}
	}
	return p, p.Check()
}
