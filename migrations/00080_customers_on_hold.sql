-- +goose Up
-- The previous version runs beside it.
SET LOCAL lock_timeout = '1s';

-- When a person has put a customer on hold, who is then held until a person releases it; NULL: nobody has.
ALTER TABLE customers ADD COLUMN on_hold_at timestamptz;

-- The reason of a hold is a note, also of one that nobody had signed in for.
ALTER TABLE customer_notes ALTER COLUMN person_id DROP NOT NULL;
