-- +goose Up
-- The previous version runs beside it.
SET LOCAL lock_timeout = '1s';

-- The number of text messages of each platform in the latest hour, apart from mails: a mail costs next to nothing. The previous version
-- leaves it as it is in a new hour, so that a text message may count for the next one too.
ALTER TABLE mail_counts ADD COLUMN sms integer NOT NULL DEFAULT 0;

-- The phone number of a customer, and which of its contacts were verified: encrypted. The previous version leaves it as it is. If that
-- changes the e-mail address, what was verified is another one, and counts for nothing.
ALTER TABLE customers ADD COLUMN contacts jsonb;
