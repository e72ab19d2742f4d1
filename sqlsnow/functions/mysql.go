package functions

import "strings"

var mysqlServer = server{
	holders: `CREATE TABLE IF NOT EXISTS snow_id_holders (
  entry BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  holder VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  namespace VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  registry_uuid CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  worker BIGINT NULL
) ENGINE=InnoDB`,
	schema:    "SELECT DATABASE(), ''",
	functions: "SELECT ROUTINE_NAME, ROUTINE_COMMENT FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = DATABASE() AND ROUTINE_TYPE = 'FUNCTION'",
	settings: "SHOW GLOBAL VARIABLES WHERE Variable_name IN ('version', 'wsrep_on', 'log_bin', 'binlog_format'," +
		" 'group_replication_group_name', 'group_replication_single_primary_mode')",
	begin: []string{"DO GET_LOCK(LEFT(CONCAT('snow_id ', SHA2(DATABASE(), 256)), 64), 600)"},
	end:   "DO RELEASE_LOCK(LEFT(CONCAT('snow_id ', SHA2(DATABASE(), 256)), 64))",
}

// mysqlCounters make a counter. Calls of a session are in one of 4096 slots. Each slot ends with a row that
// stays. When a call deletes its row, InnoDB may lock the gap before it until the end of the transaction. No gap
// goes past the row at the end of a slot, so only sessions of one slot can wait for each other. The index of words
// only has the counter: a search in it would lock its gaps.
var mysqlCounters = []string{
	`CREATE TABLE IF NOT EXISTS {counter} (
  slot SMALLINT UNSIGNED NOT NULL,
  entry BIGINT UNSIGNED NOT NULL,
  word BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
  PRIMARY KEY (slot, entry),
  KEY (word)
) ENGINE=InnoDB`,
	"INSERT IGNORE INTO {counter} (slot, entry, word) SELECT a.n * 256 + b.n * 16 + c.n, 18446744073709551615, 1 FROM " +
		sixteen + " a, " + sixteen + " b, " + sixteen + " c",
}

// mysqlMarks are the counters that have the mark of the server that made the last id. They are counters, and not a
// row, because nobody waits to read one, also while the transaction that wrote it goes on, and because a rollback
// undoes neither. A word of each has a number that grows with each mark, 20 bits of the mark, and 20 bits which
// count the sessions that read it.
var mysqlMarks = []string{"snow_id_servers_1", "snow_id_servers_2", "snow_id_servers_3"}

const sixteen = "(SELECT 0 n UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5 UNION ALL SELECT 6" +
	" UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9 UNION ALL SELECT 10 UNION ALL SELECT 11 UNION ALL SELECT 12 UNION ALL SELECT 13" +
	" UNION ALL SELECT 14 UNION ALL SELECT 15)"

// mysqlMaker takes positions from a counter of AUTO_INCREMENT, because a rollback does not undo it. A row with a
// higher position raises the counter, one with a lower position does nothing. No two calls have a row of one key.
//
// User variables keep the last position of the session, and which session, schema and worker it is of: each
// function of a server has them in common.
//
// The first call of a session looks whether this server made ids since it was started, and made the last ones. If
// not, or if that can't be seen, it begins later, and leaves its mark.
const mysqlMaker = `CREATE FUNCTION snow_next_id() RETURNS BIGINT
  NOT DETERMINISTIC MODIFIES SQL DATA SQL SECURITY DEFINER COMMENT '{comment}'
BEGIN
  DECLARE nanoseconds, present, word, floor_word, least, due, mark, mark_1, mark_2, mark_3 BIGINT;
  DECLARE waits, home_slot INT DEFAULT 0;
  DECLARE instant DATETIME(6);
  DECLARE uptime DECIMAL(30);
  DECLARE floor_entry, word_entry BIGINT UNSIGNED;
  DECLARE behind VARCHAR(120) CHARACTER SET utf8mb4;
  DECLARE zone, here, home VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
  IF CAST(@@global.read_only AS CHAR) NOT IN ('0', 'OFF') THEN
    SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'snow_next_id: the server is read-only';
  END IF;
  IF @@insert_id <> 0 THEN
    SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'snow_next_id: the session has set insert_id';
  END IF;
  {set present}
  SET home_slot = CONNECTION_ID() % 4096, here = CONCAT(CONNECTION_ID(), ' ', DATABASE(), ' {words}');
  IF here = CONVERT(@snow_id_session USING utf8mb4) COLLATE utf8mb4_bin THEN
    SET word = @snow_id_word, least = word + 1;
    IF {tick of word} < present THEN
      SET floor_word = (present << {count}) + CAST(FLOOR(RAND() * {counts}) AS SIGNED);
    END IF;
  ELSE
    SELECT v.VARIABLE_VALUE INTO uptime FROM /*M! information_schema.GLOBAL_STATUS */ /*!80000 performance_schema.global_status */ v
      WHERE v.VARIABLE_NAME = 'Uptime';
    IF uptime > 9223372036854775807 THEN
      SET uptime = uptime - 18446744073709551616;
    END IF;
    SET home = CONCAT(@@hostname, ':', @@port, ' ', @@server_id, ' ', IFNULL(CAST(UNIX_TIMESTAMP() - uptime AS CHAR), CAST(UUID() AS CHAR)));
    SET mark = CAST(CONV(LEFT(SHA2(home, 256), 15), 16, 10) AS SIGNED);
    SET floor_entry = UUID_SHORT(), word_entry = UUID_SHORT();
    {read marks}
    IF {marked} THEN
      SET floor_word = ((present + 1) << {count}) + CAST(FLOOR(RAND() * {counts}) AS SIGNED);
    ELSE
      SET floor_word = (present + {skew} + 1) << {count};
      {write marks}
    END IF;
    {delete marks}
  END IF;
  SET floor_entry = UUID_SHORT(), word_entry = UUID_SHORT();
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

// mysqlPresent reads the clock. UTC_TIMESTAMP is the time at which the caller's statement began, and a session may
// set it. SYSDATE is the time of the call, in the session's time zone. An hour of it comes twice when summer time
// ends, so it is read in UTC. MariaDB and MySQL have different ways to set a zone for one statement, and each takes
// the other's for a comment.
const mysqlPresent = `/*M! SET STATEMENT time_zone = '+00:00' FOR */ SELECT /*+ SET_VAR(time_zone = '+00:00') */ SYSDATE(6), @@time_zone INTO instant, zone;
  IF NOT IFNULL(zone = '+00:00', FALSE) THEN
    SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'snow_next_id: the server does not set a time zone for one statement';
  END IF;
  SET nanoseconds = TIMESTAMPDIFF(MICROSECOND, TIMESTAMP'1970-01-01 00:00:00', instant) * 1000;
  SET present = {tick of nanoseconds};`

func (m maker) mysql() (counters []string, f function) {
	for _, counter := range append(mysqlMarks, m.words()) {
		for _, text := range mysqlCounters {
			counters = append(counters, m.fill(text, "{counter}", counter))
		}
	}
	var read, marked, write, remove []string
	for n, counter := range mysqlMarks {
		names := strings.NewReplacer("{counter}", counter, "{n}", number(uint64(n+1)), "{part}", low(right("mark", 20*n), 20))
		read = append(read, names.Replace("INSERT INTO {counter} (slot, entry) VALUES (home_slot, word_entry);\n    SET mark_{n} = LAST_INSERT_ID();"))
		marked = append(marked, names.Replace("((mark_{n} >> 20) & 1048575) = {part}"))
		write = append(write, names.Replace("INSERT INTO {counter} (slot, entry, word) VALUES (home_slot, floor_entry, (((mark_{n} >> 40) + 1) << 40) | ({part} << 20));"))
		remove = append(remove, names.Replace("DELETE FROM {counter} WHERE slot = home_slot AND entry = word_entry;\n"+
			"    DELETE FROM {counter} WHERE slot = home_slot AND entry = floor_entry;"))
	}
	text := m.fill(mysqlMaker, "{set present}", m.fill(mysqlPresent), "{read marks}", strings.Join(read, "\n    "), "{marked}", strings.Join(marked, " AND "),
		"{write marks}", strings.Join(write, "\n      "), "{delete marks}", strings.Join(remove, "\n    "))
	return counters, function{"snow_next_id", m.comment(), []string{"DROP FUNCTION IF EXISTS snow_next_id", text}}
}
