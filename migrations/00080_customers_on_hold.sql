-- +goose Up
-- The previous version runs beside it.
SET LOCAL lock_timeout = '1s';

-- When a person has put a customer on hold, who is then held until a person releases it; NULL: nobody has.
ALTER TABLE customers ADD COLUMN on_hold_at timestamptz;

-- The previous version knows no such hold, and would approve who is on hold: with its hits, or with its verification.
-- +goose StatementBegin
CREATE FUNCTION keep_customer_on_hold() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
    NEW.status := 'PENDING';
    NEW.held_at := coalesce(NEW.held_at, OLD.held_at, NEW.on_hold_at);
    RETURN NEW;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER keep_on_hold BEFORE UPDATE ON customers FOR EACH ROW
    WHEN (OLD.on_hold_at IS NOT NULL AND NEW.on_hold_at IS NOT NULL AND NEW.status = 'APPROVED') EXECUTE FUNCTION keep_customer_on_hold();

-- The reason of a hold is a note, also of one that nobody had signed in for.
ALTER TABLE customer_notes ALTER COLUMN person_id DROP NOT NULL;
