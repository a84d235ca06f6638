-- +goose Up
-- The previous version runs beside it.
SET LOCAL lock_timeout = '1s';

-- By what the search of the console finds customers and accounts although their names and numbers are encrypted: keyed hashes of
-- words of the name, of the number of an account and of its last four characters, each with the platform. Equal values have equal
-- hashes, and who lacks the key of the fingerprints cannot compute one.
CREATE TABLE search_keys (
    platform_id uuid NOT NULL CONSTRAINT search_key_platform_fkey REFERENCES platforms,
    id          uuid NOT NULL,
    kind        text NOT NULL CONSTRAINT search_key_kind_known CHECK (kind IN ('CUSTOMER', 'EXTERNAL_ACCOUNT')),
    object_id   uuid NOT NULL,
    hash        text NOT NULL,
    PRIMARY KEY (platform_id, id)
);
CREATE INDEX search_keys_by_hash ON search_keys (platform_id, hash, kind, object_id);
CREATE INDEX search_keys_by_object ON search_keys (platform_id, kind, object_id);
GRANT SELECT, INSERT, DELETE, UPDATE (hash) ON search_keys TO causeway_service;
SELECT isolate_platforms('search_keys');

-- Whose keys are to be made next. A row of the kind CUSTOMERS or EXTERNAL_ACCOUNTS is all those after an id, which are added to the
-- queue some at a time.
CREATE TABLE search_queue (
    platform_id uuid        NOT NULL CONSTRAINT search_queue_platform_fkey REFERENCES platforms,
    kind        text        NOT NULL CONSTRAINT search_queue_kind_known CHECK (kind IN ('CUSTOMER', 'EXTERNAL_ACCOUNT', 'CUSTOMERS', 'EXTERNAL_ACCOUNTS')),
    object_id   uuid        NOT NULL,
    queued_at   timestamptz NOT NULL,
    PRIMARY KEY (platform_id, kind, object_id)
);
GRANT SELECT, INSERT, DELETE, UPDATE ON search_queue TO causeway_service;
SELECT isolate_platforms('search_queue');

-- What has changed is queued first, and then loses its keys. The row of the queue is locked for that, so that nobody makes keys of
-- what it was before: who does holds the row, and is waited for.
-- +goose StatementBegin
CREATE FUNCTION queue_search_keys() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    changed record := CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END;
BEGIN
    INSERT INTO search_queue AS q (platform_id, kind, object_id, queued_at)
    VALUES (changed.platform_id, TG_ARGV[0], changed.id, clock_timestamp())
    ON CONFLICT (platform_id, kind, object_id) DO UPDATE SET queued_at = q.queued_at;
    IF TG_OP <> 'INSERT' THEN
        DELETE FROM search_keys WHERE platform_id = changed.platform_id AND kind = TG_ARGV[0] AND object_id = changed.id;
    END IF;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
REVOKE EXECUTE ON FUNCTION queue_search_keys FROM PUBLIC;
CREATE TRIGGER search_new AFTER INSERT OR DELETE ON customers FOR EACH ROW EXECUTE FUNCTION queue_search_keys('CUSTOMER');
CREATE TRIGGER search_changed AFTER UPDATE ON customers FOR EACH ROW
    WHEN (old.updated_at IS DISTINCT FROM new.updated_at) EXECUTE FUNCTION queue_search_keys('CUSTOMER');
CREATE TRIGGER search_new AFTER INSERT OR DELETE ON external_accounts FOR EACH ROW EXECUTE FUNCTION queue_search_keys('EXTERNAL_ACCOUNT');
CREATE TRIGGER search_changed AFTER UPDATE ON external_accounts FOR EACH ROW
    WHEN (old.updated_at IS DISTINCT FROM new.updated_at) EXECUTE FUNCTION queue_search_keys('EXTERNAL_ACCOUNT');

INSERT INTO search_queue
SELECT p.id, k.kind, '00000000-0000-0000-0000-000000000000', now() FROM platforms p CROSS JOIN (VALUES ('CUSTOMERS'), ('EXTERNAL_ACCOUNTS')) AS k (kind);

-- What people have written about customers. The text is encrypted, and erased with the customer.
CREATE TABLE customer_notes (
    platform_id uuid        NOT NULL CONSTRAINT customer_note_platform_fkey REFERENCES platforms,
    id          uuid        NOT NULL,
    customer_id uuid        NOT NULL,
    person_id   uuid        NOT NULL CONSTRAINT customer_note_person_fkey REFERENCES people,
    author      text        NOT NULL,
    content     text        NOT NULL,
    created_at  timestamptz NOT NULL,
    PRIMARY KEY (platform_id, id),
    CONSTRAINT customer_note_customer_fkey FOREIGN KEY (platform_id, customer_id) REFERENCES customers
);
CREATE INDEX customer_notes_by_customer ON customer_notes (platform_id, customer_id, id);
GRANT SELECT, INSERT, DELETE, UPDATE (content) ON customer_notes TO causeway_service;
SELECT isolate_platforms('customer_notes');

-- The processes of the service: each renews its row, and one that has stopped renewing is deleted after some days.
CREATE TABLE processes (
    id         uuid        PRIMARY KEY,
    host       text        NOT NULL,
    version    text        NOT NULL,
    started_at timestamptz NOT NULL,
    seen_at    timestamptz NOT NULL,
    stopped_at timestamptz -- it ended in order
);
GRANT SELECT, INSERT, UPDATE, DELETE ON processes TO causeway_service;
