CREATE TRIGGER `other`.`snow_convert_guard_lines` BEFORE INSERT ON `other`.`lines` FOR EACH ROW BEGIN
  IF @@insert_id <> 0 AND @@insert_id = @snow_forced AND @snow_spent = 0 THEN
    INSERT INTO `shop`.`snow_convert_left` (id) VALUES (UUID_SHORT());
  END IF;
END
