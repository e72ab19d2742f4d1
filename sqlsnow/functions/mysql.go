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

var mysqlCounters = []string{
	`CREATE TABLE IF NOT EXISTS {words} (
  word BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
  session BIGINT UNSIGNED NOT NULL,
  PRIMARY KEY (word, session)
) ENGINE=InnoDB`,
	`CREATE TABLE IF NOT EXISTS snow_id_servers (
  entry BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  server VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL
) ENGINE=InnoDB`,
	"INSERT INTO snow_id_servers (server) SELECT '' FROM DUAL WHERE NOT EXISTS (SELECT 1 FROM snow_id_servers)", // of no server
}

// mysqlMaker takes positions from a counter of AUTO_INCREMENT, because a rollback does not undo it. A row with a higher position
// raises the counter, one with a lower position does nothing. Rows of two sessions differ in their keys, so none waits for another.
//
// User variables keep the last position of the session, and which session, schema and worker it is of: each function of a server has
// them in common.
const mysqlMaker = `CREATE FUNCTION snow_next_id() RETURNS BIGINT
  NOT DETERMINISTIC MODIFIES SQL DATA SQL SECURITY DEFINER COMMENT '{comment}'
BEGIN
  DECLARE elapsed, nanoseconds, present, word, floor_word, least, due BIGINT;
  DECLARE waits INT DEFAULT 0;
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
  IF floor_word IS NOT NULL THEN
    INSERT INTO {words} (word, session) VALUES (floor_word - 1, CONNECTION_ID());
  END IF;
  INSERT INTO {words} (session) VALUES (CONNECTION_ID());
  SET word = LAST_INSERT_ID();
  IF NOT IFNULL(word >= IFNULL(floor_word, least), FALSE) THEN
    SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'snow_next_id: the number is not of the counter: the session has set insert_id or @snow_id_word';
  END IF;
  DELETE FROM {words} WHERE word_column = word AND session = CONNECTION_ID();
  IF floor_word IS NOT NULL THEN
    DELETE FROM {words} WHERE word_column = floor_word - 1 AND session = CONNECTION_ID();
  END IF;
  SET due = {tick of word};
  IF due > {last tick} THEN
    SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'snow_next_id: the timestamp of the layout has run out';
  END IF;
  WHILE due > present DO
    IF due - present > {patience} OR waits > 100 THEN
      SET behind = CONCAT('snow_next_id: the clock is ', (due - present) * {seconds}, ' s behind the ids that were made');
      SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = behind;
    END IF;
    DO SLEEP((due - present) * {seconds});
    SET waits = waits + 1;
    {set present}
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
	text := m.fill(mysqlMaker, "{set present}", m.fill(mysqlPresent), "word_column", "`"+m.words()+"`.word")
	return counters, function{"snow_next_id", m.comment(), []string{"DROP FUNCTION IF EXISTS snow_next_id", text}}
}
