-- +goose NO TRANSACTION
-- +goose Up
-- The previous version runs beside it.

-- What a request has made or changed, by which its requests are found. Requests that read have none, and no row of the index. The partitions
-- get their indexes after the files (README.md).
-- +goose StatementBegin
DO $$
BEGIN
    SET LOCAL lock_timeout = '1s';
    ALTER TABLE request_log ADD COLUMN IF NOT EXISTS subject_id uuid;
    CREATE INDEX IF NOT EXISTS request_log_by_subject ON ONLY request_log (platform_id, subject_id, id) WHERE subject_id IS NOT NULL;
END
$$;
-- +goose StatementEnd
