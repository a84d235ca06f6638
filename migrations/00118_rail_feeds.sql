-- +goose Up
-- How far each connection was read of what its partner or chain reports, and what of it could not be passed on yet.
SET LOCAL lock_timeout = '1s';

-- A process reads a feed while it holds its lease. The fence is the number of the lease: who lost it changes nothing.
CREATE TABLE rail_feeds (
    connection   text        PRIMARY KEY CONSTRAINT rail_feed_connection_length CHECK (length(connection) BETWEEN 1 AND 100),
    cursor       text        NOT NULL DEFAULT '',
    fence        bigint      NOT NULL CONSTRAINT rail_feed_fence_positive CHECK (fence > 0),
    holder       uuid        NOT NULL,
    leased_until timestamptz NOT NULL,
    failures     integer     NOT NULL DEFAULT 0, -- since the last success
    last_error   text        NOT NULL DEFAULT '' CONSTRAINT rail_feed_error_length CHECK (length(last_error) <= 2000),
    failed_at    timestamptz,
    retry_at     timestamptz,
    succeeded_at timestamptz
);

-- What a partner reported and the service could not take, kept until it can or an operator discards it. The content has
-- personal data, and is encrypted. The platform is zero if it is not known.
CREATE TABLE rail_feed_items (
    platform_id  uuid        NOT NULL,
    id           uuid        NOT NULL,
    connection   text        NOT NULL,
    kind         text        NOT NULL CONSTRAINT rail_feed_item_kind_known CHECK (kind IN ('RECEIPT', 'REVERSAL', 'FEE', 'STATEMENT')),
    -- key is the same for the same item, however often it is reported.
    key          text        NOT NULL CONSTRAINT rail_feed_item_key_length CHECK (length(key) BETWEEN 1 AND 600),
    content      text        NOT NULL,
    problem      text        NOT NULL CONSTRAINT rail_feed_item_problem_length CHECK (length(problem) <= 2000),
    attempts     integer     NOT NULL DEFAULT 1,
    kept_at      timestamptz NOT NULL,
    retry_at     timestamptz NOT NULL,
    discarded_at timestamptz,
    discarded_by text        NOT NULL DEFAULT '',
    note         text        NOT NULL DEFAULT '' CONSTRAINT rail_feed_item_note_length CHECK (length(note) <= 500),
    PRIMARY KEY (platform_id, id)
);
CREATE UNIQUE INDEX rail_feed_items_once ON rail_feed_items (connection, kind, key);
CREATE INDEX rail_feed_items_open ON rail_feed_items (connection, retry_at) WHERE discarded_at IS NULL;
CREATE INDEX rail_feed_items_discarded ON rail_feed_items (discarded_at) WHERE discarded_at IS NOT NULL;

GRANT SELECT, INSERT, UPDATE, DELETE ON rail_feeds, rail_feed_items TO causeway_service;
SELECT isolate_platforms('rail_feed_items');
