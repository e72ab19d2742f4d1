-- Forgets which numbers were taken. Rows that are made anew begin at 1 again, unless SegmentConfig.Tables says what is in use.
DROP TABLE IF EXISTS snow_segments;
