-- +goose Up
-- The previous version runs beside it.
SET LOCAL lock_timeout = '1s';

-- What has become of a failed refund that a person has sent again; NULL if nobody has.
ALTER TABLE transactions ADD COLUMN refund_again text;

-- The receipts that are sent back for failed refunds, each once.
CREATE TABLE refunds_sent_again (
    platform_id    uuid NOT NULL REFERENCES platforms,
    receipt_id     uuid NOT NULL,
    transaction_id uuid NOT NULL,
    PRIMARY KEY (platform_id, receipt_id)
);
GRANT SELECT, INSERT ON refunds_sent_again TO causeway_service;
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON refunds_sent_again FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
SELECT isolate_platforms('refunds_sent_again');
