-- +goose Up
SET LOCAL lock_timeout = '1s';

-- Documents of customers and beneficial owners. The files are stored elsewhere, encrypted with a key
-- that is in details, so that a file is lost with its row. No foreign key: a holder is a row of one
-- of two tables, whose rows are never deleted.
CREATE TABLE documents (
    platform_id   uuid        NOT NULL REFERENCES platforms,
    id            uuid        NOT NULL,
    holder_type   text        NOT NULL CONSTRAINT document_holder_type_known CHECK (holder_type IN ('CUSTOMER', 'BENEFICIAL_OWNER')),
    holder_id     uuid        NOT NULL,
    document_type text        NOT NULL,
    side          text        NOT NULL CONSTRAINT document_side_known CHECK (side IN ('', 'FRONT', 'BACK')),
    country       text        NOT NULL,
    details       jsonb       NOT NULL, -- number, issuing authority, file name, hash and key: encrypted
    blob_id       uuid        NOT NULL, -- of the stored file
    content_type  text        NOT NULL CONSTRAINT document_content_type_known CHECK (content_type IN ('application/pdf', 'image/jpeg', 'image/png')),
    size          bigint      NOT NULL CONSTRAINT document_size_positive CHECK (size > 0), -- of the file, in bytes
    created_at    timestamptz NOT NULL,
    updated_at    timestamptz NOT NULL,
    submitted_at  timestamptz, -- for verification; NULL: not submitted
    superseded_by uuid,        -- NULL unless the row keeps a submitted file that the platform replaced
    PRIMARY KEY (platform_id, id),
    CONSTRAINT document_superseded_was_submitted CHECK (superseded_by IS NULL OR submitted_at IS NOT NULL)
);
CREATE INDEX documents_by_holder ON documents (platform_id, holder_id, id) WHERE holder_id IS NOT NULL;
CREATE UNIQUE INDEX document_blob_unique ON documents (platform_id, blob_id);

GRANT SELECT, INSERT, UPDATE, DELETE ON documents TO causeway_service;
SELECT isolate_platforms('documents');
