CREATE TRIGGER IF NOT EXISTS `snow_convert_taken_orders` AFTER INSERT ON `snow_convert_count_orders` FOR EACH ROW SET @snow_taken = NEW.block
