-- +goose Up
SET LOCAL lock_timeout = '1s';

-- The next files make these tables the first partitions of tables that are partitioned by id, which
-- begins with the time of creation. Until then, each needs a bound that holds for its new rows too.
-- It is two weeks ahead: should a file fail, there is that long to repeat it.
-- +goose StatementBegin
DO $$
DECLARE
    bound uuid := first_uuid_v7(date_trunc('day', now(), 'UTC') + interval '14 days');
BEGIN
    EXECUTE format('ALTER TABLE webhook_events ADD CONSTRAINT webhook_event_in_first_partition CHECK (id < %L) NOT VALID', bound);
    EXECUTE format('ALTER TABLE webhook_attempts ADD CONSTRAINT webhook_attempt_in_first_partition CHECK (event_id < %L) NOT VALID', bound);
    EXECUTE format('ALTER TABLE lookups ADD CONSTRAINT lookup_in_first_partition CHECK (id < %L) NOT VALID', bound);
END
$$;
-- +goose StatementEnd
