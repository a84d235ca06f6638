-- +goose Up
SET LOCAL lock_timeout = '1s';

-- What the partner itself has said in a reply: its id of the payment, its reason as a code and in words, and when it took
-- money back or expects to settle. Replies of success are stored too if they have an id or a code.
ALTER TABLE rail_replies
    ADD COLUMN partner_id   text NOT NULL DEFAULT '',
    ADD COLUMN partner_code text NOT NULL DEFAULT '',
    ADD COLUMN partner_text text NOT NULL DEFAULT '',
    ADD COLUMN returned_at  timestamptz,
    ADD COLUMN expected_at  timestamptz;
