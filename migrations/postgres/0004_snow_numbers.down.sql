-- Forgets which numbers were taken: every series would begin at 1 again and repeat its numbers, unless it is raised first.
DROP TABLE IF EXISTS snow_numbers;
