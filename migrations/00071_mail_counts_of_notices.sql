-- +goose Up
SET LOCAL lock_timeout = '1s';

-- Notices are counted apart from codes, which mails counts: neither use up the limit of the other.
ALTER TABLE mail_counts ADD COLUMN notices integer NOT NULL DEFAULT 0;
