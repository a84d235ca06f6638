-- +goose Up
-- The previous version runs beside it.
SET LOCAL lock_timeout = '1s';

-- What a platform charges for payments, by type and sending currency. Set none while processes of the previous version run: they
-- would charge none, and post those of a quote that they execute as the service's own.
ALTER TABLE platforms ADD COLUMN fee_configs jsonb NOT NULL DEFAULT '[]';

-- The platform's part of the fees of a quote, in minor units of the sending currency; NULL is zero, as in older quotes.
ALTER TABLE quotes ADD COLUMN platform_fees bigint, ADD COLUMN platform_fee_fixed bigint, ADD COLUMN platform_fee_bps integer;
