-- +goose Up
-- The previous version runs beside it.
SET LOCAL lock_timeout = '1s';

-- Codes of a wallet are sent to a phone too. Its number is in the column email, encrypted.
ALTER TABLE wallet_credentials DROP CONSTRAINT wallet_credential_type_known;
ALTER TABLE wallet_credentials ADD CONSTRAINT wallet_credential_type_known
    CHECK (credential_type IN ('EMAIL_OTP', 'SMS_OTP', 'PASSKEY', 'OAUTH')) NOT VALID;
