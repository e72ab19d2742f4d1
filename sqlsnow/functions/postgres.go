package functions

import "github.com/shardsnow/snow/internal/sqldialect"

var postgresServer = server{
	holders: `CREATE TABLE IF NOT EXISTS snow_id_holders (
  entry bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  holder text NOT NULL,
  namespace text NOT NULL,
  registry_uuid text NOT NULL,
  worker bigint
)`,
	schema: "SELECT current_database(), current_schema()",
	functions: "SELECT p.proname, coalesce(obj_description(p.oid, 'pg_proc'), '') FROM pg_proc p" +
		" JOIN pg_namespace n ON n.oid = p.pronamespace WHERE n.nspname = current_schema()",
	begin: []string{"BEGIN", "SELECT pg_advisory_xact_lock(1397641047, 0)"}, // SNOW in ASCII
	end:   "COMMIT",
}

var postgresCounters = []string{
	"CREATE SEQUENCE IF NOT EXISTS {words}",
	// PostgreSQL 15.18 can't read an unlogged sequence in a standby that was promoted before its first checkpoint
	// since CREATE.
	`DO $$ BEGIN
  PERFORM pg_sequence_last_value(to_regclass('{words}_begun'));
EXCEPTION WHEN internal_error THEN
  DROP SEQUENCE {words}_begun;
END $$`,
	"CREATE UNLOGGED SEQUENCE IF NOT EXISTS {words}_begun",
}

// postgresMaker keeps the last position in a sequence, because a rollback does not undo setval. Reading and setval
// are not one atomic step, hence the lock. A lock of a transaction that a subtransaction takes is given back when
// that is rolled back, so every call rolls back a subtransaction, and neither an error nor a cancelled statement
// can leave the lock behind.
//
// The second sequence has a mark of the server's start and of the sequence's file. It is unlogged: it is as if it
// were new after a crash, and in a standby that was promoted. So a server that was started, or that became the
// primary, and a sequence that was restored find another mark, or none.
const postgresMaker = `CREATE OR REPLACE FUNCTION snow_next_id() RETURNS bigint
  LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $body$
DECLARE
  nanoseconds bigint;
  present bigint;
  mark bigint;
  begun boolean;
  word bigint;
  due bigint;
BEGIN
  BEGIN
    PERFORM pg_advisory_xact_lock(1397641047, CAST(CAST(CAST({words regclass} AS regclass) AS oid) AS integer));
    nanoseconds := CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS bigint) * 1000;
    present := {tick of nanoseconds};
    word := coalesce(pg_sequence_last_value({words regclass}), 0);
    mark := (hashtextextended(pg_relation_filepath({begun regclass}), CAST(extract(epoch FROM pg_postmaster_start_time()) * 1000000 AS bigint))
      & 9223372036854775807) | 1;
    begun := pg_sequence_last_value({begun regclass}) IS NOT DISTINCT FROM mark;
    IF NOT begun THEN
      word := greatest(word + 1, (present + {skew} + 1) << {count});
    ELSIF {tick of word} < present THEN
      word := (present << {count}) | CAST(floor(random() * {counts}) AS bigint);
    ELSE
      word := word + 1;
    END IF;
    due := {tick of word};
    IF due > {last tick} THEN
      RAISE EXCEPTION 'snow_next_id: the timestamp of the layout has run out' USING ERRCODE = 'SN003';
    END IF;
    IF due - present <= {patience} THEN
      PERFORM setval({words regclass}, word);
      IF NOT begun THEN
        PERFORM setval({begun regclass}, mark);
      END IF;
    END IF;
    RAISE EXCEPTION USING ERRCODE = 'SN001';
  EXCEPTION WHEN SQLSTATE 'SN001' THEN
    NULL;
  END;
  WHILE due > present LOOP
    IF due - present > {patience} THEN
      RAISE EXCEPTION 'snow_next_id: the clock is % s behind the ids that were made', (due - present) * {seconds} USING ERRCODE = 'SN002';
    END IF;
    PERFORM pg_sleep((due - present) * {seconds});
    nanoseconds := CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS bigint) * 1000;
    present := {tick of nanoseconds};
  END LOOP;
  RETURN {id};
END $body$`

func (m maker) postgres(schema string) (counters []string, f function) {
	for _, text := range postgresCounters {
		counters = append(counters, m.fill(text))
	}
	regclass := func(name string) string {
		return sqldialect.Postgres.Literal(sqldialect.Postgres.Quote(schema) + "." + sqldialect.Postgres.Quote(name))
	}
	text := m.fill(postgresMaker, "{words regclass}", regclass(m.words()), "{begun regclass}", regclass(m.words()+"_begun"))
	return counters, function{"snow_next_id", m.comment(), []string{text, "COMMENT ON FUNCTION snow_next_id() IS '" + m.comment() + "'"}}
}
