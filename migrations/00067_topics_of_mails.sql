-- +goose Up
-- The previous version runs beside it.
SET LOCAL lock_timeout = '1s';

-- What a mail or a text message is about: a newer one about the same takes the place of one that was not sent yet. Empty if none does.
ALTER TABLE mails ADD COLUMN topic text NOT NULL DEFAULT '';

-- The limits with which a process decides, so that commands decide with the same ones. Nothing is known of the previous version's.
ALTER TABLE processes ADD COLUMN ownership_limits text[];
