package count

import (
	"strconv"
	"strings"
)

// The trigger before an insert. A row that comes without an id gets its number from the server, which takes it from
// insert_id for the first row of a statement, and counts on for the others. So the trigger only has to set insert_id
// when a statement begins, and @@insert_id tells whether it does: the server empties it at the end of each
// statement that took a number.
//
// Variables of a session: _next is the number to give, _low is above all numbers of rows that were written, _end is
// above the block. _block is the last row of {counter} that the block has.
const beforeInsert = `BEGIN
  SET @snow_T_counted = 0, @snow_T_list = @@insert_id;
  IF NEW.{key} IS NULL OR NEW.{key} = 0 THEN
    SET @snow_T_counted = 1;
    SET @snow_T_number = {rounded};
    IF @snow_T_list <> 0 AND @snow_T_list = @snow_forced AND @snow_table = {tag} THEN
      -- A further row of the statement, or the first one after a statement that failed before it took its number.
      IF @snow_T_number >= @snow_T_end THEN
        IF @snow_spent = 0 THEN
          {drain}
        END IF;
        INSERT INTO {counter} (block, at, who) VALUES (NULL, SYSDATE(6), USER());
        IF @snow_taken = @snow_T_block + 1 THEN
          SET @snow_T_block = @snow_taken;
        ELSE
          {overflow}
        END IF;
        SET @snow_T_end = (@snow_T_block + 1) * {size};
        -- Taking the block has emptied insert_id, which is the mark of the statement.
        SET @snow_spent = 0;
        SET SESSION insert_id = @snow_forced;
      ELSEIF @snow_T_written = 0 THEN
        SET @snow_T_at = NOW(6);
        {kept}
      END IF;
      IF @snow_T_mixed = 1 THEN
        SET NEW.{key} = @snow_T_number;
      END IF;
    ELSEIF @snow_T_list <> 0 AND NOT (@snow_T_list <=> @snow_forced) THEN
      SET @snow_T_counted = 2;
    ELSE
      -- The first row of a statement. A number whose row was not written is not given again.
      IF @snow_T_list = 0 AND @snow_T_written = 0 THEN
        SET @snow_T_next = @snow_T_given + 1;
        SET @snow_T_number = {rounded};
      END IF;
      -- The same time means that it may be no first row: a trigger inserted elsewhere, which empties insert_id.
      SET @snow_T_again = (@snow_T_at <=> NOW(6));
      -- The rest of the block must do for a statement as long as the longest one of the session.
      SET @snow_T_need = LEAST(GREATEST(IFNULL(@snow_T_need, 1), IF(@snow_T_low > @snow_T_first, @snow_T_low - @snow_T_first, 1)), {most});
      IF @snow_T_number IS NULL OR @snow_T_number + IF(@snow_T_again, 1, @snow_T_need) > @snow_T_end THEN
        IF @snow_T_list <> 0 THEN
          {drain}
        END IF;
        IF @@auto_increment_increment > 1 OR @snow_T_need = 1 OR @snow_T_need * 4 <= {size} THEN
          INSERT INTO {counter} (block, at, who) VALUES (NULL, SYSDATE(6), USER());
          SET @snow_T_new = @snow_taken;
        ELSE
          INSERT INTO {counter} (block, at, who) VALUES (NULL, SYSDATE(6), USER()){many};
          SET @snow_T_new = @snow_taken - {blocks} + 1;
        END IF;
        IF NOT (@snow_T_new <=> @snow_T_block + 1) THEN
          SET @snow_T_next = @snow_T_new * {size};
          SET @snow_T_low = @snow_T_next;
        END IF;
        SET @snow_T_block = @snow_taken;
        SET @snow_T_end = (@snow_T_block + 1) * {size};
        SET @snow_T_number = {rounded};
        IF @snow_T_number >= @snow_T_end OR @snow_T_end > {first} THEN
          SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'snow: no numbers left in the block';
        END IF;
      ELSE
        {kept}
      END IF;
      SET @snow_T_mixed = 0, @snow_T_written = 0;
      SET @snow_T_at = NOW(6), @snow_T_first = @snow_T_number, @snow_T_given = @snow_T_number;
      SET @snow_forced = @snow_T_number, @snow_table = {tag}, @snow_spent = 0;
      SET SESSION insert_id = @snow_T_number;
    END IF;
  ELSEIF @snow_T_list <> 0 AND @snow_T_list = @snow_forced AND @snow_table = {tag} AND @snow_T_written = 1 THEN
    -- After an id that is given, the server would count on from there.
    SET @snow_T_mixed = 1;
  END IF;
END`

// The trigger after an insert looks at the number that the server gave: it must be in the session's block, and above
// all that were written.
const afterInsert = `BEGIN
  IF @snow_T_counted = 1 THEN
    IF NEW.{key} >= @snow_T_low AND NEW.{key} < @snow_T_end THEN
      SET @snow_T_next = NEW.{key} + 1, @snow_T_low = NEW.{key} + 1, @snow_T_written = 1;
      IF @snow_T_again = 1 THEN
        -- The server counts on by itself, and insert_id has been set again: nothing may be left for other tables.
        {drain}
        SET @snow_T_again = 0;
      ELSEIF NEW.{key} = @snow_forced AND @snow_table = {tag} THEN
        SET @snow_spent = 1;
      END IF;
    ELSE
      SET @snow_T_block = NULL, @snow_T_next = NULL, @snow_T_end = NULL;
      SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'snow: the id is not of the block of this session';
    END IF;
  ELSEIF @snow_T_counted = 2 AND NEW.{key} >= {first} THEN
    SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'snow: insert_id was set to a snow id';
  ELSEIF NEW.{key} > 0 AND NEW.{key} < {first} AND NEW.{key} DIV {size} > IFNULL(@snow_T_lifted, -1) THEN
    -- An id that is given and is no snow id: counters go on above it.
    SET @snow_T_lifted = NEW.{key} DIV {size};
    INSERT IGNORE INTO {counter} (block, at, who) VALUES (@snow_T_lifted, SYSDATE(6), USER());
  END IF;
END`

// taken is the trigger of the table of blocks. LAST_INSERT_ID() does not tell which block was taken: in triggers for
// the second and further rows of a statement it has the id of the statement's first row.
const taken = `SET @snow_taken = NEW.block`

// guard is the trigger before inserts of other tables that the server counts: a number that a failed statement left in
// insert_id must not become theirs.
const guard = `BEGIN
  IF @@insert_id <> 0 AND @@insert_id = @snow_forced AND @snow_spent = 0 THEN
    {drain}
  END IF;
END`

const (
	// rounded is the next number that auto_increment_increment and auto_increment_offset allow.
	rounded = `@snow_T_next + MOD(MOD(@@auto_increment_offset, @@auto_increment_increment) + @@auto_increment_increment
        - MOD(@snow_T_next, @@auto_increment_increment), @@auto_increment_increment)`

	// drain takes what is left in insert_id, if anything is, and the end of the statement empties it.
	drain = `INSERT INTO {left} (id) VALUES (UUID_SHORT());`

	// kept writes the row of the block again if the transaction that took the block was rolled back: replicas and
	// backups must know the block. The read takes no lock; with other formats it would, also where no row is.
	kept = `IF @@binlog_format = 'ROW' OR @@log_bin = 0 THEN
          SELECT COUNT(*) INTO @snow_T_kept FROM {counter} WHERE block = @snow_T_block;
          IF @snow_T_kept = 0 THEN
            INSERT INTO {counter} (block, at, who) VALUES (@snow_T_block, SYSDATE(6), USER());
          END IF;
        END IF;`

	// A statement longer than its block fails, or continues with numbers further up.
	overflowFails = `SET @snow_T_need = {most};
          SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'snow: the statement has more rows than numbers in a row are left';`
	overflowJumps = `SET @snow_T_block = @snow_taken, @snow_T_mixed = 1;
          SET @snow_T_next = @snow_taken * {size};
          SET @snow_T_low = @snow_T_next;
          SET @snow_T_number = {rounded};`

	// blocks is how many blocks a session takes at once after a long statement.
	blocks = 16
)

// text fills a trigger's text in.
func (c *counter) text(template string) string {
	overflow := overflowFails
	if c.scatter {
		overflow = overflowJumps
	}
	for _, part := range [][2]string{
		{"{overflow}", overflow},
		{"{rounded}", rounded},
		{"{kept}", kept},
		{"{drain}", drain},
		{"{most}", strconv.Itoa(max(c.size*blocks/4, 1))},
		{"{many}", strings.Repeat(", (NULL, SYSDATE(6), USER())", blocks-1)},
		{"{blocks}", strconv.Itoa(blocks)},
		{"{size}", strconv.Itoa(c.size)},
		{"{first}", strconv.FormatInt(c.first, 10)},
		{"{key}", quote(c.key)},
		{"{table}", quote(c.table)},
		{"{counter}", quote(c.blockTable())},
		{"{left}", quote(leftTable)},
		{"{tag}", strconv.FormatUint(uint64(c.tag), 10)},
		{"@snow_T_", "@snow_" + strconv.FormatUint(uint64(c.tag), 16) + "_"},
	} {
		template = strings.ReplaceAll(template, part[0], part[1])
	}
	return template
}
