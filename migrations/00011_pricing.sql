-- +goose Up

-- The operator's changes to the built-in corridor terms. A row without a platform applies
-- to all platforms; NULL keeps the built-in value.
CREATE TABLE corridor_overrides (
    platform_id  uuid REFERENCES platforms,
    source       text NOT NULL,
    destination  text NOT NULL,
    fee_fixed    bigint CONSTRAINT corridor_fixed_fee_not_negative CHECK (fee_fixed >= 0),
    fee_fraction text,
    min_sending  bigint CONSTRAINT corridor_minimum_positive CHECK (min_sending > 0),
    max_sending  bigint CONSTRAINT corridor_maximum_positive CHECK (max_sending > 0),
    lock_seconds int CONSTRAINT corridor_lock_between_1_and_15_minutes CHECK (lock_seconds BETWEEN 60 AND 900)
);
CREATE UNIQUE INDEX corridor_override_unique ON corridor_overrides
    (coalesce(platform_id, '00000000-0000-0000-0000-000000000000'), source, destination);

-- Every change of corridor_overrides, however it was made: the value before and after.
-- NULL is the built-in value.
CREATE TABLE corridor_changes (
    seq              bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    changed_at       timestamptz NOT NULL DEFAULT clock_timestamp(),
    changed_by       text        NOT NULL DEFAULT session_user,
    note             text        NOT NULL,
    platform_id      uuid        REFERENCES platforms, -- NULL: all platforms
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
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON corridor_changes FOR EACH STATEMENT EXECUTE FUNCTION reject_change();

-- Runs with the rights of the owner, so that corridor_overrides cannot be changed without
-- a row in corridor_changes.
-- +goose StatementBegin
CREATE FUNCTION corridor_record_change() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    change_note text := coalesce(current_setting('causeway.change_note', true), '');
    removed boolean := TG_OP <> 'INSERT';
    added   boolean := TG_OP <> 'DELETE';
BEGIN
    IF TG_OP = 'UPDATE' AND (OLD.platform_id, OLD.source, OLD.destination) IS NOT DISTINCT FROM (NEW.platform_id, NEW.source, NEW.destination) THEN
        IF OLD IS DISTINCT FROM NEW THEN
            INSERT INTO corridor_changes (note, platform_id, source, destination,
                old_fee_fixed, old_fee_fraction, old_min_sending, old_max_sending, old_lock_seconds,
                new_fee_fixed, new_fee_fraction, new_min_sending, new_max_sending, new_lock_seconds)
            VALUES (change_note, NEW.platform_id, NEW.source, NEW.destination,
                OLD.fee_fixed, OLD.fee_fraction, OLD.min_sending, OLD.max_sending, OLD.lock_seconds,
                NEW.fee_fixed, NEW.fee_fraction, NEW.min_sending, NEW.max_sending, NEW.lock_seconds);
        END IF;
        RETURN NULL;
    END IF;
    IF removed THEN
        INSERT INTO corridor_changes (note, platform_id, source, destination,
            old_fee_fixed, old_fee_fraction, old_min_sending, old_max_sending, old_lock_seconds)
        VALUES (change_note, OLD.platform_id, OLD.source, OLD.destination,
            OLD.fee_fixed, OLD.fee_fraction, OLD.min_sending, OLD.max_sending, OLD.lock_seconds);
    END IF;
    IF added THEN
        INSERT INTO corridor_changes (note, platform_id, source, destination,
            new_fee_fixed, new_fee_fraction, new_min_sending, new_max_sending, new_lock_seconds)
        VALUES (change_note, NEW.platform_id, NEW.source, NEW.destination,
            NEW.fee_fixed, NEW.fee_fraction, NEW.min_sending, NEW.max_sending, NEW.lock_seconds);
    END IF;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER corridor_overrides_record_change AFTER INSERT OR UPDATE OR DELETE ON corridor_overrides
    FOR EACH ROW EXECUTE FUNCTION corridor_record_change();
-- TRUNCATE would remove rows without recording them.
CREATE TRIGGER corridor_overrides_no_truncate BEFORE TRUNCATE ON corridor_overrides
    FOR EACH STATEMENT EXECUTE FUNCTION reject_change('Use DELETE, which is recorded.');

GRANT SELECT ON corridor_overrides, corridor_changes TO causeway_service;
