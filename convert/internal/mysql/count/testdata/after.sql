CREATE TRIGGER `snow_convert_after_orders` AFTER INSERT ON `orders` FOR EACH ROW PRECEDES `theirs` BEGIN
  IF @snow_0_counted = 1 THEN
    IF NEW.`id` >= @snow_0_low AND NEW.`id` < @snow_0_end THEN
      SET @snow_0_next = NEW.`id` + 1, @snow_0_low = NEW.`id` + 1, @snow_0_written = 1;
      IF @snow_0_again = 1 THEN
        -- The server counts on by itself, and insert_id has been set again: nothing may be left for other tables.
        INSERT INTO `snow_convert_left` (id) VALUES (UUID_SHORT());
        SET @snow_0_again = 0;
      ELSEIF NEW.`id` = @snow_forced AND @snow_table = 0 THEN
        SET @snow_spent = 1;
      END IF;
    ELSE
      SET @snow_0_block = NULL, @snow_0_next = NULL, @snow_0_end = NULL;
      SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'snow: the id is not of the block of this session';
    END IF;
  ELSEIF @snow_0_counted = 2 AND NEW.`id` >= 1099511627776 THEN
    SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'snow: insert_id was set to a snow id';
  ELSEIF NEW.`id` > 0 AND NEW.`id` < 1099511627776 AND NEW.`id` DIV 100 > IFNULL(@snow_0_lifted, -1) THEN
    -- An id that is given and is no snow id: counters go on above it.
    SET @snow_0_lifted = NEW.`id` DIV 100;
    INSERT IGNORE INTO `snow_convert_count_orders` (block, at, who) VALUES (@snow_0_lifted, SYSDATE(6), USER());
  END IF;
END
