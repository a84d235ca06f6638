-- +goose Up
SET LOCAL lock_timeout = '1s';

-- Whether the authenticator of a passkey checked its user at the last use, by a PIN or a fingerprint.
ALTER TABLE wallet_credentials ADD COLUMN user_verified boolean NOT NULL DEFAULT false;
