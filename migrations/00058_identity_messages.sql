-- +goose Up
SET LOCAL lock_timeout = '1s';

-- Messages in which the identity provider reported decisions, so that each takes effect once.
CREATE TABLE identity_messages (
    platform_id uuid        NOT NULL REFERENCES platforms,
    id          text        NOT NULL CONSTRAINT identity_message_id_length CHECK (length(id) BETWEEN 1 AND 256),
    received_at timestamptz NOT NULL,
    PRIMARY KEY (platform_id, id)
);
CREATE INDEX identity_messages_by_received_at ON identity_messages (platform_id, received_at);
GRANT SELECT, INSERT, DELETE ON identity_messages TO causeway_service;
SELECT isolate_platforms('identity_messages');
