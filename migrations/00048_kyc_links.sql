-- +goose Up
SET LOCAL lock_timeout = '1s';

ALTER TABLE platforms ADD COLUMN kyc_redirect_origins text[] NOT NULL DEFAULT '{}';

-- Links with which customers open the pages of their verification. Tokens are stored as hashes only.
CREATE TABLE kyc_links (
    platform_id        uuid        NOT NULL REFERENCES platforms,
    id                 uuid        NOT NULL,
    customer_id        uuid        NOT NULL,
    redirect_uri       text        NOT NULL,
    token_hash         bytea       NOT NULL,
    created_at         timestamptz NOT NULL,
    expires_at         timestamptz NOT NULL,
    opened_at          timestamptz,
    session_hash       bytea,
    session_expires_at timestamptz,
    PRIMARY KEY (platform_id, id),
    CONSTRAINT kyc_link_customer_fkey FOREIGN KEY (platform_id, customer_id) REFERENCES customers,
    CONSTRAINT kyc_link_session_begins_when_opened CHECK ((opened_at IS NULL) = (session_hash IS NULL) AND (opened_at IS NULL) = (session_expires_at IS NULL))
);
CREATE UNIQUE INDEX kyc_link_token_unique ON kyc_links (platform_id, token_hash);
CREATE UNIQUE INDEX kyc_link_session_unique ON kyc_links (platform_id, session_hash) WHERE session_hash IS NOT NULL;
CREATE INDEX kyc_links_by_customer ON kyc_links (platform_id, customer_id);
GRANT SELECT, INSERT, UPDATE, DELETE ON kyc_links TO causeway_service;
SELECT isolate_platforms('kyc_links');
