-- +goose Up
-- The previous version runs beside it.
SET LOCAL lock_timeout = '1s';

-- The time zone in which a person sees times, by its IANA name; empty for UTC.
ALTER TABLE people ADD COLUMN time_zone text NOT NULL DEFAULT '';
