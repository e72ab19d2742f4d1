-- name: CreateOrder :exec
INSERT INTO orders (id, buyer, parent_id) VALUES (@id, @buyer, @parent_id);

-- name: Order :one
SELECT id, buyer, parent_id FROM orders WHERE id = @id;

-- name: Orders :many
SELECT id, buyer, parent_id FROM orders WHERE id = ANY(@ids::bigint[]) ORDER BY id;
