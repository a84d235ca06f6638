-- +goose Up
-- What an event says of a transfer that brought another amount than was sent, in the smallest unit of its currency: what was sent,
-- what has arrived, and what has left the sender. Zero in other events. The table keeps what was reported lately.
SET LOCAL lock_timeout = '1s';
ALTER TABLE evm_events
    ADD COLUMN sent numeric NOT NULL DEFAULT 0,
    ADD COLUMN arrived numeric NOT NULL DEFAULT 0,
    ADD COLUMN taken numeric NOT NULL DEFAULT 0;
