-- +goose Up
-- Movements of money between accounts at partners, each with its posting: sweeps, transfers, and exchanges
-- with a liquidity provider. A transfer in transit has a second posting when it arrives.
SET LOCAL lock_timeout = '1s';

CREATE TABLE treasury_movements (
    platform_id     uuid        NOT NULL,
    id              uuid        NOT NULL,
    kind            text        NOT NULL CONSTRAINT treasury_movement_kind_known CHECK (kind IN ('SWEEP', 'TRANSFER', 'SETTLEMENT')),
    from_account    text        NOT NULL,
    to_account      text        NOT NULL,
    currency        text        NOT NULL,
    amount          bigint      NOT NULL CONSTRAINT treasury_movement_amount_positive CHECK (amount > 0),
    bought_currency text,
    bought_amount   bigint      CONSTRAINT treasury_movement_bought_amount_positive CHECK (bought_amount > 0),
    in_transit      boolean     NOT NULL,
    allow_overdraft boolean     NOT NULL,
    note            text        NOT NULL CONSTRAINT treasury_movement_note_length CHECK (length(note) <= 500),
    effective_at    timestamptz NOT NULL, -- as requested; that of the posting is later if the month is closed
    posting_id      uuid        NOT NULL,
    created_at      timestamptz NOT NULL,
    token_id        uuid,       -- NULL for the operator
    actor           text        NOT NULL DEFAULT '',
    PRIMARY KEY (platform_id, id),
    CONSTRAINT treasury_movement_posting_unique UNIQUE (platform_id, posting_id),
    CONSTRAINT treasury_movement_bought_in_settlement CHECK ((kind = 'SETTLEMENT') = (bought_currency IS NOT NULL) AND (bought_currency IS NULL) = (bought_amount IS NULL)),
    CONSTRAINT treasury_movement_posting_fkey FOREIGN KEY (platform_id, posting_id)
        REFERENCES ledger_posting_ids (platform_id, id) DEFERRABLE INITIALLY DEFERRED
);

CREATE TABLE treasury_arrivals (
    platform_id  uuid        NOT NULL,
    movement_id  uuid        NOT NULL,
    posting_id   uuid        NOT NULL,
    effective_at timestamptz NOT NULL,
    arrived_at   timestamptz NOT NULL,
    token_id     uuid,
    actor        text        NOT NULL DEFAULT '',
    PRIMARY KEY (platform_id, movement_id),
    CONSTRAINT treasury_arrival_movement_fkey FOREIGN KEY (platform_id, movement_id) REFERENCES treasury_movements (platform_id, id),
    CONSTRAINT treasury_arrival_posting_unique UNIQUE (platform_id, posting_id),
    CONSTRAINT treasury_arrival_posting_fkey FOREIGN KEY (platform_id, posting_id)
        REFERENCES ledger_posting_ids (platform_id, id) DEFERRABLE INITIALLY DEFERRED
);

CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON treasury_movements FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON treasury_arrivals FOR EACH STATEMENT EXECUTE FUNCTION reject_change();

GRANT SELECT, INSERT ON treasury_movements, treasury_arrivals TO causeway_service;

SELECT isolate_platforms('treasury_movements');
SELECT isolate_platforms('treasury_arrivals');
