-- +goose Up
-- A payout and the refund of the same transaction can leave over one wallet: they differ in their kind only.
SET LOCAL lock_timeout = '1s';

ALTER TABLE bitcoin_payments ADD COLUMN kind text NOT NULL DEFAULT 'PAYOUT'
    CONSTRAINT bitcoin_payment_kind_known CHECK (kind IN ('PAYOUT', 'REFUND'));

-- What an earlier program has added is a refund if no payout with its id was handed over to the wallet.
-- +goose StatementBegin
CREATE FUNCTION bitcoin_payment_kind(of_platform uuid, of_payment uuid, of_connection text) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN bool_and(kind <> 'PAYOUT') THEN 'REFUND' ELSE 'PAYOUT' END FROM rail_payments
    WHERE platform_id = of_platform AND id = of_payment AND connection = of_connection AND kind <> 'COLLECTION'
$$;
-- +goose StatementEnd
UPDATE bitcoin_payments SET kind = 'REFUND' WHERE bitcoin_payment_kind(platform_id, id, connection) = 'REFUND';

ALTER TABLE bitcoin_payments DROP CONSTRAINT bitcoin_payments_pkey, ADD PRIMARY KEY (platform_id, connection, id, kind);

-- An earlier program that still runs names no kind.
ALTER TABLE bitcoin_payments ALTER COLUMN kind SET DEFAULT '';
-- +goose StatementBegin
CREATE FUNCTION set_bitcoin_payment_kind() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.kind := bitcoin_payment_kind(NEW.platform_id, NEW.id, NEW.connection);
    RETURN NEW;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER bitcoin_payment_kind BEFORE INSERT ON bitcoin_payments FOR EACH ROW WHEN (NEW.kind = '') EXECUTE FUNCTION set_bitcoin_payment_kind();
