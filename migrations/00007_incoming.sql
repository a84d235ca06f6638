-- +goose Up

-- People at other providers as ends of a transaction, the reference of transactions
-- that no quote has, and what no query asks for (JSON).
ALTER TABLE transactions
    ADD COLUMN source_uma      text NOT NULL DEFAULT '',
    ADD COLUMN destination_uma text NOT NULL DEFAULT '',
    ADD COLUMN own_reference   text NOT NULL DEFAULT '',
    ADD COLUMN details         text NOT NULL DEFAULT '';
CREATE INDEX transactions_from_uma ON transactions (platform_id, source_uma, id) WHERE source_uma <> '';
CREATE INDEX transactions_to_uma ON transactions (platform_id, destination_uma, id) WHERE destination_uma <> '';
CREATE INDEX transactions_by_reference ON transactions (platform_id, own_reference, id) WHERE own_reference <> '';

-- What somebody asked about a receiver, and was told. Good for some minutes, then
-- only in the way.
CREATE TABLE lookups (
    platform_id  uuid        NOT NULL REFERENCES platforms,
    id           uuid        NOT NULL,
    customer_id  uuid,
    sender_uma   text        NOT NULL,
    receiver_uma text        NOT NULL,
    external_id  uuid,
    fields       text        NOT NULL,
    expires_at   timestamptz NOT NULL,
    created_at   timestamptz NOT NULL,
    PRIMARY KEY (platform_id, id),
    CONSTRAINT lookup_has_one_receiver CHECK ((receiver_uma = '') = (external_id IS NOT NULL))
);
CREATE INDEX lookups_by_age ON lookups USING brin (created_at);

GRANT SELECT, INSERT, DELETE ON lookups TO causeway_service;

-- +goose Down
SELECT 1;
