-- +goose Up
-- The daily comparisons of the ledger with what partners and chains say that they hold; the last of each day stays. Amounts are
-- of several platforms, and can be larger than a bigint.
SET LOCAL lock_timeout = '1s';

CREATE TABLE rail_proofs (
    day         date        NOT NULL,
    currency    text        NOT NULL,
    connections text[]      NOT NULL CONSTRAINT rail_proof_has_connections CHECK (cardinality(connections) > 0),
    from_at     timestamptz,
    to_at       timestamptz,
    partners    numeric     NOT NULL,
    ledger_from numeric     NOT NULL,
    ledger_to   numeric     NOT NULL,
    flight_out  numeric     NOT NULL,
    flight_in   numeric     NOT NULL,
    state       text        NOT NULL CONSTRAINT rail_proof_state_known CHECK (state IN ('PROVED', 'DIFFERENT', 'NO_BALANCE')),
    difference  numeric     NOT NULL,
    suspects    text[]      NOT NULL,
    problem     text        NOT NULL,
    proved_at   timestamptz NOT NULL,
    PRIMARY KEY (day, currency, connections),
    CONSTRAINT rail_proof_difference_of_state CHECK ((difference <> 0) = (state = 'DIFFERENT'))
);
GRANT SELECT, INSERT, UPDATE, DELETE ON rail_proofs TO causeway_service;
