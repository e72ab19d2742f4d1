-- Forgets every window that was granted. Stop all holders first, and make ids again only after their last ceiling.
DROP TABLE IF EXISTS snow_workers;
