-- +goose Up
-- What partners report by themselves over HTTP, once for a connection and the partner's id of the event, until it is
-- read. The account of a partner can serve several platforms, so the rows belong to none: platform_id is zero, and is
-- there because encrypted values are bound to it. Rows are deleted after some months, in
-- adapters/postgres/partner_events.go.
SET LOCAL lock_timeout = '1s';

CREATE TABLE partner_events (
    platform_id uuid        NOT NULL,
    id          uuid        NOT NULL, -- derived from connection and event_id
    connection  text        NOT NULL,
    number      bigint      NOT NULL,
    event_id    text        NOT NULL,
    body        text        NOT NULL, -- encrypted
    received_at timestamptz NOT NULL,
    PRIMARY KEY (platform_id, id),
    CONSTRAINT partner_event_of_no_platform CHECK (platform_id = '00000000-0000-0000-0000-000000000000'),
    CONSTRAINT partner_event_once UNIQUE (connection, event_id),
    CONSTRAINT partner_event_number_once UNIQUE (connection, number)
);
CREATE INDEX partner_events_by_received_at ON partner_events (received_at);

-- The last number of each connection. Its row is locked while events are saved, so that numbers become visible in
-- their order.
CREATE TABLE partner_event_numbers (
    connection text   NOT NULL PRIMARY KEY,
    last       bigint NOT NULL
);

GRANT SELECT, INSERT, DELETE ON partner_events TO causeway_service;
GRANT UPDATE (body) ON partner_events TO causeway_service;
GRANT SELECT, INSERT, UPDATE ON partner_event_numbers TO causeway_service;
SELECT isolate_platforms('partner_events');
