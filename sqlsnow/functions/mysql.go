package functions

var mysqlServer = server{
	holders: `CREATE TABLE IF NOT EXISTS snow_id_holders (
  entry BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  holder VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL
) ENGINE=InnoDB`,
	schema:    "SELECT DATABASE(), ''",
	functions: "SELECT ROUTINE_NAME, ROUTINE_COMMENT FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = DATABASE() AND ROUTINE_TYPE = 'FUNCTION'",
	settings: "SHOW GLOBAL VARIABLES WHERE Variable_name IN ('wsrep_on', 'log_bin', 'binlog_format'," +
		" 'group_replication_group_name', 'group_replication_single_primary_mode')",
	begin: []string{"DO GET_LOCK(LEFT(CONCAT('snow_id ', SHA2(DATABASE(), 256)), 64), 600)"},
	end:   "DO RELEASE_LOCK(LEFT(CONCAT('snow_id ', SHA2(DATABASE(), 256)), 64))",
}

// mysqlCounters make the counter, among others. Calls of a session are in one of 4096 slots, each of which ends with a row that stays.
// When a call deletes its row, InnoDB may lock the gap before it until the end of the transaction. No gap goes past the row at the
// end of a slot, so only sessions of one slot can wait for each other. The index of words only has the counter: a search in it would lock its gaps.
var mysqlCounters = []string{
	`CREATE TABLE IF NOT EXISTS {words} (
  slot SMALLINT UNSIGNED NOT NULL,
  entry BIGINT UNSIGNED NOT NULL,
  word BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
  PRIMARY KEY (slot, entry),
  KEY (word)
) ENGINE=InnoDB`,
	"INSERT IGNORE INTO {words} (slot, entry, word) SELECT a.n * 256 + b.n * 16 + c.n, 18446744073709551615, 1 FROM " +
		sixteen + " a, " + sixteen + " b, " + sixteen + " c",
	`CREATE TABLE IF NOT EXISTS snow_id_servers (
  entry BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  server VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL
) ENGINE=InnoDB`,
	"INSERT INTO snow_id_servers (server) SELECT '' FROM DUAL WHERE NOT EXISTS (SELECT 1 FROM snow_id_servers)", // of no server
}

const sixteen = "(SELECT 0 n UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5 UNION ALL SELECT 6" +
	" UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9 UNION ALL SELECT 10 UNION ALL SELECT 11 UNION ALL SELECT 12 UNION ALL SELECT 13" +
	" UNION ALL SELECT 14 UNION ALL SELECT 15)"

// mysqlMaker takes positions from a counter of AUTO_INCREMENT, because a rollback does not undo it. A row with a higher position
// raises the counter, one with a lower position does nothing. No two calls have a row of one key.
//
// User variables keep the last position of the session, and which session, schema and worker it is of: each function of a server has
// them in common.
const mysqlMaker = `CREATE FUNCTION snow_next_id() RETURNS BIGINT
  NOT DETERMINISTIC MODIFIES SQL DATA SQL SECURITY DEFINER COMMENT '{comment}'
BEGIN
  DECLARE elapsed, nanoseconds, present, word, floor_word, least, due BIGINT;
  DECLARE waits, home_slot INT DEFAULT 0;
  DECLARE floor_entry, word_entry BIGINT UNSIGNED;
  DECLARE behind VARCHAR(120) CHARACTER SET utf8mb4;
  DECLARE here, home, newest VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
  IF CAST(@@global.read_only AS CHAR) NOT IN ('0', 'OFF') THEN
    SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'snow_next_id: the server is read-only';
  END IF;
  IF @@insert_id <> 0 THEN
    SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'snow_next_id: the session has set insert_id';
  END IF;
  {set present}
  SET here = CONCAT(CONNECTION_ID(), ' ', DATABASE(), ' {words}');
  IF here = CONVERT(@snow_id_session USING utf8mb4) COLLATE utf8mb4_bin THEN
    SET word = @snow_id_word, least = word + 1;
    IF {tick of word} < present THEN
      SET floor_word = (present << {count}) + CAST(FLOOR(RAND() * {counts}) AS SIGNED);
    END IF;
  ELSE
    SET home = CONCAT(@@hostname, ':', @@port, ' ', @@server_id);
    SELECT s.server INTO newest FROM snow_id_servers s ORDER BY s.entry DESC LIMIT 1;
    IF newest IS NULL THEN
      SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'snow_next_id: snow_id_servers has no row: call functions.Install';
    ELSEIF newest = home THEN
      SET floor_word = ((present + 1) << {count}) + CAST(FLOOR(RAND() * {counts}) AS SIGNED);
    ELSE
      SET floor_word = (present + {skew} + 1) << {count};
      INSERT INTO snow_id_servers (server) VALUES (home);
    END IF;
  END IF;
  SET home_slot = CONNECTION_ID() % 4096, floor_entry = UUID_SHORT(), word_entry = UUID_SHORT();
  IF floor_word IS NOT NULL THEN
    INSERT INTO {words} (slot, entry, word) VALUES (home_slot, floor_entry, floor_word - 1);
  END IF;
  INSERT INTO {words} (slot, entry) VALUES (home_slot, word_entry);
  SET word = LAST_INSERT_ID();
  IF NOT IFNULL(word >= IFNULL(floor_word, least), FALSE) THEN
    SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'snow_next_id: the number is not of the counter: the session has set insert_id or @snow_id_word';
  END IF;
  DELETE FROM {words} WHERE slot = home_slot AND entry = word_entry;
  IF floor_word IS NOT NULL THEN
    DELETE FROM {words} WHERE slot = home_slot AND entry = floor_entry;
  END IF;
  SET due = {tick of word};
  IF due > {last tick} THEN
    SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'snow_next_id: the timestamp of the layout has run out';
  END IF;
  WHILE due > present DO
    {set present}
    IF due - present > {patience} OR waits > 100 THEN
      SET behind = CONCAT('snow_next_id: the clock is ', (due - present) * {seconds}, ' s behind the ids that were made');
      SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = behind;
    ELSEIF due > present THEN
      DO SLEEP((due - present) * {seconds});
      SET waits = waits + 1;
    END IF;
  END WHILE;
  SET @snow_id_session = here, @snow_id_word = word;
  RETURN {id};
END`

// mysqlPresent reads the clock. UTC_TIMESTAMP is the time at which the caller's statement began, and a session may set it. SYSDATE is
// the time of the call, in the session's time zone. The difference to NOW is added, because NOW is off by the same. It would be wrong
// if the time zone had another offset when the statement began; then the difference is not a few minutes, and the lower of two
// readings is used: a clock that is behind makes no id twice. UUID has the monotonic clock in MariaDB, which does not follow when
// the clock is set.
const mysqlPresent = `SET elapsed = TIMESTAMPDIFF(MICROSECOND, NOW(6), SYSDATE(6));
  SET nanoseconds = (TIMESTAMPDIFF(MICROSECOND, TIMESTAMP'1970-01-01 00:00:00', UTC_TIMESTAMP(6)) + elapsed) * 1000;
  IF elapsed NOT BETWEEN 0 AND 900000000 THEN
    SET nanoseconds = LEAST(nanoseconds, CAST(UNIX_TIMESTAMP(SYSDATE(6)) * 1000000 AS SIGNED) * 1000);
  END IF;
  SET present = {tick of nanoseconds};`

func (m maker) mysql() (counters []string, f function) {
	for _, text := range mysqlCounters {
		counters = append(counters, m.fill(text))
	}
	text := m.fill(mysqlMaker, "{set present}", m.fill(mysqlPresent))
	return counters, function{"snow_next_id", m.comment(), []string{"DROP FUNCTION IF EXISTS snow_next_id", text}}
}
