CREATE TRIGGER `snow_convert_before_orders` BEFORE INSERT ON `orders` FOR EACH ROW BEGIN
  SET @snow_0_counted = 0, @snow_0_list = @@insert_id;
  IF NEW.`id` IS NULL OR NEW.`id` = 0 THEN
    SET @snow_0_counted = 1;
    SET @snow_0_number = @snow_0_next + MOD(MOD(@@auto_increment_offset, @@auto_increment_increment) + @@auto_increment_increment
        - MOD(@snow_0_next, @@auto_increment_increment), @@auto_increment_increment);
    IF @snow_0_list <> 0 AND @snow_0_list = @snow_forced AND @snow_table = 0 THEN
      -- A further row of the statement, or the first one after a statement that failed before it took its number.
      IF @snow_0_number >= @snow_0_end THEN
        IF @snow_spent = 0 THEN
          INSERT INTO `snow_convert_left` (id) VALUES (UUID_SHORT());
        END IF;
        INSERT INTO `snow_convert_count_orders` (block, at, who) VALUES (NULL, SYSDATE(6), USER());
        IF @snow_taken = @snow_0_block + 1 THEN
          SET @snow_0_block = @snow_taken;
        ELSE
          SET @snow_0_need = 400;
          SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'snow: the statement has more rows than numbers in a row are left';
        END IF;
        SET @snow_0_end = (@snow_0_block + 1) * 100;
        -- Taking the block has emptied insert_id, which is the mark of the statement.
        SET @snow_spent = 0;
        SET SESSION insert_id = @snow_forced;
      ELSEIF @snow_0_written = 0 THEN
        SET @snow_0_at = NOW(6);
        IF @@binlog_format = 'ROW' OR @@log_bin = 0 THEN
          SELECT COUNT(*) INTO @snow_0_kept FROM `snow_convert_count_orders` WHERE block = @snow_0_block;
          IF @snow_0_kept = 0 THEN
            INSERT INTO `snow_convert_count_orders` (block, at, who) VALUES (@snow_0_block, SYSDATE(6), USER());
          END IF;
        END IF;
      END IF;
      IF @snow_0_mixed = 1 THEN
        SET NEW.`id` = @snow_0_number;
      END IF;
    ELSEIF @snow_0_list <> 0 AND NOT (@snow_0_list <=> @snow_forced) THEN
      SET @snow_0_counted = 2;
    ELSE
      -- The first row of a statement. A number whose row was not written is not given again.
      IF @snow_0_list = 0 AND @snow_0_written = 0 THEN
        SET @snow_0_next = @snow_0_given + 1;
        SET @snow_0_number = @snow_0_next + MOD(MOD(@@auto_increment_offset, @@auto_increment_increment) + @@auto_increment_increment
        - MOD(@snow_0_next, @@auto_increment_increment), @@auto_increment_increment);
      END IF;
      -- The same time means that it may be no first row: a trigger inserted elsewhere, which empties insert_id.
      SET @snow_0_again = (@snow_0_at <=> NOW(6));
      -- The rest of the block must do for a statement as long as the longest one of the session.
      SET @snow_0_need = LEAST(GREATEST(IFNULL(@snow_0_need, 1), IF(@snow_0_low > @snow_0_first, @snow_0_low - @snow_0_first, 1)), 400);
      IF @snow_0_number IS NULL OR @snow_0_number + IF(@snow_0_again, 1, @snow_0_need) > @snow_0_end THEN
        IF @snow_0_list <> 0 THEN
          INSERT INTO `snow_convert_left` (id) VALUES (UUID_SHORT());
        END IF;
        IF @@auto_increment_increment > 1 OR @snow_0_need = 1 OR @snow_0_need * 4 <= 100 THEN
          INSERT INTO `snow_convert_count_orders` (block, at, who) VALUES (NULL, SYSDATE(6), USER());
          SET @snow_0_new = @snow_taken;
        ELSE
          INSERT INTO `snow_convert_count_orders` (block, at, who) VALUES (NULL, SYSDATE(6), USER()), (NULL, SYSDATE(6), USER()), (NULL, SYSDATE(6), USER()), (NULL, SYSDATE(6), USER()), (NULL, SYSDATE(6), USER()), (NULL, SYSDATE(6), USER()), (NULL, SYSDATE(6), USER()), (NULL, SYSDATE(6), USER()), (NULL, SYSDATE(6), USER()), (NULL, SYSDATE(6), USER()), (NULL, SYSDATE(6), USER()), (NULL, SYSDATE(6), USER()), (NULL, SYSDATE(6), USER()), (NULL, SYSDATE(6), USER()), (NULL, SYSDATE(6), USER()), (NULL, SYSDATE(6), USER());
          SET @snow_0_new = @snow_taken - 16 + 1;
        END IF;
        IF NOT (@snow_0_new <=> @snow_0_block + 1) THEN
          SET @snow_0_next = @snow_0_new * 100;
          SET @snow_0_low = @snow_0_next;
        END IF;
        SET @snow_0_block = @snow_taken;
        SET @snow_0_end = (@snow_0_block + 1) * 100;
        SET @snow_0_number = @snow_0_next + MOD(MOD(@@auto_increment_offset, @@auto_increment_increment) + @@auto_increment_increment
        - MOD(@snow_0_next, @@auto_increment_increment), @@auto_increment_increment);
        IF @snow_0_number >= @snow_0_end OR @snow_0_end > 1099511627776 THEN
          SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'snow: no numbers left in the block';
        END IF;
      ELSE
        IF @@binlog_format = 'ROW' OR @@log_bin = 0 THEN
          SELECT COUNT(*) INTO @snow_0_kept FROM `snow_convert_count_orders` WHERE block = @snow_0_block;
          IF @snow_0_kept = 0 THEN
            INSERT INTO `snow_convert_count_orders` (block, at, who) VALUES (@snow_0_block, SYSDATE(6), USER());
          END IF;
        END IF;
      END IF;
      SET @snow_0_mixed = 0, @snow_0_written = 0;
      SET @snow_0_at = NOW(6), @snow_0_first = @snow_0_number, @snow_0_given = @snow_0_number;
      SET @snow_forced = @snow_0_number, @snow_table = 0, @snow_spent = 0;
      SET SESSION insert_id = @snow_0_number;
    END IF;
  ELSEIF @snow_0_list <> 0 AND @snow_0_list = @snow_forced AND @snow_table = 0 AND @snow_0_written = 1 THEN
    -- After an id that is given, the server would count on from there.
    SET @snow_0_mixed = 1;
  END IF;
END
