package mysql

import (
	"context"
	"fmt"
	"time"

	"github.com/shardsnow/snow/convert/internal/job"
	"github.com/shardsnow/snow/internal/sqldialect"
)

// waitForSnapshots returns when all transactions have ended that run now. Nobody is blocked meanwhile.
//
// A transaction whose snapshot is older than a table can't change that table (error 1412), so its statements would fail
// in the triggers. One whose snapshot is older than the copy would miss rows after the tables have changed names.
func waitForSnapshots(ctx context.Context, s *session, run *job.Run) error {
	before, err := transactions(ctx, s)
	if err != nil {
		return err
	}
	for n := 0; ; n++ {
		now, err := transactions(ctx, s)
		if err != nil {
			return err
		}
		for t := range before {
			if !now[t] {
				delete(before, t)
			}
		}
		if len(before) == 0 {
			return nil
		}
		if err := run.Check(ctx); err != nil {
			return err
		}
		if err := sleep(ctx, time.Duration(min(n+1, 20))*50*time.Millisecond); err != nil {
			return err
		}
	}
}

func transactions(ctx context.Context, s *session) (map[[2]string]bool, error) {
	rows, err := texts(ctx, s, `SELECT trx_mysql_thread_id, trx_started FROM information_schema.INNODB_TRX
		WHERE trx_mysql_thread_id NOT IN (0, CONNECTION_ID())`)
	if sqldialect.MySQL.Classify(err) == sqldialect.Denied {
		return nil, fmt.Errorf("mysql: the account needs the privilege PROCESS, to see when old transactions have ended: %w", err)
	}
	if err != nil {
		return nil, err
	}
	found := map[[2]string]bool{}
	for _, row := range rows {
		found[[2]string{row[0], row[1]}] = true
	}
	return found, nil
}
