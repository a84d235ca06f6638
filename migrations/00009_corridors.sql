-- +goose Up

-- Every change of the operator's terms, by whatever means it was made: what a value
-- was before and is after. NULL is the built-in value.
CREATE TABLE corridor_changes (
    seq              bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    changed_at       timestamptz NOT NULL DEFAULT clock_timestamp(),
    changed_by       text        NOT NULL DEFAULT session_user,
    note             text        NOT NULL,
    platform_id      uuid        REFERENCES platforms, -- none: all
    source           text        NOT NULL,
    destination      text        NOT NULL,
    old_fee_fixed    bigint,
    old_fee_fraction text,
    old_min_sending  bigint,
    old_max_sending  bigint,
    old_lock_seconds int,
    new_fee_fixed    bigint,
    new_fee_fraction text,
    new_min_sending  bigint,
    new_max_sending  bigint,
    new_lock_seconds int
);

-- +goose StatementBegin
CREATE FUNCTION corridor_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% on % is refused: it would leave no trace', TG_OP, TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END
$$;
-- +goose StatementEnd
CREATE TRIGGER corridor_changes_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON corridor_changes
    FOR EACH STATEMENT EXECUTE FUNCTION corridor_refuse_change();
CREATE TRIGGER corridor_overrides_leave_a_trace BEFORE TRUNCATE ON corridor_overrides
    FOR EACH STATEMENT EXECUTE FUNCTION corridor_refuse_change();

-- As its owner, so that whoever may change terms cannot do it without the history.
-- +goose StatementBegin
CREATE FUNCTION corridor_record_change() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    why text := coalesce(current_setting('causeway.note', true), '');
    removed boolean := TG_OP <> 'INSERT';
    added   boolean := TG_OP <> 'DELETE';
BEGIN
    IF TG_OP = 'UPDATE' AND (OLD.platform_id, OLD.source, OLD.destination) IS NOT DISTINCT FROM (NEW.platform_id, NEW.source, NEW.destination) THEN
        IF OLD IS DISTINCT FROM NEW THEN
            INSERT INTO corridor_changes (note, platform_id, source, destination,
                old_fee_fixed, old_fee_fraction, old_min_sending, old_max_sending, old_lock_seconds,
                new_fee_fixed, new_fee_fraction, new_min_sending, new_max_sending, new_lock_seconds)
            VALUES (why, NEW.platform_id, NEW.source, NEW.destination,
                OLD.fee_fixed, OLD.fee_fraction, OLD.min_sending, OLD.max_sending, OLD.lock_seconds,
                NEW.fee_fixed, NEW.fee_fraction, NEW.min_sending, NEW.max_sending, NEW.lock_seconds);
        END IF;
        RETURN NULL;
    END IF;
    IF removed THEN
        INSERT INTO corridor_changes (note, platform_id, source, destination,
            old_fee_fixed, old_fee_fraction, old_min_sending, old_max_sending, old_lock_seconds)
        VALUES (why, OLD.platform_id, OLD.source, OLD.destination,
            OLD.fee_fixed, OLD.fee_fraction, OLD.min_sending, OLD.max_sending, OLD.lock_seconds);
    END IF;
    IF added THEN
        INSERT INTO corridor_changes (note, platform_id, source, destination,
            new_fee_fixed, new_fee_fraction, new_min_sending, new_max_sending, new_lock_seconds)
        VALUES (why, NEW.platform_id, NEW.source, NEW.destination,
            NEW.fee_fixed, NEW.fee_fraction, NEW.min_sending, NEW.max_sending, NEW.lock_seconds);
    END IF;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER corridor_overrides_recorded AFTER INSERT OR UPDATE OR DELETE ON corridor_overrides
    FOR EACH ROW EXECUTE FUNCTION corridor_record_change();

-- What was changed before there was a history begins it.
INSERT INTO corridor_changes (note, platform_id, source, destination,
    new_fee_fixed, new_fee_fraction, new_min_sending, new_max_sending, new_lock_seconds)
SELECT 'in force when the history began', platform_id, source, destination, fee_fixed, fee_fraction, min_sending, max_sending, lock_seconds
FROM corridor_overrides ORDER BY platform_id NULLS FIRST, source, destination;

GRANT SELECT ON corridor_changes TO causeway_service;

-- +goose Down
SELECT 1;
