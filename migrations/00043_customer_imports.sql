-- +goose Up

-- Imports of customers from files. The rows of a file are stored while it is uploaded, in chunks, and
-- each chunk is deleted in the transaction that imports it.
CREATE TABLE customer_imports (
    platform_id  uuid        NOT NULL REFERENCES platforms,
    id           uuid        NOT NULL,
    status       text        NOT NULL CONSTRAINT customer_import_status_known CHECK (status IN ('UPLOADING', 'PENDING', 'PROCESSING', 'COMPLETED', 'FAILED')),
    columns      text[]      NOT NULL DEFAULT '{}', -- the header of the file
    total        int         NOT NULL DEFAULT 0,
    successful   int         NOT NULL DEFAULT 0,
    failed       int         NOT NULL DEFAULT 0,
    created_at   timestamptz NOT NULL,
    updated_at   timestamptz NOT NULL,
    completed_at timestamptz,
    PRIMARY KEY (platform_id, id),
    CONSTRAINT customer_import_counts_rows CHECK (successful >= 0 AND failed >= 0 AND successful + failed <= total)
);
-- The imports that count towards the limit of a platform.
CREATE INDEX customer_imports_unfinished ON customer_imports (platform_id) WHERE completed_at IS NULL;
CREATE INDEX customer_imports_by_updated_at ON customer_imports (platform_id, updated_at);

CREATE TABLE customer_import_chunks (
    platform_id uuid  NOT NULL,
    id          uuid  NOT NULL,
    import_id   uuid  NOT NULL,
    first_row   int   NOT NULL,
    rows        bytea NOT NULL, -- JSON, encrypted
    PRIMARY KEY (platform_id, id),
    CONSTRAINT customer_import_chunk_import_fkey FOREIGN KEY (platform_id, import_id) REFERENCES customer_imports ON DELETE CASCADE
) WITH (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 200);
CREATE UNIQUE INDEX customer_import_chunks_by_row ON customer_import_chunks (platform_id, import_id, first_row);

-- The rows that were refused, up to a limit, or what is wrong with the file.
CREATE TABLE customer_import_errors (
    platform_id          uuid NOT NULL,
    import_id            uuid NOT NULL,
    position             int  NOT NULL, -- of the row, or of the error among those of the file
    row_number           int  NOT NULL, -- 0: the file
    line                 int  NOT NULL,
    platform_customer_id text NOT NULL,
    code                 text NOT NULL,
    message              text NOT NULL,
    reason               text NOT NULL,
    column_name          text NOT NULL,
    fields               jsonb NOT NULL,
    PRIMARY KEY (platform_id, import_id, position),
    CONSTRAINT customer_import_error_import_fkey FOREIGN KEY (platform_id, import_id) REFERENCES customer_imports ON DELETE CASCADE
);

GRANT SELECT, INSERT, UPDATE, DELETE ON customer_imports TO causeway_service;
GRANT SELECT, INSERT, DELETE, UPDATE (rows) ON customer_import_chunks TO causeway_service;
GRANT SELECT, INSERT ON customer_import_errors TO causeway_service;

SELECT isolate_platforms('customer_imports');
SELECT isolate_platforms('customer_import_chunks');
SELECT isolate_platforms('customer_import_errors');
