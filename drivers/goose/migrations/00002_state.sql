-- +goose Up
ALTER TABLE orders ADD COLUMN state VARCHAR(64) NOT NULL DEFAULT 'open';

-- +goose Down
ALTER TABLE orders DROP COLUMN state;
